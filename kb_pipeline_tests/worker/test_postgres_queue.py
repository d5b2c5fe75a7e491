"""A queue without Redis: BullMQ's own tables in a PostgreSQL database, the same worker."""

import signal
from collections.abc import Callable
from typing import Any

import pytest

from kb_pipeline.adapters.postgres.connection import Database
from kb_pipeline.retrieval.events import job_of
from kb_pipeline_tests.queue_servers import eventually
from kb_pipeline_tests.recorder.events import click, retrieval
from kb_pipeline_tests.servers import libpq_url
from kb_pipeline_tests.worker.workers import WorkerProcess, count, put, put_events

pytestmark = pytest.mark.postgres

Start = Callable[..., WorkerProcess]


@pytest.fixture
def postgres_queue(empty_database: Database) -> dict[str, Any]:
    """BullMQ's options for a producer, of a queue in a database of its own."""
    address = empty_database.url.render_as_string(hide_password=False)
    return {"backend": "postgres", "connection": libpq_url(address)}


def test_events_go_through_a_queue_in_a_database(
    postgres_queue: dict[str, Any], queue: str, database: Database, new_worker: Start
) -> None:
    worker = new_worker(postgres_queue["connection"])
    assert worker.announcement.startswith(f"consuming {queue} at postgresql://")
    first = retrieval()
    put_events(postgres_queue, queue, [first, *(retrieval() for _ in range(40)), click()])
    # Ids are rows there: none is special.
    put(postgres_queue, queue, [(job_of(retrieval()), {"jobId": name}) for name in ("active", "wait", "meta", "0:1")])
    put(postgres_queue, queue, [("no event", {"jobId": "m-bad"}), (job_of(first), {"jobId": "m-again"})])
    eventually(lambda: count(database) == 45)
    eventually(lambda: worker.metric('kb_pipeline_worker_rejected_total{reason="not_an_object"}') == 1)
    duplicates = 'kb_pipeline_worker_events_total{result="duplicate",type="retrieval"}'
    eventually(lambda: worker.metric(duplicates) == 1)
    assert count(database, "kb_search_event") == 1
    assert worker.health()[0] == 200
    worker.signal(signal.SIGTERM)
    assert worker.wait() == 0


@pytest.mark.slow
def test_jobs_of_a_killed_worker_and_sessions_that_are_ended_cost_no_event(
    postgres_queue: dict[str, Any], queue: str, database: Database, empty_database: Database, new_worker: Start
) -> None:
    killed = new_worker(postgres_queue["connection"])
    with database.connect() as blocking:
        blocking.execute("LOCK TABLE kb_retrieval_event IN ACCESS EXCLUSIVE MODE")
        put_events(postgres_queue, queue, [retrieval() for _ in range(10)])
        eventually(lambda: killed.health()[1]["jobs_in_hand"] == 10)
        killed.kill()
    worker = new_worker(postgres_queue["connection"])
    eventually(lambda: count(database) == 10)
    with empty_database.connect() as connection:
        connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
    put_events(postgres_queue, queue, [retrieval() for _ in range(30)])
    eventually(lambda: count(database) == 40)
    eventually(lambda: worker.health()[0] == 200)
