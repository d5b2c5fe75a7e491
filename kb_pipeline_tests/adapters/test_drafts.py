"""Drafts as the operator's views show them, whichever of them there are."""

import re
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
from psycopg import sql

from kb_pipeline.adapters.postgres.connection import Database
from kb_pipeline.adapters.postgres.grader import grader_database
from kb_pipeline.adapters.postgres.retrieval import drafts as drafts_module
from kb_pipeline.adapters.postgres.retrieval.drafts import PostgresDrafts
from kb_pipeline.adapters.postgres.retrieval.outcomes import PostgresOutcomes
from kb_pipeline.adapters.postgres.retrieval.queries import load
from kb_pipeline.adapters.postgres.retrieval.views import mapped_views
from kb_pipeline.errors import DatabaseError
from kb_pipeline.records import Candidate, RetrievedDocument, ReviewedDraft
from kb_pipeline.steps.outcomes import derive_outcomes
from kb_pipeline.windows import HOUR, Window
from kb_pipeline_tests.builders import closed_hour, table
from kb_pipeline_tests.retrieval_street.application import DRAFT, OTHER, QUERY, Application

pytestmark = pytest.mark.postgres

MADE, LATER = closed_hour(30), closed_hour(3)
MINUTE = timedelta(minutes=1)


def read(database: Database, window: Window) -> dict[UUID, ReviewedDraft]:
    with PostgresDrafts(database).changed_in(window, chunk=100) as chunks:
        return {draft.message_id: draft for chunk in chunks for draft in chunk}


def only(database: Database, window: Window) -> ReviewedDraft:
    (draft,) = read(database, window).values()
    return draft


def derive(database: Database, window: Window) -> dict[str, Any]:
    report = derive_outcomes(window, drafts=PostgresDrafts(database), book=PostgresOutcomes(database))
    return {name: count for name, count in report.counts.items() if count}


def change(database: Database, statement: str, *values: object) -> None:
    with database.connect() as connection:
        connection.execute(statement.encode(), values)


def unmap(database: Database, *views: str) -> None:
    for view in views:
        change(database, f"DROP VIEW kb_source.{view}")


def one_of_each(database: Database) -> dict[str, UUID]:
    """A draft for each thing that an expert may do, all of one hour."""
    application = Application(database)
    names = ("accepted", "edited", "rejected", "pending", "corrected_only")
    made = {name: application.served(MADE.start + MINUTE * number) for number, name in enumerate(names)}
    application.decide(made["accepted"], MADE.start + 20 * MINUTE)
    application.correct(made["edited"], MADE.start + 21 * MINUTE, "Izin keluar berlaku selama sepuluh hari.")
    application.decide(made["rejected"], MADE.start + 22 * MINUTE, "rejected", "Sumber salah")
    application.correct(made["corrected_only"], MADE.start + 23 * MINUTE, f"Halo! {DRAFT}")
    change(database, "DELETE FROM upstream.expert_queue_items WHERE message_id = %s", made["corrected_only"])
    return made


@pytest.mark.parametrize(
    ("absent", "expected"),
    [
        ((), {"accepted": 1, "edited_heavy": 1, "rejected": 1, "pending": 1, "edited_light": 1}),
        (("expert_queue_item",), {"edited_heavy": 1, "edited_light": 1, "pending": 3}),
        (("correction",), {"accepted": 1, "rejected": 1, "pending": 3}),
        (("expert_queue_item", "correction"), {"pending": 5}),
        (("message",), {}),
        (("message", "expert_queue_item", "correction"), {}),
    ],
    ids=lambda value: "+".join(value) or "none",
)
def test_each_view_that_is_absent_takes_what_it_says_and_no_more(
    database: Database, absent: Sequence[str], expected: dict[str, int]
) -> None:
    one_of_each(database)
    unmap(database, *absent)
    counts = derive(database, MADE)
    derived = sum(expected.values())
    missing = {"views_absent": len(absent)} if absent else {}
    assert counts == expected | ({"derived": derived, "changed": derived} if derived else {}) | missing | {
        f"view_absent/{view}": 1 for view in absent
    }
    assert mapped_views(database).isdisjoint(absent)


def test_a_view_that_may_not_be_read_is_an_error_and_no_absence(database: Database) -> None:
    one_of_each(database)
    change(database, "DROP VIEW kb_source.correction")
    change(database, "CREATE VIEW kb_source.correction AS SELECT id AS correction_id FROM upstream.corrections")
    with pytest.raises(DatabaseError, match="kb-pipeline check"):
        derive(database, MADE)


