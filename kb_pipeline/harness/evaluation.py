"""How well a run ranks what experts judged: scores per query, means, intervals, and what they rest on.

Belongs here: fitting run and judgments together, counting what does not fit. Does not: one measure's formula.
"""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from kb_pipeline.harness.failures import NotEvaluable
from kb_pipeline.harness.formulas import best_grades
from kb_pipeline.harness.intervals import RESAMPLES, Estimate, estimates
from kb_pipeline.harness.judged_ranks import UNJUDGED, JudgedRanks, Rankings
from kb_pipeline.harness.labelled import Judgments
from kb_pipeline.harness.measures import DEFAULT_MEASURES, NamedMeasure, parse_measures
from kb_pipeline.harness.runs import Run
from kb_pipeline.harness.scoring import Scores, score
from kb_pipeline.harness.sources import QuerySource

Excluded = Mapping[str, Collection[str]]


@dataclass(frozen=True, kw_only=True, slots=True)
class Evaluation:
    """One run against one set of judgments.

    `measures` has the estimates by the names they were asked under, `scores` the scores per query behind them.
    `counts`: judged queries; those without_relevant documents, which only Judged@k counts; those without_results,
    which count as 0; those not_asked, which an incomplete run leaves out; queries of the run that are ignored for want
    of judgments; results, of them judged; duplicates and excluded documents that were taken out of the rankings.
    """

    name: str
    measures: Mapping[str, Estimate]
    scores: Mapping[str, Scores]
    counts: Mapping[str, int]

    def per_query(self, measure: str) -> dict[str, float]:
        """Scores by query id, of the queries the measure is defined for."""
        scores = self.scores[measure]
        return dict(zip(scores.query_ids, scores.values.tolist(), strict=True))


def evaluate(
    run: Run | Rankings,
    judgments: Judgments | QuerySource,
    measures: str | Sequence[str] = DEFAULT_MEASURES,
    *,
    document_of: Mapping[str, str] | None = None,
    excluded: Excluded | None = None,
    seed: int = 0,
    resamples: int = RESAMPLES,
) -> Evaluation:
    """Scores of the run for every judged query, with 95 % bootstrap intervals over the queries.

    A run is a Run, or rankings by query id (document ids best first), in which every judged query was asked.
    `document_of` maps what the run ranks, such as chunks, to documents; the best rank of a document counts, before any
    cut. `excluded` documents are taken out of a query's ranking first; a QuerySource brings its own. The same seed
    gives the same intervals. Raises NotEvaluable where there are no judgments, the run has not one of their queries, or
    a measure cannot be had.
    """
    wanted = parse_measures(measures)
    if not isinstance(judgments, Mapping):
        excluded = judgments.excluded() if excluded is None else excluded
        judgments = judgments.judgments()
    given = run if isinstance(run, Run) else Run(name="run", rankings=run)
    counts: dict[str, int] = {}
    asked = _asked(given, judgments, counts)
    rankings = _rankings(given, asked, document_of or {}, excluded or {}, counts)
    ranks = JudgedRanks.of(rankings, judgments, asked)
    scores = score(rankings, judgments, asked, ranks, wanted)
    counts |= _sizes(ranks)
    return Evaluation(
        name=given.name, measures=_estimates(scores, wanted, seed, resamples), scores=scores, counts=counts
    )


def _asked(run: Run, judgments: Judgments, counts: dict[str, int]) -> list[str]:
    """The judged queries that the run was asked."""
    judged = [query for query, grades in judgments.items() if grades]
    if not judged:
        raise NotEvaluable("there are no judgments to evaluate against; harvest some, or name a file that has some")
    answered = sum(query in run.rankings for query in judged)
    if not answered and not run.is_complete:
        raise NotEvaluable(f"{run.name} was asked no judged query, of {len(judged):,}; choose another time or run")
    if not answered:
        raise NotEvaluable(
            f"no query of {run.name}, of {len(run.rankings):,}, is among the {len(judged):,} judged; query ids must be "
            "those of the judgments, which an export writes and the database calls query_sha"
        )
    asked = judged if run.is_complete else [query for query in judged if query in run.rankings]
    counts |= {
        "judged_queries": len(judged),
        "not_asked": len(judged) - len(asked),
        "ignored_queries": len(run.rankings) - answered,
    }
    return asked


def _rankings(
    run: Run, asked: Sequence[str], document_of: Mapping[str, str], excluded: Excluded, counts: dict[str, int]
) -> Rankings:
    """The rankings as documents, each once at its best rank, without the excluded ones."""
    rankings: dict[str, Sequence[str]] = {}
    duplicates = removed = 0
    for query in asked:
        found = run.rankings.get(query)
        if not found:
            continue
        if not document_of and query not in excluded and len(set(found)) == len(found):
            rankings[query] = found
            continue
        documents = dict.fromkeys(document_of.get(each, each) for each in found)
        duplicates += len(found) - len(documents)
        kept = [document for document in documents if document not in excluded.get(query, ())]
        removed += len(documents) - len(kept)
        rankings[query] = kept
    counts |= {"duplicates": duplicates, "excluded_results": removed}
    return rankings


def _sizes(ranks: JudgedRanks) -> dict[str, int]:
    return {
        "without_relevant": int(np.count_nonzero(best_grades(ranks) < 1)),
        "without_results": int(np.count_nonzero(ranks.lengths == 0)),
        "results": len(ranks.results.grades),
        "judged_results": int(np.count_nonzero(ranks.results.grades != UNJUDGED)),
    }


def _estimates(
    scores: Mapping[str, Scores], measures: Sequence[NamedMeasure], seed: int, resamples: int
) -> dict[str, Estimate]:
    """Estimates by measure; measures of the same queries share their draws."""
    together: defaultdict[int, list[str]] = defaultdict(list)
    for measure in measures:
        together[id(scores[measure.name].query_ids)].append(measure.name)
    found: dict[str, Estimate] = {}
    for names in together.values():
        columns = np.column_stack([scores[name].values for name in names])
        found |= dict(zip(names, estimates(columns, seed=seed, resamples=resamples), strict=True))
    return {measure.name: found[measure.name] for measure in measures}
