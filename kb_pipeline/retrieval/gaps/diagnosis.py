"""The diagnosis of one correction: for each sentence that the expert added, how far the knowledge base was from it.

Belongs here: the kinds of gaps, which of several is a draft's verdict. Does not: how support is scored, subjects,
tasks.

A sentence that asserts something and is not in the draft is looked up in the tenant's knowledge base as it stood at the
retrieval, less what was written from this very correction:

* best support below .45: kb_gap, the knowledge base does not say it;
* from .45 to .60: undetermined;
* from .60 on, among the documents that support it about equally: one that the draft used → generation_gap; one that was
  retrieved → ranking_gap; one that was a candidate → ranking_gap, deep; else recall_gap.

A document was used when the event says so, or when it supports a sentence of the draft: a model need not cite what it
tells. So it was where it was retrieved and the draft says the same of other figures: then it was misquoted. A sentence
that says in other words what the expert took out is none of these, and refusals and remarks to one client
(retrieval/remarks.py) are no statements at all.

What nothing supports is a gap of the knowledge base only where it speaks of what was asked, by a word at least, and
where the knowledge base at that time has any of the documents that were retrieved: a view without a history shows gaps
that nobody had. And only where it supports nothing else that the expert added: who knows one half of an answer seldom
lacks the other, which is rather said in other words, or around it. Else it is undetermined.
"""

from collections.abc import Sequence
from dataclasses import replace

from kb_pipeline.records import GapKind, GapStatement, Outcome, RetrievalEvent, RetrievalGap, ReviewedDraft
from kb_pipeline.retrieval import outcomes
from kb_pipeline.retrieval.knowledge import (
    NOTHING_BELOW,
    SUPPORTED_FROM,
    KnowledgeIndex,
    Supported,
    forms,
    telling_words,
)
from kb_pipeline.retrieval.queries import query_sha
from kb_pipeline.retrieval.reading import Reading

# A diagnosis reads the outcome, so a change of its rules is one of these too.
RULE_VERSION = f"gap-1+{outcomes.RULE_VERSION}"

WORST_FIRST = (
    GapKind.KB_GAP,
    GapKind.RECALL_GAP,
    GapKind.RANKING_GAP,
    GapKind.GENERATION_GAP,
    GapKind.UNDETERMINED,
    GapKind.NONE,
)
"""A draft's verdict is that of its worst statement: the one furthest from an answer. Undetermined says least, so any
other statement speaks before it; a deep ranking gap is worse than a shallow one."""
_EDITED = frozenset({Outcome.EDITED_LIGHT, Outcome.EDITED_HEAVY, Outcome.REJECTED})
DECIMALS = 4


def diagnose(draft: ReviewedDraft, knowledge: KnowledgeIndex) -> RetrievalGap | None:
    """The diagnosis of a draft that was corrected; None for any other, and where its retrieval is not known.

    A pure function. None too once the query is past its retention: what was diagnosed before stands.
    """
    reading = Reading.of(draft, knowledge)
    if reading is None or draft.final is None or reading.outcome.outcome not in _EDITED:
        return None
    diagnosis = _Diagnosis(reading, knowledge)
    statements = _without_halves([diagnosis.statement(*each) for each in enumerate(reading.new)])
    worst = min(statements, key=_worst_first, default=None)
    kind = worst.kind if worst else GapKind.NONE
    return RetrievalGap(
        message_id=draft.message_id,
        tenant=draft.tenant,
        conversation_id=draft.conversation_id,
        event_id=reading.event.id,
        correction_id=draft.correction_id,
        query_sha=query_sha(reading.event.query),
        engine=reading.event.engine,
        kind=kind,
        is_deep=worst is not None and _is_deep(worst),
        decided_at=reading.decided_at,
        statement=worst,
        statements=statements,
    )


