"""Harvest: take evidence from every draft that changed, and from experts' searches, and judge anew.

Belongs here: the order of the work, the counts. Does not: rules of evidence and judgments (kb_pipeline/retrieval), SQL.
"""

from collections import Counter
from collections.abc import Callable
from datetime import datetime

from kb_pipeline.ports import DraftSource, EvidenceBook, KnowledgeBase
from kb_pipeline.records import EvidenceKind, StepReport
from kb_pipeline.retrieval import labels
from kb_pipeline.retrieval.evidence import WEIGHTS, evidence_of, harvest_rules
from kb_pipeline.steps.knowledge_shelf import KnowledgeShelf, by_tenant

CHUNK = 500
_OF_DRAFTS = tuple(kind for kind in EvidenceKind if kind in WEIGHTS)


def harvest(
    *,
    drafts: DraftSource,
    knowledge: KnowledgeBase,
    book: EvidenceBook,
    as_of: datetime,
    chunk: int = CHUNK,
    on_progress: Callable[[int], None] | None = None,
) -> StepReport:
    """Bring the queries, the evidence and the judgments up to date.

    The report counts `queries_changed`, `drafts` harvested, the evidence they hold as `evidence/…` by kind,
    `evidence_appended`, `search_evidence_appended`, `judgments_changed`, and `knowledge_base_mapped` (1 or 0): without
    it only citations and sources rejected as wrong are evidence. `on_progress` hears how many more drafts were read.
    """
    shelf = KnowledgeShelf.over(knowledge)
    is_mapped = shelf.is_mapped()
    rules = harvest_rules(is_mapped=is_mapped)
    queries_changed = book.note_queries()
    counts: Counter[str] = Counter({f"evidence/{kind}": 0 for kind in _OF_DRAFTS})
    read = appended = 0
    with drafts.unharvested(rules=rules, chunk=chunk) as chunks:
        for batch in chunks:
            found = [
                (draft, evidence_of(draft, shelf.of(draft.tenant) if is_mapped else None)) for draft in by_tenant(batch)
            ]
            appended += book.replace(rules, found)
            counts.update(f"evidence/{each.kind}" for _, each_found in found for each in each_found)
            read += len(batch)
            if on_progress:
                on_progress(len(batch))
    return StepReport(
        counts={
            "queries_changed": queries_changed,
            "drafts": read,
            **counts,
            "evidence_appended": appended,
            "search_evidence_appended": book.note_searches(rules),
            "judgments_changed": book.judge(as_of, labels.RULE_VERSION),
            "knowledge_base_mapped": int(is_mapped),
        }
    )
