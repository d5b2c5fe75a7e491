"""How sure a mean over queries is: percentile bootstrap, and a randomisation test for paired differences.

Belongs here: resampling, and its limit for many queries. Does not: measures.

Bootstrap after Efron 1979, its use on queries after Sakai 2006; the paired randomisation test after Smucker, Allan,
Carterette 2007. From 20,000 queries on both are computed instead of drawn: the bootstrap's percentiles by their
expansion with the sample's skewness (Cornish, Fisher 1938; Hall 1992), whose error is far below the noise of 1,000
draws, and the randomisation test by its normal limit.
"""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

RESAMPLES = 1_000
PERMUTATIONS = 10_000
MANY = 20_000
LEVEL = 0.95
# The quantile of the standard normal distribution that leaves (1 - LEVEL) / 2 above it.
_Z = 1.959963984540054
# So many drawn numbers are held at once: 2 MB.
_BLOCK = 1 << 18
_STREAM_OF_PERMUTATIONS = 1

Values = npt.NDArray[np.float64]


@dataclass(frozen=True, kw_only=True, slots=True)
class Estimate:
    """The mean of `n` queries' scores with its 95 % interval, all in the measure's range; None where n is 0."""

    mean: float | None
    low: float | None
    high: float | None
    n: int


def estimates(columns: Values, *, seed: int, resamples: int = RESAMPLES) -> list[Estimate]:
    """One estimate per column of an array of shape (queries, measures); all columns share the same draws."""
    n, width = columns.shape
    if not n:
        return [Estimate(mean=None, low=None, high=None, n=0)] * width
    means = columns.mean(axis=0)
    low, high = interval(columns, seed=seed, resamples=resamples)
    return [
        Estimate(mean=float(mean), low=float(least), high=float(most), n=n)
        for mean, least, most in zip(means, low, high, strict=True)
    ]


def interval(columns: Values, *, seed: int, resamples: int = RESAMPLES) -> tuple[Values, Values]:
    """Lower and upper ends of the 95 % intervals of the columns' means; at least one row."""
    if len(columns) >= MANY:
        return expanded(columns)
    tail = 100 * (1 - LEVEL) / 2
    low, high = np.percentile(drawn_means(columns, seed=seed, resamples=resamples), [tail, 100 - tail], axis=0)
    return low, high


def drawn_means(columns: Values, *, seed: int, resamples: int) -> Values:
    """Means of `resamples` draws of as many rows with replacement; shape (resamples, measures)."""
    n, width = columns.shape
    generator = np.random.default_rng(seed)
    rows = max(1, _BLOCK // n)
    means = np.empty((resamples, width))
    for start in range(0, resamples, rows):
        height = min(rows, resamples - start)
        drawn = generator.integers(0, n, (height, n)) + np.arange(height)[:, None] * n
        times = np.bincount(drawn.ravel(), minlength=height * n).reshape(height, n)
        means[start : start + height] = times @ columns / n
    return means


def expanded(columns: Values) -> tuple[Values, Values]:
    """The ends that ever more draws approach: mean + σ/√n · (±z + γ/(6√n) · (z² − 1)), γ the skewness."""
    n = len(columns)
    means = columns.mean(axis=0)
    centred = columns - means
    deviation = np.sqrt((centred**2).mean(axis=0))
    cubes = (centred**3).mean(axis=0)
    skewness = np.divide(cubes, deviation**3, out=np.zeros_like(cubes), where=deviation > 0)
    shift = skewness / (6 * math.sqrt(n)) * (_Z**2 - 1)
    error = deviation / math.sqrt(n)
    low, high = means + error * (shift - _Z), means + error * (shift + _Z)
    return np.maximum(low, columns.min(axis=0)), np.minimum(high, columns.max(axis=0))


def randomisation_p(differences: Values, *, seed: int, permutations: int = PERMUTATIONS) -> float:
    """The two-sided p-value of a mean of paired differences under exchange of the two systems, query by query.

    (1 + permutations at least as far from 0) / (1 + permutations); 1.0 where no query differs.
    """
    differing = differences[differences != 0]
    if not differing.size:
        return 1.0
    observed = abs(float(differing.sum()))
    if differing.size >= MANY:
        return math.erfc(observed / math.sqrt(2 * float(differing @ differing)))
    generator = np.random.default_rng((seed, _STREAM_OF_PERMUTATIONS))
    rows = max(1, _BLOCK // differing.size)
    further = 0
    # Sums that are equal on paper differ in the last digits.
    bound = observed - 1e-12 * float(abs(differing).sum())
    for start in range(0, permutations, rows):
        signs = generator.choice((-1.0, 1.0), (min(rows, permutations - start), differing.size))
        further += int(np.count_nonzero(abs(signs @ differing) >= bound))
    return (1 + further) / (1 + permutations)