def test_the_draft_comes_with_everything_that_is_known_of_it(database: Database) -> None:
    application = Application(database)
    message_id = application.served(MADE.start, retrieved=("permit", "fees"), trace_id="trace-1")
    application.correct(message_id, LATER.start, "Izin keluar berlaku selama sepuluh hari.")
    draft = only(database, LATER)
    assert (draft.message_id, draft.tenant, draft.draft) == (message_id, application.tenant, DRAFT)
    assert (draft.drafted_at, draft.opened_at, draft.decided_at) == (MADE.start, LATER.start - 2 * MINUTE, LATER.start)
    assert (draft.status, draft.final) == ("edited", "Izin keluar berlaku selama sepuluh hari.")
    assert draft.event is not None
    assert draft.trace_id == draft.event.trace_id == "trace-1"
    assert (draft.event.message_id, draft.event.query, draft.event.engine) == (message_id, QUERY, "hybrid")
    assert [(hit.doc_id, hit.rank, hit.used_in_final) for hit in draft.event.retrieved] == [
        ("permit", 1, True),
        ("fees", 2, False),
    ]


def test_a_draft_belongs_to_the_hour_it_was_made_in_until_it_is_decided_then_to_that_hour(database: Database) -> None:
    application = Application(database)
    message_id = application.served(MADE.start)
    assert read(database, LATER) == {}
    assert derive(database, MADE) == {"derived": 1, "pending": 1, "changed": 1}
    application.decide(message_id, LATER.start)
    assert read(database, MADE) == {}
    assert list(read(database, LATER)) == [message_id]
    assert derive(database, LATER) == {"derived": 1, "accepted": 1, "changed": 1}
    assert table(database, "SELECT outcome, decided_at FROM kb_draft_outcome") == [("accepted", LATER.start)]
    change(database, "UPDATE upstream.expert_queue_items SET status = 'pending', decided_at = NULL")
    assert list(read(database, MADE)) == [message_id]
    assert derive(database, MADE) == {"derived": 1, "pending": 1, "changed": 1}


@pytest.mark.parametrize("drafted_ago", [timedelta(0), timedelta(days=3)])
def test_a_decision_without_an_instant_takes_the_corrections_or_the_rows_last_change(
    database: Database, drafted_ago: timedelta
) -> None:
    application = Application(database)
    accepted, edited = (application.served(LATER.start - drafted_ago) for _ in range(2))
    application.decide(accepted, LATER.start + 5 * MINUTE)
    application.correct(edited, LATER.start + 6 * MINUTE, f"Halo! {DRAFT}")
    change(database, "UPDATE upstream.expert_queue_items SET decided_at = NULL, updated_at = updated_at + '9 minutes'")
    found = read(database, LATER)
    assert found[accepted].decided_at == LATER.start + 14 * MINUTE
    assert found[edited].decided_at == LATER.start + 6 * MINUTE


def test_a_correction_of_a_draft_that_was_never_queued_is_found_in_its_own_hour(database: Database) -> None:
    application = Application(database)
    message_id = application.served(MADE.start)
    application.correct(message_id, LATER.start, f"Halo! {DRAFT}")
    change(database, "DELETE FROM upstream.expert_queue_items")
    assert only(database, LATER).decided_at == LATER.start
    assert derive(database, LATER)["edited_light"] == 1


def test_a_decision_before_its_draft_is_found_in_the_drafts_hour(database: Database) -> None:
    application = Application(database)
    message_id = application.served(LATER.start)
    application.decide(message_id, MADE.start)
    assert read(database, MADE) == {}
    assert only(database, LATER).decided_at == LATER.start
    assert derive(database, LATER)["accepted"] == 1


def test_the_newest_correction_is_what_was_sent_and_the_oldest_knows_the_draft(database: Database) -> None:
    """An application may write what was sent over the message itself."""
    application = Application(database)
    message_id = application.served(MADE.start)
    application.correct(message_id, MADE.start + MINUTE, "Erste Fassung.")
    application.correct(message_id, MADE.start + 2 * MINUTE, "Letzte Fassung.")
    change(
        database,
        "UPDATE upstream.corrections SET original_text = CASE corrected_text WHEN 'Erste Fassung.' THEN 'Entwurf.'"
        " ELSE 'Erste Fassung.' END",
    )
    change(database, "UPDATE upstream.messages SET content = 'Letzte Fassung.'")
    draft = only(database, MADE)
    assert (draft.draft, draft.final) == ("Entwurf.", "Letzte Fassung.")


