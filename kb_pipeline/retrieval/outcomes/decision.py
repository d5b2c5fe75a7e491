"""The outcome of one draft: what the expert said, read together with what was sent.

Belongs here: the classes, and what counts where status, correction and times disagree. Does not: text comparison.
"""

from datetime import datetime

from kb_pipeline.records import Alignment, DraftOutcome, Outcome, ReviewedDraft
from kb_pipeline.retrieval.outcomes.alignment import align, similarity
from kb_pipeline.retrieval.outcomes.reasons import blames_source
from kb_pipeline.retrieval.outcomes.rephrasing import rephrases
from kb_pipeline.support.levelling import same_but_for_space
from kb_pipeline.support.style import asserts

RULE_VERSION = "outcome-1"
REVIEW_SECONDS = 2.0
_GOOD = frozenset({Outcome.ACCEPTED, Outcome.EDITED_LIGHT})
_BAD = frozenset({Outcome.EDITED_HEAVY, Outcome.REJECTED})
_REFLEXES = frozenset({Outcome.ACCEPTED, Outcome.EDITED_LIGHT})


def derive_outcome(draft: ReviewedDraft) -> DraftOutcome:
    """The class of the draft and its marks; a pure function, the same for the same draft at any time.

    What was sent outweighs what was said: a correction makes a draft edited whatever its status is, but for a
    rejection, and one that changes nothing makes it accepted. A draft without an instant of decision is pending, and
    so is one that is called edited while its correction has not come. Under two seconds between opening and deciding,
    an acceptance, a light edit and a rejection without a reason are unreviewed; a heavy edit or a reason took somebody
    longer, wherever he wrote it.
    """
    decided_at = _decided_at(draft)
    alignment, alike = _comparison(draft) if decided_at else (Alignment(), None)
    new, removed = (sum(map(asserts, each)) for each in (alignment.new, alignment.removed))
    seconds = _seconds_open(draft, decided_at)
    read = _class(draft, is_changed=new + removed > 0) if decided_at else Outcome.PENDING
    outcome = Outcome.UNREVIEWED if _is_reflex(draft, read, seconds) else read
    return DraftOutcome(
        message_id=draft.message_id,
        tenant=draft.tenant,
        conversation_id=draft.conversation_id,
        event_id=draft.event.id if draft.event else None,
        trace_id=draft.trace_id,
        correction_id=draft.correction_id,
        outcome=outcome,
        drafted_at=draft.drafted_at,
        decided_at=decided_at,
        decision_s=seconds,
        kept=len(alignment.kept),
        new=new,
        removed=removed,
        similarity=alike,
        wrong_source=outcome is Outcome.REJECTED and blames_source(draft.rejection_reason),
        suspect=outcome in _BAD,
        rephrased=outcome not in _GOOD and _was_rephrased(draft),
        source_state=draft.source_state,
    )


def _status(draft: ReviewedDraft) -> str:
    return (draft.status or "").strip().casefold()


def _decided_at(draft: ReviewedDraft) -> datetime | None:
    """The instant of the decision, None where there is none to speak of; never before the draft was made."""
    if draft.decided_at is None or (draft.final is None and _status(draft) not in {"accepted", "rejected"}):
        return None
    return max(draft.decided_at, draft.drafted_at)


def _comparison(draft: ReviewedDraft) -> tuple[Alignment, float | None]:
    """Draft and final text; an acceptance without a correction sent the draft, a rejection without one sent nothing."""
    final = draft.final
    if final is None and _status(draft) == "accepted":
        final = draft.draft
    return (Alignment(), None) if final is None else (align(draft.draft, final), similarity(draft.draft, final))


def _class(draft: ReviewedDraft, *, is_changed: bool) -> Outcome:
    if _status(draft) == "rejected":
        return Outcome.REJECTED
    if draft.final is None or same_but_for_space(draft.draft, draft.final):
        return Outcome.ACCEPTED
    return Outcome.EDITED_HEAVY if is_changed else Outcome.EDITED_LIGHT


def _seconds_open(draft: ReviewedDraft, decided_at: datetime | None) -> float | None:
    """None where the source does not say, or says that the draft was opened after it was decided on."""
    if draft.opened_at is None or decided_at is None or decided_at < draft.opened_at:
        return None
    return (decided_at - draft.opened_at).total_seconds()


def _is_reflex(draft: ReviewedDraft, outcome: Outcome, seconds: float | None) -> bool:
    if seconds is None or seconds >= REVIEW_SECONDS:
        return False
    gave_no_reason = not (draft.rejection_reason or "").strip()
    return outcome in _REFLEXES or (outcome is Outcome.REJECTED and gave_no_reason)


def _was_rephrased(draft: ReviewedDraft) -> bool:
    query = draft.event.query if draft.event else ""
    return any(rephrases(query, later) for later in draft.later_queries)