class _Diagnosis:
    """What is asked of every statement of one correction."""

    def __init__(self, reading: Reading, knowledge: KnowledgeIndex) -> None:
        self.reading = reading
        self.event = reading.event
        self.knowledge = knowledge
        self.used = _used(reading)
        self.draft_said = " ".join((*reading.kept, *reading.removed))

    def statement(self, position: int, sentence: str) -> GapStatement:
        best = self.knowledge.best(sentence, as_of=self.event.occurred_at, not_from=self.reading.draft.correction_id)
        support = best.support if best else 0.0
        if sentence in self.reading.reworded:
            return _placed(self.event, position, GapKind.NONE, support, best)
        if support < NOTHING_BELOW:
            is_missing = self._shows_how_it_stood() and _is_asked(sentence, self.event)
            kind = GapKind.KB_GAP if is_missing else GapKind.UNDETERMINED
            return _placed(self.event, position, kind, support, None)
        if support < SUPPORTED_FROM:
            return _placed(self.event, position, GapKind.UNDETERMINED, support, best)
        return self._nearest(position, sentence)

    def _nearest(self, position: int, sentence: str) -> GapStatement:
        """The statement by the supporter that was nearest to the draft; of equals the best one."""
        placed = [
            _placed(self.event, position, self._place(each.doc_id, sentence), each.support, each)
            for each in self.reading.supporters(sentence)
        ]
        return max(placed, key=lambda each: (*_badness(each), each.support))

    def _place(self, doc_id: str, sentence: str) -> GapKind:
        if doc_id in self.used:
            return GapKind.GENERATION_GAP
        if any(hit.doc_id == doc_id for hit in self.event.retrieved):
            return GapKind.GENERATION_GAP if self._is_misquoted(sentence) else GapKind.RANKING_GAP
        is_candidate = any(each.doc_id == doc_id for each in self.event.candidate_pool)
        return GapKind.RANKING_GAP if is_candidate else GapKind.RECALL_GAP

    def _is_misquoted(self, sentence: str) -> bool:
        """Whether the draft said it of the same thing with other figures."""
        at = self.event.occurred_at
        return self.knowledge.support_by(sentence, self.draft_said, as_of=at, with_figures=False) >= SUPPORTED_FROM

    def _shows_how_it_stood(self) -> bool:
        """Whether the knowledge base knows any of what was retrieved; one without a history proves no gap."""
        at = self.event.occurred_at
        retrieved = {hit.doc_id for hit in self.event.retrieved}
        if not retrieved:
            return not self.knowledge.is_empty(at)
        return any(self.knowledge.version_of(doc_id, at) is not None for doc_id in retrieved)


def _placed(
    event: RetrievalEvent, position: int, kind: GapKind, support: float, found: Supported | None
) -> GapStatement:
    doc_id = found.doc_id if found else None
    ranks = [hit.rank for hit in event.retrieved if hit.doc_id == doc_id]
    pool_ranks = [each.pre_rank for each in event.candidate_pool if each.doc_id == doc_id]
    return GapStatement(
        position=position,
        kind=kind,
        support=round(support, DECIMALS),
        doc_id=doc_id,
        chunk_id=found.chunk_id if found else None,
        rank=min(ranks, default=None),
        pool_rank=min(pool_ranks, default=None),
    )


def _used(reading: Reading) -> frozenset[str]:
    """The results that the draft used: the event says so, or it says what they say."""
    said = reading.supported_in((*reading.kept, *reading.removed))
    retrieved = frozenset(hit.doc_id for hit in reading.event.retrieved)
    return (reading.used if reading.knows_use else frozenset()) | (said & retrieved)


def _is_asked(sentence: str, event: RetrievalEvent) -> bool:
    asked = frozenset[str]().union(*map(forms, telling_words(f"{event.query} {event.query_rewritten or ''}")))
    return any(not asked.isdisjoint(forms(word)) for word in telling_words(sentence))


def _without_halves(statements: Sequence[GapStatement]) -> tuple[GapStatement, ...]:
    """No gap of the knowledge base beside a statement that it supports."""
    if not any(each.kind is not GapKind.NONE and each.support >= SUPPORTED_FROM for each in statements):
        return tuple(statements)
    return tuple(
        replace(each, kind=GapKind.UNDETERMINED) if each.kind is GapKind.KB_GAP else each for each in statements
    )


def _is_deep(statement: GapStatement) -> bool:
    return statement.kind is GapKind.RANKING_GAP and statement.rank is None


def _worst_first(statement: GapStatement) -> tuple[int, int, float, int]:
    """The worst first; of equals the clearest: a gap with little support, anything else with much."""
    clear = statement.support if statement.kind is GapKind.KB_GAP else -statement.support
    return *_badness(statement), clear, statement.position


def _badness(statement: GapStatement) -> tuple[int, int]:
    """By kind, and deep ones before others; the least is the worst."""
    return WORST_FIRST.index(statement.kind), 0 if _is_deep(statement) else 1
