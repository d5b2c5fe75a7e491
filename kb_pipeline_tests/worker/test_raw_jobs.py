"""Jobs as foreign producers leave them in the queue: whatever lies there, BullMQ can read it, fail it and finish it."""

import asyncio
import json
from types import SimpleNamespace
from typing import Any

import pytest
from bullmq.backoffs import Backoffs  # type: ignore[import-untyped]
from bullmq.job import Job  # type: ignore[import-untyped]
from hypothesis import example, given
from hypothesis import strategies as st

from kb_pipeline.retrieval.events.wire import ATTEMPTS
from kb_pipeline.worker.raw_jobs import readable, usable_options

QUEUE = SimpleNamespace(backend=None, qualifiedName="bull:q", opts={})
FIELDS = ("name", "data", "opts", "timestamp", "delay", "priority", "atm", "ats", "stc", "stacktrace", "progress")
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**40), 2**40) | st.floats() | st.text(max_size=5),
    lambda below: st.lists(below, max_size=3) | st.dictionaries(st.text(max_size=5), below, max_size=3),
    max_leaves=6,
)
OPTIONS = st.fixed_dictionaries(
    {},
    optional=dict.fromkeys(
        ("attempts", "backoff", "removeOnComplete", "removeOnFail", "delay", "priority", "stackTraceLimit"), JSON
    ),
)


def job_of(fields: dict[str, str]) -> Any:
    return Job.fromJSON(QUEUE, fields, "m-1")


@given(
    st.dictionaries(
        st.sampled_from(FIELDS), st.text(max_size=20) | JSON.map(json.dumps) | st.sampled_from(["1e999", "nan", "1.5"])
    )
)
@example({"data": "[" * 100_000})
@example({"data": "9" * 5000, "opts": "[" * 100_000})
@example({"timestamp": "1783936800000.25", "delay": "0.5"})
def test_any_fields_make_a_job(fields: dict[str, str]) -> None:
    job = job_of(readable(fields))
    assert isinstance(job.opts, dict)


@given(st.dictionaries(st.sampled_from(["parent", "fpof", "failParentOnFailure", "rdof", "idof", "de", "kl"]), JSON))
def test_options_that_bullmq_cannot_read_do_not_keep_a_job_from_being_read(options: dict[str, Any]) -> None:
    job_of(readable({"name": "x", "data": "{}", "opts": json.dumps(options)}))


def test_data_that_are_no_json_are_kept_as_the_text_they_are() -> None:
    assert job_of(readable({"name": "x", "data": "not {json"})).data == "not {json"


def test_what_a_proper_producer_wrote_is_left_as_it_is() -> None:
    fields = {
        "name": "x", "data": '{"a": 1}', "timestamp": "1783936800000", "delay": "0", "priority": "0",
        "stacktrace": "[]", "progress": "0",
    }  # fmt: skip
    mended = readable({**fields, "opts": '{"attempts": 3, "parent": 7}'})
    assert fields.items() <= mended.items()
    assert json.loads(mended["opts"])["attempts"] == 3


@given(OPTIONS)
def test_any_options_let_a_job_be_failed_tried_again_and_finished(options: dict[str, Any]) -> None:
    usable = usable_options(options)
    assert usable["attempts"] + 1 > 0
    delay = asyncio.run(Backoffs.calculate(Backoffs.normalize(usable.get("backoff")), 3, None, None, None))
    assert delay is None or delay >= 0
    for name in ("removeOnComplete", "removeOnFail"):
        kept = usable.get(name)
        bounds = list(kept.values()) if isinstance(kept, dict) else [kept]
        assert all(bound is None or isinstance(bound, int) for bound in bounds)


@pytest.mark.parametrize(
    "options",
    [
        {"attempts": 0},
        {"attempts": 3, "backoff": {"type": "exponential", "delay": 500}, "removeOnFail": {"age": 60}},
        {"attempts": 1, "removeOnComplete": True, "removeOnFail": 100},
    ],
)
def test_options_that_make_sense_are_left_to_the_producer(options: dict[str, Any]) -> None:
    assert options.items() <= usable_options(options).items()


@pytest.mark.parametrize("attempts", [None, "8", -1, True, 2.5, []])
def test_attempts_that_are_no_number_are_those_of_our_own_jobs(attempts: object) -> None:
    assert usable_options({"attempts": attempts})["attempts"] == ATTEMPTS
