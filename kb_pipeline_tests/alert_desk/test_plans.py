"""What an evaluation reads stays small, however long the history is."""

import re
from datetime import timedelta
from typing import Any

import pytest

from kb_pipeline.adapters.postgres.alerting.queries import load
from kb_pipeline.adapters.postgres.connection import Database
from kb_pipeline_tests.alert_desk.windows import MODEL, NOON

pytestmark = pytest.mark.postgres

HOURS = 20_000
FILL = (
    (
        "CREATE TEMPORARY TABLE made AS SELECT %(now)s::timestamptz - n * interval '1 hour' AS hour, n"
        f" FROM generate_series(0, {HOURS}) AS n"
    ),
    (
        "INSERT INTO rag_quality_window SELECT date_trunc('hour', hour, 'UTC'), 't', 'public', 'rag', 'm', 'p', 1, 1,"
        " 0, 0, 0, 0, 0, 1, 0, 0, 1, 1, 1, array_fill(0, ARRAY[101]), 0, 0, 0, array_fill(0, ARRAY[101]), 0, 0, 0,"
        " array_fill(0, ARRAY[101]), 0, 0, 0, 0, 0, 0, 0, 0 FROM made"
    ),
    (
        "INSERT INTO rag_call_window SELECT date_trunc('hour', hour, 'UTC'), 't', 'public', 'rag', 1, 1, 0, 0, 0, 0, 1,"
        " 1, '{}' FROM made"
    ),
    (
        "INSERT INTO kb_retrieval_window (hour, org_id, specialist_id, engine, retrievals, empty, top_score_hist,"
        " latency_hist, newest_event_at) SELECT date_trunc('hour', hour, 'UTC'), o.id, o.id, 'hybrid', 1, 0,"
        " array_fill(0, ARRAY[22]), array_fill(0, ARRAY[12]), hour FROM made,"
        " (SELECT '00000000-0000-0000-0000-000000000001'::uuid AS id) AS o"
    ),
    (
        "INSERT INTO rag_judge_score (event_id, judge_model, prompt_version, ts, status, idempotency_key, faithfulness,"
        " answer_relevance, context_relevance, judged_at) SELECT n::text, 'm', 'p', hour, 'ok', n::text, 1, 1, 1, hour"
        " FROM made"
    ),
    "ANALYZE",
)
READS: dict[str, dict[str, Any]] = {
    "quality_hours": {"surfaces": ["public"], "judge_model": MODEL, "prompt_version": "p", "floor_bins": 50},
    "call_hours": {"surfaces": ["public"]},
    "retrieval_hours": {},
    "judge_outcomes": {"judge_model": MODEL, "prompt_version": "p", "since": NOON - timedelta(days=7), "limit": 50},
}
WHOLE = re.compile(r"Seq Scan on (rag_\w+|kb_\w+)")


def test_every_reading_keeps_to_an_index(database: Database) -> None:
    bounds = {"window_start": NOON - timedelta(days=28), "window_end": NOON, "now": NOON}
    with database.connect() as connection:
        for statement in FILL:
            connection.execute(statement.encode(), {"now": NOON} if "%(now)s" in statement else None)
        for name, parameters in READS.items():
            plan = connection.execute(b"EXPLAIN " + load(name).encode(), parameters | bounds).fetchall()
            text = "\n".join(str(row[0]) for row in plan)
            assert not WHOLE.search(text), f"{name}\n{text}"


def test_the_longest_wait_is_found_among_the_turns_that_wait(database: Database) -> None:
    with database.connect() as connection:
        connection.execute("SELECT kb_ensure_rag_quality_partition(%s)", [NOON])
        connection.execute("SET LOCAL enable_seqscan = off")
        plan = connection.execute(
            b"EXPLAIN " + load("waiting_since").encode(), READS["judge_outcomes"] | {"now": NOON}
        ).fetchall()
    assert re.search(r"Index (?:Only )?Scan|Bitmap Index Scan", str(plan)), plan
