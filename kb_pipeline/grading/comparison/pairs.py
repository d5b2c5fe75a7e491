"""Pairs of scores, tallied as they come: memory holds the different pairs, not the turns.

Belongs here: counting. Does not: figures on the counts.
"""

import heapq
from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime

ASPECTS = ("faithfulness", "answer_relevance", "context_relevance")
LARGEST = 10

Pair = tuple[float, float]


@dataclass(frozen=True, kw_only=True, slots=True)
class PairedScores:
    """One turn that two judge versions scored; `scores` are (first, second) for each of ASPECTS, None for no score.

    `tokens` and `milliseconds` are what the turn cost with each; `preview` is the redacted beginning of the question.
    """

    event_id: str
    ts: datetime
    language: str
    preview: str | None
    scores: tuple[tuple[float | None, float | None], ...]
    tokens: tuple[int, int] = (0, 0)
    milliseconds: tuple[int, int] = (0, 0)


@dataclass(kw_only=True, slots=True)
class Tally:
    """Counts over paired turns, and those whose faithfulness differs most.

    `cells` counts the different pairs of each aspect, `languages` those of faithfulness in each language. `missing`
    has, per aspect, how many turns lack the score of the first, of the second, of both.
    """

    turns: int = 0
    cells: dict[str, Counter[Pair]] = field(default_factory=lambda: {aspect: Counter() for aspect in ASPECTS})
    languages: dict[str, Counter[Pair]] = field(default_factory=dict)
    missing: dict[str, list[int]] = field(default_factory=lambda: {aspect: [0, 0, 0] for aspect in ASPECTS})
    tokens: list[int] = field(default_factory=lambda: [0, 0])
    milliseconds: list[int] = field(default_factory=lambda: [0, 0])
    _largest: list[tuple[float, int, PairedScores]] = field(default_factory=list)

    def add(self, turn: PairedScores) -> None:
        """Count one turn."""
        self.turns += 1
        for side in (0, 1):
            self.tokens[side] += turn.tokens[side]
            self.milliseconds[side] += turn.milliseconds[side]
        for aspect, (first, second) in zip(ASPECTS, turn.scores, strict=True):
            if first is None or second is None:
                self.missing[aspect][_place(first, second)] += 1
            else:
                self.cells[aspect][first, second] += 1
        first, second = turn.scores[0]
        if first is not None and second is not None:
            self.languages.setdefault(turn.language, Counter())[first, second] += 1
            self._keep(abs(second - first), turn)

    def largest(self) -> list[PairedScores]:
        """The turns whose faithfulness differs most, the largest difference first; none that do not differ."""
        return [turn for _, _, turn in sorted(self._largest, key=lambda each: (-each[0], -each[1]))]

    def _keep(self, difference: float, turn: PairedScores) -> None:
        if not difference:
            return
        # Of equal ones those that came first stay; the number also keeps turns themselves from being compared.
        entry = (difference, -self.turns, turn)
        if len(self._largest) < LARGEST:
            heapq.heappush(self._largest, entry)
        else:
            heapq.heappushpop(self._largest, entry)


def _place(first: float | None, second: float | None) -> int:
    if first is None and second is None:
        return 2
    return 0 if first is None else 1
