"""The expectation suite of rag_quality, on rows that no constraint of the table kept out."""

import logging
import os
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from typing import Any, cast

import psycopg
import pytest
from psycopg import sql
from sqlalchemy import Connection, Engine, event

from kb_pipeline.adapters.expectations import RAG_QUALITY, ExpectationResult, counting, evaluate
from kb_pipeline.adapters.postgres.connection import Database
from kb_pipeline.errors import DatabaseError
from kb_pipeline.windows import hour_of

pytestmark = pytest.mark.postgres

SCHEMA, RANGES, UNIQUE, CONSISTENT = RAG_QUALITY.groups
WINDOW = hour_of(datetime(2026, 7, 9, 14, tzinfo=UTC))
NOON = WINDOW.start + timedelta(minutes=30)
MARKER = "rahasia-negara"
LATE = 20  # a statement of Great Expectations well after its first

UNGRADED = {
    "faithfulness": None,
    "answer_relevance": None,
    "context_relevance": None,
    "judge_model": None,
    "prompt_version": None,
}
REASONED = {f"{name}_reason": "no claim" for name in ("faithfulness", "answer_relevance", "context_relevance")}
WITHOUT_CONTEXT = {"had_context": False, "num_passages": 0, "context_chars": 0, "top_score": None, "mean_score": None}
SOUND_TURN: Mapping[str, Any] = {
    "ts": NOON,
    "question_sha": "0123456789abcdef" * 4,
    "question_preview": "é" * 120,
    "parse_status": "ok",
    "had_context": True,
    "num_passages": 2,
    "top_score": 0.79,
    "mean_score": 0.61,
    "context_chars": 900,
    "answer_chars": 120,
    "refused": False,
    "answer_truncated": False,
    "faithfulness": 1.0,
    "answer_relevance": 0.0,
    "context_relevance": 0.5,
    "judge_status": "ok",
    "judge_model": "qwen-35b",
    "prompt_version": "v1",
}

Turn = dict[str, Any]


def turn(event_id: str, **changes: Any) -> Turn:
    """A sound row of rag_quality but for the changes; `ledger` changes its row in rag_call, None leaves that out."""
    return {"event_id": event_id, **SOUND_TURN, **changes}


def insert(database: Database, turns: Sequence[Turn]) -> None:
    with database.connect() as connection:
        connection.execute("SELECT kb_ensure_rag_quality_partition(%s)", [NOON])
        for each in turns:
            row = dict(each)
            ledger = row.pop("ledger", {})
            if ledger is not None:
                known = {"event_id": row["event_id"], "ts": row["ts"], "verdict": "synthesis", "parse_status": "ok"}
                _insert_row(connection, "rag_call", known | ledger)
            _insert_row(connection, "rag_quality", row)


def _insert_row(connection: psycopg.Connection[Any], table: str, row: Turn) -> None:
    statement = sql.SQL("INSERT INTO {} ({}) VALUES ({}) ON CONFLICT DO NOTHING").format(
        sql.Identifier(table),
        sql.SQL(", ").join(map(sql.Identifier, row)),
        sql.SQL(", ").join(sql.Placeholder() * len(row)),
    )
    connection.execute(statement, list(row.values()))


def alter(database: Database, *statements: str) -> None:
    with database.connect() as connection:
        for statement in statements:
            connection.execute(statement.encode())


def without_constraints(database: Database) -> None:
    """What an operator may do to a table: no key, no CHECK and no NOT NULL is left."""
    with database.connect() as connection:
        names = connection.execute(
            "SELECT conname FROM pg_constraint WHERE conrelid = 'rag_quality'::regclass AND contype IN ('c', 'p')"
        ).fetchall()
        for (name,) in names:
            connection.execute(sql.SQL("ALTER TABLE rag_quality DROP CONSTRAINT {}").format(sql.Identifier(name)))
        columns = connection.execute(
            "SELECT attname FROM pg_attribute WHERE attrelid = 'rag_quality'::regclass AND attnotnull AND attnum > 0"
        ).fetchall()
        for (name,) in columns:
            connection.execute(sql.SQL("ALTER TABLE rag_quality ALTER {} DROP NOT NULL").format(sql.Identifier(name)))


def failed(results: Sequence[ExpectationResult]) -> set[str]:
    return {result.name for result in results if not result.passed}


def of(results: Sequence[ExpectationResult], name: str) -> ExpectationResult:
    return next(result for result in results if result.name == name)


def between(column: str) -> str:
    return f"expect_column_values_to_be_between({column})"


def in_set(column: str) -> str:
    return f"expect_column_values_to_be_in_set({column})"