CHANGES = {
    "the draft": "UPDATE upstream.messages SET content = content || ' Ya.'",
    "the status": "UPDATE upstream.expert_queue_items SET status = 'rejected'",
    "the reason": "UPDATE upstream.expert_queue_items SET rejection_reason = 'Sumber salah'",
    "the opening": "UPDATE upstream.expert_queue_items SET opened_at = decided_at",
    "the decision": "UPDATE upstream.expert_queue_items SET decided_at = decided_at + '1 second'",
    "the correction": "UPDATE upstream.corrections SET corrected_text = corrected_text || ' Ya.'",
    "the tenant": "UPDATE upstream.messages SET specialist_id = gen_random_uuid()",
    "the event": "UPDATE kb_retrieval_event SET shadow = true",
}


@pytest.mark.parametrize("statement", CHANGES.values(), ids=list(CHANGES))
def test_whatever_changes_of_a_draft_makes_its_outcome_out_of_date(database: Database, statement: str) -> None:
    application = Application(database)
    message_id = application.served(MADE.start)
    application.correct(message_id, MADE.start + MINUTE, f"Halo! {DRAFT}")
    derive(database, MADE)
    assert read(database, MADE) == {}
    change(database, statement)
    assert list(read(database, MADE)) == [message_id]
    assert derive(database, MADE)["derived"] == 1
    assert read(database, MADE) == {}


def test_an_event_that_is_past_its_retention_changes_no_outcome(database: Database) -> None:
    application = Application(database)
    application.decide(application.served(MADE.start), MADE.start + MINUTE)
    derive(database, MADE)
    change(database, "DELETE FROM kb_retrieval_event")
    assert read(database, MADE) == {}
    assert PostgresDrafts(database).lagging(MADE) == []


def test_a_citation_or_a_later_query_makes_it_out_of_date_too(database: Database) -> None:
    application = Application(database)
    conversation_id = uuid4()
    message_id = application.draft(MADE.start, conversation_id=conversation_id)
    application.retrieval(MADE.start, conversation_id=conversation_id, message_id=message_id)
    application.decide(message_id, MADE.start + 20 * MINUTE)
    derive(database, MADE)
    application.search(MADE.start, "kb.citation.inserted", message_id=message_id, doc_id="permit", query=None)
    assert derive(database, MADE)["derived"] == 1
    application.retrieval(MADE.start + 30 * MINUTE, conversation_id=conversation_id)
    assert derive(database, MADE)["derived"] == 1
    assert read(database, MADE) == {}


def test_a_change_of_the_queues_row_that_decides_nothing_is_none(database: Database) -> None:
    application = Application(database)
    application.decide(application.served(MADE.start), MADE.start + MINUTE)
    derive(database, MADE)
    change(database, "UPDATE upstream.expert_queue_items SET updated_at = updated_at + '1 hour'")
    assert read(database, MADE) == {}


def test_other_rules_make_every_outcome_out_of_date(database: Database) -> None:
    message_id = Application(database).served(MADE.start)
    derive(database, MADE)
    change(database, "UPDATE kb_draft_outcome SET rule_version = 'older'")
    assert list(read(database, MADE)) == [message_id]


def test_a_shadow_or_another_tenants_event_serves_no_draft(database: Database) -> None:
    application, other = Application(database), Application(database, OTHER)
    shadowed, foreign = application.draft(MADE.start), application.draft(MADE.start)
    application.retrieval(MADE.start, message_id=shadowed, shadow=True)
    other.retrieval(MADE.start, message_id=foreign)
    assert [draft.event for draft in read(database, MADE).values()] == [None, None]


def test_only_drafts_are_drafts(database: Database) -> None:
    application = Application(database)
    for role in ("client", "expert", "system"):
        application.draft(MADE.start, role=role)
    assert read(database, MADE) == {}


