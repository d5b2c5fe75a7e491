"""Jobs of every kind before a worker: an event is kept, or the job says why not; nothing stops the next one."""

import asyncio
import json
import subprocess
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any
from uuid import uuid4

import bullmq  # type: ignore[import-untyped]
import pytest

from kb_pipeline.adapters.embedded_queue.programs import find_program
from kb_pipeline.adapters.postgres.connection import Database
from kb_pipeline.adapters.postgres.retrieval.events import Event
from kb_pipeline.retrieval.events import job_id, job_of, job_options
from kb_pipeline.worker import patrol
from kb_pipeline_tests.queue_servers import eventually
from kb_pipeline_tests.recorder.events import click, retrieval
from kb_pipeline_tests.worker.workers import Site, WorkerThread, count, on, put_events

pytestmark = pytest.mark.postgres

Start = Callable[[str], WorkerThread]
DEEP = "[" * 50_000


def a_job(**changes: object) -> dict[str, Any]:
    return job_of(retrieval()) | changes


def test_events_become_rows_and_their_jobs_say_what_became_of_them(site: Site, new_thread: Start) -> None:
    worker = new_thread(site.server.url)
    first = retrieval()
    second = replace(first, id=uuid4(), query="Lain")
    taken = retrieval(id=first.id)
    events: list[Event] = [first, second, replace(first, id=uuid4()), click(), taken]
    jobs = [(job_of(event), {"jobId": f"j-{place}"}) for place, event in enumerate(events)]
    # Jobs run side by side: which of two events of one draft is the first, their order in the queue does not say.
    site.put(jobs[:1])
    eventually(lambda: len(site.finished("completed")) == 1)
    site.put(jobs[1:])
    eventually(lambda: len(site.finished("completed")) == 4)
    eventually(lambda: len(site.finished("failed")) == 1)
    said = [json.loads(fields["returnvalue"]) for fields in site.finished("completed").values()]
    assert sorted(said) == ["conflict", "duplicate", "written", "written"]
    [refused] = site.finished("failed").values()
    assert refused["failedReason"].startswith("id_taken: ")
    assert (site.rows(), site.rows("kb_search_event")) == (1, 1)
    assert worker.value("kb_pipeline_worker_events_total", type="search", result="written") == 1
    assert worker.value("kb_event_conflict_total") == 1


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (None, "not_an_object"),
        ("a text", "not_an_object"),
        ([], "not_an_object"),
        (7, "not_an_object"),
        ({}, None),
        (a_job(org_id=None), "org_id"),
        (a_job(query=None), "query"),
        (a_job(type="wat"), "type"),
        (a_job(retrieved="none"), "retrieved"),
        (a_job(schema_version=99), "schema_version"),
        (json.dumps(a_job()), "not_an_object"),
    ],
)
def test_a_job_without_an_event_fails_at_once_with_its_reason_and_is_counted_by_it(
    site: Site, new_thread: Start, data: object, reason: str | None
) -> None:
    worker = new_thread(site.server.url)
    site.put([(data, {"attempts": 8, "jobId": "m-bad"})])
    eventually(lambda: "m-bad" in site.finished("failed"))
    fields = site.finished("failed")["m-bad"]
    code, _, sentence = fields["failedReason"].partition(": ")
    assert code == (reason or code)
    assert sentence.endswith(".")
    assert json.loads(fields["stacktrace"]) == []
    assert worker.value("kb_pipeline_worker_rejected_total", reason=code) == 1
    assert worker.worker.health()[0]


@pytest.mark.parametrize(
    ("changes", "note"),
    [
        ({"query": "nul \0 and half \ud800"}, "text_cleaned"),
        ({"query": "x" * 1_000_000}, "query_cut"),
        ({"retrieved": [{"doc_id": f"d{n}", "rank": n} for n in range(1, 5001)]}, "hits_cut"),
        ({"engine": "unheard of"}, "engine_unknown"),
        ({"occurred_at": "2026-07-09T10:00:00"}, "time_naive"),
        ({"occurred_at": 179604 * 31_556_952}, "time_replaced"),
    ],
)
def test_what_can_be_cleaned_is_kept_and_counted_by_what_was_cleaned(
    site: Site, new_thread: Start, changes: dict[str, Any], note: str
) -> None:
    worker = new_thread(site.server.url)
    site.put([(a_job(**changes), {"jobId": "m-1"})])
    eventually(lambda: site.rows() == 1)
    eventually(lambda: worker.value("kb_pipeline_worker_cleaned_total", note=note) == 1)


@pytest.mark.parametrize(
    "fields",
    [
        {"data": "no json", "opts": "{}"},
        {"data": DEEP, "opts": "{}"},
        {"data": b"\xff\xfe\x00 half a character \xc3", "opts": "{}"},
        {"data": "NaN", "opts": "{}"},
        {"data": "{}", "opts": "[]"},
        {"data": "{}", "opts": '{"attempts": "many", "backoff": {"type": "wishful"}}'},
        {"data": "{}", "opts": '{"parent": 5, "removeOnFail": {"age": "long"}}'},
        {"data": "{}", "opts": "{}", "timestamp": "1783936800000.5", "delay": "a while"},
        {},
    ],
)
def test_whatever_lies_in_the_queue_under_a_jobs_key_ends_as_a_failed_job(
    site: Site,
    new_thread: Start,
    fields: dict[str, Any],
) -> None:
    worker = new_thread(site.server.url)
    with site.server.client() as client:
        if fields:
            client.hset(f"bull:{site.queue}:m-raw", mapping={"name": "x", "timestamp": "1783936800000", **fields})
        client.lpush(f"bull:{site.queue}:wait", "m-raw")
    site.put_events([retrieval()])
    eventually(lambda: site.rows() == 1)
    eventually(lambda: "m-raw" in site.finished("failed"))
    eventually(lambda: worker.worker.health()[0])