def null(column: str) -> str:
    return f"expect_column_values_to_be_null({column})"


def not_null(column: str) -> str:
    return f"expect_column_values_to_not_be_null({column})"


# By check: each kind of broken row as its count is called, what breaks it, and the expectation that it fails.
Kinds = dict[str, tuple[Turn, str]]
OUT_OF_RANGE: Kinds = {
    "faithfulness_out_of_range": ({"faithfulness": 1.5}, between("faithfulness")),
    "answer_relevance_out_of_range": ({"answer_relevance": float("nan")}, between("answer_relevance")),
    "context_relevance_out_of_range": ({"context_relevance": -0.1}, between("context_relevance")),
    "support_score_out_of_range": ({"support_score": 1.01}, between("support_score")),
    "disagreement_out_of_range": ({"disagreement": -0.01}, between("disagreement")),
    "top_score_not_finite": ({"top_score": float("inf")}, between("top_score")),
    "mean_score_not_finite": ({"mean_score": float("nan")}, between("mean_score")),
    "num_passages_negative": ({"num_passages": -1}, between("num_passages")),
    "context_chars_negative": ({"context_chars": -1, "had_context": False}, between("context_chars")),
    "answer_chars_negative": ({"answer_chars": -1}, between("answer_chars")),
    "question_preview_too_long": (
        {"question_preview": "é" * 121},
        "expect_column_value_lengths_to_be_between(question_preview)",
    ),
    "question_sha_not_hexadecimal": (
        {"question_sha": "0123456789ABCDEF" * 4},
        "expect_column_values_to_match_regex(question_sha)",
    ),
    "question_sha_of_another_length": (
        {"question_sha": "0123456789abcdef"},
        "expect_column_value_lengths_to_equal(question_sha)",
    ),
}
UNKNOWN_TO_LEDGER: Kinds = {
    "absent_from_ledger": ({"ledger": None}, in_set("ledger_verdict")),
    "erased_in_ledger": ({"ledger": {"erased_at": NOON}}, in_set("ledger_verdict")),
    "no_turn_in_ledger": ({"ledger": {"verdict": "sampled_out", "parse_status": None}}, in_set("ledger_verdict")),
    "another_instant_in_ledger": (
        {"ledger": {"ts": WINDOW.end}},
        "expect_column_pair_values_to_be_equal(ts, ledger_ts)",
    ),
}
INCONSISTENT: Kinds = {
    "parse_status_unknown": ({"parse_status": "fine"}, in_set("parse_status")),
    "judge_status_unknown": ({"judge_status": "done", **UNGRADED}, in_set("judge_status")),
    "error_class_unknown": (
        {"judge_status": "error", "error_class": "tired", **UNGRADED},
        in_set("error_class"),
    ),
    "ok_without_scores": (
        {"faithfulness": None, "answer_relevance": None, "context_relevance": None, **REASONED},
        between("scores"),
    ),
    "scores_without_ok": ({"judge_status": "pending"}, between("scores")),
    "ok_with_an_unexplained_gap": ({"faithfulness": None, "faithfulness_reason": ""}, between("unexplained_gaps")),
    "ok_without_judge_version": ({"prompt_version": None}, not_null("prompt_version")),
    "error_without_class": ({"judge_status": "failed", **UNGRADED}, not_null("error_class")),
    "class_without_error": ({"error_class": "timeout"}, null("error_class")),
    "skipped_without_reason": ({"judge_status": "skipped", **UNGRADED}, not_null("skip_reason")),
    "reason_without_skip": ({"skip_reason": "tool_calls"}, null("skip_reason")),
    "refusal_with_faithfulness": ({"refused": True}, null("faithfulness")),
    "context_without_characters": ({"context_chars": 0}, between("context_chars")),
    "score_without_passages": ({"num_passages": 0}, null("top_score")),
    "characters_without_context": ({**WITHOUT_CONTEXT, "context_chars": 1}, in_set("context_chars")),
}
BROKEN: dict[str, Kinds] = {RANGES: OUT_OF_RANGE, UNIQUE: UNKNOWN_TO_LEDGER, CONSISTENT: INCONSISTENT}


@pytest.mark.parametrize("check", BROKEN)
def test_each_kind_of_broken_row_fails_exactly_its_check(database: Database, check: str) -> None:
    without_constraints(database)
    kinds = BROKEN[check]
    insert(database, [turn("sound"), *(turn(kind, **changes) for kind, (changes, _) in kinds.items())])
    results = evaluate(database, RAG_QUALITY, WINDOW)
    assert failed(results) == {check}
    counts = {kind: count for result in results for kind, count in result.counts.items() if count and kind != "rows"}
    assert counts == dict.fromkeys(kinds, 1)
    assert set(of(results, check).failed_expectations) == {expectation for _, expectation in kinds.values()}


