"""Fixtures for every room: a real PostgreSQL server, started when the first test needs it.

KB_PIPELINE_TEST_POSTGRES_URL gives another server to run the same tests on; its user must be able to create databases
and roles.
"""

import os
import signal
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

import hypothesis
import pytest

from kb_pipeline.adapters.embedded import EmbeddedPostgres
from kb_pipeline.adapters.postgres.connection import Database
from kb_pipeline.adapters.postgres.migrations import apply_roles, migrate
from kb_pipeline.adapters.postgres.sql_files import read_sql
from kb_pipeline_tests.queue_servers import QueueServer
from kb_pipeline_tests.servers import (
    GivenServer,
    PostgresServer,
    administer,
    end_server,
    folder_of_servers,
    use_memory_for_files,
)

_numbers = count()
# Files of a minute and more.
LONGEST = "test_run.py test_serving.py test_wheel.py test_outages.py test_expectations.py test_rehearsal.py".split()

# A busy machine makes a slow example, not a wrong one.
hypothesis.settings.register_profile("patient", deadline=None)
hypothesis.settings.load_profile("patient")
# Before pytest chooses its own folder.
use_memory_for_files()
# A run in the background of a script ignores Ctrl-C, and so would every command that is interrupted here.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Whatever uses the server carries the mark `postgres`, named or not."""
    for item in items:
        if {"postgres_server", "servers_folder"} & set(getattr(item, "fixturenames", ())):
            item.add_marker(pytest.mark.postgres)
    # Files with long ones first, or one of them would run alone at the end.
    slow = {item.path for item in items if item.get_closest_marker("slow")}
    items.sort(key=lambda item: (item.path.name not in LONGEST, item.path not in slow))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:  # noqa: ARG001 the hook's signature
    """Half as many again as there are cores: many a test waits for a server."""
    return max(2, (os.cpu_count() or 1) * 3 // 2)


@pytest.fixture(scope="session")
def servers_folder() -> Iterator[Path]:
    """Where the run's embedded servers keep their data; what runs there ends with the run, also when it is killed."""
    with folder_of_servers() as folder:
        yield folder


@pytest.fixture(scope="session")
def postgres_server(request: pytest.FixtureRequest) -> Iterator[PostgresServer]:
    """One server for the whole run."""
    given = os.environ.get("KB_PIPELINE_TEST_POSTGRES_URL")
    if given:
        yield GivenServer(given)
        return
    folder: Path = request.getfixturevalue("servers_folder")
    with EmbeddedPostgres(folder / "main", fsync=False) as server:
        yield server


@pytest.fixture
def own_postgres(servers_folder: Path) -> Iterator[EmbeddedPostgres]:
    """A server for one test to stop, freeze and start."""
    folder = servers_folder / "of-outages"
    with EmbeddedPostgres(folder, fsync=False) as server:
        yield server
    end_server(folder)


@pytest.fixture(scope="session")
def postgres_template(postgres_server: PostgresServer) -> Iterator[str]:
    """A database as after `kb-pipeline migrate`, with kb_source mapped to the example tables, all empty."""
    name = f"kb_template_{os.getpid()}"
    administer(postgres_server, "CREATE DATABASE {} TEMPLATE {} ENCODING 'UTF8'", name, "template0")
    database = Database(postgres_server.url(name))
    migrate(database)
    apply_roles(database)
    with database.connect() as connection:
        connection.execute(read_sql("source_example.sql"))
        connection.execute(read_sql("source_views.sql"))
    database.dispose()
    yield name
    administer(postgres_server, "DROP DATABASE {} WITH (FORCE)", name)


@pytest.fixture
def new_database(postgres_server: PostgresServer) -> Iterator[Callable[[str], Database]]:
    """Makes databases from the name of a template; they are gone after the test."""
    made: list[tuple[str, Database]] = []

    def make(template: str) -> Database:
        name = f"kb_test_{os.getpid()}_{next(_numbers)}"
        administer(postgres_server, "CREATE DATABASE {} TEMPLATE {}", name, template)
        database = Database(postgres_server.url(name), application_name="kb_pipeline_tests")
        made.append((name, database))
        return database

    yield make
    for name, database in made:
        database.dispose()
        administer(postgres_server, "DROP DATABASE {} WITH (FORCE)", name)


@pytest.fixture
def database(new_database: Callable[[str], Database], postgres_template: str) -> Database:
    """A fresh migrated database with the example source tables and views, for one test."""
    return new_database(postgres_template)


@pytest.fixture
def empty_database(new_database: Callable[[str], Database]) -> Database:
    """A fresh database without anything in it, for one test."""
    return new_database("template0")


@pytest.fixture(scope="session")
def queue_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[QueueServer]:
    """A queue server for every test that only uses a queue of its own."""
    with QueueServer(tmp_path_factory.mktemp("queue")) as running:
        yield running


@pytest.fixture
def own_server(tmp_path: Path) -> Iterator[QueueServer]:
    """A queue server, not started yet, for one test to maltreat."""
    unstarted = QueueServer(tmp_path)
    yield unstarted
    unstarted.stop()
