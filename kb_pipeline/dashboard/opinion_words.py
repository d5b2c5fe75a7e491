"""The second opinion in words, and the marks that it gives the sentences of one answer.

Belongs here: what is said of counts, which sentence is backed by which passage. Does not: counting (grading/opinion).
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from kb_pipeline.counting import counted, out_of
from kb_pipeline.grading.metrics import asserts_nothing
from kb_pipeline.grading.opinion import DISAGREEMENT, Kind, second_opinion
from kb_pipeline.records import Metrics, ParseStatus, Passage, Triad
from kb_pipeline.support import overlap, sentences

MOST_SENTENCES = 60
_BACKED = 0.5
_CONTRARY = {Kind.NEGATION, Kind.ROLES}
_THINGS = {
    "number": ("number", "numbers"), "amount": ("amount", "amounts"), "date": ("date", "dates"),
    "reference": ("reference", "references"), "name": ("name", "names"), "quote": ("quotation", "quotations"),
    "citation": ("citation", "citations"), "sentence": ("sentence", "sentences"), "negation": ("negation", "negations"),
    "roles": ("pair of names", "pairs of names"),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class OpinionWords:
    """Agrees, Disagrees or No opinion, and why."""

    head: str
    reason: str


def opinion_words(
    faithfulness: float | None,
    support: float | None,
    disagreement: float | None,
    opinion: Mapping[str, Any] | None,
    *,
    warn: float,
    had_context: bool,
) -> OpinionWords:
    """What the second opinion says of a score; `opinion` is the column rag_metric.opinion."""
    if opinion is None or support is None or faithfulness is None:
        return OpinionWords("No opinion", _unheld(faithfulness, opinion, had_context=had_context))
    counts, flags = opinion.get("counts") or {}, opinion.get("flags") or []
    doubts = _doubted(counts, flags) if flags else _found(counts)
    is_low = faithfulness < warn
    if (disagreement or 0.0) >= DISAGREEMENT or (flags and not is_low):
        return OpinionWords("Disagrees", f"{doubts}; check by hand")
    if is_low and not flags:
        return OpinionWords("No opinion", doubts)
    return OpinionWords("Agrees", doubts)


def _unheld(faithfulness: float | None, opinion: Mapping[str, Any] | None, *, had_context: bool) -> str:
    """Why there is none."""
    if opinion is None:
        return "not counted yet"
    if faithfulness is None:
        return "no faithfulness score to compare with"
    return "nothing in the answer to check" if had_context else "no passage to check against"


def counts_in_words(opinion: Mapping[str, Any]) -> str:
    """How much of what the answer claims was found, kind by kind: `0 of 1 amount, 2 of 2 names`."""
    counts = opinion.get("counts") or {}
    said = [
        out_of(count.get("found", 0), count.get("claimed", 0), *_THINGS.get(kind, (kind, kind)))
        for kind, count in sorted(counts.items())
    ]
    return ", ".join(said) or "nothing is claimed"


def remarks_in_words(opinion: Mapping[str, Any]) -> str | None:
    """What else is to be known of an opinion: another language than the question's, a turn that was read in part."""
    said = []
    if opinion.get("wrong_language"):
        languages = f"in {opinion.get('answer_language')}, the question in {opinion.get('question_language')}"
        said.append(f"the answer is {languages}")
    if opinion.get("partial"):
        said.append("the turn is very long: a part of it was read")
    return "; ".join(said) or None


def _doubted(counts: Mapping[str, Any], flags: Sequence[str]) -> str:
    parts = []
    for kind in flags[:2]:
        count = counts.get(kind) or {}
        claimed = int(count.get("claimed", 0))
        missing = claimed - int(count.get("found", 0))
        is_misfit = kind in {"negation", "roles"}
        one, many = ("does not fit", "do not fit") if is_misfit else ("is in no passage", "are in no passage")
        things = counted(claimed, *_THINGS.get(kind, (kind, kind)))
        parts.append(f"{missing:,} of {things} {one if missing == 1 else many}")
    return ", ".join(parts)


def _found(counts: Mapping[str, Any]) -> str:
    checked = sum(
        int(counts[kind].get("claimed", 0)) for kind in ("number", "amount", "date", "name") if kind in counts
    )
    if not checked:
        return "no number, date or name to check"
    if checked == 1:
        return "its one number, date or name is in the passages"
    return f"all {counted(checked, 'number, date or name', 'numbers, dates and names')} are in the passages"


class Mark(StrEnum):
    """What is said of one sentence of an answer."""

    BACKED = "backed"
    NO_SOURCE = "no_source"
    CONTRADICTED = "contradicted"
    NOTHING = "nothing"
    """It asserts nothing that could be backed."""


