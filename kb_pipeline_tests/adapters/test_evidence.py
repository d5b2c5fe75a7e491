"""The book of evidence: queries noted once, drafts and searches read anew without losing what they said before."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from threading import Thread
from typing import Any
from uuid import UUID, uuid4

import pytest

from kb_pipeline.adapters.postgres.connection import Database
from kb_pipeline.adapters.postgres.retrieval import evidence as adapter
from kb_pipeline.adapters.postgres.retrieval.evidence import PostgresEvidence, midnight
from kb_pipeline.adapters.postgres.retrieval.queries import load
from kb_pipeline.errors import DatabaseError
from kb_pipeline.records import Evidence, EvidenceKind, RetrievalEvent, ReviewedDraft, Tenant
from kb_pipeline.retrieval.queries import query_sha
from kb_pipeline_tests.builders import table
from kb_pipeline_tests.retrieval.pieces import evidence
from kb_pipeline_tests.retrieval_street.application import OTHER, TENANT, Application
from kb_pipeline_tests.retrieval_street.book import RULES, book, harvested, race, standing

pytestmark = pytest.mark.postgres

NOW = datetime.now(UTC).replace(microsecond=0)
EARLIER = NOW - timedelta(days=40)
QUERY = "Berapa biaya pendaftaran?"
ASKED, CLICKED, CITED = "kb.search.performed", "kb.result.clicked", "kb.citation.inserted"
QUERIES = (
    "SELECT query_sha, query, query_preview, first_seen_at, last_seen_at, text_expired_at IS NOT NULL FROM kb_query"
)
WAITING = (
    "SELECT count(*) FROM pg_locks JOIN pg_database ON pg_database.oid = database"
    " WHERE datname = current_database() AND locktype = 'advisory' AND NOT granted"
)
TOUCHED = "SELECT xmin::text, query_sha FROM kb_query UNION ALL SELECT xmin::text, query FROM kb_retrieval_event"


def note(database: Database) -> int:
    return book(database).note_queries()


# Queries.


def test_a_query_is_noted_once_however_often_and_in_whatever_dress_it_was_asked(database: Database) -> None:
    application = Application(database)
    application.retrieval(NOW, query="berapa  BIAYA pendaftaran")
    application.retrieval(EARLIER, query=QUERY)
    application.search(NOW - timedelta(days=1), ASKED, query=f"  {QUERY}  ")
    assert note(database) == 1
    assert table(database, QUERIES) == [(query_sha(QUERY), QUERY, QUERY, EARLIER, NOW, False)]
    noted = "SELECT DISTINCT query_sha, noted_at IS NOT NULL FROM {}"
    for events in ("kb_retrieval_event", "kb_search_event"):
        assert table(database, noted.format(events)) == [(query_sha(QUERY), True)]


def test_noting_again_touches_nothing(database: Database) -> None:
    Application(database).retrieval(NOW, query=QUERY)
    note(database)
    before = table(database, TOUCHED)
    assert note(database) == 0
    assert table(database, TOUCHED) == before


def test_an_event_written_late_with_an_old_time_is_noted_too(database: Database) -> None:
    application = Application(database)
    application.retrieval(NOW, query=QUERY)
    note(database)
    application.retrieval(EARLIER, query=QUERY, created_at=EARLIER)
    application.retrieval(EARLIER, query="Syarat?", created_at=EARLIER)
    assert note(database) == 2
    seen = table(database, "SELECT query, first_seen_at, last_seen_at FROM kb_query ORDER BY query")
    assert seen == [(QUERY, EARLIER, NOW), ("Syarat?", EARLIER, EARLIER)]


def test_one_query_of_two_tenants_is_two_queries(database: Database) -> None:
    for tenant in (TENANT, OTHER, Tenant(org_id=TENANT.org_id, specialist_id=OTHER.specialist_id)):
        Application(database, tenant).retrieval(NOW, query=QUERY)
    assert note(database) == 3


def test_more_events_than_a_batch_are_all_noted(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(adapter, "BATCH", 3)
    application = Application(database)
    for number in range(8):
        application.retrieval(NOW, query=f"Pertanyaan {number % 4}")
    assert note(database) >= 4
    assert table(database, "SELECT count(*) FROM kb_query") == [(4,)]
    assert table(database, "SELECT count(*) FROM kb_retrieval_event WHERE noted_at IS NULL") == [(0,)]


def test_two_who_note_at_once_note_every_query_once(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(adapter, "BATCH", 20)
    application = Application(database)
    for number in range(100):
        application.retrieval(NOW - timedelta(minutes=number), query=f"Pertanyaan {number % 10}")
    race(lambda: note(database))
    assert table(database, "SELECT count(*), max(last_seen_at) FROM kb_query") == [(10, NOW)]
    assert table(database, "SELECT count(*) FROM kb_retrieval_event WHERE noted_at IS NULL") == [(0,)]


def test_a_hash_that_a_writer_got_wrong_is_put_right(database: Database) -> None:
    Application(database).retrieval(NOW, query=QUERY, query_sha="0" * 64)
    note(database)
    assert table(database, "SELECT query_sha FROM kb_retrieval_event UNION SELECT query_sha FROM kb_query") == [
        (query_sha(QUERY),)
    ]


def test_an_event_without_words_leaves_a_tombstone_and_words_come_back_when_it_is_asked_again(
    database: Database,
) -> None:
    application = Application(database)
    application.retrieval(EARLIER, query="", query_sha=query_sha(QUERY), text_expired_at=NOW)
    application.retrieval(EARLIER, query="", text_expired_at=NOW)
    assert note(database) == 1
    assert table(database, QUERIES) == [(query_sha(QUERY), None, None, EARLIER, EARLIER, True)]
    application.retrieval(NOW, query=QUERY)
    assert note(database) == 1
    assert table(database, QUERIES) == [(query_sha(QUERY), QUERY, QUERY, EARLIER, NOW, False)]


def test_the_preview_is_what_the_given_function_makes_of_the_query(database: Database) -> None:
    Application(database).retrieval(NOW, query="Nomor saya 08123456789")
    PostgresEvidence(database, preview=lambda query: query[:5] + "…").note_queries()
    assert table(database, "SELECT query_preview FROM kb_query") == [("Nomor…",)]


# Drafts.


def reviewed(
    database: Database, *, query: str = QUERY, state: str = "1", message_id: UUID | None = None
) -> ReviewedDraft:
    """A draft with its outcome, as the source shows it."""
    message_id = message_id or uuid4()
    conversation_id, event_id = uuid4(), uuid4()
    Application(database).outcome(message_id, NOW, conversation_id=conversation_id, source_state=state)
    event = RetrievalEvent(
        id=event_id,
        tenant=TENANT,
        conversation_id=conversation_id,
        engine="hybrid",
        query=query,
        top_k=5,
        result_count=0,
        occurred_at=NOW,
    )
    return ReviewedDraft(
        message_id=message_id,
        tenant=TENANT,
        conversation_id=conversation_id,
        drafted_at=NOW,
        draft="Biaya pendaftaran nol rupiah.",
        event=event,
        source_state=state,
    )


def of_draft(draft: ReviewedDraft, kind: EvidenceKind, weight: float, doc_id: str = "a", **changes: Any) -> Evidence:
    given = {"query_sha": query_sha(QUERY), "doc_id": doc_id, "observed_at": NOW, "message_id": draft.message_id}
    return replace(evidence(kind, weight), conversation_id=draft.conversation_id, **{**given, **changes})


def rows(database: Database) -> list[tuple[Any, ...]]:
    return table(
        database,
        "SELECT evidence_id, doc_id, kind, weight, rule_version, superseded_at IS NULL FROM kb_evidence ORDER BY 1",
    )


def test_evidence_is_appended_with_all_it_says(database: Database) -> None:
    draft = reviewed(database)
    full = of_draft(
        draft,
        EvidenceKind.SUPPORTS_NEW,
        0.64,
        chunk_id="a-1",
        event_id=uuid4(),
        correction_id=uuid4(),
        document_from=EARLIER,
        facts={"support": 0.8, "position": 1},
    )
    assert harvested(database, draft, [full]) == 1
    [row] = table(
        database,
        "SELECT org_id, specialist_id, query_sha, doc_id, chunk_id, kind, weight, conversation_id, event_id,"
        " message_id, correction_id, search_event_id, document_from, observed_at, facts, rule_version, author,"
        " superseded_at FROM kb_evidence",
    )
    assert row == (
        *(TENANT.org_id, TENANT.specialist_id, query_sha(QUERY), "a", "a-1", "supports_new", 0.64),
        *(draft.conversation_id, full.event_id, draft.message_id, full.correction_id, None, EARLIER, NOW),
        *({"support": 0.8, "position": 1}, RULES, None, None),
    )


def test_the_same_evidence_again_touches_no_row_also_under_other_rules(database: Database) -> None:
    draft = reviewed(database)
    said = [of_draft(draft, EvidenceKind.ACCEPTED, 0.5, facts={"support": 0.71, "deep": {"a": [1, 2.5]}})]
    harvested(database, draft, said)
    before = table(database, "SELECT xmin::text, * FROM kb_evidence")
    assert harvested(database, draft, said) == 0
    assert harvested(database, draft, said, rules="newer") == 0
    assert table(database, "SELECT xmin::text, * FROM kb_evidence") == before


def test_what_a_draft_says_no_more_is_superseded_and_stays_to_be_read(database: Database) -> None:
    draft = reviewed(database)
    harvested(
        database, draft, [of_draft(draft, EvidenceKind.ACCEPTED, 0.5), of_draft(draft, EvidenceKind.CITED, 1.0, "b")]
    )
    assert (
        harvested(
            database,
            draft,
            [of_draft(draft, EvidenceKind.ACCEPTED, 0.25), of_draft(draft, EvidenceKind.CITED, 1.0, "b")],
        )
        == 1
    )
    assert [(doc, weight, stands) for _, doc, _, weight, _, stands in rows(database)] == [
        ("a", 0.5, False),
        ("b", 1.0, True),
        ("a", 0.25, True),
    ]
    assert harvested(database, draft, []) == 0
    assert standing(database) == []


@pytest.mark.parametrize(
    "change",
    [
        {"weight": 0.4},
        {"chunk_id": "a-2"},
        {"facts": {"support": 0.9}},
        {"document_from": NOW},
        {"observed_at": NOW - timedelta(hours=1)},
        {"correction_id": UUID(int=9)},
        {"event_id": UUID(int=9)},
    ],
    ids=lambda change: next(iter(change)),
)
def test_evidence_that_differs_in_anything_is_another(database: Database, change: dict[str, Any]) -> None:
    draft = reviewed(database)
    said = of_draft(draft, EvidenceKind.ACCEPTED, 0.5, chunk_id="a-1", facts={"support": 0.8})
    harvested(database, draft, [said])
    assert harvested(database, draft, [replace(said, **change)]) == 1
    assert [stands for *_, stands in rows(database)] == [False, True]


def test_drafts_are_harvested_in_their_state_by_these_rules(database: Database) -> None:
    with_evidence, without = reviewed(database, state="abc"), reviewed(database, state="xyz")
    book(database).replace(
        "rules-7", [(with_evidence, [of_draft(with_evidence, EvidenceKind.CITED, 1.0)]), (without, [])]
    )
    states = dict(table(database, "SELECT message_id, harvested_state FROM kb_draft_outcome"))
    assert states == {with_evidence.message_id: "abc|rules-7", without.message_id: "xyz|rules-7"}


def test_another_drafts_evidence_and_a_persons_word_are_left_alone(database: Database) -> None:
    mine, theirs = reviewed(database), reviewed(database)
    harvested(database, theirs, [of_draft(theirs, EvidenceKind.CITED, 1.0)])
    with database.connect() as connection:
        connection.execute(
            "INSERT INTO kb_evidence (org_id, specialist_id, query_sha, doc_id, kind, weight, observed_at, message_id,"
            " rule_version, author, reason) VALUES (%s, %s, %s, 'a', 'settled', -1, now(), %s, 'r', 'Ratna', 'x')",
            (TENANT.org_id, TENANT.specialist_id, query_sha(QUERY), mine.message_id),
        )
    harvested(database, mine, [])
    assert standing(database) == [("a", "cited", 1.0), ("a", "settled", -1.0)]


def test_a_draft_whose_query_has_expired_keeps_what_it_said(database: Database) -> None:
    draft = reviewed(database)
    harvested(database, draft, [of_draft(draft, EvidenceKind.CITED, 1.0)])
    assert draft.event
    harvested(database, replace(draft, event=replace(draft.event, query="")), [], rules="newer")
    assert standing(database) == [("a", "cited", 1.0)]
    assert table(database, "SELECT harvested_state FROM kb_draft_outcome") == [("1|newer",)]


def test_of_two_that_say_the_same_of_one_draft_the_heavier_stands(database: Database) -> None:
    draft = reviewed(database)
    said = [of_draft(draft, EvidenceKind.ACCEPTED, weight) for weight in (0.25, 0.5, 0.1)]
    assert harvested(database, draft, said) == 1
    assert harvested(database, draft, said) == 0
    assert standing(database) == [("a", "accepted", 0.5)]


def test_a_batch_that_fails_changes_nothing(database: Database) -> None:
    good, bad = reviewed(database), reviewed(database)
    harvested(database, good, [of_draft(good, EvidenceKind.CITED, 1.0)])
    with pytest.raises(DatabaseError, match="kb_evidence_weight_check"):
        book(database).replace("newer", [(good, []), (bad, [of_draft(bad, EvidenceKind.CITED, 1.5)])])
    assert standing(database) == [("a", "cited", 1.0)]


def test_a_harvest_waits_for_another_one_at_work(database: Database) -> None:
    """Else what one makes of a draft could stand beside what the other makes of it, and be taken for harvested."""
    draft = reviewed(database)
    work = Thread(target=lambda: harvested(database, draft, [of_draft(draft, EvidenceKind.CITED, 1.0)]))
    with database.connect() as other:
        other.execute(load("lock_harvest"))
        work.start()
        while other.execute(WAITING).fetchone() != (1,):
            assert work.is_alive()
        assert standing(database) == []
    work.join()
    assert standing(database) == [("a", "cited", 1.0)]


def test_two_harvests_of_one_draft_append_its_evidence_once(database: Database) -> None:
    drafts = [reviewed(database) for _ in range(30)]
    pairs = [(draft, [of_draft(draft, EvidenceKind.CITED, 1.0, doc) for doc in "abc"]) for draft in drafts]
    assert sorted(race(lambda: book(database).replace(RULES, pairs))) == [0, 90]
    assert table(database, "SELECT count(*), count(superseded_at) FROM kb_evidence") == [(90, 0)]


# Searches.


class Desk:
    """One expert's search, step by step."""

    def __init__(self, database: Database, tenant: Tenant = TENANT, **always: Any) -> None:
        self.application = Application(database, tenant)
        self.always = {"search_id": uuid4(), "conversation_id": uuid4(), **always}

    def ask(self, at: datetime = NOW, query: str = QUERY, **changes: Any) -> UUID:
        return self.application.search(at, ASKED, **{**self.always, "query": query, "result_count": 3, **changes})

    def step(self, event_type: str, doc_id: str, at: datetime = NOW, **changes: Any) -> UUID:
        return self.application.search(
            at, event_type, **{**self.always, "query": None, "doc_id": doc_id, "chunk_id": f"{doc_id}-1", **changes}
        )


