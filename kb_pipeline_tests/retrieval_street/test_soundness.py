"""What the checks count, with each breakage planted, and where the operator's views are left out."""

from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid4

import pytest

from kb_pipeline.adapters.postgres.connection import Database
from kb_pipeline.adapters.postgres.retrieval.soundness import PostgresSoundness
from kb_pipeline.windows import HOUR, Window, hour_of
from kb_pipeline_tests.builders import table
from kb_pipeline_tests.retrieval_street.application import OTHER, TENANT, Application

pytestmark = pytest.mark.postgres

WINDOW = hour_of(datetime(2026, 3, 4, 10, tzinfo=UTC))
NOON = WINDOW.start + timedelta(minutes=30)
SHA = "0123456789abcdef" * 4
TENANTED = (TENANT.org_id, TENANT.specialist_id)


@pytest.fixture
def ours(database: Database) -> Application:
    return Application(database)


@pytest.fixture
def soundness(database: Database) -> PostgresSoundness:
    return PostgresSoundness(database)


def run(database: Database, statement: str, *values: object) -> None:
    with database.connect() as connection:
        connection.execute(statement.encode(), values)


def outcome(database: Database, message_id: UUID, event_id: UUID | None, decided_at: datetime = NOON) -> None:
    run(
        database,
        "INSERT INTO kb_draft_outcome (message_id, org_id, specialist_id, conversation_id, event_id, outcome,"
        " drafted_at, decided_at, kept_sentences, new_sentences, removed_sentences, source_state, rule_version)"
        " VALUES (%s, %s, %s, %s, %s, 'accepted', %s, %s, 1, 0, 0, 's', 'r')",
        message_id, *TENANTED, uuid4(), event_id, decided_at, decided_at,
    )  # fmt: skip


def query(database: Database, sha: str = SHA) -> None:
    run(
        database,
        "INSERT INTO kb_query (org_id, specialist_id, query_sha, query, first_seen_at, last_seen_at)"
        " VALUES (%s, %s, %s, 'q', %s, %s)",
        *TENANTED, sha, NOON, NOON,
    )  # fmt: skip


def evidence(database: Database, doc_id: str = "permit", sha: str = SHA, **seen_at: UUID) -> None:
    names = ", ".join(["", *seen_at]) if seen_at else ""
    marks = ", %s" * len(seen_at)
    run(
        database,
        "INSERT INTO kb_evidence"
        f" (org_id, specialist_id, query_sha, doc_id, kind, weight, observed_at, rule_version{names})"
        f" VALUES (%s, %s, %s, %s, 'cited', 1, %s, 'r'{marks})",
        *TENANTED, sha, doc_id, NOON, *seen_at.values(),
    )  # fmt: skip


def judgment(
    database: Database, doc_id: str = "permit", grade: int | None = 3, status: str = "judged", sha: str = SHA
) -> None:
    run(
        database,
        "INSERT INTO kb_ground_truth (org_id, specialist_id, query_sha, doc_id, status, grade, p, positive, negative,"
        " conversations, evidence_count, kinds, first_observed_at, last_observed_at, as_of, rule_version)"
        " VALUES (%s, %s, %s, %s, %s, %s, 0.9, 1, 0, 1, 1, '{cited}', %s, %s, %s, 'r')",
        *TENANTED, sha, doc_id, status, grade, NOON, NOON, NOON,
    )  # fmt: skip


def test_a_retrieval_of_the_audit_log_is_recorded_by_an_event_of_its_message_trace_or_conversation(
    ours: Application, soundness: PostgresSoundness
) -> None:
    ours.served(WINDOW.start)
    conversation = uuid4()
    ours.retrieval(NOON, conversation_id=conversation)
    ours.loaded(NOON + timedelta(minutes=9), conversation_id=conversation)
    ours.loaded(NOON + timedelta(minutes=9), conversation_id=conversation, message_id=uuid4())
    ours.retrieval(NOON, trace_id="t-1")
    ours.loaded(NOON - timedelta(seconds=20), trace_id="t-1")
    assert soundness.recorded(WINDOW) == (4, 4)


def test_a_retrieval_without_its_event_is_missing(ours: Application, soundness: PostgresSoundness) -> None:
    ours.served(WINDOW.start)
    conversation = uuid4()
    ours.retrieval(NOON, conversation_id=conversation, message_id=uuid4(), trace_id="t-1")
    ours.retrieval(NOON, conversation_id=conversation, shadow=True)
    ours.loaded(NOON, message_id=uuid4(), conversation_id=conversation, trace_id="t-2")
    ours.loaded(NOON + timedelta(minutes=11), conversation_id=conversation)
    ours.loaded(NOON)
    shadowed = uuid4()
    ours.retrieval(NOON, message_id=shadowed, shadow=True)
    ours.loaded(NOON, message_id=shadowed)
    assert soundness.recorded(WINDOW) == (5, 1)
    assert soundness.recorded(Window(WINDOW.end, WINDOW.end + HOUR)) == (0, 0)


def test_what_was_retrieved_before_anybody_recorded_is_not_missing(
    ours: Application, soundness: PostgresSoundness
) -> None:
    ours.loaded(NOON - timedelta(minutes=1), message_id=uuid4())
    assert soundness.recorded(WINDOW) == (0, 0)
    assert soundness.arrived(WINDOW) == (1, 0)
    ours.served(NOON)
    assert soundness.recorded(WINDOW) == (1, 1)


