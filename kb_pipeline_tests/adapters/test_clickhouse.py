"""The copy of retrieval events in ClickHouse: whole, once, without text, and never in the way of anything."""

import importlib
import importlib.util
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from urllib.parse import parse_qs, urlsplit
from uuid import uuid4

import pytest

from kb_pipeline.adapters.clickhouse import ClickHouse, ClickHouseFailed
from kb_pipeline.adapters.postgres.connection import Database
from kb_pipeline.adapters.postgres.retrieval.copying import PostgresEventLines
from kb_pipeline.steps.copy_events import copy_events
from kb_pipeline_tests.builders import table
from kb_pipeline_tests.http_servers import ScriptedServer, http

SECRET = "a question of a citizen"
without_engine = pytest.mark.skipif(
    importlib.util.find_spec("chdb") is None, reason="no ClickHouse engine: uv sync --group clickhouse brings one"
)


@pytest.fixture
def server(tmp_path: Path) -> Iterator[str]:
    """A ClickHouse engine behind a small HTTP server of the same protocol."""
    session = importlib.import_module("chdb.session").Session(str(tmp_path / "clickhouse"))

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            query = parse_qs(urlsplit(self.path).query).get("query", [""])[0]
            answer = str(session.query(f"{query}\n{body}")).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *_: object) -> None: ...

    http_server = HTTPServer(("127.0.0.1", 0), Handler)
    Thread(target=http_server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{http_server.server_port}/default"
    http_server.shutdown()
    http_server.server_close()
    session.close()


def plant(database: Database, count: int, *, back: timedelta = timedelta()) -> None:
    with database.connect() as connection:
        for number in range(count):
            connection.execute(
                "INSERT INTO kb_retrieval_event (org_id, specialist_id, conversation_id, message_id, engine, query,"
                " top_k, result_count, retrieved, created_at, occurred_at)"
                " VALUES (%s, %s, %s, %s, 'hybrid', %s, 5, 1, %s, %s, %s)",
                (
                    *(uuid4() for _ in range(4)),
                    f"{SECRET} {number}",
                    '[{"doc_id": "a \\"b\\"", "rank": 1, "score": 0.5}]',
                    datetime.now(UTC) - back,
                    datetime.now(UTC) - back,
                ),
            )


def copied(database: Database, url: str) -> int | float:
    with ClickHouse(url) as copy:
        return copy_events(lines=PostgresEventLines(database), copy=copy).counts["events_copied"]


def rows(url: str, columns: str) -> list[str]:
    with ClickHouse(url) as copy:
        return copy._ask(f"SELECT {columns} FROM kb_retrieval_event FINAL FORMAT TabSeparated").splitlines()


@without_engine
@pytest.mark.slow
def test_every_event_is_copied_once_however_often_the_copy_runs(database: Database, server: str) -> None:
    plant(database, 3, back=timedelta(hours=3))
    plant(database, 2)
    assert copied(database, server) == 5
    assert copied(database, server) == 2, "what is younger than the margin is looked at again"
    plant(database, 1)
    copied(database, server)
    ours = [str(row[0]) for row in table(database, "SELECT id FROM kb_retrieval_event ORDER BY id")]
    assert sorted(rows(server, "id")) == ours
    assert set(rows(server, "doc_ids, scores, result_count")) == {"['a \"b\"']\t[0.5]\t1"}


def test_the_lines_of_events_carry_no_text(database: Database) -> None:
    plant(database, 2)
    with PostgresEventLines(database).since(datetime(2020, 1, 1, tzinfo=UTC), chunk=1) as chunks:
        lines = [line for chunk in chunks for line in chunk]
    assert len(lines) == 2
    assert not any(SECRET in line for line in lines)


def test_a_public_host_is_refused() -> None:
    with pytest.raises(ClickHouseFailed, match=r"93\.184\.216\.34, a public host"):
        ClickHouse("http://93.184.216.34:8123/default")


def test_a_server_that_is_away_is_named_without_its_password() -> None:
    with (
        pytest.raises(ClickHouseFailed, match=r"127\.0\.0\.1:9 cannot be reached") as failure,
        ClickHouse("http://someone:hush@127.0.0.1:9/default"),
    ):
        pass
    assert "hush" not in str(failure.value)


def test_a_server_that_refuses_is_quoted_by_its_error_code_alone() -> None:
    refusal = http(403, b"row 1: " + SECRET.encode(), X_ClickHouse_Exception_Code="516")
    with (
        ScriptedServer(script=lambda _: [refusal]) as server,
        pytest.raises(ClickHouseFailed, match="HTTP 403 and its error 516") as failure,
        ClickHouse(server.base_url),
    ):
        pass
    assert SECRET not in str(failure.value)


def test_a_server_that_is_no_clickhouse_is_told_apart() -> None:
    with (
        ScriptedServer(script=lambda _: [http(200, b"<html>")]) as server,
        ClickHouse(server.base_url) as copy,
        pytest.raises(ClickHouseFailed, match="does not answer as a ClickHouse server does"),
    ):
        copy.newest()