def test_citations_of_the_draft_or_of_its_conversation_while_it_was_open_are_the_experts(database: Database) -> None:
    application = Application(database)
    conversation_id = uuid4()
    message_id = application.draft(MADE.start, conversation_id=conversation_id)
    application.decide(message_id, MADE.start + 20 * MINUTE)

    def cite(doc_id: str, minutes: int, **keys: Any) -> None:
        application.search(
            MADE.start + minutes * MINUTE,
            **{"event_type": "kb.citation.inserted", "query": None, **keys, "doc_id": doc_id},
        )

    cite("by-message", 3, message_id=message_id)
    cite("by-message", 4, message_id=message_id)
    cite("after-all", 90, message_id=message_id)
    cite("by-conversation", 2, conversation_id=conversation_id)
    cite("too-early", -1, conversation_id=conversation_id)
    cite("too-late", 21, conversation_id=conversation_id)
    cite("of-another-draft", 5, conversation_id=conversation_id, message_id=uuid4())
    cite("of-another-tenant", 6, message_id=message_id, org_id=OTHER.org_id)
    cite("only-clicked", 7, message_id=message_id, event_type="kb.result.clicked")
    assert only(database, MADE).cited == ("by-conversation", "by-message", "after-all")


def test_later_queries_are_those_of_the_same_conversation_and_tenant_within_a_day(database: Database) -> None:
    application = Application(database)
    conversation_id = uuid4()
    message_id = application.draft(MADE.start, conversation_id=conversation_id)
    application.retrieval(MADE.start, conversation_id=conversation_id, message_id=message_id, query="first")

    def ask(query: str, minutes: int, **keys: Any) -> None:
        application.retrieval(
            MADE.start + minutes * MINUTE, **{"conversation_id": conversation_id, "query": query, **keys}
        )

    ask("second", 30)
    ask("third", 24 * 60)
    ask("before", -1)
    ask("the day after", 24 * 60 + 1)
    ask("in the shadow", 31, shadow=True)
    ask("elsewhere", 32, conversation_id=uuid4())
    ask("of another tenant", 33, specialist_id=OTHER.specialist_id)
    ask("", 34, text_expired_at=MADE.end)
    assert only(database, MADE).later_queries == ("second", "third")


def test_results_that_another_program_wrote_are_read_as_far_as_they_can_be(database: Database) -> None:
    Application(database).served(MADE.start)
    retrieved = (
        '[{"doc_id": "b", "rank": 2, "score": 1e400}, {"doc_id": 7, "rank": 1, "score": "high"}, "x", null,'
        ' {"rank": 3}, {"doc_id": "b", "rank": 4}]'
    )
    pool = '[{"doc_id": "c", "pre_rank": 1}, 5, {"pre_rank": 2}]'
    change(
        database, "UPDATE kb_retrieval_event SET result_count = 9, retrieved = %s, candidate_pool = %s", retrieved, pool
    )
    event = only(database, MADE).event
    assert event is not None
    assert event.retrieved == (RetrievedDocument(doc_id="7", rank=1), RetrievedDocument(doc_id="b", rank=2))
    assert event.candidate_pool == (Candidate(doc_id="c", pre_rank=1),)


def test_a_source_that_breaks_the_contract_gives_each_draft_once(database: Database) -> None:
    """Two queue rows of one draft, a draft without text, one without a tenant."""
    application = Application(database)
    message_id = application.served(MADE.start)
    application.decide(message_id, MADE.start + MINUTE)
    change(
        database,
        "CREATE OR REPLACE VIEW kb_source.expert_queue_item AS"
        " SELECT message_id, status, rejection_reason, opened_at, decided_at, updated_at"
        " FROM upstream.expert_queue_items UNION ALL"
        " SELECT message_id, 'rejected', 'x', opened_at, decided_at, updated_at + '1 minute'"
        " FROM upstream.expert_queue_items",
    )
    change(
        database,
        "CREATE OR REPLACE VIEW kb_source.message AS SELECT id AS message_id, conversation_id, org_id, specialist_id,"
        " role, NULL::text AS content, trace_id, created_at FROM upstream.messages UNION ALL"
        " SELECT gen_random_uuid(), gen_random_uuid(), NULL, NULL, 'draft', 'x', NULL, created_at"
        " FROM upstream.messages",
    )
    draft = only(database, MADE)
    assert (draft.message_id, draft.draft, draft.status) == (message_id, "", "rejected")
    assert derive(database, MADE)["rejected"] == 1


