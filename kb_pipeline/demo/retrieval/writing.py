"""The model of the retrieval demo: drafts written from what was retrieved, well or badly, at stated rates.

Belongs here: what a draft says, which documents it stands on, which of them it reports as used. Does not: experts.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from random import Random

from kb_pipeline.demo.retrieval.finding import Found
from kb_pipeline.demo.retrieval.world import Desk, Enquiry
from kb_pipeline.demo.traffic.answers import OPENINGS, REFUSALS
from kb_pipeline.records import RetrievedDocument


class Manner(StrEnum):
    """How the model goes about an answer."""

    WHOLE = "whole"
    """Says all that the results have on the question."""
    RAMBLING = "rambling"
    """The same, and something true and beside the question from another result."""
    PARTIAL = "partial"
    """Leaves one thing out."""
    MISQUOTED = "misquoted"
    """States one value wrongly."""
    PADDED = "padded"
    """Adds a claim that no document supports."""
    STRAYED = "strayed"
    """Answers from a result that is about something else."""
    INVENTED = "invented"
    """Nothing but claims that no document supports."""
    DECLINED = "declined"


# What the model does when the results hold an answer, when they hold none, and when there is none anywhere.
WITH_ANSWER: Mapping[Manner, float] = {
    Manner.WHOLE: 0.55,
    Manner.RAMBLING: 0.12,
    Manner.PARTIAL: 0.08,
    Manner.MISQUOTED: 0.07,
    Manner.PADDED: 0.05,
    Manner.STRAYED: 0.08,
    Manner.INVENTED: 0.01,
    Manner.DECLINED: 0.04,
}
WITHOUT_ANSWER: Mapping[Manner, float] = {Manner.DECLINED: 0.60, Manner.STRAYED: 0.28, Manner.INVENTED: 0.12}
UNANSWERABLE: Mapping[Manner, float] = {Manner.DECLINED: 0.85, Manner.STRAYED: 0.08, Manner.INVENTED: 0.07}
# How the answer's citations come back: a used document is reported, an unused one too, nothing at all.
REPORTED_SHARE = 0.93
OVERREPORTED_SHARE = 0.04
UNREPORTED_SHARE = 0.08
OPENING_SHARE = 0.15
LIST_SHARE = 0.15
MARKED_SHARE = 0.3


@dataclass(frozen=True, kw_only=True, slots=True)
class Statement:
    """One sentence of a draft; `point` is what it says, where it says it truly, `source` the document it came from.

    `is_right`: it is true and answers the question. A phrase that asserts nothing is right.
    """

    text: str
    point: str | None = None
    source: str | None = None
    is_right: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Draft:
    """A draft as text, and what it is made of; `used` are the documents that it stands on."""

    text: str
    manner: Manner
    statements: tuple[Statement, ...]

    @property
    def used(self) -> frozenset[str]:
        return frozenset(each.source for each in self.statements if each.source)

    @property
    def said(self) -> frozenset[str]:
        """The points that it makes truly."""
        return frozenset(each.point for each in self.statements if each.point)


def write(desk: Desk, enquiry: Enquiry, found: Found, random: Random) -> Draft:
    """A draft from the results; the same for the same dice."""
    writer = _Writer(desk, enquiry, found, random)
    manner = writer.manner()
    statements = writer.statements(manner)
    if manner is not Manner.DECLINED and random.random() < OPENING_SHARE:
        opening = Statement(text=random.choice(OPENINGS[enquiry.language]), is_right=True)
        statements = (opening, *statements)
    return Draft(text=_laid_out(statements, found, random), manner=manner, statements=statements)


def reported(found: Found, used: frozenset[str], random: Random) -> tuple[RetrievedDocument, ...]:
    """The results with `used_in_final` as the answer's citations say it, which is not always so."""
    if random.random() < UNREPORTED_SHARE:
        return found.hits
    return tuple(
        replace(
            hit,
            used_in_final=random.random() < (REPORTED_SHARE if hit.doc_id in used else OVERREPORTED_SHARE),
        )
        for hit in found.hits
    )