def noted(database: Database, rules: str = "searches-1") -> int:
    book(database).note_queries()
    return book(database).note_searches(rules)


def test_a_citation_speaks_for_its_document_and_a_click_a_little(database: Database) -> None:
    desk = Desk(database)
    desk.ask()
    cited, clicked = desk.step(CITED, "a", rank=2), desk.step(CLICKED, "b", rank=7)
    assert noted(database) == 2
    assert table(
        database,
        "SELECT query_sha, doc_id, chunk_id, kind, weight, conversation_id, search_event_id, observed_at, facts"
        " FROM kb_evidence ORDER BY doc_id",
    ) == [
        (query_sha(QUERY), "a", "a-1", "cited", 1.0, desk.always["conversation_id"], cited, NOW, {"rank": 2}),
        (query_sha(QUERY), "b", "b-1", "clicked", 0.2, desk.always["conversation_id"], clicked, NOW, {"rank": 7}),
    ]


def test_noting_searches_again_touches_nothing(database: Database) -> None:
    desk = Desk(database)
    desk.ask()
    desk.step(CITED, "a")
    noted(database)
    before = table(database, "SELECT xmin::text, * FROM kb_evidence")
    steps = table(database, "SELECT xmin::text, id FROM kb_search_event")
    assert noted(database) == 0
    assert table(database, "SELECT xmin::text, id FROM kb_search_event") == steps
    assert noted(database, "searches-2") == 0
    assert table(database, "SELECT xmin::text, * FROM kb_evidence") == before