def test_chunks_end_where_their_count_or_their_text_is_full(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    application = Application(database)
    for minute in range(7):
        application.draft(MADE.start + minute * MINUTE, "Akta. " * 100)

    def sizes(chunk: int) -> list[int]:
        with PostgresDrafts(database).changed_in(MADE, chunk=chunk) as chunks:
            return [len(drafts) for drafts in chunks]

    assert sizes(3) == [3, 3, 1]
    monkeypatch.setattr(drafts_module, "CHUNK_CHARS", 1_000)
    assert sizes(3) == [2, 2, 2, 1]


def test_a_reader_that_stops_half_way_leaves_nothing_behind(database: Database) -> None:
    application = Application(database)
    for minute in range(7):
        application.draft(MADE.start + minute * MINUTE)
    drafts = PostgresDrafts(database)
    with drafts.changed_in(MADE, chunk=2) as chunks:
        assert len(next(iter(chunks))) == 2
    assert len(read(database, MADE)) == 7


def test_decided_drafts_with_an_event_are_read_whether_they_changed_or_not(database: Database) -> None:
    made = one_of_each(database)
    bare = Application(database).draft(MADE.start)
    Application(database).decide(bare, MADE.start + MINUTE)
    derive(database, MADE)
    with PostgresDrafts(database).decided_in(MADE, chunk=2) as chunks:
        found = {draft.message_id for chunk in chunks for draft in chunk}
    assert found == set(made.values()) - {made["pending"]}


def unharvested(database: Database, rules: str = "rules-1") -> list[ReviewedDraft]:
    with PostgresDrafts(database).unharvested(rules=rules, chunk=2) as chunks:
        return [draft for chunk in chunks for draft in chunk]


def test_drafts_are_harvested_again_when_their_outcome_or_the_rules_have_changed(database: Database) -> None:
    made = one_of_each(database)
    assert unharvested(database) == []
    derive(database, MADE)
    assert {draft.message_id for draft in unharvested(database)} == set(made.values()) - {made["pending"]}
    change(database, "UPDATE kb_draft_outcome SET harvested_state = source_state || '|rules-1'")
    assert unharvested(database) == []
    assert len(unharvested(database, "rules-2")) == 5
    change(
        database,
        "UPDATE upstream.expert_queue_items SET rejection_reason = 'Nada kasar' WHERE message_id = %s",
        made["rejected"],
    )
    assert unharvested(database) == []
    derive(database, MADE)
    assert [draft.message_id for draft in unharvested(database)] == [made["rejected"]]


def test_a_harvested_draft_that_was_reopened_is_harvested_again(database: Database) -> None:
    application = Application(database)
    message_id = application.served(MADE.start)
    application.decide(message_id, MADE.start + MINUTE)
    derive(database, MADE)
    change(database, "UPDATE kb_draft_outcome SET harvested_state = source_state || '|rules-1'")
    change(database, "UPDATE upstream.expert_queue_items SET status = 'pending', decided_at = NULL")
    derive(database, MADE)
    (draft,) = unharvested(database)
    assert (draft.message_id, draft.decided_at) == (message_id, None)


def test_the_state_of_a_draft_to_harvest_is_that_of_its_outcome(database: Database) -> None:
    application = Application(database)
    application.decide(application.served(MADE.start), MADE.start + MINUTE)
    derive(database, MADE)
    ((derived,),) = table(database, "SELECT source_state FROM kb_draft_outcome")
    change(database, "UPDATE upstream.messages SET content = 'Lain.'")
    (draft,) = unharvested(database)
    assert (draft.draft, draft.source_state) == ("Lain.", derived)


def test_lagging_hours_are_counted_and_their_progress_changes_with_the_source(database: Database) -> None:
    application, drafts = Application(database), PostgresDrafts(database)
    whole = Window(MADE.start, LATER.end)
    application.served(MADE.start)
    message_id = application.served(MADE.start)
    application.decide(message_id, LATER.start)
    first = drafts.lagging(whole)
    assert [(each.hour, each.drafts) for each in first] == [(MADE, 1), (LATER, 1)]
    assert drafts.lagging(whole) == first
    application.decide(message_id, LATER.start, "rejected")
    assert [each.progress == before.progress for each, before in zip(drafts.lagging(whole), first, strict=True)] == [
        True,
        False,
    ]
    derive(database, MADE)
    assert [each.hour for each in drafts.lagging(whole)] == [LATER]
    derive(database, LATER)
    assert drafts.lagging(whole) == []
    assert drafts.lagging(MADE) == []


def test_the_grader_may_do_all_of_it(database: Database) -> None:
    one_of_each(database)
    with grader_database(database.url.render_as_string(hide_password=False)) as grader:
        assert grader.role == "kb_grader"
        assert derive(grader, MADE)["derived"] == 5
        assert len(unharvested(grader)) == 4
        change(database, "DELETE FROM upstream.messages WHERE created_at > %s", MADE.start)
        assert derive(grader, MADE)["forgotten"] == 4


def test_a_draft_of_a_megabyte_and_foreign_signs_comes_whole(database: Database) -> None:
    text = "Akta \N{FAMILY} e\u0301 \ufffd {x} %s %(y)s {{}} " * 25_000
    Application(database).draft(MADE.start, text)
    assert only(database, MADE).draft == text
    assert derive(database, MADE)["pending"] == 1


ROWS = 40_000
FILL = (
    (
        "CREATE TEMPORARY TABLE made AS SELECT gen_random_uuid() AS id, gen_random_uuid() AS conversation_id,"
        f" now() - n * interval '1 year' / {ROWS} AS at FROM generate_series(1, {ROWS}) AS n"
    ),
    (
        "INSERT INTO upstream.messages (id, conversation_id, org_id, specialist_id, role, content, created_at)"
        " SELECT id, conversation_id, id, id, 'draft', 'x', at FROM made"
    ),
    (
        "INSERT INTO upstream.expert_queue_items (message_id, status, opened_at, decided_at, updated_at)"
        " SELECT id, 'accepted', at, at, at FROM made"
    ),
    (
        "INSERT INTO upstream.corrections (message_id, original_text, corrected_text, created_at)"
        " SELECT id, 'x', 'y', at FROM made"
    ),
    (
        "INSERT INTO kb_retrieval_event (org_id, specialist_id, conversation_id, message_id, engine, query, top_k,"
        " result_count, occurred_at, created_at) SELECT id, id, conversation_id, id, 'e', 'q', 1, 0, at, at FROM made"
    ),
    (
        "INSERT INTO kb_search_event (id, org_id, specialist_id, conversation_id, message_id, search_id, event_type,"
        " doc_id, occurred_at, created_at)"
        " SELECT id, id, id, conversation_id, id, id, 'kb.citation.inserted', 'd', at, at FROM made"
    ),
    (
        "INSERT INTO kb_draft_outcome (message_id, org_id, specialist_id, conversation_id, outcome, drafted_at,"
        " decided_at, kept_sentences, new_sentences, removed_sentences, source_state, rule_version)"
        " SELECT id, id, id, conversation_id, 'accepted', at, at, 1, 0, 0, 's', 'r' FROM made"
    ),
    (
        "INSERT INTO kb_evidence (org_id, specialist_id, query_sha, doc_id, kind, weight, message_id, observed_at,"
        " rule_version) SELECT id, id, repeat('0', 64), 'd', 'accepted', .5, id, at, 'r' FROM made"
    ),
)
WHOLE = re.compile(
    r"Seq Scan on (messages|expert_queue_items|corrections"
    r"|kb_retrieval_event|kb_search_event|kb_draft_outcome|kb_evidence)\b"
)


def plan(database: Database, query: sql.Composable, parameters: dict[str, Any]) -> list[str]:
    with database.connect() as connection:
        rows = connection.execute(sql.SQL("EXPLAIN ") + query, parameters).fetchall()
    return WHOLE.findall("\n".join(row[0] for row in rows))


@pytest.mark.slow
def test_no_query_of_an_hour_reads_the_history(database: Database) -> None:
    with database.session() as session:
        for statement in FILL:
            session.execute(statement.encode())
        session.execute("VACUUM ANALYZE")
    views = frozenset(drafts_module.VIEWS)
    hour = closed_hour(100)
    parameters: dict[str, Any] = {
        "window_start": hour.start,
        "window_end": hour.end,
        "rules": "r",
        "lagging": True,
        "decided": False,
        "oldest": datetime(2020, 1, 1, tzinfo=hour.start.tzinfo),
        "message_ids": [uuid4()],
    }
    scans = {
        name: plan(database, drafts_module._statement(name, "drafts_of_window", views), parameters)
        for name in ("select_drafts", "lagging_hours")
    }
    for name in ("forget_outcomes", "hours_with_deleted_drafts", "oldest_draft_at_source", "forget_evidence"):
        scans[name] = plan(database, sql.SQL(load(name)), parameters)
    for name in ("forget_event_words", "forget_search_words"):
        scans[name] = plan(database, sql.SQL(load(name)), parameters)
    assert scans == {name: [] for name in scans}
    assert [each.hour for each in PostgresDrafts(database).lagging(Window(hour.start, hour.start + HOUR))] == [hour]
