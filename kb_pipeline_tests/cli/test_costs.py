"""`kb-pipeline costs`: the bill of the judge, and what a spent budget says."""

import re
from datetime import timedelta

import pytest

from kb_pipeline.adapters.postgres.connection import Database
from kb_pipeline_tests.builders import Upstream, closed_hour, street, table
from kb_pipeline_tests.cli.test_database_commands import Run
from kb_pipeline_tests.judges import WatchedJudge


@pytest.fixture
def graded(database: Database) -> Database:
    """Three turns of one hour and two of an earlier one, graded; one turn failed once before."""
    upstream = Upstream(database)
    upstream.turns(3, closed_hour(2), prefix="late")
    upstream.turns(2, closed_hour(5), prefix="early")
    with WatchedJudge() as judge, street(database, judge_base_url=judge.url) as grading:
        grading.grade()
    with database.connect() as connection:
        connection.execute("UPDATE rag_judge_score SET calls = 2, latency_ms = 1500 WHERE event_id = 'late-0000'")
        connection.execute(
            "INSERT INTO rag_judge_score (event_id, judge_model, prompt_version, ts, status, idempotency_key, calls,"
            " prompt_tokens, completion_tokens, latency_ms, error_class) SELECT event_id, 'older', 'v0', ts, 'failed',"
            " 'k', 3, 50, 10, 20, 'not_json' FROM rag_judge_score WHERE event_id = 'late-0001'"
        )
        connection.execute("UPDATE rag_judge_score SET prompt_tokens = 100, completion_tokens = 20 WHERE status = 'ok'")
    return database


def test_every_call_is_on_the_bill_by_hour_and_version(graded: Database, run: Run) -> None:
    rows = run(graded, "costs", "--since", "1d", "--by", "hour", "--json").json["costs"]
    shown = (
        "start",
        "judge_model",
        "turns",
        "graded",
        "calls",
        "prompt_tokens",
        "completion_tokens",
        "tokens_per_turn",
    )
    assert [tuple(row[name] for name in shown) for row in rows] == [
        (closed_hour(5).start.isoformat(), "reference", 2, 2, 2, 200, 40, 120.0),
        (closed_hour(2).start.isoformat(), "older", 1, 0, 3, 50, 10, None),
        (closed_hour(2).start.isoformat(), "reference", 3, 3, 4, 300, 60, 120.0),
    ]
    assert rows[2]["seconds"] >= 1.5
    later = run(graded, "costs", "--since", closed_hour(2).start.isoformat(), "--by", "hour", "--json").json["costs"]
    assert later == rows[1:]


def test_a_day_is_the_sum_of_its_hours(graded: Database, run: Run) -> None:
    hours = run(graded, "costs", "--since", "2d", "--by", "hour", "--json").json["costs"]
    days = run(graded, "costs", "--since", "2d", "--json").json["costs"]
    assert {row["start"] for row in days} <= {f"{row['start'][:10]}T00:00:00+00:00" for row in hours}
    for name in ("turns", "graded", "calls", "prompt_tokens", "completion_tokens"):
        assert sum(row[name] for row in days) == sum(row[name] for row in hours)


def test_the_table_ends_with_what_is_left_of_today(graded: Database, run: Run) -> None:
    out = run(graded, "costs", "--since", "2d").out
    assert re.search(r"^\d{4}-\d\d-\d\d +1 +0 +3 +50 +10 +0\.0 +-\n    judge@prompt: older@v0$", out, re.MULTILINE)
    assert out.endswith("no judge_daily_tokens are set; 0 turns wait for the judge\n")


def test_a_spent_budget_is_said_by_costs_and_by_grade(database: Database, run: Run) -> None:
    Upstream(database).turns(4, closed_hour())
    with WatchedJudge() as judge:
        quality = {"judge_model": "reference", "judge_base_url": judge.url, "judge_daily_tokens": 1}
        since = closed_hour().start - timedelta(hours=1)
        first = run(database, "grade", "--since", since.isoformat(), quality=quality).out
        second = run(database, "grade", "--since", since.isoformat(), "--json", quality=quality).json
        costs = run(database, "costs", quality=quality).out
    left = table(database, "SELECT count(*) FROM rag_quality WHERE judge_status = 'pending'")[0][0]
    assert left > 0
    said = f"today's judge_daily_tokens of 1 are spent; {left} turns wait until midnight UTC"
    assert first.endswith(f"{said}\n")
    assert second["notes"] == [said]
    assert f"0 of today's judge_daily_tokens of 1 are left; {left} turns wait for the judge\n{said}\n" in costs