class _Writer:
    """Writes one draft."""

    def __init__(self, desk: Desk, enquiry: Enquiry, found: Found, random: Random) -> None:
        self.desk = desk
        self.enquiry = enquiry
        self.random = random
        self.ranks = {hit.doc_id: hit.rank for hit in found.hits}
        self.sources = {point: source for point in enquiry.points if (source := self._best_holder(point))}
        answering = desk.answering(enquiry.points)
        shown = [desk.documents[hit.doc_id] for hit in found.hits]
        self.beside = [each.doc_id for each in shown if each.points and each.doc_id not in answering]

    def manner(self) -> Manner:
        shares = WITH_ANSWER if self.sources else WITHOUT_ANSWER if self.enquiry.points else UNANSWERABLE
        possible = {manner: share for manner, share in shares.items() if self._is_possible(manner)}
        return self.random.choices(list(possible), list(possible.values()))[0]

    def _is_possible(self, manner: Manner) -> bool:
        match manner:
            case Manner.RAMBLING | Manner.STRAYED:
                return bool(self.beside)
            case Manner.PARTIAL:
                return len(self.sources) > 1
            case Manner.MISQUOTED:
                return any(self.desk.points[point].false for point in self.sources)
            case _:
                return True

    def statements(self, manner: Manner) -> tuple[Statement, ...]:
        answer = [self._true(point) for point in self.sources]
        match manner:
            case Manner.RAMBLING:
                answer += self._beside(1)
            case Manner.PARTIAL:
                answer.pop(self.random.randrange(len(answer)))
            case Manner.MISQUOTED:
                return self._misquoted(answer)
            case Manner.PADDED:
                answer.append(self._claim())
            case Manner.STRAYED:
                answer = self._beside(self.random.choice((1, 2)))
            case Manner.INVENTED:
                answer = [self._claim() for _ in range(self.random.choice((1, 2)))]
            case Manner.DECLINED:
                answer = [Statement(text=self.random.choice(REFUSALS[self.enquiry.language]))]
        return tuple(answer)

    def _best_holder(self, point: str) -> str | None:
        holders = [doc_id for doc_id in self.desk.holders.get(point, ()) if doc_id in self.ranks]
        return min(holders, key=lambda doc_id: self.ranks[doc_id], default=None)

    def _true(self, point: str) -> Statement:
        return Statement(text=self.desk.points[point].ways[0], point=point, source=self.sources[point], is_right=True)

    def _misquoted(self, answer: list[Statement]) -> tuple[Statement, ...]:
        wrong = self.random.choice([each.point for each in answer if each.point and self.desk.points[each.point].false])
        return tuple(
            Statement(text=self.desk.points[wrong].false or "", source=each.source) if each.point == wrong else each
            for each in answer
        )

    def _beside(self, count: int) -> list[Statement]:
        """Sentences of a result that is not about the question, rather a better one than a worse one."""
        doc_id = self.random.choices(self.beside, [1 / self.ranks[each] for each in self.beside])[0]
        said = self.desk.documents[doc_id].points
        points = self.random.sample(said, min(count, len(said)))
        return [Statement(text=self.desk.points[point].ways[0], point=point, source=doc_id) for point in points]

    def _claim(self) -> Statement:
        return Statement(text=self.random.choice(self.desk.claims[self.enquiry.language]))


def _laid_out(statements: Sequence[Statement], found: Found, random: Random) -> str:
    ranks = {hit.doc_id: hit.rank for hit in found.hits}
    is_marked = random.random() < MARKED_SHARE
    texts = [_marked(each, ranks) if is_marked else each.text for each in statements]
    if len(texts) > 1 and random.random() < LIST_SHARE:
        return "\n".join(f"- {text}" for text in texts)
    return " ".join(texts)


def _marked(statement: Statement, ranks: Mapping[str, int]) -> str:
    rank = ranks.get(statement.source or "")
    return f"{statement.text.removesuffix('.')} [RAG-{rank}]." if rank else statement.text
