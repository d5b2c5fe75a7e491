"""Scores per query: the usual measures by formula over arrays, all others of the grammar by ir_measures.

Belongs here: which engine computes what, and which queries a measure is defined for. Does not: means, intervals, words.

What is undefined is left out, never 0: a query without a relevant document has no recall, a query without a result has
no judged share. A query with relevant documents and without a result has found nothing, which is 0; trec_eval and
pytrec_eval leave such queries out, which raises every mean.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from kb_pipeline.harness import formulas
from kb_pipeline.harness.failures import NotEvaluable
from kb_pipeline.harness.formulas import Values
from kb_pipeline.harness.judged_ranks import JudgedRanks, Rankings
from kb_pipeline.harness.labelled import Judgments
from kb_pipeline.harness.measures import ENGINES, NamedMeasure

FORMULAS: dict[str, Callable[[JudgedRanks, int | None, int], Values]] = {
    "nDCG": lambda ranks, cutoff, _: formulas.ndcg(ranks, cutoff),
    "R": formulas.recall,
    "RR": formulas.reciprocal_rank,
    "Success": formulas.success,
    "P": lambda ranks, cutoff, level: formulas.precision(ranks, cutoff or 1, level),
    "AP": formulas.average_precision,
    "Judged": lambda ranks, cutoff, _: formulas.judged(ranks, cutoff),
}
"""By ir_measures' name: the value of every row, given the arrays, the cutoff and the least relevant grade."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Scores:
    """The scores of one measure, each in its own range, for the queries it is defined for, in their order."""

    query_ids: Sequence[str]
    values: Values


def score(
    rankings: Rankings,
    judgments: Judgments,
    query_ids: Sequence[str],
    ranks: JudgedRanks,
    measures: Sequence[NamedMeasure],
) -> dict[str, Scores]:
    """Scores by measure name of the judged queries `query_ids`, whose arrays `ranks` are.

    Raises NotEvaluable where a library refuses.
    """
    best = formulas.best_grades(ranks)
    scores: dict[str, Scores] = {}
    for measure in measures:
        values = _values(measure, ranks)
        if values is None:
            values = _other_values(measure, rankings, judgments, query_ids)
        mask = ranks.lengths > 0 if measure.kind == "Judged" else best >= measure.relevance
        # Some measures of ir_measures say NaN where they are not defined.
        mask &= np.isfinite(values)
        asked = query_ids if mask.all() else [query_ids[row] for row in np.flatnonzero(mask).tolist()]
        scores[measure.name] = Scores(query_ids=asked, values=values[mask])
    return scores


def _values(measure: NamedMeasure, ranks: JudgedRanks) -> Values | None:
    """One value per query; None for what has no formula here."""
    formula = FORMULAS.get(measure.kind) if measure.is_plain else None
    return formula(ranks, measure.cutoff, measure.relevance) if formula else None


def _other_values(measure: NamedMeasure, rankings: Rankings, judgments: Judgments, query_ids: Sequence[str]) -> Values:
    """What ir_measures says, fed with scores that only the rank decides: ties, broken by id, cannot arise."""
    run = {
        query: {document: float(-rank) for rank, document in enumerate(rankings[query], start=1)}
        for query in query_ids
        if rankings.get(query)
    }
    grades = {query: dict(judgments[query]) for query in query_ids}
    try:
        found = {each.query_id: float(each.value) for each in ENGINES.iter_calc([measure.measure], grades, run)}
    except (ArithmeticError, LookupError, TypeError, ValueError, RuntimeError, AssertionError):
        raise NotEvaluable(f"{measure.name} cannot be computed from this run; leave it out") from None
    return np.fromiter((found.get(query, 0.0) for query in query_ids), float, len(query_ids))