@dataclass(frozen=True, kw_only=True, slots=True)
class MarkedSentence:
    """One sentence of the answer: its mark, the passage it is held against (from 1), and what is doubted."""

    number: int
    text: str
    mark: Mark
    passage: int | None
    doubts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of a passage; `sentences` are the numbers of the sentences that it is evidence for, or against."""

    text: str
    sentences: tuple[int, ...] = ()
    is_contrary: bool = False


def marked_sentences(triad: Triad) -> list[MarkedSentence]:
    """The sentences of the answer, each with the second opinion on it alone; at most MOST_SENTENCES of them."""
    found = sentences(triad.answer)[:MOST_SENTENCES]
    return [_marked(number, text, triad) for number, text in enumerate(found, 1)]


def _marked(number: int, text: str, triad: Triad) -> MarkedSentence:
    if asserts_nothing(text):
        return MarkedSentence(number=number, text=text, mark=Mark.NOTHING, passage=None)
    passage = _closest(text, triad.passages)
    alone = Triad(
        parse_status=ParseStatus.OK,
        question=triad.question,
        context=triad.context,
        passages=triad.passages,
        answer=text,
        history=triad.history,
    )
    opinion = second_opinion(alone, _metrics(triad))
    flags = opinion.flags
    if any(kind in _CONTRARY for kind in flags):
        mark = Mark.CONTRADICTED
    elif flags or not triad.context.strip() or passage is None:
        mark = Mark.NO_SOURCE
    else:
        mark = Mark.BACKED
    doubts = tuple(_THINGS[str(kind)][1] for kind in flags)
    return MarkedSentence(number=number, text=text, mark=mark, passage=passage, doubts=doubts)


def _metrics(triad: Triad) -> Metrics:
    return Metrics(
        had_context=bool(triad.context.strip()),
        num_passages=len(triad.passages),
        top_score=None,
        mean_score=None,
        context_chars=len(triad.context),
        answer_chars=len(triad.answer),
        refused=False,
        answer_truncated=False,
    )


def _closest(text: str, passages: Sequence[Passage]) -> int | None:
    shares = [(overlap(text, passage.text) or 0.0, -place) for place, passage in enumerate(passages, 1)]
    best, place = max(shares, default=(0.0, 0))
    return -place if best >= _BACKED else None


def passage_pieces(passage: Passage, place: int, marked: Sequence[MarkedSentence]) -> list[Piece]:
    """The text of a passage, cut where sentences of it are evidence for, or against, sentences of the answer."""
    evidence: dict[tuple[int, int], list[MarkedSentence]] = {}
    spans = _sentence_spans(passage.text)
    for sentence in marked:
        if sentence.passage == place and sentence.mark in {Mark.BACKED, Mark.CONTRADICTED} and spans:
            nearest = max(spans, key=lambda span: overlap(sentence.text, passage.text[span[0] : span[1]]) or 0.0)
            evidence.setdefault(nearest, []).append(sentence)
    pieces, at = [], 0
    for (start, end), backed in sorted(evidence.items()):
        if start > at:
            pieces.append(Piece(passage.text[at:start]))
        is_contrary = any(each.mark is Mark.CONTRADICTED for each in backed)
        pieces.append(Piece(passage.text[start:end], tuple(each.number for each in backed), is_contrary))
        at = end
    return [*pieces, *([Piece(passage.text[at:])] if at < len(passage.text) else [])]


def _sentence_spans(text: str) -> list[tuple[int, int]]:
    """Where each sentence stands in the text; one whose white space or markup was changed is found by its words."""
    spans, at = [], 0
    for sentence in sentences(text)[: 10 * MOST_SENTENCES]:
        pattern = r"\s+".join(re.escape(word) for word in sentence.split())
        match = re.compile(pattern).search(text, at)
        if match:
            spans.append(match.span())
            at = match.end()
    return spans


def turn_verdict(marked: Sequence[MarkedSentence]) -> tuple[str, str, str]:
    """Level, sentence and detail over the marks of one answer."""
    said = [sentence for sentence in marked if sentence.mark is not Mark.NOTHING]
    contrary = [sentence for sentence in said if sentence.mark is Mark.CONTRADICTED]
    foreign = [sentence for sentence in said if sentence.mark is Mark.NO_SOURCE]
    backed = len(said) - len(contrary) - len(foreign)
    detail = (
        f"Sentences that assert something: {len(said)}. Backed by a passage: {backed}; without a source: "
        f"{len(foreign)}; not fitting theirs: {len(contrary)}."
    )
    if contrary:
        return "critical", "This answer contradicts its source.", detail
    if foreign and len(foreign) == len(said):
        return "critical", "No sentence of this answer has a source.", detail
    if foreign:
        return "warning", "Part of this answer has no source.", detail
    if said:
        return "good", "Every sentence of this answer is backed by a passage.", detail
    return "none", "This answer asserts nothing.", "There is nothing in it that could be backed or not."
