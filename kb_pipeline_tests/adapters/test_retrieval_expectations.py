"""The suites of the retrieval street's tables, on rows that no constraint kept out."""

import json
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
from psycopg import sql

from kb_pipeline.adapters.expectations import (
    ExpectationResult,
    Subject,
    evaluate,
    judgments,
    retrieval_events,
    search_events,
)
from kb_pipeline.adapters.postgres.connection import Database
from kb_pipeline.windows import HOUR, Window, hour_of

pytestmark = pytest.mark.postgres

WINDOW = hour_of(datetime(2026, 3, 4, 10, tzinfo=UTC))
NOON = WINDOW.start + timedelta(minutes=30)
SHA = "0123456789abcdef" * 4
MARKER = "rahasia-negara"
Row = dict[str, Any]


def hit(rank: Any = 1, doc_id: Any = "d", **changes: Any) -> Row:
    return {"doc_id": doc_id, "chunk_id": f"c{rank}", "rank": rank, "score": 0.4, "used_in_final": None, **changes}


def event(**changes: Any) -> Row:
    """A sound retrieval event but for the changes."""
    retrieved = changes.pop("retrieved", [hit(1), hit(2)])
    return {
        "id": uuid4(),
        "org_id": UUID(int=1),
        "specialist_id": UUID(int=2),
        "conversation_id": uuid4(),
        "message_id": uuid4(),
        "engine": "hybrid",
        "query": "Berapa lama izin keluar?",
        "top_k": 5,
        "result_count": len(retrieved) if isinstance(retrieved, list) else 0,
        "latency_ms": 12,
        "retrieved": json.dumps(retrieved),
        "created_at": NOON,
        "occurred_at": NOON,
        "query_sha": SHA,
        "candidate_pool": json.dumps([{"doc_id": "d", "pre_rank": 1}]),
        **changes,
    }


def search(**changes: Any) -> Row:
    """A sound search event but for the changes."""
    return {
        "id": uuid4(),
        "org_id": UUID(int=1),
        "specialist_id": UUID(int=2),
        "search_id": uuid4(),
        "event_type": "kb.search.performed",
        "query": "izin keluar",
        "result_count": 3,
        "created_at": NOON,
        "occurred_at": NOON,
        "query_sha": SHA,
        **changes,
    }


def judgment(**changes: Any) -> Row:
    """A sound judgment but for the changes."""
    return {
        "org_id": UUID(int=1),
        "specialist_id": UUID(int=2),
        "query_sha": SHA,
        "doc_id": str(uuid4()),
        "status": "judged",
        "grade": 1,
        "p": 0.733333,
        "positive": 1.0,
        "negative": 0.3,
        "conversations": 2,
        "evidence_count": 3,
        "kinds": ["accepted", "cited"],
        "first_observed_at": NOON,
        "last_observed_at": NOON,
        "as_of": NOON,
        "rule_version": "labels-1",
        "created_at": NOON,
        **changes,
    }


Kinds = dict[str, tuple[Row, str]]
EVENTS, SEARCHES, JUDGMENTS = retrieval_events(["hybrid", "keyword"]), search_events(), judgments()


def between(column: str) -> str:
    return f"expect_column_values_to_be_between({column})"


def in_set(column: str) -> str:
    return f"expect_column_values_to_be_in_set({column})"


def not_null(column: str) -> str:
    return f"expect_column_values_to_not_be_null({column})"