def test_a_click_on_what_was_cited_in_the_same_search_is_none_also_when_the_citation_comes_later(
    database: Database,
) -> None:
    desk = Desk(database)
    desk.ask()
    desk.step(CLICKED, "a")
    assert noted(database) == 1
    desk.step(CITED, "a", NOW + timedelta(seconds=30))
    assert noted(database) == 1
    assert standing(database) == [("a", "cited", 1.0)]
    assert len(rows(database)) == 2


def test_a_click_that_came_before_its_search_waits_for_it(database: Database) -> None:
    desk = Desk(database)
    desk.step(CLICKED, "a")
    assert noted(database) == 0
    desk.ask(NOW - timedelta(seconds=5))
    assert noted(database) == 1


def test_a_step_belongs_to_the_query_last_asked_before_it(database: Database) -> None:
    desk = Desk(database)
    for minute, query in ((0, "Biaya"), (2, "Biaya notaris"), (4, "Biaya akta")):
        desk.ask(NOW + timedelta(minutes=minute), query)
    desk.step(CITED, "a", NOW + timedelta(minutes=3, seconds=50))
    desk.step(CITED, "b", NOW - timedelta(minutes=3))
    noted(database)
    of_document = dict(table(database, "SELECT doc_id, query_sha FROM kb_evidence"))
    assert of_document == {"a": query_sha("Biaya notaris"), "b": query_sha("Biaya")}


