"""A database that hangs, goes and comes back under a running service: answers stay quick, and it is found again."""

import os
import signal
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from threading import Thread

import httpx
import pytest

from kb_pipeline.adapters.embedded import EmbeddedPostgres
from kb_pipeline.adapters.postgres.bounds import Bounds, Breaker, BreakerOpen
from kb_pipeline.adapters.postgres.connection import Database
from kb_pipeline.adapters.postgres.migrations import apply_roles, migrate
from kb_pipeline.errors import DatabaseAway, DatabaseSlow
from kb_pipeline_tests.http_servers import PLAIN
from kb_pipeline_tests.queue_servers import eventually
from kb_pipeline_tests.service.served import AUDITOR, service_settings, serving

PATHS = (
    "/",
    "/retrieval",
    "/alerts",
    "/pipeline",
    "/api/quality/summary",
    "/api/alerts",
    "/api/quality/turns/e",
    "/metrics",
)


def children(pid: int) -> list[int]:
    """The server processes of a postmaster."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue
        if parent == pid:
            found.append(int(folder.name))
    return found


@contextmanager
def frozen(server: EmbeddedPostgres, *, with_sessions: bool = True) -> Iterator[None]:
    """The server says nothing more until the end of the block; with its sessions, or new ones only."""
    stopped = [server.pid]
    os.kill(server.pid, signal.SIGSTOP)
    if with_sessions:
        stopped += children(server.pid)
        for pid in stopped[1:]:
            os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        for pid in stopped:
            os.kill(pid, signal.SIGCONT)


def timed(client: httpx.Client, path: str) -> tuple[int, float, httpx.Headers]:
    started = time.monotonic()
    reply = client.get(path)
    return reply.status_code, time.monotonic() - started, reply.headers


@pytest.mark.slow
@pytest.mark.parametrize("with_sessions", [True, False], ids=["hung", "refusing to connect"])
def test_a_hung_database_is_a_quick_503_for_everybody_and_is_found_again(
    own_postgres: EmbeddedPostgres, *, with_sessions: bool
) -> None:
    own_postgres.create_database("kb")
    database = Database(own_postgres.url("kb"))
    migrate(database)
    apply_roles(database)
    database.dispose()
    with (
        serving(service_settings(database)) as address,
        httpx.Client(verify=PLAIN, base_url=address, headers=AUDITOR, timeout=60) as client,
        ThreadPoolExecutor(52) as crowd,
    ):
        paths = [PATHS[number % len(PATHS)] + f"?window={number + 1}h" for number in range(50)]
        assert {status for status, *_ in crowd.map(lambda path: timed(client, path), PATHS[:4])} == {200}
        with frozen(own_postgres, with_sessions=with_sessions):
            if not with_sessions:
                drop_sessions(own_postgres)
            first = [crowd.submit(timed, client, path) for path in paths]
            alive, ready = crowd.submit(timed, client, "/healthz"), crowd.submit(timed, client, "/readyz")
            answers = [each.result() for each in first]
            assert {status for status, *_ in answers} == {503}
            assert max(took for _, took, _ in answers) < 6
            assert all(int(headers["retry-after"]) > 0 for *_, headers in answers)
            assert (alive.result()[0], ready.result()[0]) == (200, 503)
            assert alive.result()[1] < 2
            assert ready.result()[1] < 3
            again = list(crowd.map(lambda path: timed(client, path), paths))
            assert {status for status, *_ in again} == {503}
            assert sum(took > 1.5 for _, took, _ in again) <= 2, "one looks again for all of them"
        eventually(lambda: timed(client, "/readyz")[0] == 200)
        assert {status for status, *_ in crowd.map(lambda path: timed(client, path), PATHS[:4])} == {200}


def drop_sessions(server: EmbeddedPostgres) -> None:
    for pid in children(server.pid):
        if b"kb_api_reader" in command(pid) or b" kb " in command(pid):
            os.kill(pid, signal.SIGTERM)


def command(pid: int) -> bytes:
    return Path(f"/proc/{pid}/cmdline").read_bytes()


def impatient(database: Database, **bounds: float) -> Database:
    return Database(database.url.render_as_string(hide_password=False), bounds=Bounds(**bounds))  # type: ignore[arg-type]


@pytest.mark.postgres
def test_a_statement_that_takes_too_long_is_ended_by_the_server(database: Database) -> None:
    quick = impatient(database, statement_s=0.2)
    with pytest.raises(DatabaseSlow), quick.connect() as connection:
        connection.execute("SELECT pg_sleep(30)")
    with quick.connect() as connection:
        assert connection.execute("SELECT 1").fetchone() == (1,)
    quick.dispose()


@pytest.mark.postgres
def test_whoever_finds_all_connections_in_use_is_told_soon(database: Database) -> None:
    quick = impatient(database, pool_s=0.2)
    held = [quick.connect() for _ in range(12)]
    for each in held:
        each.__enter__()
    started = time.monotonic()
    with pytest.raises(DatabaseAway, match="all 12 connections are in use"), quick.connect():
        pass
    assert time.monotonic() - started < 2
    for each in held:
        each.__exit__(None, None, None)
    quick.dispose()


@pytest.mark.slow
def test_a_statement_under_way_when_the_server_hangs_ends_all_the_same(own_postgres: EmbeddedPostgres) -> None:
    quick = Database(own_postgres.url(), bounds=Bounds(statement_s=1))
    raised: list[BaseException] = []

    def work() -> None:
        try:
            with quick.connect() as connection:
                connection.execute("SELECT pg_sleep(30)")
        except DatabaseAway as error:
            raised.append(error)

    thread = Thread(target=work)
    thread.start()
    time.sleep(0.4)
    with frozen(own_postgres):
        thread.join(6)
        assert [str(error).split(": ")[1] for error in raised] == ["no answer within 2 seconds; run the command again"]
        started = time.monotonic()
        with pytest.raises(DatabaseAway, match="did not answer a moment ago"), quick.connect():
            pass
        assert time.monotonic() - started < 0.5
    quick.dispose()


def test_after_a_failure_nobody_tries_for_a_pause_and_then_one_does() -> None:
    clock = [0.0]
    breaker = Breaker(3.0, lambda: clock[0])
    with breaker.attempt(), breaker.attempt():
        pass
    breaker.trip()
    clock[0] = 2.9
    with pytest.raises(BreakerOpen), breaker.attempt():
        pass
    clock[0] = 3.1
    with breaker.attempt(), pytest.raises(BreakerOpen), breaker.attempt():
        pass
    with breaker.attempt(), breaker.attempt():
        pass
