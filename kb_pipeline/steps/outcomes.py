"""Derive the outcome of each draft of a window anew where the source or the rules have changed.

Belongs here: the loop load → decide → save. Does not: the decision (retrieval/outcomes), SQL.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Protocol

from kb_pipeline.ports import DraftSource, OutcomeBook
from kb_pipeline.records import Outcome, StepReport
from kb_pipeline.retrieval.outcomes import derive_outcome
from kb_pipeline.windows import Window

CHUNK = 500


class MappedDrafts(DraftSource, Protocol):
    """Drafts of a source that may not be mapped as a whole."""

    def absent_views(self) -> Sequence[str]:
        """The source's views that outcomes are made of and that are not there."""
        ...


def derive_outcomes(
    window: Window,
    *,
    drafts: MappedDrafts,
    book: OutcomeBook,
    chunk: int = CHUNK,
    on_progress: Callable[[int], None] | None = None,
) -> StepReport:
    """Derive and keep the outcomes of the window that are missing or out of date, then forget deleted drafts.

    The report counts `derived` drafts, one entry per class of them, `changed` rows, `forgotten` drafts, and
    `views_absent` with one `view_absent/…` for each view that is not mapped. `on_progress` hears how many more drafts
    were derived.
    """
    counts: Counter[str] = Counter({str(outcome): 0 for outcome in Outcome})
    changed = 0
    with drafts.changed_in(window, chunk=chunk) as chunks:
        for batch in chunks:
            outcomes = [derive_outcome(draft) for draft in batch]
            changed += book.save(outcomes)
            counts.update(str(each.outcome) for each in outcomes)
            if on_progress:
                on_progress(len(batch))
    absent = drafts.absent_views()
    return StepReport(
        counts={
            "derived": counts.total(),
            **counts,
            "changed": changed,
            "forgotten": book.forget_deleted(window),
            "views_absent": len(absent),
            **{f"view_absent/{view}": 1 for view in absent},
        }
    )
