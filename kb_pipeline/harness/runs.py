"""A run: for each query the documents that one system ranked, best first; and how TREC writes it down.

Belongs here: the run, reading a file of it. Does not: judgments, scores, recorded retrievals.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from pathlib import Path
from typing import Self

from kb_pipeline.harness.failures import NotEvaluable, UnreadableFile
from kb_pipeline.harness.lines import columns_of, lines_of, refused, shown

TREC_COLUMNS = 6
LONGEST_RANK = 9
ODDITIES = ("duplicates", "queries_ranked_by_score", "queries_whose_scores_contradict_ranks")
_ACCEPTED = "a line has six columns parted by blanks or tabs: query id, Q0, document id, rank, score, run name"
_Hit = tuple[str, int | None, float, int]
"""A line: document, rank, score (NaN for none), the line's number."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Run:
    """What one system ranked.

    `rankings` has by query id the document ids, best first, each once. `is_complete` says what a query without a
    ranking means: the system was asked and found nothing, which counts as 0; or, where it is false, nobody asked it.
    `counts` are the oddities of its reading.
    """

    name: str
    rankings: Mapping[str, Sequence[str]]
    is_complete: bool = True
    counts: Mapping[str, int] = field(default_factory=dict)

    @classmethod
    def of_scores(cls, name: str, scores: Mapping[str, Mapping[str, float]]) -> Self:
        """A run of scores by query id and document id, the highest first, ties in the order given.

        Raises NotEvaluable where a score is NaN, which has no place in any order.
        """
        for query in scores.values():
            if any(math.isnan(score) for score in query.values()):
                raise NotEvaluable(f"{name} has a score that is NaN; give every document a number")
        return cls(
            name=name,
            rankings={query: sorted(found, key=found.__getitem__, reverse=True) for query, found in scores.items()},
        )


def read_run(path: Path, *, name: str | None = None) -> Run:
    """The run of a TREC file, plain or gzip; raises UnreadableFile with the line.

    The rank as stored decides, from 0 or from 1. Where a query's ranks are missing or not all different, its scores do.
    Of a document ranked more than once the best rank stays. `name` is the last column's unless given.
    """
    hits: dict[str, list[_Hit]] = {}
    tag = ""
    for number, line in lines_of(path):
        columns = columns_of(line)
        if len(columns) != TREC_COLUMNS:
            raise refused(path, number, f"{len(columns)} columns; {_ACCEPTED}")
        query, _, document, rank, score, tag = columns
        hits.setdefault(query, []).append((document, _rank(rank), _score(score), number))
    if not hits:
        raise UnreadableFile(f"{shown(path)} holds no result; {_ACCEPTED}")
    counts = Counter(dict.fromkeys(ODDITIES, 0))
    counts["lines"] = sum(map(len, hits.values()))
    rankings = {query: _ranked(path, found, counts) for query, found in hits.items()}
    return Run(name=name or tag, rankings=rankings, counts=counts)


def _rank(text: str) -> int | None:
    return int(text) if text.isdecimal() and text.isascii() and len(text) <= LONGEST_RANK else None


def _score(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan


def _ranked(path: Path, hits: list[_Hit], counts: Counter[str]) -> list[str]:
    if len({rank for _, rank, _, _ in hits if rank is not None}) == len(hits):
        hits.sort(key=itemgetter(1))
        counts["queries_whose_scores_contradict_ranks"] += _contradicts([hit[2] for hit in hits])
    else:
        _refuse_without_order(path, hits)
        hits.sort(key=itemgetter(2), reverse=True)
        counts["queries_ranked_by_score"] += 1
    ranked = list(dict.fromkeys([hit[0] for hit in hits]))
    counts["duplicates"] += len(hits) - len(ranked)
    return ranked


def _refuse_without_order(path: Path, hits: list[_Hit]) -> None:
    for _, _, score, number in hits:
        if math.isnan(score):
            what = "the ranks of this query are missing or repeated, and this line has no score to rank by"
            raise refused(path, number, f"{what}; number the query's results from 1 in the rank column")


def _contradicts(scores: list[float]) -> bool:
    known = [score for score in scores if score == score]  # noqa: PLR0124 NaN is what differs from itself
    return sorted(known, reverse=True) != known
