"""One planted database and one service for all tests of this folder that only read."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from uuid import UUID

import httpx
import pytest
from psycopg.types.json import Jsonb

from kb_pipeline.adapters.postgres.connection import Database
from kb_pipeline.adapters.postgres.retrieval.queries import load
from kb_pipeline.windows import HOUR, Window, floor_hour
from kb_pipeline_tests.http_servers import PLAIN
from kb_pipeline_tests.servers import PostgresServer, administer
from kb_pipeline_tests.service.hostile import HOSTILE
from kb_pipeline_tests.service.planting import VERSION, Planted, plant, some_turns
from kb_pipeline_tests.service.served import AUDITOR, OPERATOR, service_settings, serving

NOW = datetime(2026, 11, 3, 10, 30, tzinfo=UTC)
SECRET = "RAHASIA-TEKS-LENGKAP"
ORG, SPECIALIST = UUID(int=1), UUID(int=2)
TRIAD = """
INSERT INTO rag_triad (event_id, ts, parse_status, question, context, passages, answer, question_preview)
VALUES (%(event_id)s, %(ts)s, 'ok', %(question)s, %(context)s, %(passages)s, %(answer)s, 'pratinjau')
"""
METRIC = """
INSERT INTO rag_metric (event_id, ts, had_context, num_passages, context_chars, answer_chars, refused, answer_truncated,
  support_score, opinion, opinion_version)
VALUES (%(event_id)s, %(ts)s, true, 2, 10, 10, false, false, 0.4, %(opinion)s, 'o')
"""
EVENT = """
INSERT INTO kb_retrieval_event (id, org_id, specialist_id, conversation_id, engine, query, top_k, result_count,
  latency_ms, retrieved, created_at, occurred_at)
VALUES (%(id)s, %(org)s, %(specialist)s, %(id)s, %(engine)s, 'pertanyaan', 5, %(count)s, %(latency)s, %(retrieved)s,
  %(at)s, %(at)s)
"""
GAP = """
INSERT INTO kb_retrieval_gap (message_id, org_id, specialist_id, conversation_id, event_id, query_sha, engine, kind,
  decided_at, subject, doc_id, source_state, rule_version)
VALUES (%(id)s, %(org)s, %(specialist)s, %(id)s, %(id)s, %(sha)s, %(engine)s, %(kind)s, %(at)s, %(subject)s,
  %(doc)s, 's', 'r')
"""
QUERY = """
INSERT INTO kb_query (org_id, specialist_id, query_sha, query, query_preview, first_seen_at, last_seen_at)
VALUES (%(org)s, %(specialist)s, %(sha)s, %(query)s, %(preview)s, %(at)s, %(at)s)
"""
TRUTH = """
INSERT INTO kb_ground_truth (org_id, specialist_id, query_sha, doc_id, status, grade, p, positive, negative,
  conversations, evidence_count, kinds, first_observed_at, last_observed_at, as_of, rule_version)
VALUES (%(org)s, %(specialist)s, %(sha)s, %(doc)s, %(status)s, %(grade)s, 0.5, 2, 2, 3, 4, '{cited}', %(at)s,
  %(at)s, %(at)s, 'r')
"""
EVIDENCE = """
INSERT INTO kb_evidence (org_id, specialist_id, query_sha, doc_id, kind, weight, message_id, observed_at, rule_version)
VALUES (%(org)s, %(specialist)s, %(sha)s, %(doc)s, 'cited', 1, %(id)s, %(at)s, 'r')
"""


@pytest.fixture(scope="session")
def planted_database(postgres_server: PostgresServer, postgres_template: str) -> Iterator[Database]:
    """Two weeks of turns, one with its text, hostile strings in every column that a page shows, some retrievals."""
    with _kept_database(postgres_server, postgres_template, "kb_service") as database:
        _plant_turns(database)
        _plant_retrieval(database)
        yield database


@pytest.fixture(scope="module")
def module_database(postgres_server: PostgresServer, postgres_template: str) -> Iterator[Database]:
    """A fresh migrated database for the tests of one file."""
    with _kept_database(postgres_server, postgres_template, "kb_module") as database:
        yield database


@contextmanager
def _kept_database(server: PostgresServer, template: str, prefix: str) -> Iterator[Database]:
    name = f"{prefix}_{os.getpid()}"
    administer(server, "CREATE DATABASE {} TEMPLATE {}", name, template)
    database = Database(server.url(name), application_name="kb_pipeline_tests")
    try:
        yield database
    finally:
        database.dispose()
        administer(server, "DROP DATABASE {} WITH (FORCE)", name)


@pytest.fixture(scope="session")
def address(planted_database: Database) -> Iterator[str]:
    """The address of a service whose clock stands at NOW."""
    with serving(service_settings(planted_database), at=NOW) as found:
        yield found


@pytest.fixture
def operator(address: str) -> Iterator[httpx.Client]:
    """A client that holds an operator's token."""
    with httpx.Client(verify=PLAIN, base_url=address, headers=OPERATOR) as client:
        yield client


