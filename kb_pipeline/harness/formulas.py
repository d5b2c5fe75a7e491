"""The usual measures over flat arrays, as trec_eval defines them.

Belongs here: formulas; each gives one value per row. Does not: which rows a measure is defined for.

`level` is the least grade that counts as relevant, `cutoff` the last rank that counts, None for all. Gains are the
grades themselves, discounted by log2(rank + 1) (Järvelin, Kekäläinen 2002), as trec_eval takes them; a grade below 0
gains nothing.
"""

import numpy as np
import numpy.typing as npt

from kb_pipeline.harness.judged_ranks import UNJUDGED, Cells, Integers, JudgedRanks

Values = npt.NDArray[np.float64]


def ndcg(ranks: JudgedRanks, cutoff: int | None) -> Values:
    """Discounted gain of the ranking over that of the best ranking of all judged documents; 0 where that is 0."""
    best = _dcg(ranks.ideal, cutoff, len(ranks.lengths))
    return _share(_dcg(ranks.results, cutoff, len(ranks.lengths)), best)


def recall(ranks: JudgedRanks, cutoff: int | None, level: int) -> Values:
    """Found of all relevant documents."""
    return _share(_hits(ranks, cutoff, level), _relevant(ranks, level))


def precision(ranks: JudgedRanks, cutoff: int, level: int) -> Values:
    """Relevant documents of `cutoff` results, however many there are."""
    return _hits(ranks, cutoff, level) / cutoff


def success(ranks: JudgedRanks, cutoff: int | None, level: int) -> Values:
    """1 where there is a relevant document, else 0."""
    return np.minimum(_hits(ranks, cutoff, level), 1.0)


def reciprocal_rank(ranks: JudgedRanks, cutoff: int | None, level: int) -> Values:
    """1 / rank of the first relevant document; 0 without one."""
    found = _relevant_cells(ranks.results, cutoff, level)
    rows, first = np.unique(ranks.results.rows[found], return_index=True)
    values = np.zeros(len(ranks.lengths))
    values[rows] = 1 / ranks.results.ranks[found][first]
    return values


def average_precision(ranks: JudgedRanks, cutoff: int | None, level: int) -> Values:
    """The precisions at the relevant results, summed, over all relevant documents."""
    found = _relevant_cells(ranks.results, cutoff, level)
    rows = ranks.results.rows[found]
    _, first, of_row = np.unique(rows, return_index=True, return_inverse=True)
    precisions = (np.arange(len(rows)) - first[of_row] + 1) / ranks.results.ranks[found]
    return _share(_sums(rows, precisions, len(ranks.lengths)), _relevant(ranks, level))


def judged(ranks: JudgedRanks, cutoff: int | None) -> Values:
    """Judged of the results there are; 0 without results, for which it is not defined."""
    is_judged = _within(ranks.results, cutoff) & (ranks.results.grades != UNJUDGED)
    shown = ranks.lengths if cutoff is None else np.minimum(ranks.lengths, cutoff)
    return _share(_counts(ranks.results.rows[is_judged], len(ranks.lengths)), shown.astype(np.float64))


def best_grades(ranks: JudgedRanks) -> Integers:
    """The best grade of any judged document of each row."""
    best = np.full(len(ranks.lengths), UNJUDGED)
    first = ranks.ideal.ranks == 1
    best[ranks.ideal.rows[first]] = ranks.ideal.grades[first]
    return best


def _dcg(cells: Cells, cutoff: int | None, rows: int) -> Values:
    gains = _within(cells, cutoff) & (cells.grades > 0)
    return _sums(cells.rows[gains], cells.grades[gains] / np.log2(cells.ranks[gains] + 1), rows)


def _hits(ranks: JudgedRanks, cutoff: int | None, level: int) -> Values:
    return _counts(ranks.results.rows[_relevant_cells(ranks.results, cutoff, level)], len(ranks.lengths))


def _relevant(ranks: JudgedRanks, level: int) -> Values:
    return _counts(ranks.ideal.rows[ranks.ideal.grades >= level], len(ranks.lengths))


def _relevant_cells(cells: Cells, cutoff: int | None, level: int) -> Integers:
    return np.flatnonzero(_within(cells, cutoff) & (cells.grades >= level) & (cells.grades != UNJUDGED))


def _within(cells: Cells, cutoff: int | None) -> npt.NDArray[np.bool_]:
    return cells.ranks <= cutoff if cutoff is not None else np.ones(len(cells.ranks), bool)


def _counts(rows: Integers, length: int) -> Values:
    return np.bincount(rows, minlength=length).astype(np.float64)


def _sums(rows: Integers, weights: Values, length: int) -> Values:
    return np.bincount(rows, weights, minlength=length).astype(np.float64, copy=False)


def _share(part: Values, whole: Values) -> Values:
    """The quotient; 0 where there is nothing to divide by."""
    return np.divide(part, whole, out=np.zeros(len(whole)), where=whole > 0)