def test_clicking_the_same_result_again_and_again_is_one_click(database: Database) -> None:
    desk = Desk(database, conversation_id=None)
    desk.ask()
    for second in range(5):
        desk.step(CLICKED, "a", NOW + timedelta(seconds=second))
    assert noted(database) == 1
    assert table(database, "SELECT observed_at FROM kb_evidence") == [(NOW,)]


def test_a_citation_for_a_draft_speaks_for_the_experts_own_query_in_the_conversation_of_the_draft(
    database: Database,
) -> None:
    """The draft's evidence speaks for the draft's query; where both queries are one, both are one vote."""
    draft, thread = uuid4(), uuid4()
    Application(database).retrieval(NOW, query=QUERY, message_id=draft, conversation_id=thread)
    desk = Desk(database, conversation_id=None, message_id=draft)
    desk.ask(query=QUERY)
    desk.step(CITED, "a")
    own = replace(reviewed(database, message_id=draft), conversation_id=thread)
    harvested(database, own, [of_draft(own, EvidenceKind.CITED, 1.0)])
    assert noted(database) == 1
    book(database).judge(NOW, RULES)
    judged = table(database, "SELECT positive, conversations, evidence_count FROM kb_ground_truth")
    assert judged == [(1.0, 1, 2)]
    # The draft read anew leaves the search's evidence alone, and the other way round.
    harvested(database, own, [])
    assert noted(database, "searches-2") == 0
    assert standing(database) == [("a", "cited", 1.0)]