def test_without_an_audit_log_nobody_knows_how_many_there_were(
    database: Database, ours: Application, soundness: PostgresSoundness
) -> None:
    ours.served(NOON)
    run(database, "DROP VIEW kb_source.audit_log")
    assert soundness.recorded(WINDOW) == (None, 0)
    assert soundness.arrived(WINDOW) == (None, 1)


def test_shadow_runs_are_no_arrivals(ours: Application, soundness: PostgresSoundness) -> None:
    ours.loaded(NOON)
    ours.retrieval(NOON, shadow=True)
    assert soundness.arrived(WINDOW) == (1, 0)


def test_an_outcome_points_at_its_own_drafts_event_or_is_counted(
    database: Database, ours: Application, soundness: PostgresSoundness
) -> None:
    theirs = Application(database, OTHER)
    drafts = [uuid4() for _ in range(5)]
    outcome(database, drafts[0], ours.retrieval(NOON, message_id=drafts[0]))
    outcome(database, drafts[1], uuid4())
    outcome(database, drafts[2], ours.retrieval(NOON))
    outcome(database, drafts[3], theirs.retrieval(NOON, message_id=drafts[3]))
    outcome(database, drafts[4], None)
    theirs.retrieval(NOON, message_id=drafts[4])
    assert soundness.outcome_references(WINDOW, kept_from=NOON - timedelta(days=2)) == {
        "outcomes_without_their_event": 1,
        "outcomes_of_another_drafts_event": 1,
        "outcomes_of_another_tenants_event": 1,
        "drafts_with_another_tenants_event": 2,
    }
    past_retention = soundness.outcome_references(WINDOW, kept_from=NOON)
    assert past_retention["outcomes_without_their_event"] == 0
    later = Window(WINDOW.end, WINDOW.end + HOUR)
    assert not any(soundness.outcome_references(later, kept_from=NOON - timedelta(days=2)).values())


def test_a_judgment_without_evidence_and_either_without_its_query_is_counted(
    database: Database, soundness: PostgresSoundness
) -> None:
    query(database)
    evidence(database)
    judgment(database)
    assert not any(soundness.judgment_references().values())
    evidence(database, sha="f" * 64)
    judgment(database, sha="e" * 64)
    judgment(database, "replaced")
    evidence(database, "replaced")
    run(database, "UPDATE kb_evidence SET superseded_at = now() WHERE doc_id = 'replaced'")
    assert soundness.judgment_references() == {
        "evidence_without_its_query": 1,
        "judgments_without_their_query": 1,
        "judgments_without_evidence": 2,
    }


def test_evidence_seen_at_another_tenants_and_another_tenants_document_is_counted(
    database: Database, ours: Application, soundness: PostgresSoundness
) -> None:
    theirs = Application(database, OTHER)
    ours.chunk("permit", "Izin.", NOON, valid_to=NOON + HOUR)
    theirs.chunk("permit", "Izin.", NOON)
    theirs.chunk("theirs", "Paspor.", NOON)
    for doc_id in ("permit", "forgotten"):
        judgment(database, doc_id)
    draft = uuid4()
    outcome(database, draft, None)
    evidence(database, event_id=ours.retrieval(NOON), message_id=draft, search_event_id=ours.search(NOON))
    assert not any(soundness.other_tenants().values())
    judgment(database, "theirs")
    evidence(database, "a", event_id=theirs.retrieval(NOON))
    evidence(database, "b", search_event_id=theirs.search(NOON))
    run(database, "UPDATE kb_draft_outcome SET org_id = %s", OTHER.org_id)
    found = soundness.other_tenants()
    assert found == {
        "evidence_of_another_tenants_event": 1,
        "evidence_of_another_tenants_search": 1,
        "evidence_of_another_tenants_draft": 1,
        "documents_of_another_tenant": 1,
    }
    run(database, "DROP VIEW kb_source.kb_chunk")
    assert set(soundness.other_tenants()) == set(found) - {"documents_of_another_tenant"}


def test_the_ground_truth_is_counted_by_grade_status_and_query(
    database: Database, soundness: PostgresSoundness
) -> None:
    for sha in (SHA, "e" * 64, "d" * 64):
        query(database, sha)
    for grade in (0, 1, 1, 2, 3):
        judgment(database, f"document-{uuid4()}", grade)
    judgment(database, "fought over", None, "conflict", "e" * 64)
    judgment(database, "seen once", None, "insufficient", "e" * 64)
    run(database, "UPDATE kb_ground_truth SET self_made = grade = 3 WHERE grade IS NOT NULL")
    assert soundness.ground_truth() == {
        "grade_0": 1,
        "grade_1": 2,
        "grade_2": 1,
        "grade_3": 1,
        "conflicts": 1,
        "insufficient": 1,
        "self_made": 1,
        "labelled_queries": 1,
        "queries": 3,
    }


def test_empty_retrievals_are_those_of_the_windows(database: Database, soundness: PostgresSoundness) -> None:
    assert soundness.empty(WINDOW) == (0, 0)
    run(
        database,
        "INSERT INTO kb_retrieval_window (hour, org_id, specialist_id, engine, retrievals, empty, top_score_hist,"
        " latency_hist, newest_event_at) SELECT %s, %s, %s, engine, 10, 3, '{}', '{}', now()"
        " FROM unnest(ARRAY['hybrid', 'keyword']) AS engine",
        WINDOW.start, *TENANTED,
    )  # fmt: skip
    assert soundness.empty(WINDOW) == (20, 6)
    assert table(database, "SELECT count(*) FROM kb_retrieval_window") == [(2,)]
