"""Diagnose: say of every corrected draft of a window where the information that its expert added had been.

Belongs here: the loop load → diagnose → save, the counts. Does not: the diagnosis (retrieval/gaps), SQL.
"""

from collections import Counter
from collections.abc import Iterator, Sequence

from kb_pipeline.ports import DraftSource, GapBook, KnowledgeBase
from kb_pipeline.records import GapKind, RetrievalGap, ReviewedDraft, StepReport
from kb_pipeline.retrieval.gaps import RULE_VERSION, diagnose
from kb_pipeline.steps.knowledge_shelf import KnowledgeShelf, by_tenant
from kb_pipeline.windows import Window

CHUNK = 500


def diagnose_gaps(
    window: Window, *, drafts: DraftSource, knowledge: KnowledgeBase, book: GapBook, chunk: int = CHUNK
) -> StepReport:
    """Diagnose the drafts decided in the window.

    The report counts `drafts` read, `gap/…` by kind, `gaps_changed` and `gaps_withdrawn` rows, `subjects_changed`, all
    `tasks` there are, and `knowledge_base_mapped` (1 or 0): without it nothing can be diagnosed, and what was before
    stays.
    """
    shelf = KnowledgeShelf.over(knowledge)
    is_mapped = shelf.is_mapped()
    counts: Counter[str] = Counter({f"gap/{kind}": 0 for kind in GapKind})
    work: Counter[str] = Counter(drafts=0, gaps_changed=0, gaps_withdrawn=0, subjects_changed=0)
    if is_mapped:
        with drafts.decided_in(window, chunk=chunk) as chunks:
            for batch in chunks:
                found = list(_diagnosed(batch, shelf))
                work.update(drafts=len(batch), gaps_changed=book.save(found, RULE_VERSION))
                work.update(gaps_withdrawn=book.withdraw(_without_gap(batch, found)))
                counts.update(f"gap/{gap.kind}" for _, gap in found)
        if work["gaps_changed"] or work["gaps_withdrawn"]:
            work["subjects_changed"] = book.name_subjects()
    return StepReport(counts={**work, **counts, "tasks": book.tasks(), "knowledge_base_mapped": int(is_mapped)})


def _diagnosed(batch: Sequence[ReviewedDraft], shelf: KnowledgeShelf) -> Iterator[tuple[ReviewedDraft, RetrievalGap]]:
    for draft in by_tenant(batch):
        gap = diagnose(draft, shelf.of(draft.tenant))
        if gap is not None:
            yield draft, gap


def _without_gap(
    batch: Sequence[ReviewedDraft], found: Sequence[tuple[ReviewedDraft, RetrievalGap]]
) -> list[ReviewedDraft]:
    """The drafts that were read and have no diagnosis; of one whose query has expired nobody can tell any more."""
    diagnosed = {draft.message_id for draft, _ in found}
    return [
        draft
        for draft in batch
        if draft.message_id not in diagnosed and draft.event is not None and draft.event.query.strip()
    ]
