"""The rules of evidence: which documents a reviewed draft speaks for or against, and by how much.

Belongs here: the table of weights and what each row asks for. Does not: how a sentence is supported, how evidence adds
up.

| evidence | weight |
|---|---|
| cited: the expert cited it, from a search of his own or in the text that he sent | +1 |
| supports_new: it supports a sentence that he wrote, found anywhere in the knowledge base | +.8 × support, shared |
| light_edit: used, and supports a sentence of a lightly edited draft | +.7 shared |
| accepted: used, and supports a sentence of a draft accepted as it was | +.5 shared |
| kept_only: used, and supports only sentences that a heavy edit kept | +.1 shared |
| removed_only: used, and alone supports a sentence that a heavy edit took out | -.4 |
| wrong_source: used in a draft that was rejected for its sources | -.5 |

Nothing speaks for or against what was retrieved and not used, after a rejection without a reason, in an unread or
undecided draft, in a trial run, or once the query is past its retention. "Shared" divides by the documents that support
the sentence about equally (reading.py). Of several sentences the one that says most counts: two sentences of one
unread draft are no more than one. A document that the expert cited or that supports what he wrote is not spoken against
by the same draft: what was wrong then was how it was used.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from kb_pipeline.records import Evidence, EvidenceKind, Outcome, ReviewedDraft
from kb_pipeline.retrieval import outcomes
from kb_pipeline.retrieval.evidence.citing import documents_at, marked_ranks, newly_marked, newly_named
from kb_pipeline.retrieval.knowledge import KnowledgeIndex
from kb_pipeline.retrieval.queries import query_sha
from kb_pipeline.retrieval.reading import Reading, Share

# Evidence reads the outcome, so a change of its rules is one of these too.
RULE_VERSION = f"evidence-1+{outcomes.RULE_VERSION}"

WEIGHTS: Mapping[EvidenceKind, float] = {
    EvidenceKind.CITED: 1.0,
    EvidenceKind.SUPPORTS_NEW: 0.8,
    EvidenceKind.LIGHT_EDIT: 0.7,
    EvidenceKind.ACCEPTED: 0.5,
    EvidenceKind.KEPT_ONLY: 0.1,
    EvidenceKind.REMOVED_ONLY: -0.4,
    EvidenceKind.WRONG_SOURCE: -0.5,
}
DECIMALS = 6


@dataclass(frozen=True, slots=True)
class _Observation:
    doc_id: str
    kind: EvidenceKind
    weight: float
    chunk_id: str | None = None
    facts: Mapping[str, Any] = field(default_factory=dict)


def harvest_rules(*, is_mapped: bool) -> str:
    """The name of the rules that drafts are harvested by: mapping the knowledge base has all of them read anew."""
    return f"{RULE_VERSION}+{'kb' if is_mapped else 'no-kb'}"


def evidence_of(draft: ReviewedDraft, knowledge: KnowledgeIndex | None) -> list[Evidence]:
    """The evidence of one draft, one row a document and kind, by document and kind; a pure function.

    Without `knowledge` only what needs no support is left: citations, and sources rejected as wrong.
    """
    reading = Reading.of(draft, knowledge)
    if reading is None:
        return []
    heaviest: dict[tuple[str, EvidenceKind], _Observation] = {}
    for each in _observed(reading):
        known = heaviest.get((each.doc_id, each.kind))
        if known is None or abs(each.weight) > abs(known.weight):
            heaviest[each.doc_id, each.kind] = each
    return [_evidence(reading, heaviest[key]) for key in sorted(heaviest)]


def _observed(reading: Reading) -> Iterator[_Observation]:
    match reading.outcome.outcome:
        case Outcome.ACCEPTED:
            yield from _cited(reading)
            yield from _of_kept(reading, EvidenceKind.ACCEPTED)
        case Outcome.EDITED_LIGHT:
            yield from _cited(reading)
            yield from _of_kept(reading, EvidenceKind.LIGHT_EDIT)
        case Outcome.EDITED_HEAVY:
            confirmed = [*_cited(reading), *_supporting_new(reading)]
            yield from confirmed
            yield from _kept_only(reading)
            yield from _removed_only(reading, spared=_documents(confirmed))
        case Outcome.REJECTED:
            confirmed = [*_cited(reading), *(_supporting_new(reading) if reading.draft.final is not None else ())]
            yield from confirmed
            if reading.outcome.wrong_source:
                yield from _wrong_source(reading, spared=_documents(confirmed))


def _documents(observed: Iterable[_Observation]) -> frozenset[str]:
    return frozenset(each.doc_id for each in observed)


def _cited(reading: Reading) -> Iterator[_Observation]:
    draft, event = reading.draft, reading.event
    ways: list[tuple[str, Iterable[str]]] = [("in_search", draft.cited)]
    if draft.final is not None:
        ways += [
            ("by_mark", newly_marked(event, draft.draft, draft.final)),
            ("by_mark", _marked_anew(reading)),
            ("by_name", _named(reading, draft.final)),
        ]
    ranks = {hit.doc_id: hit.rank for hit in reversed(event.retrieved)}
    for way, doc_ids in ways:
        for doc_id in doc_ids:
            facts = {way: 1} | ({"rank": ranks[doc_id]} if doc_id in ranks else {})
            yield _Observation(doc_id, EvidenceKind.CITED, WEIGHTS[EvidenceKind.CITED], None, facts)


def _marked_anew(reading: Reading) -> Iterator[str]:
    """Documents whose mark from the draft stands on in a sentence that the expert wrote, and that do support it."""
    for sentence in reading.new:
        marked = documents_at(reading.event, marked_ranks(sentence, bare=True))
        if marked:
            yield from marked & {share.supported.doc_id for share in reading.shares(sentence)}


def _named(reading: Reading, final: str) -> frozenset[str]:
    known = {hit.doc_id for hit in reading.event.retrieved}
    if reading.knowledge is None:
        return newly_named(reading.draft.draft, final, frozenset(known), {})
    named = newly_named(
        reading.draft.draft, final, frozenset(known | reading.knowledge.doc_ids), reading.knowledge.titles
    )
    return frozenset(each for each in named if each in known or reading.knowledge.version_of(each, reading.decided_at))


def _supporting_new(reading: Reading) -> Iterator[_Observation]:
    kind = EvidenceKind.SUPPORTS_NEW
    for share in _shares(reading, reading.new):
        yield _shared(share, kind, WEIGHTS[kind] * share.supported.support)


def _of_kept(reading: Reading, kind: EvidenceKind) -> Iterator[_Observation]:
    for share in _shares(reading, reading.kept):
        if share.supported.doc_id in reading.used:
            yield _shared(share, kind, WEIGHTS[kind])


def _kept_only(reading: Reading) -> Iterator[_Observation]:
    elsewhere = reading.supported_in((*reading.new, *reading.removed))
    for each in _of_kept(reading, EvidenceKind.KEPT_ONLY):
        if each.doc_id not in elsewhere:
            yield each


def _removed_only(reading: Reading, *, spared: frozenset[str]) -> Iterator[_Observation]:
    for share in _shares(reading, reading.removed):
        doc_id = share.supported.doc_id
        if share.supporters == 1 and doc_id in reading.used and doc_id not in spared:
            yield _shared(share, EvidenceKind.REMOVED_ONLY, WEIGHTS[EvidenceKind.REMOVED_ONLY])


def _wrong_source(reading: Reading, *, spared: frozenset[str]) -> Iterator[_Observation]:
    """The used documents; where nobody knows which were used, those that support what the draft said."""
    kind = EvidenceKind.WRONG_SOURCE
    blamed = reading.used if reading.knows_use else reading.used & reading.supported_in(_said(reading))
    facts = {"use_known": int(reading.knows_use), "blamed": len(blamed - spared)}
    for doc_id in sorted(blamed - spared):
        yield _Observation(doc_id, kind, WEIGHTS[kind], None, facts)


def _said(reading: Reading) -> Sequence[str]:
    """The draft's own sentences that assert something, kept or not."""
    return (*reading.kept, *reading.removed)


def _shares(reading: Reading, sentences: Iterable[str]) -> Iterator[Share]:
    for sentence in sentences:
        yield from reading.shares(sentence)


def _shared(share: Share, kind: EvidenceKind, weight: float) -> _Observation:
    facts = {"support": round(share.supported.support, 4), "supporters": share.supporters}
    return _Observation(share.supported.doc_id, kind, weight / share.supporters, share.supported.chunk_id, facts)


def _evidence(reading: Reading, each: _Observation) -> Evidence:
    draft, event = reading.draft, reading.event
    # What an expert cites he found when he decided; everything else is read in the knowledge base of the retrieval.
    times = [event.occurred_at, reading.decided_at]
    return Evidence(
        tenant=draft.tenant,
        query_sha=query_sha(event.query),
        doc_id=each.doc_id,
        chunk_id=each.chunk_id,
        kind=each.kind,
        weight=round(each.weight, DECIMALS),
        conversation_id=draft.conversation_id,
        event_id=event.id,
        message_id=draft.message_id,
        correction_id=draft.correction_id,
        document_from=reading.version_of(each.doc_id, *(reversed(times) if each.kind is EvidenceKind.CITED else times)),
        observed_at=reading.decided_at,
        facts=dict(each.facts),
    )