@pytest.fixture
def auditor(address: str) -> Iterator[httpx.Client]:
    """A client that holds an auditor's token."""
    with httpx.Client(verify=PLAIN, base_url=address, headers=AUDITOR) as client:
        yield client


@pytest.fixture
def stranger(address: str) -> Iterator[httpx.Client]:
    """A client that holds nothing."""
    with httpx.Client(verify=PLAIN, base_url=address) as client:
        yield client


def _plant_turns(database: Database) -> None:
    window = Window(NOW - timedelta(days=14), NOW - HOUR)
    turns = [replace(turn, version=VERSION if turn.version[0] else turn.version) for turn in some_turns(window, 1200)]
    hostile = [
        Planted(
            event_id=f"hostile-{number}-{text[:40]}",
            ts=NOW - timedelta(minutes=90 + number),
            scores=(0.0, 0.1, 0.2),
            preview=text[:120],
            reason=text,
            tenant="portal",
        )
        for number, text in enumerate(HOSTILE)
    ]
    plant(database, [*turns, *hostile, whole_turn()])
    with database.connect() as connection:
        for turn in (*hostile, whole_turn()):
            text = turn.reason
            values = {
                "event_id": turn.event_id,
                "ts": turn.ts,
                "question": f"{SECRET} {text}",
                "context": "Biaya pendaftaran adalah Rp250.000. Akta dibuat notaris.",
                "passages": Jsonb([{"rank": 1, "score": 0.8, "text": f"Biaya pendaftaran adalah Rp250.000. {text}"}]),
                "answer": f"Biaya pendaftaran adalah Rp250.000. Prosesnya 17 hari di Surabaya. {text}",
                "opinion": Jsonb({"flags": ["number"], "counts": {"number": {"claimed": 2, "found": 1, "doubt": 0.9}}}),
            }
            connection.execute(TRIAD, values)
            connection.execute(METRIC, values)


def whole_turn() -> Planted:
    """The least faithful turn of all, with a text."""
    return Planted(
        event_id="turn/whole?x=1&y#z", ts=NOW - timedelta(minutes=75), scores=(0.0, 0.4, 0.6), reason="Alasan."
    )


def _plant_retrieval(database: Database) -> None:
    hours = [floor_hour(NOW) - HOUR * (2 + 9 * back) for back in range(18)]
    with database.connect() as connection:
        for number in range(180):
            at = hours[number % 18] + timedelta(minutes=number % 60)
            hits = [] if number % 12 == 0 else [{"doc_id": "d", "rank": 1, "score": (number % 20) / 20}]
            tenant = {"org": ORG, "specialist": SPECIALIST, "engine": ("hybrid", "keyword")[number % 2], "at": at}
            connection.execute(
                EVENT,
                tenant | {"id": UUID(int=number + 1), "count": len(hits), "latency": number, "retrieved": Jsonb(hits)},
            )
        for hour in hours:
            bounds = {"window_start": hour, "window_end": hour + HOUR}
            connection.execute(load("aggregate_retrievals"), bounds)
            connection.execute(load("aggregate_retrieval_day"), bounds)
        for number, text in enumerate(HOSTILE):
            sha = f"{number:064x}"
            kind = ("kb_gap", "ranking_gap", "recall_gap", "generation_gap", "undetermined")[number % 5]
            row = {
                "org": ORG,
                "specialist": SPECIALIST,
                "sha": sha,
                "at": NOW - HOUR * (1 + number % 100),
                "query": SECRET,
                "preview": text[:120],
                "doc": f"doc-{number}-{text[:300]}",
                "engine": "hybrid",
                "kind": kind,
                "subject": text[:100] or None,
                "id": UUID(int=number + 1),
                "status": "conflict",
                "grade": None,
            }
            connection.execute(QUERY, row)
            connection.execute(GAP, row)
            connection.execute(TRUTH, row)
            connection.execute(EVIDENCE, row)