def test_an_event_id_that_stands_twice_fails_the_uniqueness_alone(database: Database) -> None:
    without_constraints(database)
    insert(database, [turn("sound"), turn("twin"), turn("twin")])
    results = evaluate(database, RAG_QUALITY, WINDOW)
    assert failed(results) == {UNIQUE}
    assert of(results, UNIQUE).failed_expectations == ("expect_column_values_to_be_unique(event_id)",)
    assert of(results, UNIQUE).counts["rows_that_share_an_event_id"] == 2


def test_an_empty_column_fails_the_schema_alone(database: Database) -> None:
    without_constraints(database)
    insert(database, [turn("sound"), turn("sizeless", num_passages=None), turn("unnamed", surface=None)])
    results = evaluate(database, RAG_QUALITY, WINDOW)
    assert failed(results) == {SCHEMA}
    assert of(results, SCHEMA).failed_expectations == (not_null("surface"), not_null("num_passages"))
    assert of(results, SCHEMA).counts["rows"] == 3
    assert of(results, SCHEMA).counts["rows_with_an_empty_column"] == 2


def test_an_hour_with_sound_turns_of_every_status_passes_whatever_its_neighbours_hold(database: Database) -> None:
    without_constraints(database)
    sound = [
        turn("ok"),
        turn("ok-first-instant", ts=WINDOW.start),
        turn("ok-claimless", faithfulness=None, faithfulness_reason="The answer asserts nothing."),
        turn("ok-refusal", refused=True, faithfulness=None, faithfulness_reason="A refusal asserts nothing."),
        turn("ok-no-context", **WITHOUT_CONTEXT),
        turn("ok-passages-empty-below-their-headers", had_context=False, context_chars=39),
        turn("pending", judge_status="pending", **UNGRADED | {"judge_model": "qwen-35b", "prompt_version": "v1"}),
        turn("error", judge_status="error", error_class="timeout", **UNGRADED),
        turn("failed", judge_status="failed", error_class="bad_schema", **UNGRADED),
        turn("skipped", judge_status="skipped", skip_reason="tool_calls", parse_status="tool_calls", **UNGRADED),
        turn("disabled", judge_status="disabled", question_sha=None, question_preview=None, **UNGRADED),
    ]
    neighbours = [turn("before", ts=WINDOW.start - timedelta(microseconds=1)), turn("after", ts=WINDOW.end)]
    insert(database, [*sound, *(each | {"faithfulness": 7.0} for each in neighbours)])
    results = evaluate(database, RAG_QUALITY, WINDOW)
    assert [result.name for result in results] == list(RAG_QUALITY.groups)
    assert [result.failed_expectations for result in results] == [()] * 4
    assert all(result.passed for result in results)
    assert of(results, SCHEMA).counts["rows"] == len(sound)


def test_an_hour_without_rows_passes(database: Database) -> None:
    assert failed(evaluate(database, RAG_QUALITY, WINDOW)) == set()


def test_a_column_too_many_fails_the_schema_alone(database: Database) -> None:
    alter(database, "ALTER TABLE rag_quality ADD COLUMN note text")
    results = evaluate(database, RAG_QUALITY, WINDOW)
    assert failed(results) == {SCHEMA}
    assert of(results, SCHEMA).failed_expectations == ("expect_table_columns_to_match_ordered_list",)
    assert of(results, SCHEMA).counts["unknown_columns"] == 1


def test_a_time_without_its_zone_fails_the_schema_alone(database: Database) -> None:
    alter(database, "ALTER TABLE rag_quality ALTER judged_at TYPE timestamp")
    insert(database, [turn("sound")])
    results = evaluate(database, RAG_QUALITY, WINDOW)
    assert failed(results) == {SCHEMA}
    assert of(results, SCHEMA).failed_expectations == ("expect_column_type_to_be(judged_at)",)
    assert of(results, SCHEMA).counts["columns_of_another_type"] == 1


def test_a_lost_column_fails_the_checks_that_need_it_and_no_other(database: Database) -> None:
    alter(database, "ALTER TABLE rag_quality DROP COLUMN support_score")
    insert(database, [turn("sound")])
    results = evaluate(database, RAG_QUALITY, WINDOW)
    assert failed(results) == {SCHEMA, RANGES}
    assert "expect_column_type_to_be(support_score)" in of(results, SCHEMA).failed_expectations
    assert of(results, SCHEMA).counts["missing_columns"] == 1
    assert of(results, RANGES).failed_expectations == (between("support_score"),)
    assert of(results, RANGES).counts == {}


