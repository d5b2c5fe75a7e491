"""Fixtures of the worker's tests: a queue server for all that do it no harm, and workers as processes or threads."""

import json
import os
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

import pytest

from kb_pipeline.adapters.postgres.connection import Database
from kb_pipeline.settings import RetrievalSettings
from kb_pipeline.worker import patrol
from kb_pipeline_tests.queue_servers import QueueServer
from kb_pipeline_tests.servers import PostgresServer, administer
from kb_pipeline_tests.worker.workers import Site, WorkerProcess, WorkerThread

_numbers = count()


@pytest.fixture(scope="session")
def shared_database(postgres_server: PostgresServer, postgres_template: str) -> Iterator[Database]:
    """One database for all these tests, since making one takes longer than most of them."""
    name = f"kb_worker_{os.getpid()}"
    administer(postgres_server, "CREATE DATABASE {} TEMPLATE {}", name, postgres_template)
    database = Database(postgres_server.url(name), application_name="kb_pipeline_tests")
    yield database
    database.dispose()
    administer(postgres_server, "DROP DATABASE {} WITH (FORCE)", name)


@pytest.fixture
def database(shared_database: Database) -> Database:
    """It, without any event."""
    with shared_database.connect() as connection:
        connection.execute("TRUNCATE kb_retrieval_event, kb_search_event, kb_retrieval_event_conflict")
    return shared_database


@pytest.fixture
def queue() -> str:
    """The name of a queue that no other test uses."""
    return f"consumed-{next(_numbers)}"


@pytest.fixture
def site(queue_server: QueueServer, queue: str, database: Database) -> Site:
    """A queue and a database for one test."""
    return Site(queue_server, queue, database)


@pytest.fixture
def new_worker(database: Database, queue: str, tmp_path: Path) -> Iterator[Callable[..., WorkerProcess]]:
    """Starts `kb-pipeline worker` processes on the test's database and queue; they are gone after the test."""
    started: list[WorkerProcess] = []

    def start(url: str, **retrieval: object) -> WorkerProcess:
        key = "redis_url" if url.startswith("redis") else "queue_database_url"
        section = {"enabled": True, "queue": queue, key: url, "worker_port": 0, **retrieval}
        address = database.url.render_as_string(hide_password=False)
        config = tmp_path / f"worker-{len(started)}.yaml"
        config.write_text(json.dumps({"retrieval": section, "database": {"url": address}}))
        started.append(WorkerProcess(config))
        return started[-1]

    yield start
    for worker in started:
        worker.kill()


@pytest.fixture
def new_thread(
    database: Database, queue: str, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[[str], WorkerThread]]:
    """Starts workers in threads of this process, which look at the queue often; they are gone after the test."""
    monkeypatch.setattr(patrol, "ROUND_S", 0.05)
    monkeypatch.setattr(patrol, "REFUSAL_OVER_S", 0.5)
    started: list[WorkerThread] = []

    def start(url: str) -> WorkerThread:
        worker = WorkerThread(RetrievalSettings(enabled=True, queue=queue, redis_url=url), database)
        started.append(worker)
        return worker

    yield start
    for worker in started:
        worker.stop()