def test_a_step_never_counts_for_another_tenants_search_of_the_same_id(database: Database) -> None:
    mine = Desk(database, TENANT)
    Desk(database, OTHER, search_id=mine.always["search_id"]).step(CITED, "a")
    mine.ask()
    assert noted(database) == 0


def test_search_evidence_speaks_of_the_version_that_the_expert_saw(database: Database) -> None:
    application = Application(database)
    application.chunk("a", "Dulu.", EARLIER - timedelta(days=9), valid_to=EARLIER)
    application.chunk("a", "Kini.", EARLIER, chunk_id="a-2")
    desk = Desk(database)
    desk.ask()
    desk.step(CITED, "a")
    desk.step(CITED, "gone")
    noted(database)
    assert table(database, "SELECT doc_id, document_from FROM kb_evidence ORDER BY 1") == [
        ("a", EARLIER),
        ("gone", None),
    ]


def test_searches_are_noted_without_a_mapped_knowledge_base(database: Database) -> None:
    with database.connect() as connection:
        connection.execute("DROP VIEW kb_source.kb_chunk")
    desk = Desk(database)
    desk.ask()
    desk.step(CITED, "a")
    assert noted(database) == 1


def test_a_search_whose_words_expired_before_it_was_noted_says_nothing_and_stops_nothing(database: Database) -> None:
    desk = Desk(database)
    desk.ask(query=None, text_expired_at=NOW)  # type: ignore[arg-type]
    desk.step(CITED, "a")
    assert noted(database) == 0
    other = Desk(database)
    other.ask()
    other.step(CITED, "b")
    assert noted(database) == 1


def test_two_who_note_searches_at_once_append_once(database: Database) -> None:
    for number in range(20):
        desk = Desk(database)
        desk.ask()
        desk.step(CITED, f"d{number}")
    book(database).note_queries()
    assert sorted(race(lambda: book(database).note_searches("searches-1"))) == [0, 20]


@pytest.mark.parametrize(
    ("instant", "day"),
    [("2026-07-09T23:59:59+00:00", "2026-07-09"), ("2026-07-09T05:00:00+07:00", "2026-07-08")],
)
def test_a_day_begins_at_midnight_utc(instant: str, day: str) -> None:
    assert midnight(datetime.fromisoformat(instant)) == datetime.fromisoformat(f"{day}T00:00:00+00:00")


def test_the_grader_may_do_all_of_it(database: Database) -> None:
    grader = Database(database.url.render_as_string(hide_password=False), role="kb_grader")
    draft = reviewed(database)
    desk = Desk(database)
    desk.ask()
    desk.step(CITED, "a")
    said: Sequence[Evidence] = [of_draft(draft, EvidenceKind.CITED, 1.0)]
    assert (harvested(grader, draft, said), noted(grader)) == (1, 1)
    grader.dispose()
