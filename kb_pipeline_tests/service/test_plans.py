"""The service's queries keep to their indexes, however long the history is."""

import re
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from psycopg import sql

from kb_pipeline.adapters.postgres.connection import Database
from kb_pipeline.adapters.postgres.dashboard.quality import total_statement, trend_statement
from kb_pipeline.adapters.postgres.dashboard.queries import load
from kb_pipeline.adapters.postgres.dashboard.retrieval import histogram_statement
from kb_pipeline.adapters.postgres.dashboard.turns import listing
from kb_pipeline.dashboard.periods import parts
from kb_pipeline.windows import HOUR, Window, floor_hour

NOW = floor_hour(datetime.now(UTC))
ROWS = 60_000
HIST = "array_fill(0, ARRAY[101])"
SUMS = ", ".join(f"1, 0.5, 0.25, {HIST}" for _ in range(3))
FILL = (
    "SELECT kb_ensure_rag_quality_partition(now() - n * interval '1 month') FROM generate_series(0, 13) AS n",
    (
        "INSERT INTO rag_quality (event_id, ts, parse_status, had_context, num_passages, context_chars, answer_chars,"
        " refused, answer_truncated, judge_status, judge_model, prompt_version, faithfulness, answer_relevance,"
        " context_relevance, surface, engine, tenant)"
        f" SELECT 'e' || n, now() - n * interval '1 year' / {ROWS}, 'ok', true, 0, 1, 1, false, false, 'ok', 'm', 'p',"
        f" (n * 7919 % 1000) / 1000.0, 1, 1, 'public', 'rag', 't' FROM generate_series(1, {ROWS}) AS n"
    ),
    (
        "INSERT INTO rag_metric (event_id, ts, had_context, num_passages, context_chars, answer_chars, refused,"
        f" answer_truncated) SELECT 'e' || n, now(), true, 0, 1, 1, false, false FROM generate_series(1, {ROWS}) AS n"
    ),
    (
        "INSERT INTO rag_quality_window SELECT date_trunc('hour', now(), 'UTC') - n * interval '1 hour', 't',"
        f" 'public', 'rag', 'm', 'p', 1, 1, 0, 0, 0, 0, 0, 1, 0, 0, {SUMS}, 0, 0, 0, 0, 1, 1, 1, 1"
        " FROM generate_series(0, 20000) AS n"
    ),
    (
        "INSERT INTO rag_quality_day SELECT (now() AT TIME ZONE 'UTC')::date - n, 't', 'public', 'rag',"
        f" 'm', 'p', 1, 1, 0, 0, 0, 0, 0, 1, 0, 0, {SUMS}, 0, 0, 0, 0, 1, 1, 1, 1 FROM generate_series(0, 8000) AS n"
    ),
    (
        "INSERT INTO rag_call_window SELECT date_trunc('hour', now(), 'UTC') - n * interval '1 hour', 't',"
        " 'public', 'rag', 1, 1, 0, 0, 0, 0, 1, 1, '{}' FROM generate_series(0, 20000) AS n"
    ),
    (
        "INSERT INTO kb_retrieval_window (hour, org_id, specialist_id, engine, retrievals, empty, top_score_hist,"
        " latency_hist, newest_event_at) SELECT date_trunc('hour', now(), 'UTC') - n * interval '1 hour',"
        " gen_random_uuid(), gen_random_uuid(), 'e', 1, 0, array_fill(0, ARRAY[22]), array_fill(0, ARRAY[12]), now()"
        " FROM generate_series(0, 20000) AS n"
    ),
    (
        "INSERT INTO kb_retrieval_day SELECT (now() AT TIME ZONE 'UTC')::date - n, gen_random_uuid(),"
        " gen_random_uuid(), 'e', 1, 0, 0, 0, 0, 0, 0, 0, array_fill(0, ARRAY[22]), 0, 0, array_fill(0, ARRAY[12])"
        " FROM generate_series(0, 8000) AS n"
    ),
    (
        "INSERT INTO kb_retrieval_gap (message_id, org_id, specialist_id, conversation_id, event_id, query_sha, engine,"
        " kind, decided_at, source_state, rule_version) SELECT gen_random_uuid(), gen_random_uuid(), gen_random_uuid(),"
        " gen_random_uuid(), gen_random_uuid(), repeat('0', 64), 'e', 'kb_gap', now() - n * interval '1 hour', 's', 'r'"
        " FROM generate_series(0, 20000) AS n"
    ),
    (
        "INSERT INTO kb_ground_truth (org_id, specialist_id, query_sha, doc_id, status, grade, p, positive, negative,"
        " conversations, evidence_count, kinds, first_observed_at, last_observed_at, as_of, rule_version)"
        " SELECT gen_random_uuid(), gen_random_uuid(), repeat('0', 64), 'd' || n, 'judged', n % 4, 0.5, 1, 1, 1, 1,"
        " '{cited}', now(), now(), now(), 'r' FROM generate_series(0, 20000) AS n"
    ),
    (
        "INSERT INTO kb_access_record (actor, purpose, bodies, body_bytes, read_at) SELECT 'a', 'grading', 1, 1,"
        " now() - n * interval '1 hour' FROM generate_series(0, 20000) AS n"
    ),
)
WHOLE = re.compile(
    r"Seq Scan on (rag_quality\w*|rag_metric|rag_call_window|kb_retrieval_window|kb_retrieval_day|kb_access_record|"
    r"kb_retrieval_gap|kb_ground_truth)\b"
)
WEEK = Window(NOW - timedelta(days=7) - HOUR * 5, NOW - HOUR * 5)
PARTS = parts(WEEK)
NONE = {"tenant": None, "surface": None, "engine": None}
BINS = {"grounded": (71, 101), "ungrounded": (1, 50)}
HOURS = {"window_start": WEEK.start, "window_end": WEEK.end}
RETRIEVAL = {"org": None, "specialist": None, "engine": None}
PLACE = {"after_score": 0.0, "after_ts": None, "after_id": None, "limit": 6}
PARAMETERS: dict[str, dict[str, Any]] = {
    "quality_total": {**PARTS.bounds, **NONE},
    "trend by hour": {"first": WEEK.start, "last": WEEK.end, **NONE},
    "trend by day": {"first": PARTS.days[0], "last": PARTS.days[1], **NONE},
    "call_total": {**HOURS, **NONE},
    "filter_values": {"since": PARTS.days[0]},
    "waiting": {"since": PARTS.days[0]},
    "worst_turns": {**HOURS, **NONE, **PLACE},
    "worst_turns of hours": {**HOURS, **NONE, **PLACE, "tenant": "t"},
    "newest_turns of hours": {**HOURS, **NONE, **PLACE, "tenant": "t"},
    "turns_that_pass": {**HOURS, **NONE, "tenant": "t"},
    "worse_turn": {**HOURS, "score": 0.5, "ts": NOW, "event_id": "e"},
    "place_of_turn": {"event_id": "e", "ts": WEEK.start},
    "newest_turns": {**HOURS, **NONE, **PLACE},
    "recent_readings": {"since": NOW - timedelta(days=7), "limit": 10},
    "run_that_examined": {"examined_at": NOW, "ts": NOW},
    "retrieval_hours": {**HOURS, **RETRIEVAL},
    "retrieval_days": {**PARTS.bounds, **RETRIEVAL},
    "retrieval_histograms": {**PARTS.bounds, **RETRIEVAL},
    "retrieval_filters": {"since": PARTS.days[0]},
    "gap_kinds": {**HOURS, **RETRIEVAL},
    "judgments": {
        "org": None, "specialist": None, "status": None, "grade": 3, "after_org": UUID(int=1),
        "after_specialist": UUID(int=1), "after_sha": "0" * 64, "after_doc": "d", "limit": 51,
    },
    "gaps": {**HOURS, **RETRIEVAL, "kind": None, "after_at": NOW, "after_id": UUID(int=1), "limit": 10},
}  # fmt: skip


