"""Sums that add up, and what they say: means, rates and their intervals.

Belongs here: arithmetic on counts and sums. Does not: where they are read, words, thresholds.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field, fields
from math import fsum, sqrt
from typing import Any

from kb_pipeline.verdicts import share, wilson

ASPECTS = ("faithfulness", "answer_relevance", "context_relevance")
Z = 1.96
BINS = 101


@dataclass(frozen=True, slots=True)
class Moments:
    """Number, sum and sum of squares of scores in [0, 1]."""

    n: int = 0
    total: float = 0.0
    squares: float = 0.0

    @property
    def mean(self) -> float | None:
        """total / n; None where there is no score."""
        return self.total / self.n if self.n else None

    def interval(self, z: float = Z) -> tuple[float, float] | None:
        """The interval of the mean, 95 % by default; None where there is no score.

        Wilson's score interval with the scores' own variance s² in place of p(1 − p): for scores that are 0 or 1 it is
        Wilson's (1927), for others narrower, and never of no width, however few scores agree.
        """
        if not self.n:
            return None
        mean = self.total / self.n
        variance = max(0.0, self.squares / self.n - mean * mean)
        scale = 1 + z * z / self.n
        centre = (mean + z * z / (2 * self.n)) / scale
        spread = z * sqrt(variance / self.n + z * z / (4 * self.n * self.n)) / scale
        return max(0.0, centre - spread), min(1.0, centre + spread)

    def upper(self, z: float) -> float:
        """The upper end that alert rules compare: Wilson's, as if each score were a share of its own."""
        mean = self.mean
        return 1.0 if mean is None else mean if not z else wilson(self.total, self.n, z=z)[1]


def added(moments: Iterable[Moments]) -> Moments:
    """All of them together."""
    every = list(moments)
    return Moments(sum(m.n for m in every), fsum(m.total for m in every), fsum(m.squares for m in every))


@dataclass(frozen=True, kw_only=True, slots=True)
class Tally:
    """What published turns of a window add up to, for one judge version or all.

    `grounded` counts turns with a faithfulness of at least the warning threshold, `ungrounded` those below the floor.
    """

    turns: int = 0
    graded: int = 0
    pending: int = 0
    errors: int = 0
    failed: int = 0
    skipped: int = 0
    disabled: int = 0
    had_context: int = 0
    refused: int = 0
    truncated: int = 0
    grounded: int = 0
    ungrounded: int = 0
    judge_calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    faithfulness: Moments = field(default_factory=Moments)
    answer_relevance: Moments = field(default_factory=Moments)
    context_relevance: Moments = field(default_factory=Moments)

    @property
    def failures(self) -> int:
        """Turns that the judge was, or would be, asked about and that have no score."""
        return self.errors + self.failed + self.disabled

    @property
    def judgeable(self) -> int:
        """Turns that have scores or could have them."""
        return self.graded + self.failures + self.pending

    @property
    def coverage(self) -> float | None:
        """graded / judgeable; None where there is nothing to judge."""
        return share(self.graded, self.judgeable)

    @property
    def tokens(self) -> int:
        """Tokens that the judge read and wrote."""
        return self.prompt_tokens + self.completion_tokens


COUNTS = tuple(each.name for each in fields(Tally) if each.name not in ASPECTS)


def total(tallies: Iterable[Tally]) -> Tally:
    """All of them together; sums of scores are added without loss (fsum)."""
    every = list(tallies)
    sums: dict[str, Any] = {name: sum(getattr(tally, name) for tally in every) for name in COUNTS}
    sums |= {name: added(getattr(tally, name) for tally in every) for name in ASPECTS}
    return Tally(**sums)


@dataclass(frozen=True, slots=True)
class Rate:
    """`part` of `whole` with its 95 % Wilson interval."""

    part: int
    whole: int

    @property
    def value(self) -> float | None:
        """part / whole; None where there is no whole."""
        return share(self.part, self.whole)

    @property
    def interval(self) -> tuple[float, float] | None:
        """None where there is no whole."""
        return wilson(self.part, self.whole) if self.whole else None


def bin_from(threshold: float) -> int:
    """The first element (from 1) of a 101-bin histogram that holds only scores of at least the threshold.

    Exact for thresholds in steps of 0.01; a finer one is taken at the next step.
    """
    return min(BINS, -int(-round(threshold * 100, 6) // 1) + 1)


def quantile(edges: list[float], counts: list[int], q: float) -> float | None:
    """The value below which a fraction q of a histogram lies, on a straight line within its bin; None where empty.

    `edges` has one element more than `counts`; an unbounded last bin has its lower edge twice.
    """
    wanted = q * sum(counts)
    if not wanted:
        return None
    below = 0.0
    for low, high, count in zip(edges, edges[1:], counts, strict=False):
        if count and below + count >= wanted:
            return low + (high - low) * (wanted - below) / count
        below += count
    return edges[-1]