HASHES: Kinds = {
    "query_sha_not_hexadecimal": ({"query_sha": SHA.upper()}, "expect_column_values_to_match_regex(query_sha)"),
    "query_sha_of_another_length": ({"query_sha": "0123"}, "expect_column_value_lengths_to_equal(query_sha)"),
}
AHEAD: Kinds = {"ahead_of_its_writing": ({"created_at": NOON - timedelta(days=2)}, between("seconds_ahead"))}
# By check: each kind of broken row as its count is called, what breaks it, and the expectation that it fails.
BROKEN_EVENTS: dict[str, Kinds] = {
    "kb_retrieval_event_ranges": {
        "top_k_negative": ({"top_k": -1}, between("top_k")),
        "latency_negative": ({"latency_ms": -1}, between("latency_ms")),
        "engine_unknown": ({"engine": "hybird"}, in_set("engine")),
        **AHEAD,
        **HASHES,
    },
    "kb_retrieval_event_lists": {
        "retrieved_no_list": ({"retrieved": "text", "result_count": 0}, in_set("retrieved_type")),
        "candidate_pool_no_list": ({"candidate_pool": "{}"}, in_set("candidate_pool_type")),
        "too_many_hits": ({"retrieved": [hit(rank) for rank in range(1, 52)]}, between("hits")),
        "too_many_candidates": (
            {"candidate_pool": json.dumps([{"doc_id": f"d{rank}", "pre_rank": rank} for rank in range(1, 52)])},
            between("candidates"),
        ),
        "more_hits_than_counted": ({"result_count": 1}, between("uncounted_hits")),
        "malformed_hits": ({"retrieved": [hit(1), hit(2, "")]}, between("malformed_hits")),
        "repeated_hits": ({"retrieved": [hit(1), hit(1)]}, between("repeated_hits")),
        "hits_out_of_order": ({"retrieved": [hit(2), hit(1)]}, between("hits_out_of_order")),
        "malformed_candidates": ({"candidate_pool": '[{"doc_id": "d"}]'}, between("malformed_candidates")),
    },
}
BROKEN_SEARCHES: dict[str, Kinds] = {
    "kb_search_event_ranges": {
        "event_type_unknown": ({"event_type": "kb.search.dreamt"}, in_set("event_type")),
        "rank_below_one": ({"rank": 0}, between("rank")),
        "result_count_negative": ({"result_count": -1}, between("result_count")),
        **AHEAD,
        **HASHES,
    },
    "kb_search_event_consistent": {
        "search_without_query": ({"query": None}, in_set("query_state")),
        "click_without_document": ({"event_type": "kb.result.clicked"}, not_null("doc_id")),
        "citation_without_document": ({"event_type": "kb.citation.inserted"}, not_null("doc_id")),
    },
}
BROKEN_JUDGMENTS: dict[str, Kinds] = {
    "kb_ground_truth_ranges": {
        "status_unknown": ({"status": "guessed", "grade": None}, in_set("status")),
        "grade_out_of_range": ({"grade": 4}, between("grade")),
        "positive_out_of_range": ({"positive": -0.05, "negative": 0.0, "p": 0.333333}, between("positive")),
        "negative_out_of_range": ({"negative": -0.05, "p": 0.956522}, between("negative")),
        "conversations_negative": ({"conversations": -1}, between("conversations")),
        "evidence_missing": ({"evidence_count": 0, "conversations": 0}, between("evidence_count")),
        "kind_unknown": ({"kinds": ["cited", "guessed"]}, between("unknown_kinds")),
        **HASHES,
    },
    "kb_ground_truth_consistent": {
        "judged_without_grade": ({"grade": None}, not_null("grade")),
        "grade_without_judgment": ({"status": "conflict"}, "expect_column_values_to_be_null(grade)"),
        "p_of_other_masses": ({"p": 0.5}, between("p_error")),
        "more_conversations_than_evidence": ({"conversations": 4}, between("conversations_too_many")),
        "ends_before_it_begins": (
            {"last_observed_at": NOON - HOUR},
            "expect_column_pair_values_a_to_be_greater_than_b(last_observed_at, first_observed_at)",
        ),
    },
}
SUITES: list[tuple[Subject, Callable[..., Row], str, Kinds]] = [
    (subject, sound, check, kinds)
    for subject, sound, broken in (
        (EVENTS, event, BROKEN_EVENTS),
        (SEARCHES, search, BROKEN_SEARCHES),
        (JUDGMENTS, judgment, BROKEN_JUDGMENTS),
    )
    for check, kinds in broken.items()
]
SOUND: Mapping[str, tuple[Subject, Sequence[Row]]] = {
    "events": (
        EVENTS,
        [
            event(),
            event(message_id=None),
            event(message_id=None, engine="other", latency_ms=None, query_sha=None, retrieved=[]),
            event(retrieved=[], result_count=3),
            event(retrieved=[hit(1), hit(1, "e"), hit(3, "f", score=None, used_in_final=True)]),
            event(occurred_at=NOON, created_at=NOON + timedelta(days=3)),
        ],
    ),
    "searches": (
        SEARCHES,
        [
            search(),
            search(query=None, text_expired_at=NOON),
            search(event_type="kb.result.clicked", query=None, doc_id="d", rank=1, result_count=None),
            search(event_type="kb.citation.inserted", query=None, doc_id="d", rank=None, result_count=None),
        ],
    ),
    "judgments": (
        JUDGMENTS,
        [
            judgment(),
            judgment(grade=0, p=0.090909, positive=0.0, negative=0.9),
            judgment(status="insufficient", grade=None, p=0.5, positive=0.0, negative=0.0),
            judgment(status="conflict", grade=None, p=0.5, positive=0.4, negative=0.4),
        ],
    ),
}


def without_constraints(database: Database, table: str) -> None:
    """What an operator may do to a table: no key, no CHECK and no NOT NULL is left."""
    name = sql.Identifier(table)
    with database.connect() as connection:
        constraints = connection.execute(
            "SELECT conname FROM pg_constraint WHERE conrelid = %s::regclass AND contype IN ('c', 'p')", [table]
        ).fetchall()
        for (constraint,) in constraints:
            connection.execute(sql.SQL("ALTER TABLE {} DROP CONSTRAINT {}").format(name, sql.Identifier(constraint)))
        columns = connection.execute(
            "SELECT attname FROM pg_attribute WHERE attrelid = %s::regclass AND attnotnull AND attnum > 0", [table]
        ).fetchall()
        for (column,) in columns:
            connection.execute(sql.SQL("ALTER TABLE {} ALTER {} DROP NOT NULL").format(name, sql.Identifier(column)))
        connection.execute("DROP INDEX IF EXISTS kb_retrieval_event_message_uq")