def query_of(name: str) -> sql.Composable:
    if name == "retrieval_histograms":
        return histogram_statement()
    list_name, _, hours = name.partition(" of ")
    if list_name in {"worst_turns", "newest_turns"}:
        return listing(list_name, by_hours=hours == "hours")
    if name == "quality_total":
        return total_statement(BINS)
    if name in {"trend by hour", "trend by day"}:
        return trend_statement("hour" if name == "trend by hour" else "day", BINS)
    return sql.SQL(load(name))


@pytest.mark.slow
def test_no_query_of_a_page_scans_the_history(database: Database) -> None:
    with database.connect() as connection:
        for filling in FILL:
            connection.execute(filling.encode())
    with database.session() as session:
        session.execute("VACUUM ANALYZE")
    plans = {}
    with database.connect() as connection:
        for name, parameters in PARAMETERS.items():
            rows = connection.execute(sql.SQL("EXPLAIN ") + query_of(name), parameters)
            plans[name] = "\n".join(row[0] for row in rows)
    assert {name: found for name, plan in plans.items() if (found := WHOLE.findall(plan))} == {}
    assert "rag_quality_window" not in plans["worst_turns"]
    worst = plans["worst_turns"]
    # The worst come off the index in order: what is sorted is at most the ties of one score and instant.
    assert "faithfulness" in worst
    assert not re.search(r"(?<!Incremental )Sort\b(?! Key)(?!.*Presorted)", worst.split("Limit", 2)[-1]), worst
