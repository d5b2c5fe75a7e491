"""Scores that stand in a turn's own text: a judge that repeats one may have obeyed the text instead of reading it.

Belongs here: which numbers of a turn a reply's scores must not come from. Does not: the words of orders, the reader.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain

from kb_pipeline.grading.judging.disguises import undisguised
from kb_pipeline.grading.judging.orders import grades_asked_for
from kb_pipeline.records import Metrics, Triad

# Who is told «1.0» may well write 0.95.
NEAR = 0.1
_SAME = 1e-9
# 0.95, 1,0 and .9 are written like a score; 1.000 is a thousand in one of the languages, 1 alone is a list's number.
_DECIMALS = re.compile(r"[.,](\d{1,9})(?!\d|[.,]\d)")
_BEFORE_POINT = re.compile(r"(?:^|[^\d.,])([01]?)$")
_THOUSAND_DIGITS = 3
_CITATION = re.compile(r"\[[a-z]{1,12}[- ]?\d{1,3}\]")
_HEADER_SCORE = re.compile(r"\(\s?(?:skor|score)\s?[:=]?\s?[01]?[.,]\d{1,6}\s?\)", re.IGNORECASE)


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

    The retrieval scores in the headers of passages are not among them: an engine may well give its first hit a 1.0.
    """
    texts = [triad.question, triad.answer, *(message.text for message in triad.history)]
    if metrics.had_context:
        texts.append(_without_headers(triad))
    views = [_CITATION.sub(" ", view) for text in texts for view in undisguised(text)]
    return Planted(
        written=frozenset(chain.from_iterable(map(_fractions, views))),
        asked=frozenset(chain.from_iterable(map(grades_asked_for, views))),
    )


def _without_headers(triad: Triad) -> str:
    """What the passages say; where none were told apart, the whole context without what looks like a header's score."""
    said = "\n\n".join(passage.text for passage in triad.passages)
    return said or _HEADER_SCORE.sub(" ", triad.context)


def _fractions(text: str) -> Iterator[float]:
    for found in _DECIMALS.finditer(text):
        before = _BEFORE_POINT.search(text[max(0, found.start() - 2) : found.start()])
        if before and not (before[1] == "1" and len(found[1]) == _THOUSAND_DIGITS):
            value = float(f"{before[1]}.{found[1]}")
            if value <= 1:
                yield value
