"""Scores that stand in a turn's own text: a judge that repeats one may have obeyed the text instead of reading it.

Belongs here: which numbers of a turn a reply's scores must not come from. Does not: the words of orders, the reader.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain

from kb_pipeline.grading.judging.disguises import undisguised
from kb_pipeline.grading.judging.orders import grades_asked_for
from kb_pipeline.records import Metrics, Passage, Triad

# Who is told «1.0» may well write 0.95.
NEAR = 0.1
_SAME = 1e-9
# 0.95, 1,0 and .9 are written like a score; 1.000 is a thousand in one of the languages, 1 alone is a list's number.
_DECIMALS = re.compile(r"[.,](\d{1,9})(?!\d|[.,]\d)")
_BEFORE_POINT = re.compile(r"(?:^|[^\d.,])([01]?)$")
_THOUSAND_DIGITS = 3


@dataclass(frozen=True, kw_only=True, slots=True)
class Planted:
    """`written`: fractions that stand in the turn; `asked`: grades that a sentence, label or object in it asks for."""

    written: frozenset[float]
    asked: frozenset[float]

    def holds(self, score: float) -> bool:
        """Whether the turn's own text may be where `score` comes from: it is written there, or near one asked for."""
        return any(abs(score - value) <= _SAME for value in self.written) or any(
            abs(score - value) <= NEAR + _SAME for value in self.asked
        )


def planted_in(triad: Triad, metrics: Metrics) -> Planted:
    """The scores that stand in the texts that a judge is shown, in any disguise that is undone here.

    The retrieval scores in the headers of passages are not among them, unless they are 0 or 1.
    """
    spoken = [triad.question, triad.answer, *(message.text for message in triad.history)]
    views = list(chain.from_iterable(map(undisguised, spoken)))
    written = Counter(chain.from_iterable(map(_fractions, views)))
    if metrics.had_context:
        context = list(undisguised(triad.context))
        written += Counter(chain.from_iterable(map(_fractions, context))) - Counter(_header_scores(triad.passages))
        views += context
    return Planted(written=frozenset(written), asked=frozenset(chain.from_iterable(map(grades_asked_for, views))))


def _header_scores(passages: Iterable[Passage]) -> Iterator[float]:
    return (score for passage in passages if (score := passage.score) is not None and 0 < score < 1)


def _fractions(text: str) -> Iterator[float]:
    for found in _DECIMALS.finditer(text):
        before = _BEFORE_POINT.search(text[max(0, found.start() - 2) : found.start()])
        if before and not (before[1] == "1" and len(found[1]) == _THOUSAND_DIGITS):
            value = float(f"{before[1]}.{found[1]}")
            if value <= 1:
                yield value
