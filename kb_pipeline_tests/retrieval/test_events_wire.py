"""The wire form: what is sent is what is read, and the shipped schema says what may be sent."""

import json
import re
from dataclasses import replace
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from jsonschema import Draft202012Validator

from kb_pipeline.records.retrieval import RetrievalEvent, RetrievedDocument, SearchEvent, Tenant
from kb_pipeline.retrieval.events import MAX_HITS, Note, Read, job_id, job_of, job_options, job_schema, read_job
from kb_pipeline_tests.retrieval.event_strategies import (
    ENGINES,
    RECEIVED_AT,
    retrieval_events,
    schema_retrievals,
    schema_searches,
    search_events,
)

VALIDATOR = Draft202012Validator(job_schema())
events = retrieval_events() | search_events()
EXAMPLE = RetrievalEvent(
    id=UUID("6f1c2d3e-0000-4000-8000-000000000005"),
    tenant=Tenant(
        org_id=UUID("6f1c2d3e-0000-4000-8000-000000000001"),
        specialist_id=UUID("6f1c2d3e-0000-4000-8000-000000000002"),
    ),
    conversation_id=UUID("6f1c2d3e-0000-4000-8000-000000000003"),
    engine="hybrid",
    query="Berapa lama garansi mesin cuci?",
    top_k=5,
    result_count=0,
    occurred_at=RECEIVED_AT,
)


def on_the_wire(job: dict[str, Any]) -> Any:
    """The job after the queue carried it as JSON."""
    return json.loads(json.dumps(job, allow_nan=False))


def read(job: object) -> Read:
    got = read_job(job, received_at=RECEIVED_AT, engines=ENGINES)
    assert isinstance(got, Read), got
    return got


@given(events)
def test_what_is_sent_is_what_is_read(event: RetrievalEvent | SearchEvent) -> None:
    got = read(on_the_wire(job_of(event)))
    assert got.event == event
    assert set(got.notes) <= {Note.QUERY_EMPTY}


def test_a_list_that_was_cut_before_it_was_sent_keeps_its_count() -> None:
    hits = tuple(RetrievedDocument(doc_id=f"d{n}", rank=n) for n in range(1, MAX_HITS + 1))
    event = replace(EXAMPLE, retrieved=hits, result_count=5000)
    assert read(on_the_wire(job_of(event))).event == event


@given(events)
def test_what_is_sent_fits_the_schema(event: RetrievalEvent | SearchEvent) -> None:
    assert list(VALIDATOR.iter_errors(on_the_wire(job_of(event)))) == []


@given(schema_retrievals | schema_searches)
def test_whatever_fits_the_schema_is_accepted(job: dict[str, Any]) -> None:
    assert list(VALIDATOR.iter_errors(job)) == []
    read(job)


@pytest.mark.parametrize(
    "changes",
    [
        {"org_id": None}, {"conversation_id": "17"}, {"docId": "a"}, {"retrieved": None}, {"type": "other"},
        {"schema_version": 2}, {"occurred_at": "2026-03-01T09:00:00"}, {"occurred_at": 1772294400},
        {"retrieved": [{"doc_id": 17}]}, {"retrieved": [{"doc_id": "a", "rank": 0}]}, {"retrieved": [{}]},
        {"retrieved": [{"doc_id": "a", "score": "0.5"}]}, {"latency_ms": -1}, {"query": 5}, {"engine": ""},
        {"retrieved": [{"doc_id": str(n)} for n in range(51)]},
    ],
    ids=lambda changes: repr(changes)[:40],
)  # fmt: skip
def test_the_schema_asks_for_more_than_the_reader(changes: dict[str, Any]) -> None:
    assert not VALIDATOR.is_valid(job_of(EXAMPLE) | changes)


@pytest.mark.parametrize("missing", ["type", "org_id", "specialist_id", "conversation_id", "engine", "query"])
def test_the_schema_misses_what_is_left_out(missing: str) -> None:
    job = job_of(EXAMPLE)
    assert VALIDATOR.is_valid(job)
    del job[missing]
    assert not VALIDATOR.is_valid(job)


@given(events)
def test_a_job_id_is_none_that_bullmq_uses_itself(event: RetrievalEvent | SearchEvent) -> None:
    uuid = r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
    assert re.fullmatch(rf"[mes]-{uuid}", job_id(event))


def test_a_job_id_names_the_message_else_the_event() -> None:
    event = EXAMPLE
    assert job_id(replace(event, message_id=UUID(int=5))) == f"m-{UUID(int=5)}"
    assert job_id(event) == f"e-{event.id}"


@given(search_events())
def test_the_steps_of_a_search_do_not_share_a_job_id_with_their_message(event: SearchEvent) -> None:
    assert job_id(event) == f"s-{event.id}"


def test_a_job_is_tried_again_and_does_not_stay_for_ever() -> None:
    options = job_options(job_id(EXAMPLE))
    assert options == {
        "jobId": job_id(EXAMPLE),
        "attempts": 8,
        "backoff": {"type": "exponential", "delay": 2000},
        "removeOnComplete": {"count": 1000},
        "removeOnFail": {"age": 7 * 86400},
    }


def test_the_schema_is_valid_and_names_every_property_that_is_sent() -> None:
    Draft202012Validator.check_schema(job_schema())
    definitions = job_schema()["$defs"]
    hit = RetrievedDocument(
        doc_id="a", chunk_id="1", rank=1, score=1, bm25_score=1, vector_similarity=1, pre_rerank_rank=1,
        rerank_score=1, used_in_final=True,
    )  # fmt: skip
    job = job_of(replace(EXAMPLE, retrieved=(hit,)))
    assert list(job["retrieved"][0]) == list(definitions["result"]["properties"])
    assert set(job) <= set(definitions["retrieval"]["properties"])
