"""The queries of every tick and run keep to their indexes, however long the history is."""

import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from psycopg.types.json import Jsonb

from kb_pipeline.adapters.postgres.connection import Database
from kb_pipeline.adapters.postgres.queries import load
from kb_pipeline_tests.builders import closed_hour

CALLS = 40_000
FILL = (
    "SELECT kb_ensure_rag_quality_partition(now() - n * interval '1 month') FROM generate_series(0, 13) AS n",
    (
        "CREATE TEMPORARY TABLE made AS SELECT 'event-' || md5(n::text) AS event_id,"
        f" now() - n * interval '1 year' / {CALLS} AS ts FROM generate_series(1, {CALLS}) AS n"
    ),
    (
        "INSERT INTO upstream.ai_calls (event_id, completed_at, tenant_id, surface)"
        " SELECT event_id, ts, 't', 'public' FROM made"
    ),
    (
        "INSERT INTO upstream.ai_call_bodies SELECT event_id, 'x', 'x', decode(repeat('00', 32), 'hex'),"
        " decode(repeat('00', 32), 'hex') FROM made"
    ),
    (
        "INSERT INTO rag_call (event_id, ts, surface, tenant, verdict, parse_status)"
        " SELECT event_id, ts, 'public', 't', 'synthesis', 'ok' FROM made"
    ),
    "INSERT INTO rag_triad (event_id, ts, parse_status) SELECT event_id, ts, 'ok' FROM made",
    (
        "INSERT INTO rag_metric (event_id, ts, had_context, num_passages, context_chars, answer_chars, refused,"
        " answer_truncated) SELECT event_id, ts, true, 0, 1, 1, false, false FROM made"
    ),
    (
        "INSERT INTO rag_judge_score (event_id, judge_model, prompt_version, ts, status, idempotency_key, faithfulness,"
        " answer_relevance, context_relevance) SELECT event_id, 'm', 'p', ts, 'ok', event_id, 1, 1, 1 FROM made"
    ),
    (
        "INSERT INTO rag_quality (event_id, ts, parse_status, had_context, num_passages, context_chars, answer_chars,"
        " refused, answer_truncated, judge_status, judge_model, prompt_version, faithfulness, answer_relevance,"
        " context_relevance)"
        " SELECT event_id, ts, 'ok', true, 0, 1, 1, false, false, 'ok', 'm', 'p', 1, 1, 1 FROM made"
    ),
)
# A scan of a whole table that grows with the history; one of a monthly partition is none.
WHOLE = re.compile(r"Seq Scan on (rag_(?:call|triad|metric|judge_score)|ai_calls|ai_call_bodies)\b")
NOW = datetime.now(UTC)
SOURCE = {
    "surfaces": ["public"],
    "pipeline_tenant": "self",
    "templates": Jsonb({}),
    "reread": False,
    "opinion_version": "o",
    "body_deadline": NOW,
}
VERSION = {"judge_model": "m", "prompt_version": "p", "judged_statuses": ["ok"], "judge_chars": 1000}
HOUR = {"window_start": closed_hour(100).start, "window_end": closed_hour(100).end}
PARAMETERS: dict[str, dict[str, Any]] = {
    "unexamined_calls": {**SOURCE, **HOUR, "max_body_bytes": 1000},
    "turns_without_opinion": {**HOUR, "version": "o", "chunk": 200, "chunk_chars": 1000},
    "turns_to_review": {**HOUR, "strong": 0.7, "surface": None, "limit": 20},
    "waiting_turns": {
        **VERSION,
        **HOUR,
        "exclude": ["x"],
        "due_at": NOW,
        "probing": False,
        "claim_lock": 1,
        "limit": 4,
    },
    "rejudgeable_turns": {
        **VERSION,
        "judge_model": "another",
        "after_ts": HOUR["window_start"],
        "after_id": "",
        "window_end": HOUR["window_end"],
        "chunk": 1000,
    },
    "rejudge_turns": {
        **VERSION,
        "judge_model": "another",
        "event_ids": ["event-x", "event-y"],
        "due_at": None,
        "exclude": ["x"],
        "claim_lock": 1,
        "limit": 4,
    },
    "hours_to_republish": {**VERSION, **HOUR},
    "judge_versions": HOUR,
    "paired_scores": {
        **HOUR,
        "first_model": "m",
        "first_prompt": "p",
        "second_model": "another",
        "second_prompt": "p",
    },
    "publish_turns": {**VERSION, **HOUR},
    "aggregate_quality": HOUR,
    "forecast_waiting": {**VERSION, **HOUR, "due_at": NOW, "claim_lock": None},
    "waiting_for_judge": {**VERSION, "now": NOW},
    "judge_costs": {**HOUR, "grain": "day"},
    "coverage": HOUR,
    "backlog_hours": {
        **SOURCE,
        **VERSION,
        "due_at": NOW,
        "start_at": NOW - timedelta(days=400),
        "unexamined_from": NOW - timedelta(days=1),
        "until": NOW,
        "judge_on": True,
        "may_judge": True,
    },
    "mark_deleted_at_source": {**HOUR, "instant": NOW - timedelta(days=300)},
}


@pytest.mark.slow
def test_no_query_of_a_tick_or_a_run_scans_the_history(database: Database) -> None:
    with database.connect() as connection:
        for statement in FILL:
            connection.execute(statement.encode())
    with database.session() as session:
        session.execute("VACUUM ANALYZE")
    scans = {}
    with database.connect() as connection:
        for name, parameters in PARAMETERS.items():
            plan = "\n".join(row[0] for row in connection.execute(b"EXPLAIN " + load(name).encode(), parameters))
            scans[name] = WHOLE.findall(plan)
    assert scans == {key: [] for key in PARAMETERS}
