"""Figures on paired scores: shift of the mean, differences, agreement at a threshold.

Belongs here: the formulas. Does not: what a figure means for whoever reads it (verdict.py).
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from kb_pipeline.grading.calibration.agreement import Estimate
from kb_pipeline.grading.comparison.pairs import ASPECTS, Pair, PairedScores, Tally
from kb_pipeline.grading.comparison.versions import VersionUse, name_of

RESAMPLES = 1_000
# So many numbers are drawn at once: 8 MB.
_BLOCK = 1 << 20
# Differences of decimal scores are equal on paper and differ in their last digits.
_DIGITS = 9
_TAILS = (2.5, 97.5)
MANY = 5_000
# The quantile of the standard normal distribution that leaves 2.5 % above it.
_Z = 1.959963984540054

Cells = Mapping[Pair, int]


@dataclass(frozen=True, kw_only=True, slots=True)
class ThresholdFigures:
    """Turns on either side of a threshold; a score at or above it passes. `fell` passed with the first alone."""

    threshold: float
    fell: int
    rose: int
    agreement: float | None
    kappa: float | None


@dataclass(frozen=True, kw_only=True, slots=True)
class AspectFigures:
    """One score of the `n` turns for which both versions gave it; `shift` is second minus first, on average.

    Figures are None where they do not exist. `missing_first` counts turns to which the second alone gave it.
    """

    aspect: str
    n: int
    first_mean: float | None
    second_mean: float | None
    shift: Estimate | None
    mean_absolute_difference: float | None
    spearman: float | None
    missing_first: int
    missing_second: int
    missing_both: int
    thresholds: Sequence[ThresholdFigures] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class LanguageFigures:
    """Faithfulness of the turns in one language."""

    language: str
    n: int
    shift: Estimate | None
    fell: int
    rose: int


@dataclass(frozen=True, kw_only=True, slots=True)
class VersionFigures:
    """One version: over the period what it graded and what not, over the paired turns what a turn cost on average.

    `tokens` is None where its server reports none.
    """

    name: str
    graded: int
    ungraded: Mapping[str, int]
    tokens: float | None
    seconds: float | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Comparison:
    """Two versions over the `turns` that both scored; the first of `aspects` is faithfulness, which has thresholds."""

    first: VersionFigures
    second: VersionFigures
    turns: int
    aspects: Sequence[AspectFigures]
    languages: Sequence[LanguageFigures]
    largest: Sequence[PairedScores]
    faithfulness_pairs: Cells


def compare(tally: Tally, first: VersionUse, second: VersionUse, *, thresholds: Sequence[float]) -> Comparison:
    """Every figure of the turns that were tallied; the same turns give the same intervals, in whatever order.

    Languages are held against the first of `thresholds`.
    """
    return Comparison(
        first=_version(first, tally, 0),
        second=_version(second, tally, 1),
        turns=tally.turns,
        aspects=[
            aspect_figures(aspect, tally.cells[aspect], tally.missing[aspect], thresholds if not place else ())
            for place, aspect in enumerate(ASPECTS)
        ],
        languages=[_language(language, cells, thresholds[0]) for language, cells in sorted(tally.languages.items())],
        largest=tally.largest(),
        faithfulness_pairs=tally.cells[ASPECTS[0]],
    )


def aspect_figures(aspect: str, cells: Cells, missing: Sequence[int], thresholds: Sequence[float]) -> AspectFigures:
    """The figures of one aspect; `missing` has the turns without the first score, without the second, without both."""
    return AspectFigures(
        aspect=aspect,
        n=sum(cells.values()),
        first_mean=_mean({pair: pair[0] for pair in cells}, cells),
        second_mean=_mean({pair: pair[1] for pair in cells}, cells),
        shift=mean_shift(cells),
        mean_absolute_difference=_mean({pair: abs(pair[1] - pair[0]) for pair in cells}, cells),
        spearman=spearman(cells),
        missing_first=missing[0],
        missing_second=missing[1],
        missing_both=missing[2],
        thresholds=[threshold_figures(cells, threshold) for threshold in thresholds],
    )


def mean_shift(cells: Cells, *, seed: int = 0, resamples: int = RESAMPLES) -> Estimate | None:
    """Mean of second minus first with its 95 % interval from a bootstrap over turns; None without turns.

    Turns with equal differences are drawn together, by a multinomial; from 5,000 different differences on the interval
    is the bootstrap's normal limit, mean ± 1.96 standard errors.
    """
    differences: Counter[float] = Counter()
    for (first, second), count in cells.items():
        differences[round(second - first, _DIGITS)] += count
    n = differences.total()
    if not n:
        return None
    # In one order, so that the draws do not depend on which turn came first.
    values = np.array(sorted(differences))
    counts = np.array([differences[value] for value in sorted(differences)])
    mean = float(values @ counts) / n
    if len(values) >= MANY:
        error = _Z * math.sqrt(float((values - mean) ** 2 @ counts)) / n
        return Estimate(value=mean, low=mean - error, high=mean + error)
    generator = np.random.default_rng(seed)
    rows = max(1, _BLOCK // len(values))
    sizes = [min(rows, resamples - start) for start in range(0, resamples, rows)]
    means = np.concatenate([generator.multinomial(n, counts / n, size=size) @ values / n for size in sizes])
    low, high = np.percentile(means, _TAILS)
    return Estimate(value=mean, low=float(low), high=float(high))


def spearman(cells: Cells) -> float | None:
    """Correlation of the ranks of both scores, ties sharing their mean rank (Spearman, 1904).

    None where one of the versions gives every turn the same score.
    """
    ranks = [_ranks(cells, side) for side in (0, 1)]
    n = sum(cells.values())
    middle = (n + 1) / 2
    points = [(ranks[0][pair[0]] - middle, ranks[1][pair[1]] - middle, count) for pair, count in cells.items()]
    spread = math.fsum(x * x * count for x, _, count in points) * math.fsum(y * y * count for _, y, count in points)
    return math.fsum(x * y * count for x, y, count in points) / math.sqrt(spread) if spread else None


def threshold_figures(cells: Cells, threshold: float) -> ThresholdFigures:
    """How many turns pass with one version and not with the other, and agreement beyond chance (Cohen, 1960).

    Agreement is None without turns; kappa too where both versions put every turn on one and the same side.
    """
    sides: Counter[tuple[bool, bool]] = Counter()
    for (first, second), count in cells.items():
        sides[first >= threshold, second >= threshold] += count
    n = sides.total()
    fell, rose = sides[True, False], sides[False, True]
    agreed = n - fell - rose
    passed = sides[True, True] + fell, sides[True, True] + rose
    # Whole numbers, so that kappa is exactly 0 or 1 where it is on paper.
    chance = passed[0] * passed[1] + (n - passed[0]) * (n - passed[1])
    return ThresholdFigures(
        threshold=threshold,
        fell=fell,
        rose=rose,
        agreement=agreed / n if n else None,
        kappa=(agreed * n - chance) / (n * n - chance) if chance < n * n else None,
    )


def _ranks(cells: Cells, side: int) -> dict[float, float]:
    counts: Counter[float] = Counter()
    for pair, count in cells.items():
        counts[pair[side]] += count
    ranks: dict[float, float] = {}
    below = 0
    for value in sorted(counts):
        ranks[value] = below + (counts[value] + 1) / 2
        below += counts[value]
    return ranks


def _mean(values: Mapping[Pair, float], cells: Cells) -> float | None:
    n = sum(cells.values())
    return math.fsum(values[pair] * count for pair, count in cells.items()) / n if n else None


def _language(language: str, cells: Cells, threshold: float) -> LanguageFigures:
    crossed = threshold_figures(cells, threshold)
    return LanguageFigures(
        language=language, n=sum(cells.values()), shift=mean_shift(cells), fell=crossed.fell, rose=crossed.rose
    )


def _version(use: VersionUse, tally: Tally, side: int) -> VersionFigures:
    tokens, milliseconds = tally.tokens[side], tally.milliseconds[side]
    return VersionFigures(
        name=name_of(use.version),
        graded=use.graded,
        ungraded=dict(use.ungraded),
        tokens=tokens / tally.turns if tokens else None,
        seconds=milliseconds / tally.turns / 1000 if milliseconds else None,
    )
