"""Audit trails as they are: rows twice, nothing where something should be, times and names beyond all bounds."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from kb_pipeline.adapters.postgres.connection import Database
from kb_pipeline.errors import DatabaseError
from kb_pipeline_tests.builders import Upstream, closed_hour, request_body, response_body, stored, street, table
from kb_pipeline_tests.judges import WatchedJudge
from kb_pipeline_tests.street.recomputation import assert_adds_up

CALLS = """
CREATE OR REPLACE VIEW kb_source.ai_call AS
SELECT event_id, trace_id, completed_at AS ts, surface, tenant_id AS tenant, operation, engine, model, http_status
FROM upstream.ai_calls
"""
BODIES = """
CREATE OR REPLACE VIEW kb_source.ai_call_body AS
SELECT event_id, request_body, response_body, prev_hash, body_hash FROM upstream.ai_call_bodies
"""


def remap(database: Database, *statements: str) -> None:
    with database.connect() as connection:
        for statement in statements:
            connection.execute(statement.encode())


def grade(database: Database, **quality: Any) -> WatchedJudge:
    with WatchedJudge() as judge, street(database, judge_base_url=judge.url, **quality) as grading:
        grading.grade()
        assert grading.backlog() == []
        for hour in (closed_hour(), closed_hour(2)):
            assert grading.publication.coverage(hour).adds_up
    return judge


def test_a_call_that_the_source_shows_twice_is_graded_once_and_at_its_best(database: Database) -> None:
    upstream = Upstream(database)
    for name in ("a", "b", "c"):
        upstream.turn(name, closed_hour().start)
    remap(
        database,
        f"{CALLS} UNION ALL SELECT event_id, trace_id, completed_at - interval '70 minutes', surface, 'x', operation,"
        " engine, model, http_status FROM upstream.ai_calls UNION ALL SELECT event_id, trace_id, completed_at, surface,"
        " tenant_id, operation, engine, model, 500 FROM upstream.ai_calls",
        f"{BODIES} UNION ALL SELECT event_id, 'gone'::bytea, response_body, NULL, NULL FROM upstream.ai_call_bodies"
        " UNION ALL SELECT event_id, NULL, NULL, NULL, NULL FROM upstream.ai_call_bodies",
    )
    judge = grade(database)
    assert judge.calls == {"a": 1, "b": 1, "c": 1}
    assert table(database, "SELECT DISTINCT verdict, parse_status FROM rag_call") == [("synthesis", "ok")]
    assert table(database, "SELECT count(*) FROM rag_call AS c JOIN rag_triad USING (event_id, ts)") == [(3,)]
    assert_adds_up(database)


def test_columns_without_a_value_leave_the_others_graded(database: Database) -> None:
    upstream = Upstream(database)
    upstream.turn("whole", closed_hour().start)
    remap(
        database,
        f"{CALLS} UNION ALL SELECT 'bare', NULL, now() - interval '3 hours', NULL, NULL, NULL, NULL, NULL, NULL"
        " UNION ALL SELECT 'public', NULL, now() - interval '3 hours', 'public', NULL, NULL, NULL, NULL, NULL"
        " UNION ALL SELECT 'timeless', NULL, NULL, 'public', 'x', NULL, NULL, NULL, 200"
        " UNION ALL SELECT NULL, NULL, now() - interval '3 hours', 'public', 'x', NULL, NULL, NULL, 200"
        " UNION ALL SELECT '', NULL, now() - interval '3 hours', 'public', 'x', NULL, NULL, NULL, 200",
        f"{BODIES} UNION ALL SELECT 'public', request_body, response_body, NULL, NULL FROM upstream.ai_call_bodies"
        " UNION ALL SELECT NULL, NULL, NULL, NULL, NULL",
    )
    grade(database)
    assert dict(table(database, "SELECT event_id, verdict FROM rag_call")) == {
        "whole": "synthesis",
        "public": "synthesis",
        "bare": "other",
    }
    assert table(database, "SELECT DISTINCT judge_status FROM rag_quality") == [("ok",)]
    assert_adds_up(database)


def test_times_and_names_beyond_all_bounds_leave_the_others_graded(database: Database) -> None:
    upstream = Upstream(database)
    names = ["plain", "with space", "line\nbreak", "\U0001f600", "'; DROP TABLE rag_call; --", "ABC", "abc", "x" * 900]
    for name in names:
        upstream.turn(name, closed_hour().start)
    noise = "SELECT string_agg(md5(n::text), '') FROM generate_series(1, 300) AS n"
    upstream.turn("wide", closed_hour().start)
    odd = "'public', 'x', NULL, NULL, NULL, 200"
    remap(
        database,
        "DROP VIEW kb_source.ai_call",
        f"{CALLS.replace('http_status', 'http_status::bigint AS http_status')}"
        f" UNION ALL SELECT ({noise}), NULL, now() - interval '3 hours', {odd}"
        f" UNION ALL SELECT 'never', NULL, 'infinity', {odd} UNION ALL SELECT 'always', NULL, '-infinity', {odd}"
        f" UNION ALL SELECT 'caesar', NULL, '0044-03-15 12:00:00+00 BC', {odd}"
        f" UNION ALL SELECT 'tomorrow', NULL, now() + interval '1 day', {odd}"
        f" UNION ALL SELECT 'overflowing', NULL, now() - interval '3 hours', 'staff', ({noise}), NULL, ({noise}), NULL,"
        " 99999999999",
    )
    judge = grade(database)
    assert judge.calls.total() == len(names) + 1
    assert len(judge.calls) == len(names) + 1, "two ids never share a key"
    assert dict(table(database, "SELECT event_id, judge_status FROM rag_quality")) == dict.fromkeys(
        [*names, "wide"], "ok"
    )
    assert table(database, "SELECT char_length(tenant), http_status FROM rag_call WHERE event_id = 'overflowing'") == [
        (120, None)
    ]
    assert_adds_up(database)


def test_calls_at_the_borders_of_hours_months_and_years_are_counted_in_one_hour_each(database: Database) -> None:
    upstream = Upstream(database)
    borders = [
        datetime(2026, 1, 1, tzinfo=UTC),
        datetime(2025, 11, 1, tzinfo=UTC),
        datetime(2026, 3, 29, 1, tzinfo=UTC),
    ]
    for number, border in enumerate(borders):
        upstream.turn(f"before-{number}", border - timedelta(microseconds=1))
        upstream.turn(f"at-{number}", border)
    with street(database, judge_model=None) as grading:
        grading.grade(since=datetime(2025, 10, 1, tzinfo=UTC))
    hours = table(database, "SELECT hour, turns FROM rag_quality_window ORDER BY 1")
    expected = sorted(hour for border in borders for hour in (border - timedelta(hours=1), border))
    assert hours == [(hour, 1) for hour in expected]
    assert_adds_up(database)


def test_equal_times_at_the_border_of_a_chunk_lose_no_call(database: Database) -> None:
    at = closed_hour().start
    with database.connect() as connection:
        connection.execute(
            "INSERT INTO upstream.ai_calls (event_id, completed_at, tenant_id, surface)"
            " SELECT 'call-' || n, %s, 'portal', 'staff' FROM generate_series(1, 1203) AS n",
            (at,),
        )
    with street(database, judge_model=None) as grading:
        assert grading.grade().counts["examined"] == 1203
    assert table(database, "SELECT count(*) FROM rag_call") == [(1203,)]


def test_a_body_or_a_time_that_changes_afterwards_changes_nothing(database: Database) -> None:
    Upstream(database).turn("e1", closed_hour().start)
    judge = grade(database)
    remap(
        database,
        "UPDATE upstream.ai_calls SET completed_at = completed_at + interval '1 hour'",
        "UPDATE upstream.ai_call_bodies SET response_body = NULL",
    )
    assert grade(database).calls.total() == 0
    assert judge.calls.total() == 1
    assert table(database, "SELECT ts, judge_status FROM rag_quality") == [(closed_hour().start, "ok")]
    assert_adds_up(database)


def test_a_row_that_the_view_cannot_compute_is_one_sentence_and_spares_the_other_hours(database: Database) -> None:
    upstream = Upstream(database)
    upstream.turn("fine", closed_hour(2).start)
    upstream.turn("secret-1", closed_hour().start)
    # Eight is the length of the one id, so that only its row divides by zero.
    remap(database, CALLS.replace("trace_id,", "(1 / (octet_length(event_id) - 8))::text AS trace_id,"))
    with street(database, judge_model=None) as grading:
        grading.collect(closed_hour(2))
        with pytest.raises(DatabaseError) as raised:
            grading.collect(closed_hour())
    assert "DivisionByZero" in str(raised.value)
    assert "secret" not in str(raised.value)
    assert table(database, "SELECT event_id FROM rag_call") == [("fine",)]


def test_a_call_that_waits_for_its_body_keeps_no_other_back(database: Database) -> None:
    upstream = Upstream(database)
    upstream.body("early", stored(request_body()), stored(response_body()))
    upstream.call("waits", datetime.now(UTC) - timedelta(minutes=3))
    upstream.call("early", closed_hour().start)
    grade(database)
    assert table(database, "SELECT event_id, judge_status FROM rag_quality") == [("early", "ok")]
