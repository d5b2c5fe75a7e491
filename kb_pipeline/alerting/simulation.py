"""Made-up months of a process that is well, or that drops: how often a rule would cry wolf, how late it would be.

Belongs here: seeded traffic as hours, counting fires. Does not: rules, which are the real ones.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from kb_pipeline.alerting.catalogue import Rule
from kb_pipeline.alerting.replay import play
from kb_pipeline.alerting.rules.limits import Limits
from kb_pipeline.alerting.statistics import Hours
from kb_pipeline.windows import HOUR, Window

BEGIN = datetime(2000, 1, 3, tzinfo=UTC)
MONTH_H = 30 * 24
# The longest window and what it is held against are full before the first evaluation.
WARM_UP_H = 42 * 24
MOST_CLAIMS = 5
# A Beta distribution is as narrow as this many claims would make it.
SMOOTH = 12.0

Columns = Mapping[str, Sequence[float]]
Scores = Callable[[np.random.Generator, int, float], NDArray[np.float64]]
Traffic = Callable[[np.random.Generator, int], Columns]


def claim_scores(rng: np.random.Generator, turns: int, truth: float) -> NDArray[np.float64]:
    """Scores as a judge gives them: of one to five claims a turn, the share that is supported."""
    claims = rng.integers(1, MOST_CLAIMS + 1, turns)
    return np.asarray(rng.binomial(claims, truth) / claims, dtype=np.float64)


def smooth_scores(rng: np.random.Generator, turns: int, truth: float) -> NDArray[np.float64]:
    """Scores of any value between 0 and 1, with the same mean and less spread."""
    return rng.beta(SMOOTH * truth, SMOOTH * (1 - truth), turns)


def graded_hours(
    rng: np.random.Generator, truths: NDArray[np.float64], *, per_day: float, floor: float, scores: Scores
) -> Columns:
    """Graded hours, one for each of `truths`, the share of claims that is true in that hour; turns come at random."""
    turns = rng.poisson(per_day / 24, len(truths))
    hour_of_turn = np.repeat(np.arange(len(truths)), turns)
    drawn = np.concatenate(
        [scores(rng, int(turns[truths == truth].sum()), float(truth)) for truth in np.unique(truths)]
    )
    placed = np.empty(len(hour_of_turn))
    order = np.concatenate([np.flatnonzero(truths[hour_of_turn] == truth) for truth in np.unique(truths)])
    placed[order] = drawn
    low = np.bincount(hour_of_turn, weights=placed < floor, minlength=len(truths))
    sums = np.bincount(hour_of_turn, weights=placed, minlength=len(truths))
    counts = turns.tolist()
    return {
        **dict.fromkeys(("turns", "graded", "judgeable", "scored"), counts),
        "score_sum": sums.tolist(),
        "below_floor": low.tolist(),
    }


def healthy_scores(*, per_day: float, truth: float, floor: float, scores: Scores = claim_scores) -> Traffic:
    """Graded hours in which the same share of claims is true all the time."""
    return lambda rng, hours: graded_hours(rng, np.full(hours, truth), per_day=per_day, floor=floor, scores=scores)


def steady_share(*, per_day: float, share: float, part: str, whole: str) -> Traffic:
    """Hours in which each case is of the part with the same probability."""

    def hours_of(rng: np.random.Generator, hours: int) -> Columns:
        cases = rng.poisson(per_day / 24, hours)
        return {whole: cases.tolist(), part: rng.binomial(cases, share).tolist()}

    return hours_of


@dataclass(frozen=True, kw_only=True, slots=True)
class FalseAlarms:
    """Over made-up months in which nothing was wrong: how many had an alarm, and how many alarms there were."""

    months: int
    months_with_alarm: int
    alarms: int

    @property
    def per_month(self) -> float:
        """Alarms a month."""
        return self.alarms / self.months


def false_alarms(rule: Rule, traffic: Traffic, limits: Limits, *, months: int, seed: int) -> FalseAlarms:
    """Play the rule over months that are well; the same seed gives the same months."""
    rng = np.random.default_rng(seed)
    fires = [_fires(rule, traffic(rng, WARM_UP_H + MONTH_H), limits) for _ in range(months)]
    return FalseAlarms(months=months, months_with_alarm=sum(map(bool, fires)), alarms=sum(fires))


def delays(
    rule: Rule, traffic: Callable[[np.random.Generator, int, int], Columns], limits: Limits, *, times: int, seed: int
) -> list[float]:
    """Hours from a drop to its alarm, a time each; infinite where a month passes without one.

    `traffic` makes hours that are well up to the second number and not from there on.
    """
    rng = np.random.default_rng(seed)
    return [_delay(rule, traffic(rng, WARM_UP_H + MONTH_H, WARM_UP_H), limits) for _ in range(times)]


def _fires(rule: Rule, columns: Columns, limits: Limits) -> int:
    statuses = [False, *_active(rule, columns, limits)]
    return sum(now and not before for before, now in pairwise(statuses))


def _delay(rule: Rule, columns: Columns, limits: Limits) -> float:
    return next((float(hour) for hour, fires in enumerate(_active(rule, columns, limits), 1) if fires), float("inf"))


def _active(rule: Rule, columns: Columns, limits: Limits) -> Iterator[bool]:
    start = BEGIN + HOUR * WARM_UP_H
    window = Window(start, start + timedelta(hours=MONTH_H))
    for _, memory, _ in play(rule, Hours(BEGIN, columns), window, limits):
        yield memory.status.is_active