@pytest.mark.parametrize(
    ("column", "change"),
    [
        ("faithfulness", "ALTER TABLE rag_quality RENAME faithfulness TO truthfulness"),
        ("num_passages", "ALTER TABLE rag_quality ALTER num_passages TYPE text"),
        ("refused", "ALTER TABLE rag_quality ALTER refused TYPE integer USING refused::integer"),
        (
            "judge_status",
            """CREATE TYPE status AS ENUM ('ok', 'pending'); DROP INDEX rag_quality_open;
            ALTER TABLE rag_quality ALTER judge_status TYPE status USING judge_status::status""",
        ),
    ],
)
def test_rows_that_cannot_be_read_pass_no_check_and_each_names_the_column(
    database: Database, column: str, change: str
) -> None:
    without_constraints(database)
    alter(database, change)
    results = evaluate(database, RAG_QUALITY, WINDOW)
    assert failed(results) == set(RAG_QUALITY.groups)
    assert all(f"expect_column_type_to_be({column})" in result.failed_expectations for result in results)


def test_nothing_of_a_row_stands_in_results_logs_or_on_the_terminal(
    database: Database, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    without_constraints(database)
    marked = dict.fromkeys(("question_sha", "parse_status", "judge_status", "error_class", "skip_reason"), MARKER)
    insert(database, [turn(MARKER, question_preview=MARKER * 20, ledger=None, **marked)])
    caplog.set_level("DEBUG")
    results = evaluate(database, RAG_QUALITY, WINDOW)
    assert failed(results) == {RANGES, UNIQUE, CONSISTENT}
    assert MARKER not in repr(results) + caplog.text
    assert capfd.readouterr() == ("", "")


def other_clients(database: Database) -> int:
    """Sessions of clients in the database, but for the one that asks."""
    with database.connect() as connection:
        row = connection.execute(
            "SELECT count(*) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'"
        ).fetchone()
    return int(row[0]) if row else 0


def test_an_evaluation_leaves_no_connection_and_the_process_as_it_was(database: Database) -> None:
    def process() -> tuple[object, ...]:
        return list(warnings.filters), logging.getLogger("great_expectations").level

    before = process()
    for _ in range(2):
        evaluate(database, RAG_QUALITY, WINDOW)
    database.dispose()
    assert process() == before
    assert "tqdm_monitor" not in {thread.name for thread in threading.enumerate()}
    # A closed connection's server process needs a moment to go; autovacuum comes as it likes.
    deadline = time.monotonic() + 10
    while other_clients(database) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert other_clients(database) == 0


def test_an_address_with_any_characters_in_its_password_is_used_as_it_is(database: Database) -> None:
    url = database.url.set(password="p@ss:w/rd?#[] %$HOME${X}")
    other = Database(url.render_as_string(hide_password=False))
    try:
        assert failed(evaluate(other, RAG_QUALITY, WINDOW)) == set()
    finally:
        other.dispose()


def test_a_database_that_is_not_migrated_is_refused_with_the_remedy(empty_database: Database) -> None:
    with pytest.raises(DatabaseError, match="kb-pipeline migrate"):
        evaluate(empty_database, RAG_QUALITY, WINDOW)


@pytest.mark.parametrize(
    "change",
    ["DROP TABLE rag_call CASCADE", "ALTER TABLE rag_call DROP COLUMN erased_at CASCADE"],
    ids=["lost", "without a column"],
)
def test_a_broken_ledger_is_an_error_and_not_a_failed_check(database: Database, change: str) -> None:
    alter(database, change)
    with pytest.raises(DatabaseError, match=r"rag_call|erased_at"):
        evaluate(database, RAG_QUALITY, WINDOW)


def test_a_role_that_may_not_read_is_told_of_the_roles(database: Database) -> None:
    name = f"kb_blind_{os.getpid()}"
    alter(database, f"CREATE ROLE {name}", f"GRANT SELECT ON rag_quality TO {name}")
    blind = Database(database.url.render_as_string(hide_password=False), role=name)
    try:
        with pytest.raises(DatabaseError, match=r"rag_call.*sql/roles\.sql"):
            evaluate(blind, RAG_QUALITY, WINDOW)
    finally:
        blind.dispose()
        alter(database, f"DROP OWNED BY {name}", f"DROP ROLE {name}")


def test_a_connection_lost_on_the_way_is_an_error_in_one_sentence(
    database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    statements = count(1)

    def lose(connection: Connection, *_: object) -> None:
        if next(statements) == LATE:
            driver = cast(psycopg.Connection[Any], connection.connection.driver_connection)
            with database.connect() as another:
                another.execute("SELECT pg_terminate_backend(%s)", [driver.info.backend_pid])

    event.listen(Engine, "before_cursor_execute", lose)
    try:
        with pytest.raises(DatabaseError, match="run the command again"):
            evaluate(database, RAG_QUALITY, WINDOW)
    finally:
        event.remove(Engine, "before_cursor_execute", lose)
    assert caplog.text == ""


def test_all_that_one_evaluation_reads_is_of_one_instant(database: Database) -> None:
    from kb_pipeline.adapters.expectations.validation import failed_expectations

    without_constraints(database)
    insert(database, [turn("sound")])
    with counting.snapshot(database) as (_, snapshot):
        insert(database, [turn("late", faithfulness=2.0)])
        then = failed_expectations(database, RAG_QUALITY, WINDOW, snapshot)
    assert then[RANGES] == ()
    assert failed(evaluate(database, RAG_QUALITY, WINDOW)) == {RANGES}


def test_the_rows_stay_in_the_database(database: Database) -> None:
    insert(database, [turn(f"turn-{number}") for number in range(200)])
    fetched: list[int] = []

    def note(_connection: object, cursor: psycopg.Cursor[Any], *_: object) -> None:
        fetched.append(cursor.rowcount)

    event.listen(Engine, "after_cursor_execute", note)
    try:
        evaluate(database, RAG_QUALITY, WINDOW)
    finally:
        event.remove(Engine, "after_cursor_execute", note)
    assert fetched
    assert max(fetched) < 50  # the columns of the table; never its rows


@pytest.mark.slow
def test_ten_thousand_rows_take_little_longer_than_none(database: Database) -> None:
    def seconds() -> float:
        started = time.perf_counter()
        assert failed(evaluate(database, RAG_QUALITY, WINDOW)) == set()
        return time.perf_counter() - started

    seconds()  # imports Great Expectations
    empty = min(seconds() for _ in range(3))
    insert(database, [turn("sound")])
    columns = ", ".join(SOUND_TURN)
    alter(
        database,
        f"INSERT INTO rag_quality (event_id, {columns}) SELECT 'turn-' || n, {columns} FROM rag_quality, "
        "generate_series(1, 10000) AS n",
        "INSERT INTO rag_call (event_id, ts, verdict, parse_status) SELECT event_id, ts, 'synthesis', parse_status "
        "FROM rag_quality ON CONFLICT DO NOTHING",
        "ANALYZE",
    )
    full = min(seconds() for _ in range(3))
    assert full < 3 * empty


# Written by a fresh interpreter: what it looked up, started or opened for writing while it evaluated.
OUTSIDE = """
import sys
from datetime import UTC, datetime
from kb_pipeline.adapters.expectations import RAG_QUALITY, evaluate
from kb_pipeline.adapters.postgres.connection import Database
from kb_pipeline.windows import hour_of

assert "great_expectations" not in sys.modules

def watch(event, arguments):
    writes = event == "open" and isinstance(arguments[1], str) and set(arguments[1]) & set("wax+")
    if writes or event in {"socket.connect", "socket.getaddrinfo", "subprocess.Popen", "os.mkdir", "tempfile.mkdtemp"}:
        found.append((event, str(arguments[0])))

found = []
database = Database(sys.argv[1])
sys.addaudithook(watch)
results = evaluate(database, RAG_QUALITY, hour_of(datetime(2026, 7, 9, 14, tzinfo=UTC)))
print(all(result.passed for result in results), found)
"""


@pytest.mark.slow
def test_nothing_is_looked_up_outside_and_no_file_is_written_whatever_lies_about(
    database: Database, tmp_path: Path
) -> None:
    (tmp_path / "gx").mkdir()
    (tmp_path / "gx" / "great_expectations.yml").write_text("{", encoding="utf-8")
    account = {"GX_CLOUD_ACCESS_TOKEN": "t", "GX_CLOUD_ORGANIZATION_ID": "o", "GX_ANALYTICS_ENABLED": "true"}
    run = subprocess.run(
        [sys.executable, "-W", "error", "-c", OUTSIDE, database.url.render_as_string(hide_password=False)],
        cwd=tmp_path,
        env=os.environ | account | {"HOME": str(tmp_path), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (run.stdout, run.stderr) == ("True []\n", "")
    assert [path.name for path in tmp_path.rglob("*")] == ["gx", "great_expectations.yml"]
