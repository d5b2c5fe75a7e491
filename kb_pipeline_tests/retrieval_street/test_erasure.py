"""What is let go by age, and that a judgment outlives the words of its query."""

from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest

from kb_pipeline.adapters.postgres import batches
from kb_pipeline.adapters.postgres.connection import Database
from kb_pipeline.adapters.postgres.retrieval.erasure import PostgresQueryRetention
from kb_pipeline.records import EvidenceKind
from kb_pipeline.retrieval.queries import query_sha
from kb_pipeline_tests.builders import table
from kb_pipeline_tests.retrieval.pieces import evidence
from kb_pipeline_tests.retrieval_street.application import OTHER, TENANT, Application
from kb_pipeline_tests.retrieval_street.book import book, judge, judgments, keep

pytestmark = pytest.mark.postgres

NOW = datetime.now(UTC).replace(microsecond=0)
OLD, CUT, NEW = NOW - timedelta(days=200), NOW - timedelta(days=180), NOW - timedelta(days=10)
QUERY = "Berapa biaya pendaftaran?"
WORDS = "SELECT query, query_preview, text_expired_at IS NOT NULL FROM kb_query ORDER BY first_seen_at"

TOUCHED = "SELECT xmin::text, id FROM kb_retrieval_event UNION ALL SELECT xmin::text, id FROM kb_search_event"


def plant(database: Database) -> None:
    """An old retrieval, search and conflict, and a new retrieval of another query, all noted."""
    application = Application(database)
    application.retrieval(OLD, query=QUERY, query_rewritten="biaya pendaftaran badan usaha")
    application.search(OLD, query=QUERY)
    application.search(OLD, "kb.result.clicked", query=None, doc_id="a")
    application.retrieval(NEW, query="Syarat?")
    with database.connect() as connection:
        connection.execute(
            "INSERT INTO kb_retrieval_event_conflict (id, message_id, org_id, specialist_id, event, created_at)"
            " VALUES (%s, %s, %s, %s, %s, %s)",
            (uuid4(), uuid4(), TENANT.org_id, TENANT.specialist_id, '{"query": "Berapa biaya?"}', OLD),
        )
    book(database).note_queries()


def retention(database: Database) -> PostgresQueryRetention:
    return PostgresQueryRetention(database)


def tables_that_hold(database: Database, words: str) -> list[str]:
    """The tables of ours with these words anywhere."""
    ours = table(database, "SELECT tablename FROM pg_tables WHERE schemaname = 'public' AND tablename ~ '^kb_'")
    anywhere = "SELECT FROM {} AS kept WHERE kept::text ILIKE %s"
    return sorted(name for (name,) in ours if table(database, anywhere.format(name), f"%{words}%"))


def test_the_words_of_a_query_expire_everywhere_and_its_rows_stay(database: Database) -> None:
    plant(database)
    assert tables_that_hold(database, "berapa biaya") == [
        "kb_query",
        "kb_retrieval_event",
        "kb_retrieval_event_conflict",
        "kb_search_event",
    ]
    assert retention(database).expire_queries(CUT) == 3
    assert tables_that_hold(database, "berapa biaya") == []
    assert tables_that_hold(database, "badan usaha") == []
    assert tables_that_hold(database, "syarat") == ["kb_query", "kb_retrieval_event"]
    counts = [table(database, f"SELECT count(*) FROM {name}") for name in ("kb_retrieval_event", "kb_search_event")]
    assert counts == [[(2,)], [(2,)]]
    assert table(database, WORDS) == [(None, None, True), ("Syarat?", "Syarat?", False)]


def test_expiring_again_touches_nothing(database: Database) -> None:
    plant(database)
    retention(database).expire_queries(CUT)
    before = table(database, TOUCHED)
    assert retention(database).expire_queries(CUT) == 0
    assert table(database, TOUCHED) == before


def test_a_judgment_keeps_its_key_and_grade_when_the_words_are_gone(database: Database) -> None:
    plant(database)
    keep(database, [evidence(EvidenceKind.CITED, 1.0, query_sha=query_sha(QUERY), observed_at=NEW)])
    judge(database, NOW)
    before = judgments(database)
    retention(database).expire_queries(CUT)
    retention(database).expire_events(CUT)
    assert judge(database, NOW) == 0
    assert judgments(database) == before
    assert [(sha, row["grade"]) for (_, sha, _), row in before.items()] == [(query_sha(QUERY), 3)]
    assert table(database, "SELECT query_sha, query FROM kb_query WHERE text_expired_at IS NOT NULL") == [
        (query_sha(QUERY), None)
    ]