def insert(database: Database, table: str, rows: Sequence[Row]) -> None:
    with database.connect() as connection:
        for row in rows:
            statement = sql.SQL("INSERT INTO {} ({}) VALUES ({})").format(
                sql.Identifier(table),
                sql.SQL(", ").join(map(sql.Identifier, row)),
                sql.SQL(", ").join(sql.Placeholder() * len(row)),
            )
            connection.execute(statement, list(row.values()))


def failed(results: Sequence[ExpectationResult]) -> dict[str, set[str]]:
    return {each.name: set(each.failed_expectations) for each in results if not each.passed}


def counted(results: Sequence[ExpectationResult]) -> dict[str, int]:
    return {kind: count for each in results for kind, count in each.counts.items() if count and kind != "rows"}


@pytest.mark.parametrize(("subject", "sound", "check", "kinds"), SUITES, ids=[check for _, _, check, _ in SUITES])
def test_each_kind_of_broken_row_fails_exactly_its_check(
    database: Database, subject: Subject, sound: Callable[..., Row], check: str, kinds: Kinds
) -> None:
    without_constraints(database, subject.table)
    insert(database, subject.table, [sound(), *(sound(**changes) for changes, _ in kinds.values())])
    results = evaluate(database, subject, WINDOW)
    assert failed(results) == {check: {expectation for _, expectation in kinds.values()}}
    assert counted(results) == dict.fromkeys(kinds, 1)


@pytest.mark.parametrize("name", SOUND)
def test_sound_rows_pass_and_so_does_an_hour_without_any(database: Database, name: str) -> None:
    subject, rows = SOUND[name]
    insert(database, subject.table, rows)
    results = evaluate(database, subject, WINDOW)
    assert failed(results) == {}
    assert results[0].counts["rows"] == len(rows)
    assert [each.name for each in results] == list(subject.groups)
    assert failed(evaluate(database, subject, Window(WINDOW.end, WINDOW.end + HOUR))) == {}


@pytest.mark.parametrize(
    ("subject", "row", "key"),
    [
        (EVENTS, event(), "expect_column_values_to_be_unique(message_id)"),
        (SEARCHES, search(), "expect_column_values_to_be_unique(id)"),
        (JUDGMENTS, judgment(), "expect_compound_columns_to_be_unique"),
    ],
    ids=["events", "searches", "judgments"],
)
def test_a_row_that_stands_twice_fails_the_uniqueness_alone(
    database: Database, subject: Subject, row: Row, key: str
) -> None:
    without_constraints(database, subject.table)
    insert(database, subject.table, [row, row])
    found = failed(evaluate(database, subject, WINDOW))
    assert set(found) == {f"{subject.table}_unique"}
    assert key in found[f"{subject.table}_unique"]


@pytest.mark.parametrize("subject", [EVENTS, SEARCHES, JUDGMENTS], ids=lambda subject: subject.table)
def test_an_empty_column_fails_the_schema_whichever_it_is(database: Database, subject: Subject) -> None:
    without_constraints(database, subject.table)
    sound = {EVENTS.table: event, SEARCHES.table: search, JUDGMENTS.table: judgment}[subject.table]
    bounds = {"created_at", "occurred_at"}
    empty = [name for name in subject.always_filled if name not in bounds]
    insert(database, subject.table, [{**sound(), name: None} for name in empty])
    results = evaluate(database, subject, WINDOW)
    assert failed(results)[subject.schema] == {not_null(name) for name in empty}
    assert results[0].counts["rows_with_an_empty_column"] == len(empty)


@pytest.mark.parametrize("p", [1.5, -0.1, float("nan")])
def test_a_p_that_is_no_fraction_is_out_of_range_and_not_that_of_its_masses(database: Database, p: float) -> None:
    without_constraints(database, JUDGMENTS.table)
    insert(database, JUDGMENTS.table, [judgment(p=p)])
    results = evaluate(database, JUDGMENTS, WINDOW)
    assert failed(results) == {
        "kb_ground_truth_ranges": {between("p")},
        "kb_ground_truth_consistent": {between("p_error")},
    }
    assert counted(results) == {"p_out_of_range": 1, "p_of_other_masses": 1}


def test_a_column_that_was_added_fails_the_schema_alone(database: Database) -> None:
    with database.connect() as connection:
        connection.execute("ALTER TABLE kb_ground_truth ADD COLUMN note text")
    assert failed(evaluate(database, JUDGMENTS, WINDOW)) == {
        "kb_ground_truth_schema": {"expect_table_columns_to_match_ordered_list"}
    }


def test_nothing_of_a_row_stands_in_results_logs_or_on_the_terminal(
    database: Database, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    without_constraints(database, EVENTS.table)
    marked = event(query=MARKER, engine=MARKER, query_sha=MARKER, retrieved=[hit(1, MARKER), hit(1, MARKER)])
    insert(database, EVENTS.table, [marked])
    caplog.set_level("DEBUG")
    results = evaluate(database, EVENTS, WINDOW)
    assert failed(results)
    assert MARKER not in repr(results) + caplog.text
    assert capfd.readouterr() == ("", "")
