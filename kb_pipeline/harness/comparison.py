"""Whether one run is better than another: paired differences, query by query.

Belongs here: the comparison and when it is refused. Does not: the scores.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from kb_pipeline.harness.evaluation import Evaluation
from kb_pipeline.harness.failures import Incomparable, NotEvaluable
from kb_pipeline.harness.intervals import RESAMPLES, Values, interval, randomisation_p
from kb_pipeline.harness.measures import JUDGED

MAX_JUDGED_DIFFERENCE = 0.10


@dataclass(frozen=True, kw_only=True, slots=True)
class Difference:
    """The mean over `n` queries of the second run's score less the first's, with its 95 % interval.

    `p` is the two-sided p-value of a randomisation test: how often a difference this far from 0 arises where the two
    runs are exchanged at random, query by query.
    """

    first: float
    second: float
    difference: float
    low: float
    high: float
    p: float
    n: int


def compare(
    first: Evaluation, second: Evaluation, *, seed: int = 0, resamples: int = RESAMPLES
) -> Mapping[str, Difference]:
    """Differences by measure, over the queries that both runs have a score for; Judged@k is not compared.

    Raises Incomparable where Judged@10 differs by more than 10 points: then the worse judged run scores low for want of
    judgments. Raises NotEvaluable where the two share no measure or no query.
    """
    _refuse_unequal_judging(first, second)
    shared = [name for name in first.scores if name in second.scores and not name.startswith("Judged")]
    found = {name: _difference(first, second, name, seed, resamples) for name in shared}
    differences = {name: difference for name, difference in found.items() if difference is not None}
    if not differences:
        raise NotEvaluable(f"{first.name} and {second.name} share no query with a score; evaluate both on one set")
    return differences


def _refuse_unequal_judging(first: Evaluation, second: Evaluation) -> None:
    """Compares the judged shares of the queries that both runs have results for."""
    one, other = _paired(first, second, _judged_name(first), _judged_name(second))
    if not one.size:
        return
    shares = float(one.mean()), float(other.mean())
    if abs(shares[0] - shares[1]) > MAX_JUDGED_DIFFERENCE:
        raise Incomparable(
            f"{JUDGED} is {shares[0]:.3f} for {first.name} and {shares[1]:.3f} for {second.name}, more than "
            f"{MAX_JUDGED_DIFFERENCE:.2f} apart: what one of them finds is judged less often, and unjudged counts as "
            "not relevant; judge more of its results, then compare"
        )


def _judged_name(evaluation: Evaluation) -> str:
    """Under which name, as it was asked for, Judged@10 stands."""
    return next((name for name in evaluation.scores if name.replace(" ", "") == JUDGED), JUDGED)


def _difference(first: Evaluation, second: Evaluation, name: str, seed: int, resamples: int) -> Difference | None:
    one, other = _paired(first, second, name, name)
    if not one.size:
        return None
    differences = other - one
    [low], [high] = interval(differences[:, None], seed=seed, resamples=resamples)
    return Difference(
        first=float(one.mean()),
        second=float(other.mean()),
        difference=float(differences.mean()),
        low=float(low),
        high=float(high),
        p=randomisation_p(differences, seed=seed),
        n=differences.size,
    )


def _paired(first: Evaluation, second: Evaluation, name: str, other_name: str) -> tuple[Values, Values]:
    one, other = first.per_query(name), second.per_query(other_name)
    shared = [query for query in one if query in other]
    return np.array([one[query] for query in shared]), np.array([other[query] for query in shared])