def test_words_stay_while_any_event_of_the_tenant_still_carries_them(database: Database) -> None:
    application = Application(database)
    application.retrieval(OLD, query=QUERY)
    application.retrieval(NEW, query=QUERY.upper())
    Application(database, OTHER).retrieval(OLD, query=QUERY)
    book(database).note_queries()
    retention(database).expire_queries(CUT)
    words = table(database, "SELECT org_id, query IS NOT NULL FROM kb_query")
    assert dict(words) == {TENANT.org_id: True, OTHER.org_id: False}


def test_an_experts_own_search_keeps_the_words_too(database: Database) -> None:
    application = Application(database)
    application.retrieval(OLD, query=QUERY)
    application.search(NEW, query=QUERY)
    book(database).note_queries()
    retention(database).expire_queries(CUT)
    assert table(database, WORDS) == [(QUERY, QUERY, False)]


def test_words_of_a_message_that_the_source_deleted_leave_kb_query_too(database: Database) -> None:
    Application(database).retrieval(NEW, query=QUERY)
    book(database).note_queries()
    with database.connect() as connection:
        connection.execute("UPDATE kb_retrieval_event SET query = '', text_expired_at = now()")
    retention(database).expire_queries(CUT)
    assert table(database, WORDS) == [(None, None, True)]


def test_previews_expire_by_when_the_query_was_last_asked(database: Database) -> None:
    plant(database)
    assert retention(database).expire_query_previews(NOW - timedelta(days=90)) == 1
    assert retention(database).expire_query_previews(NOW - timedelta(days=90)) == 0
    assert table(database, WORDS) == [(QUERY, None, False), ("Syarat?", "Syarat?", False)]


def test_rows_past_their_age_leave_with_the_tombstones_that_nothing_needs(database: Database) -> None:
    plant(database)
    application = Application(database)
    application.retrieval(OLD, query="Terbukti?")
    book(database).note_queries()
    keep(database, [evidence(EvidenceKind.CITED, 1.0, query_sha=query_sha("terbukti"), observed_at=OLD)])
    assert retention(database).expire_events(CUT) == 5
    assert table(database, "SELECT query FROM kb_retrieval_event") == [("Syarat?",)]
    assert table(database, "SELECT count(*) FROM kb_search_event") == [(0,)]
    assert table(database, "SELECT count(*) FROM kb_retrieval_event_conflict") == [(0,)]
    left = table(database, "SELECT query_sha, query FROM kb_query ORDER BY query")
    assert left == [(query_sha("Syarat?"), "Syarat?"), (query_sha("Terbukti?"), None)]


def test_more_rows_than_a_batch_all_go(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batches, "BATCH", 3)
    application = Application(database)
    for number in range(7):
        application.retrieval(OLD, query=f"Pertanyaan {number}")
    book(database).note_queries()
    assert retention(database).expire_queries(CUT) == 7
    assert table(database, "SELECT count(*) FROM kb_query WHERE query IS NOT NULL") == [(0,)]
    assert retention(database).expire_events(CUT) == 7
    assert table(database, "SELECT count(*) FROM kb_query") == [(0,)]


def test_a_row_in_use_is_left_for_the_next_time(database: Database) -> None:
    application = Application(database)
    busy = application.retrieval(OLD, query=QUERY)
    application.retrieval(OLD, query="Syarat?")
    with database.connect() as connection:
        connection.execute("SELECT FROM kb_retrieval_event WHERE id = %s FOR UPDATE", (busy,))
        assert retention(database).expire_queries(CUT) == 1
    assert retention(database).expire_queries(CUT) == 1


def test_the_grader_may_expire(database: Database) -> None:
    plant(database)
    grader = Database(database.url.render_as_string(hide_password=False), role="kb_grader")
    assert retention(grader).expire_queries(CUT) == 3
    assert retention(grader).expire_query_previews(NOW) == 1
    assert retention(grader).expire_events(CUT) == 4
    grader.dispose()
