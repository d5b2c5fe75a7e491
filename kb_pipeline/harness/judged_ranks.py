"""Runs and judgments as flat arrays: one cell per result and one per judgment, rows being queries.

Belongs here: the arrays. Does not: measures.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kb_pipeline.harness.labelled import Judgments

Rankings = Mapping[str, Sequence[str]]
Integers = npt.NDArray[np.int64]
UNJUDGED = -(2**40)
"""Stands for the grade of a result without a judgment; below every grade."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Cells:
    """Cells of all queries one after another: the row (query), the rank within the row from 1, the grade."""

    rows: Integers
    ranks: Integers
    grades: Integers


@dataclass(frozen=True, kw_only=True, slots=True)
class JudgedRanks:
    """`results` in the order ranked, unjudged ones too; `ideal`: every judgment, the best grades first.

    `lengths` has the number of results per row.
    """

    results: Cells
    ideal: Cells
    lengths: Integers

    @classmethod
    def of(cls, rankings: Rankings, judgments: Judgments, query_ids: Sequence[str]) -> "JudgedRanks":
        """The arrays of these queries, in their order; a query without a ranking has no result."""
        grades: list[int] = []
        judged: list[int] = []
        lengths = np.zeros(len(query_ids), np.int64)
        counts = np.zeros(len(query_ids), np.int64)
        for row, query in enumerate(query_ids):
            known, found = judgments[query], rankings.get(query, ())
            grades += [known.get(document, UNJUDGED) for document in found]
            judged += known.values()
            lengths[row], counts[row] = len(found), len(known)
        return cls(results=_cells(grades, lengths), ideal=_best_first(_cells(judged, counts)), lengths=lengths)


def _cells(grades: list[int], lengths: Integers) -> Cells:
    rows = np.repeat(np.arange(len(lengths)), lengths)
    starts = np.cumsum(lengths) - lengths
    return Cells(rows=rows, ranks=np.arange(len(rows)) - starts[rows] + 1, grades=np.array(grades, np.int64))


def _best_first(cells: Cells) -> Cells:
    return Cells(rows=cells.rows, ranks=cells.ranks, grades=cells.grades[np.lexsort((-cells.grades, cells.rows))])
