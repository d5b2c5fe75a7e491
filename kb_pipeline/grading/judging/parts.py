"""What is asked of a judge about one turn: the turn whole where its window holds it, else parts, else nothing.

Belongs here: which sentences and which passages stand together, the history that is shown. Does not: calls, scores.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby, zip_longest

from kb_pipeline.grading.judging.pieces import Piece, pieces_of
from kb_pipeline.grading.judging.prompt import HISTORY_MESSAGES, history_lines
from kb_pipeline.grading.judging.reply import undefined_aspects
from kb_pipeline.records import Metrics, Passage, Triad
from kb_pipeline.support import Ranking, asserts, segments, sentences

MOST_PARTS = 8
# Beyond these nobody plans: what they cost the planner, and how far a choice by words can be trusted.
MOST_CONTEXT_CHARS = 2_000_000
MOST_ANSWER_CHARS = 200_000
# A sentence's likest pieces that its part must show, fewer where that takes too many parts; and those that it shows
# where they fit too.
BEST = (3, 2, 1)
LIKELY = 10
# History and question may take a quarter of the room each, a piece of the context a twelfth of what they leave.
_SIDE_SHARE = 4
_PIECES_TO_A_PART = 12
_LONGEST_PIECE = 4_000
GAP = "\n[…]\n"


@dataclass(frozen=True, kw_only=True, slots=True)
class Part:
    """One call about a turn: as much of it as the triad shows; `assertions` sentences of its answer assert something.

    `name` is its number and the number of all, as 2/3.
    """

    name: str
    triad: Triad
    metrics: Metrics
    assertions: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Whole:
    """The turn fits one call."""

    triad: Triad
    history_left_out: int

    calls: int = 1


@dataclass(frozen=True, kw_only=True, slots=True)
class Parts:
    """The turn is graded by these parts; `context_shown` is the fraction of its context that stands in some part."""

    parts: tuple[Part, ...]
    context_shown: float
    history_left_out: int

    @property
    def calls(self) -> int:
        """Calls that grading takes."""
        return len(self.parts)


@dataclass(frozen=True, kw_only=True, slots=True)
class TooLong:
    """The turn cannot be graded within the room, and why, in a sentence without text of the turn."""

    reason: str
    calls: int = 0


Plan = Whole | Parts | TooLong


def plan_parts(triad: Triad, metrics: Metrics, room: int) -> Plan:
    """How a turn is put to a judge that has room for `room` characters of question, history, context and answer.

    Whole where it fits. Else the sentences of the answer stand, in their order, in as few parts as hold them together
    with the three pieces of context likest to each (BM25 over word stems; two or one where three take too many parts);
    room that is left takes the ten likest to each sentence and to the question. Nothing of the answer is left out and
    nothing is cut but at the borders of sentences or words. Pure and deterministic; 0.1 s for 350,000 characters.
    """
    shown, left_out = _with_fitting_history(triad, room // _SIDE_SHARE)
    context = triad.context if metrics.had_context else ""
    beside = len(triad.question) + sum(len(line) + 1 for line in history_lines(shown.history))
    if beside + len(context) + len(triad.answer) <= room:
        return Whole(triad=shown, history_left_out=left_out)
    reason = _beyond_planning(triad, context, room)
    if reason:
        return TooLong(reason=reason)
    reading = _Reading.of(replace(shown, context=context), room - beside)
    for best in BEST:
        groups = reading.groups(best)
        if len(groups) <= MOST_PARTS:
            return _parts(groups, shown, metrics, context_chars=len(context), left_out=left_out)
    return TooLong(reason=f"the answer with what is likest to it takes more than {MOST_PARTS} parts")


def _with_fitting_history(triad: Triad, most_chars: int) -> tuple[Triad, int]:
    """The triad with the newest messages that are shown, the oldest dropped while they exceed; and how many are not."""
    kept = triad.history[-HISTORY_MESSAGES:]
    while kept and sum(len(line) + 1 for line in history_lines(kept)) > most_chars:
        kept = kept[1:]
    return replace(triad, history=kept), len(triad.history) - len(kept)


def _beyond_planning(triad: Triad, context: str, room: int) -> str | None:
    if len(triad.question) > room // _SIDE_SHARE:
        return "the question takes more than a quarter of the judge's window"
    if len(context) > MOST_CONTEXT_CHARS:
        return f"the context has more than {MOST_CONTEXT_CHARS} characters"
    if len(triad.answer) > MOST_ANSWER_CHARS:
        return f"the answer has more than {MOST_ANSWER_CHARS} characters"
    # Below this the pieces would be too small to say anything.
    return "the judge's window has no room for parts" if room < _LEAST_ROOM else None


_LEAST_ROOM = 1_200


@dataclass(kw_only=True, slots=True)
class _Group:
    """A part in the making: a stretch of the answer and the numbers of the pieces that it needs."""

    pieces: Sequence[Piece]
    room: int
    answer: str = ""
    orders: list[list[int]] = field(default_factory=list)
    chosen: set[int] = field(default_factory=set)
    # A gap may follow the last piece.
    size: int = len(GAP)

    def takes(self, text: str, order: list[int], best: int) -> bool:
        """Take a sentence with the best of its pieces; False, and nothing is taken, where they do not fit."""
        needed = set(order[:best]) - self.chosen
        size = self.size + len(text) + sum(map(self._cost, needed))
        if size > self.room:
            return False
        self.answer += text
        self.orders.append(order)
        self.chosen |= needed
        self.size = size
        return True

    def fill(self, order_of_question: list[int]) -> None:
        """Take more of the likely pieces while they fit, every sentence's second before anyone's third."""
        orders = [order[:LIKELY] for order in [*self.orders, order_of_question]]
        for number in (number for rank in zip_longest(*orders) for number in rank if number is not None):
            if number not in self.chosen and self.size + self._cost(number) <= self.room:
                self.chosen.add(number)
                self.size += self._cost(number)

    def _cost(self, number: int) -> int:
        return len(self.pieces[number].text) + len(GAP)

    def shown(self) -> list[Piece]:
        """The chosen pieces as they stand in the context."""
        return [self.pieces[number] for number in sorted(self.chosen)]


@dataclass(frozen=True, kw_only=True, slots=True)
class _Reading:
    """The sentences of the answer, the pieces of the context, and the order of these for each and for the question."""

    room: int
    pieces: Sequence[Piece]
    sentences: Sequence[tuple[str, list[int]]]
    question: list[int]

    @classmethod
    def of(cls, triad: Triad, room: int) -> "_Reading":
        """Read a triad whose parts have so much room for answer and context."""
        pieces = pieces_of(triad, longest=min(_LONGEST_PIECE, room // _PIECES_TO_A_PART)) if triad.context else []
        ranking = Ranking.of([piece.text for piece in pieces])
        texts = segments(triad.answer, longest=room // 2) or [""]
        return cls(
            room=room,
            pieces=pieces,
            sentences=[(text, ranking.order(text)) for text in texts],
            question=ranking.order(triad.question) or list(range(len(pieces))),
        )

    def groups(self, best: int) -> list[_Group]:
        """The sentences in as few groups as hold each with its `best` pieces; one more than allowed ends the list."""
        groups = [_Group(pieces=self.pieces, room=self.room)]
        for text, order in self.sentences:
            if groups[-1].takes(text, order, best):
                continue
            groups.append(_Group(pieces=self.pieces, room=self.room))
            # Half the room and three twelfths of it fit.
            groups[-1].takes(text, order, best)
            if len(groups) > MOST_PARTS:
                return groups
        for group in groups:
            group.fill(self.question)
        return groups


def _parts(groups: Sequence[_Group], triad: Triad, metrics: Metrics, *, context_chars: int, left_out: int) -> Parts:
    parts = tuple(
        _part(group, triad, metrics, name=f"{number}/{len(groups)}", is_last=number == len(groups))
        for number, group in enumerate(groups, start=1)
    )
    pieces = {piece.start: len(piece.text) for group in groups for piece in group.shown()}
    shown = sum(pieces.values()) / context_chars if context_chars else 1.0
    return Parts(parts=parts, context_shown=shown, history_left_out=left_out)


def _part(group: _Group, triad: Triad, metrics: Metrics, *, name: str, is_last: bool) -> Part:
    pieces = group.shown()
    context = "".join(_with_gaps(pieces, len(triad.context) if metrics.had_context else 0))
    passages = _passages(pieces)
    shown = replace(triad, context=context, passages=passages, answer=group.answer)
    measured = replace(
        metrics,
        had_context=bool(context.strip()),
        num_passages=len(passages),
        context_chars=len(context),
        answer_chars=len(group.answer),
        answer_truncated=metrics.answer_truncated and is_last,
    )
    return Part(name=name, triad=shown, metrics=measured, assertions=_assertions_of(shown, measured))


def _passages(pieces: Sequence[Piece]) -> tuple[Passage, ...]:
    """The passages as far as the pieces show them, without their headers."""
    return tuple(
        Passage(rank=passage.rank, score=passage.score, text=GAP.join(piece.body for piece in of_one))
        for passage, of_one in groupby(pieces, key=lambda piece: piece.passage)
        if passage is not None
    )


def _with_gaps(pieces: Sequence[Piece], context_chars: int) -> Iterator[str]:
    end = 0
    for piece in pieces:
        if piece.start > end:
            yield GAP
        yield piece.text
        end = piece.end
    if end < context_chars:
        yield GAP


def _assertions_of(triad: Triad, metrics: Metrics) -> int:
    """Sentences of the answer that assert something: at least one, unless the answer has no faithfulness at all."""
    if "faithfulness" in undefined_aspects(triad, metrics):
        return 0
    return max(1, sum(map(asserts, sentences(triad.answer))))
