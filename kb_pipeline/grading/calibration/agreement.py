"""Agreement of scores with labels, each figure with a bootstrap interval and its n.

Belongs here: the formulas. Does not: where scores and labels come from.
"""

import random
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from math import sqrt

RESAMPLES = 1000
_TAIL = 0.025


@dataclass(frozen=True, kw_only=True, slots=True)
class Observation:
    """One score in [0, 1] beside one label; observations of a `group` are not independent."""

    score: float
    is_faithful: bool
    group: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Estimate:
    """A figure with its 95 % interval from a bootstrap over groups."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, kw_only=True, slots=True)
class Agreement:
    """How a judge agrees with the labels of one source, language and kind of label.

    `n` triads were graded, `faithful` of them labelled faithful. `ungraded` had no score and count nowhere else.
    Figures are None where they are not defined: an AUC needs both labels, a precision a score at or above the
    threshold.
    """

    source: str
    language: str
    label_kind: str
    n: int
    faithful: int
    ungraded: int
    auc: Estimate | None
    balanced_accuracy: Estimate | None
    precision: Estimate | None
    recall: Estimate | None
    kappa: Estimate | None
    spearman: Estimate | None


Weighted = Sequence[tuple[Observation, int]]
Statistic = Callable[[Weighted], float | None]


def agreement(
    observations: Sequence[Observation],
    *,
    source: str,
    language: str,
    label_kind: str,
    threshold: float,
    ungraded: int = 0,
    seed: int = 0,
    resamples: int = RESAMPLES,
) -> Agreement:
    """The row of one source; a score at or above `threshold` says faithful. The same seed gives the same intervals."""
    ordered = in_order(observations)
    statistics: list[Statistic] = [
        auc,
        lambda weighted: balanced_accuracy(weighted, threshold=threshold),
        lambda weighted: precision(weighted, threshold=threshold),
        lambda weighted: recall(weighted, threshold=threshold),
        lambda weighted: kappa(weighted, threshold=threshold),
        spearman,
    ]
    figures = estimates(ordered, statistics, seed=seed, resamples=resamples)
    return Agreement(
        source=source,
        language=language,
        label_kind=label_kind,
        n=len(ordered),
        faithful=sum(observation.is_faithful for observation in ordered),
        ungraded=ungraded,
        auc=figures[0],
        balanced_accuracy=figures[1],
        precision=figures[2],
        recall=figures[3],
        kappa=figures[4],
        spearman=figures[5],
    )


def in_order(observations: Iterable[Observation]) -> list[Observation]:
    """By rising score, in a whole order, so that intervals do not depend on which reply came first."""
    return sorted(observations, key=lambda each: (each.score, each.is_faithful, each.group))


def auc(ordered: Weighted) -> float | None:
    """The chance that a faithful one scores above an unfaithful one, ties counting one half (Mann-Whitney).

    `ordered` by rising score. None without both labels.
    """
    below = pairs = faithful = 0.0
    for _, tied in groupby(ordered, key=lambda item: item[0].score):
        weights = [0, 0]
        for observation, weight in tied:
            weights[observation.is_faithful] += weight
        pairs += weights[True] * (below + weights[False] / 2)
        below += weights[False]
        faithful += weights[True]
    return pairs / (faithful * below) if faithful and below else None


def recall(weighted: Weighted, *, threshold: float) -> float | None:
    """Of the faithful ones, the share that scores at or above `threshold`; None without any."""
    return _share(
        (observation.score >= threshold, weight) for observation, weight in weighted if observation.is_faithful
    )


def precision(weighted: Weighted, *, threshold: float) -> float | None:
    """Of those that score at or above `threshold`, the share that is faithful; None without any."""
    return _share(
        (observation.is_faithful, weight) for observation, weight in weighted if observation.score >= threshold
    )


def balanced_accuracy(weighted: Weighted, *, threshold: float) -> float | None:
    """The mean share of faithful and of unfaithful ones on their side of `threshold`; None without both labels."""
    found = recall(weighted, threshold=threshold)
    rejected = _share(
        (observation.score < threshold, weight) for observation, weight in weighted if not observation.is_faithful
    )
    return None if found is None or rejected is None else (found + rejected) / 2


def kappa(weighted: Weighted, *, threshold: float) -> float | None:
    """Agreement at `threshold` beyond what chance gives; None without both labels.

    (p_o - p_e) / (1 - p_e): Cohen (1960), A coefficient of agreement for nominal scales.
    """
    total = agreed = said = faithful = 0
    for observation, weight in weighted:
        says = observation.score >= threshold
        total += weight
        agreed += weight * (says == observation.is_faithful)
        said += weight * says
        faithful += weight * observation.is_faithful
    if not 0 < faithful < total:
        return None
    chance = (said * faithful + (total - said) * (total - faithful)) / total**2
    return (agreed / total - chance) / (1 - chance)


def spearman(ordered: Weighted) -> float | None:
    """Correlation of the ranks of score and label, ties sharing their mean rank (Spearman, 1904).

    `ordered` by rising score. None without both labels, or where all scores are the same.
    """
    ranked: list[tuple[float, int, int]] = []
    below = faithful = 0
    for _, tied in groupby(ordered, key=lambda item: item[0].score):
        weights = [0, 0]
        for observation, weight in tied:
            weights[observation.is_faithful] += weight
        both = sum(weights)
        ranked.append((below + both / 2, both, weights[True]))
        below += both
        faithful += weights[True]
    if not 0 < faithful < below:
        return None
    middle, share = below / 2, faithful / below
    together = sum((rank - middle) * (good - share * both) for rank, both, good in ranked)
    spread = sum((rank - middle) ** 2 * both for rank, both, _ in ranked)
    return together / sqrt(spread * below * share * (1 - share)) if spread else None


def _share(items: Iterable[tuple[bool, int]]) -> float | None:
    total = true = 0
    for holds, weight in items:
        total += weight
        true += weight * holds
    return true / total if total else None


def estimates(
    ordered: Sequence[Observation], statistics: Sequence[Statistic], *, seed: int, resamples: int
) -> list[Estimate | None]:
    """Each statistic with the 2.5 and 97.5 % quantiles of its bootstrap; whole groups are drawn."""
    values = [statistic([(observation, 1) for observation in ordered]) for statistic in statistics]
    drawn: list[list[float]] = [[] for _ in statistics]
    for weighted in _resamples(ordered, seed=seed, count=resamples):
        for figures, statistic in zip(drawn, statistics, strict=True):
            figure = statistic(weighted)
            if figure is not None:
                figures.append(figure)
    return [_estimate(value, figures) for value, figures in zip(values, drawn, strict=True)]


def _estimate(value: float | None, drawn: list[float]) -> Estimate | None:
    if value is None:
        return None
    drawn = sorted(drawn) or [value]
    last = len(drawn) - 1
    return Estimate(value=value, low=drawn[round(_TAIL * last)], high=drawn[round((1 - _TAIL) * last)])


def _resamples(ordered: Sequence[Observation], *, seed: int, count: int) -> Iterable[Weighted]:
    """Draws of whole groups; what has the same score and label is one item, since no statistic tells it apart."""
    cells: dict[tuple[float, bool], int] = {}
    firsts: list[Observation] = []
    members: dict[str, list[int]] = defaultdict(list)
    for observation in ordered:
        key = observation.score, observation.is_faithful
        if key not in cells:
            cells[key] = len(firsts)
            firsts.append(observation)
        members[observation.group].append(cells[key])
    groups = list(members.values())
    generator = random.Random(seed)  # noqa: S311 a bootstrap needs no secrets
    for _ in range(count if groups else 0):
        weights = [0] * len(firsts)
        for group in generator.choices(groups, k=len(groups)):
            for cell in group:
                weights[cell] += 1
        yield [(first, weight) for first, weight in zip(firsts, weights, strict=True) if weight]
