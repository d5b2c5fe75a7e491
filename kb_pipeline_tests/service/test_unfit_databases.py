"""A database that answers and is not as it should be: each page and each call is a 503 in a sentence, nothing else."""

import re
from collections.abc import Callable, Iterator
from urllib.parse import quote

import httpx
import pytest
from psycopg.types.json import Jsonb

from kb_pipeline.adapters.postgres.connection import Database
from kb_pipeline_tests.http_servers import PLAIN
from kb_pipeline_tests.service.conftest import ORG, SPECIALIST, TRIAD, _plant_retrieval, whole_turn
from kb_pipeline_tests.service.hostile import HOSTILE
from kb_pipeline_tests.service.planting import plant
from kb_pipeline_tests.service.served import AUDITOR, service_settings, serving

TURN = quote(whole_turn().event_id, safe="/")
PATHS = (
    "/", "/retrieval", "/retrieval/conflicts", "/alerts", "/pipeline", f"/turns/{TURN}", "/metrics",
    "/api/quality/summary", "/api/quality/trend", "/api/quality/recent", "/api/quality/recent.csv",
    f"/api/quality/turns/{TURN}", "/api/retrieval/summary", "/api/retrieval/gaps", "/api/retrieval/gaps.csv",
    "/api/ground-truth", "/api/ground-truth.csv", "/api/alerts",
)  # fmt: skip
WRITING = (f"/turns/{TURN}", f"/api/quality/turns/{TURN}")
WORD = {
    "org_id": str(ORG), "specialist_id": str(SPECIALIST), "query_sha": f"{3:064x}",
    "doc_id": f"doc-3-{HOSTILE[3][:300]}", "relevant": True,
    "reason": "it answers",
}  # fmt: skip


@pytest.fixture
def client(database: Database) -> Iterator[httpx.Client]:
    """An auditor's client of a service over a database of its own, which holds turns and judgments."""
    plant_whole(database)
    _plant_retrieval(database)
    with (
        serving(service_settings(database)) as address,
        httpx.Client(verify=PLAIN, base_url=address, headers=AUDITOR, timeout=30) as client,
    ):
        yield client


def plant_whole(database: Database) -> None:
    turn = whole_turn()
    plant(database, [turn])
    texts = {"question": "q", "context": "c", "passages": Jsonb([]), "answer": "a"}
    with database.connect() as connection:
        connection.execute(TRIAD, {"event_id": turn.event_id, "ts": turn.ts, **texts})


def everything(client: httpx.Client) -> dict[str, httpx.Response]:
    found = {path: client.get(path, headers={"Accept": "*/*" if "api" in path else "text/html"}) for path in PATHS}
    found["settle"] = client.post("/api/ground-truth/settle", json=WORD)
    return found


def sentence(reply: httpx.Response) -> str:
    """What a 503 says; nothing of the inside of the service is in it."""
    if reply.status_code != 503:
        return str(reply.status_code)
    assert not re.search(r"Traceback|psycopg|SELECT|rag_|kb_(?!pipeline)|/tmp", reply.text)
    if reply.headers["content-type"] == "application/problem+json":
        return str(reply.json()["detail"])
    return reply.text


def unmigrated(database: Database) -> None:
    with database.connect() as connection:
        connection.execute("DROP SCHEMA public CASCADE; CREATE SCHEMA public; GRANT USAGE ON SCHEMA public TO PUBLIC")


def without_rights(database: Database) -> None:
    with database.connect() as connection:
        connection.execute("REVOKE ALL ON ALL TABLES IN SCHEMA public FROM kb_api_reader, kb_auditor, kb_grader")


@pytest.mark.parametrize("harm", [unmigrated, without_rights])
def test_without_tables_or_rights_each_answer_says_what_is_missing(
    client: httpx.Client, database: Database, harm: Callable[[Database], None]
) -> None:
    harm(database)
    said = {path: sentence(reply) for path, reply in everything(client).items()}
    if harm is without_rights:
        said.pop("settle")  # the configured user settles under its own rights, where the role has none
    assert [path for path, words in said.items() if "lacks a table, a role or a right" not in words] == []
    assert (client.get("/healthz").status_code, client.get("/readyz").status_code) == (200, 503)


def test_a_read_only_database_is_read_and_what_would_be_written_is_refused_in_a_sentence(
    client: httpx.Client, database: Database
) -> None:
    with database.session() as connection:
        row = connection.execute("SELECT current_database()").fetchone()
        assert row
        connection.execute(f"ALTER DATABASE {row[0]} SET default_transaction_read_only = on")
        connection.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database()"
                           " AND pid <> pg_backend_pid()")  # fmt: skip
    for path, reply in everything(client).items():
        if path in (*WRITING, "settle"):
            assert "takes no writes" in sentence(reply), path
        else:
            assert reply.status_code == 200, path