def _drop_rule(database: Database) -> None:
    with database.connect() as connection:
        connection.execute("ALTER TABLE kb_retrieval_event DROP CONSTRAINT ours")


def test_a_bad_event_among_many_takes_none_along(site: Site, new_thread: Start, request: pytest.FixtureRequest) -> None:
    # What the reading cannot know: a rule of the operator's own.
    with site.database.connect() as connection:
        connection.execute("ALTER TABLE kb_retrieval_event ADD CONSTRAINT ours CHECK (top_k <> 13)")
    request.addfinalizer(partial(_drop_rule, site.database))
    events = [retrieval(top_k=13 if place in {3, 40} else 5) for place in range(60)]
    site.put_events(events)
    worker = new_thread(site.server.url)
    eventually(lambda: len(site.finished("failed")) == 2)
    eventually(lambda: site.rows() == 58)
    bad = site.finished("failed")
    assert set(bad) == {job_id(events[3]), job_id(events[40])}
    said = "CheckViolation (SQLSTATE 23514), table kb_retrieval_event, rule ours; the event was not kept"
    for fields in bad.values():
        assert fields["failedReason"] == f"unstorable: the database refuses a statement: {said}"
    assert worker.value("kb_pipeline_worker_rejected_total", reason="unstorable") == 2
    assert [fields["atm"] for fields in bad.values()] == ["1", "1"]


def test_an_event_without_a_time_has_that_of_its_job(site: Site, new_thread: Start) -> None:
    queued = datetime.now(UTC).replace(microsecond=0) - timedelta(hours=3)
    options = {"jobId": "m-1", "timestamp": int(queued.timestamp() * 1000)}
    site.put([(a_job(occurred_at=None), options)])
    site.put([(a_job(occurred_at=None), {"jobId": "m-2", "timestamp": 10**15})])
    new_thread(site.server.url)
    eventually(lambda: site.rows() == 2)
    with site.database.connect() as connection:
        times = [row[0] for row in connection.execute("SELECT occurred_at FROM kb_retrieval_event ORDER BY 1")]
    assert times[0] == queued
    assert abs(times[1] - datetime.now(UTC)) < timedelta(minutes=5)


def test_jobs_of_producers_who_say_nothing_of_it_are_kept_for_a_while_and_not_for_ever(
    site: Site, new_thread: Start
) -> None:
    new_thread(site.server.url)
    site.put([(a_job(), {"jobId": f"m-{n}"}) for n in range(1010)])
    eventually(lambda: len(site.finished("completed")) == 1000)


def test_delayed_and_urgent_jobs_and_jobs_of_any_name_are_jobs_too(site: Site, new_thread: Start) -> None:
    for options in ({"delay": 200}, {"priority": 3}, {"lifo": True}):
        event = retrieval()
        site.put([(job_of(event), job_options(job_id(event)) | options)])
    new_thread(site.server.url)
    eventually(lambda: site.rows() == 3)


def test_a_server_behind_a_unix_socket_and_a_password_serves_as_well(
    queue: str, database: Database, new_thread: Start, tmp_path: Path
) -> None:
    path = tmp_path / "valkey.sock"
    settings: list[str | Path] = ["--port", "0", "--unixsocket", path, "--save", "", "--requirepass", "geheim"]
    with subprocess.Popen([find_program(), *settings], cwd=tmp_path, stdout=subprocess.DEVNULL) as server:
        try:
            eventually(path.exists)
            url = f"unix://:geheim@{path}?db=2"
            put_events(on(url), queue, [retrieval() for _ in range(10)])
            new_thread(url)
            eventually(lambda: count(database) == 10)
        finally:
            server.terminate()


def test_a_paused_queue_is_no_stuck_queue(site: Site, new_thread: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patrol, "STUCK_S", 0.1)
    worker = new_thread(site.server.url)
    with site.server.client() as client:
        client.hset(f"bull:{site.queue}:meta", "paused", 1)
        site.put_events([retrieval()])
        eventually(lambda: worker.value("kb_pipeline_worker_oldest_waiting_seconds") > 0.5)
        assert worker.worker.health()[0]
        assert site.rows() == 0
        client.hdel(f"bull:{site.queue}:meta", "paused")
        client.zadd(f"bull:{site.queue}:marker", {"0": 0})
    eventually(lambda: site.rows() == 1)


def test_jobs_that_nobody_takes_are_a_stuck_queue_until_somebody_does(
    site: Site, new_thread: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(patrol, "STUCK_S", 0.2)

    async def nothing(_worker: object, _token: str) -> None:
        await asyncio.sleep(0.05)

    with monkeypatch.context() as patched:
        patched.setattr(bullmq.Worker, "getNextJob", nothing)
        worker = new_thread(site.server.url)
        site.put_events([retrieval()])
        eventually(lambda: worker.value("kb_pipeline_worker_fault", kind="stuck") == 1)
        [reason] = worker.worker.health()[1]["reasons"]
        assert "1 job waits and none was taken" in reason["sentence"]
    eventually(lambda: worker.worker.health()[0])
