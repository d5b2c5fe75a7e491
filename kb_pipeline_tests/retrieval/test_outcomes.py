"""The classes: what the expert said, read together with what was sent."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb_pipeline.records import Outcome, RetrievalEvent, ReviewedDraft, Tenant
from kb_pipeline.retrieval.outcomes import REVIEW_SECONDS, derive_outcome

MADE = datetime(2026, 7, 9, 10, tzinfo=UTC)
DECIDED = MADE + timedelta(hours=30)
TENANT = Tenant(org_id=UUID(int=1), specialist_id=UUID(int=2))
TEXT = "Akta pendirian dibuat oleh notaris. Biaya pendaftaran Rp250.000."
EVENT = RetrievalEvent(
    id=UUID(int=5),
    tenant=TENANT,
    conversation_id=UUID(int=4),
    message_id=UUID(int=3),
    engine="hybrid",
    query="Berapa biaya pendirian PT?",
    top_k=5,
    result_count=0,
    occurred_at=MADE,
)
DRAFT = ReviewedDraft(
    message_id=UUID(int=3),
    tenant=TENANT,
    conversation_id=UUID(int=4),
    drafted_at=MADE,
    draft=TEXT,
    status="accepted",
    opened_at=DECIDED - timedelta(minutes=2),
    decided_at=DECIDED,
    event=EVENT,
    source_state="state",
)
EDITED = replace(DRAFT, status="edited", correction_id=UUID(int=6), final=TEXT)
REJECTED = replace(DRAFT, status="rejected", rejection_reason="Sumber salah")

# What was sent instead of TEXT, and the class.
EDITS = [
    (TEXT, Outcome.ACCEPTED),
    (TEXT.replace(" ", "\n"), Outcome.ACCEPTED),
    (f"  {TEXT}\n", Outcome.ACCEPTED),
    (f"Halo Pak Budi,\n\n{TEXT}\n\nSalam hangat,\nTim Layanan", Outcome.EDITED_LIGHT),
    (TEXT.replace("Akta pendirian", "**Akta pendirian**"), Outcome.EDITED_LIGHT),
    (TEXT.replace("Rp250.000", "Rp 250.000,-"), Outcome.EDITED_LIGHT),
    (" ".join(reversed(TEXT.split(". "))), Outcome.EDITED_LIGHT),
    (f"{TEXT} Semoga membantu!", Outcome.EDITED_LIGHT),
    (f"{TEXT} Apakah Anda sudah memilih nama?", Outcome.EDITED_LIGHT),
    (TEXT.replace("250.000", "350.000"), Outcome.EDITED_HEAVY),
    (TEXT.replace("dibuat", "tidak dibuat"), Outcome.EDITED_HEAVY),
    (f"{TEXT} Prosesnya tujuh hari kerja.", Outcome.EDITED_HEAVY),
    ("Akta pendirian dibuat oleh notaris.", Outcome.EDITED_HEAVY),
    ("Mohon maaf, kami tidak dapat membantu.", Outcome.EDITED_HEAVY),
    ("", Outcome.EDITED_HEAVY),
]


@pytest.mark.parametrize(("final", "outcome"), EDITS)
def test_an_edit_is_what_it_did_to_the_statements(final: str, outcome: Outcome) -> None:
    assert derive_outcome(replace(EDITED, final=final)).outcome is outcome


def test_an_acceptance_keeps_every_sentence() -> None:
    found = derive_outcome(DRAFT)
    assert (found.outcome, found.kept, found.new, found.removed, found.similarity) == (Outcome.ACCEPTED, 2, 0, 0, 1.0)
    assert (found.suspect, found.wrong_source, found.rephrased) == (False, False, False)


def test_only_sentences_that_assert_count_as_new_or_removed() -> None:
    draft = replace(EDITED, draft=f"Halo! {TEXT}", final=f"{TEXT} Prosesnya tujuh hari kerja. Terima kasih.")
    found = derive_outcome(draft)
    assert (found.kept, found.new, found.removed) == (2, 1, 0)
    assert found.suspect


@pytest.mark.parametrize(
    ("status", "final", "outcome"),
    [
        ("accepted", f"{TEXT} Prosesnya tujuh hari.", Outcome.EDITED_HEAVY),
        ("accepted", TEXT, Outcome.ACCEPTED),
        ("edited", TEXT, Outcome.ACCEPTED),
        ("edited", None, Outcome.PENDING),
        ("pending", f"Halo! {TEXT}", Outcome.EDITED_LIGHT),
        ("pending", None, Outcome.PENDING),
        (None, f"Halo! {TEXT}", Outcome.EDITED_LIGHT),
        (None, None, Outcome.PENDING),
        ("escalated", None, Outcome.PENDING),
        ("escalated", f"Halo! {TEXT}", Outcome.EDITED_LIGHT),
        (" Accepted ", None, Outcome.ACCEPTED),
        ("rejected", f"{TEXT} Prosesnya tujuh hari.", Outcome.REJECTED),
        ("rejected", TEXT, Outcome.REJECTED),
    ],
)
def test_what_was_sent_outweighs_the_status_but_for_a_rejection(
    status: str | None, final: str | None, outcome: Outcome
) -> None:
    correction_id = None if final is None else UUID(int=6)
    found = derive_outcome(replace(DRAFT, status=status, final=final, correction_id=correction_id))
    assert found.outcome is outcome
    assert (found.decided_at is None) == (outcome is Outcome.PENDING)


def test_without_an_instant_of_decision_a_draft_is_pending() -> None:
    for draft in (DRAFT, EDITED, REJECTED):
        found = derive_outcome(replace(draft, decided_at=None))
        assert (found.outcome, found.decided_at, found.kept, found.suspect) == (Outcome.PENDING, None, 0, False)


def test_a_decision_before_the_draft_counts_as_made_with_it() -> None:
    assert derive_outcome(replace(DRAFT, decided_at=MADE - timedelta(days=3))).decided_at == MADE


@pytest.mark.parametrize(
    ("draft", "seconds", "outcome"),
    [
        (DRAFT, 1.9, Outcome.UNREVIEWED),
        (DRAFT, 0, Outcome.UNREVIEWED),
        (DRAFT, REVIEW_SECONDS, Outcome.ACCEPTED),
        (replace(EDITED, final=f"Halo! {TEXT}"), 1.9, Outcome.UNREVIEWED),
        (replace(EDITED, final=f"{TEXT} Prosesnya tujuh hari."), 1.9, Outcome.EDITED_HEAVY),
        (replace(REJECTED, rejection_reason=None), 1.9, Outcome.UNREVIEWED),
        (replace(REJECTED, rejection_reason=" "), 1.9, Outcome.UNREVIEWED),
        (REJECTED, 1.9, Outcome.REJECTED),
    ],
)
def test_who_decides_in_under_two_seconds_has_read_nothing_unless_he_wrote_something(
    draft: ReviewedDraft, seconds: float, outcome: Outcome
) -> None:
    found = derive_outcome(replace(draft, opened_at=DECIDED - timedelta(seconds=seconds)))
    assert (found.outcome, found.decision_s) == (outcome, seconds)


def test_an_opening_that_is_unknown_or_after_the_decision_makes_nothing_unreviewed() -> None:
    for opened_at in (None, DECIDED + timedelta(seconds=1)):
        found = derive_outcome(replace(DRAFT, opened_at=opened_at))
        assert (found.outcome, found.decision_s) == (Outcome.ACCEPTED, None)


def test_a_rejection_is_suspect_and_says_whether_its_sources_were_wrong() -> None:
    assert (derive_outcome(REJECTED).suspect, derive_outcome(REJECTED).wrong_source) == (True, True)
    found = derive_outcome(replace(REJECTED, rejection_reason="Nada terlalu kasar"))
    assert (found.suspect, found.wrong_source) == (True, False)
    assert not derive_outcome(replace(DRAFT, rejection_reason="Sumber salah")).wrong_source


def test_a_rejection_with_a_replacement_counts_what_became_of_the_sentences() -> None:
    found = derive_outcome(replace(REJECTED, correction_id=UUID(int=6), final="Akta pendirian dibuat oleh notaris."))
    assert (found.kept, found.new, found.removed) == (1, 0, 1)


def test_a_client_who_asks_again_after_a_weak_answer_has_rephrased() -> None:
    later = ("terima kasih", "biaya mendirikan PT berapa ya")
    heavy = replace(EDITED, final="Akta pendirian dibuat oleh notaris.")
    for draft in (REJECTED, heavy, replace(DRAFT, decided_at=None)):
        assert derive_outcome(replace(draft, later_queries=later)).rephrased
        assert not derive_outcome(replace(draft, later_queries=later[:1])).rephrased
        assert not derive_outcome(replace(draft, later_queries=later, event=None)).rephrased
        expired = replace(EVENT, query="")
        assert not derive_outcome(replace(draft, later_queries=later, event=expired)).rephrased
    assert not derive_outcome(replace(DRAFT, later_queries=later)).rephrased


INSTANTS = st.none() | st.timedeltas(timedelta(days=-9_000), timedelta(days=9_000)).map(MADE.__add__)
DRAFTS = st.builds(
    ReviewedDraft,
    message_id=st.just(UUID(int=3)),
    tenant=st.just(TENANT),
    conversation_id=st.just(UUID(int=4)),
    trace_id=st.none() | st.text(),
    drafted_at=INSTANTS.map(lambda at: at or MADE),
    draft=st.text(),
    status=st.none() | st.sampled_from(["accepted", "edited", "rejected", "pending", "Rejected"]) | st.text(),
    rejection_reason=st.none() | st.text(),
    opened_at=INSTANTS,
    decided_at=INSTANTS,
    correction_id=st.just(UUID(int=6)),
    final=st.none() | st.text(),
    event=st.none() | st.just(EVENT),
    later_queries=st.lists(st.text()).map(tuple),
)


@given(DRAFTS)
def test_any_draft_has_one_outcome_that_our_table_accepts(draft: ReviewedDraft) -> None:
    found = derive_outcome(draft)
    assert found == derive_outcome(draft)
    assert (found.outcome is Outcome.PENDING) == (found.decided_at is None)
    assert found.decided_at is None or found.decided_at >= draft.drafted_at
    assert min(found.kept, found.new, found.removed) >= 0
    assert found.decision_s is None or found.decision_s >= 0
    assert found.suspect == (found.outcome in {Outcome.EDITED_HEAVY, Outcome.REJECTED})
