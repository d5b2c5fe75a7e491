"""A run: for each query the documents that one system ranked, best first; and how TREC writes it down.

Belongs here: the run, reading a file of it. Does not: judgments, scores, recorded retrievals.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, Self

from kb_pipeline.counting import counted
from kb_pipeline.harness.failures import NotEvaluable, UnreadableFile
from kb_pipeline.harness.lines import columns_of, lines_of, refused, shown

TREC_COLUMNS = 6
LONGEST_RANK = 9
ODDITIES = ("lines", "duplicates", "queries_ranked_by_score", "queries_whose_scores_contradict_ranks")
_ACCEPTED = "a line has six columns parted by blanks or tabs: query id, Q0, document id, rank, score, run name"


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
    # One flat list a query: a tuple a line would keep the garbage collector busy for most of the time.
    hits: defaultdict[str, list[Any]] = defaultdict(list)
    tag = ""
    for number, line in lines_of(path):
        columns = columns_of(line)
        if len(columns) != TREC_COLUMNS:
            raise refused(path, number, f"{counted(len(columns), 'column')}; {_ACCEPTED}")
        query, _, document, rank, score, tag = columns
        hits[query] += document, _rank(rank), _score(score), number
    if not hits:
        raise UnreadableFile(f"{shown(path)} holds no result; {_ACCEPTED}")
    counts = Counter(dict.fromkeys(ODDITIES, 0))
    rankings = {query: _ranked(path, _Hits.of(flat), counts) for query, flat in hits.items()}
    return Run(name=name or tag, rankings=rankings, counts=counts)


@dataclass(frozen=True, slots=True)
class _Hits:
    """The lines of one query: documents, ranks (None for none), scores (NaN for none), the lines' numbers."""

    documents: list[str]
    ranks: list[int | None]
    scores: list[float]
    lines: list[int]

    @classmethod
    def of(cls, flat: list[Any]) -> "_Hits":
        return cls(flat[::4], flat[1::4], flat[2::4], flat[3::4])


@lru_cache(maxsize=10_000)
def _rank(text: str) -> int | None:
    return int(text) if text.isdecimal() and text.isascii() and len(text) <= LONGEST_RANK else None


def _score(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan


def _ranked(path: Path, hits: _Hits, counts: Counter[str]) -> list[str]:
    if len(set(hits.ranks) - {None}) == len(hits.ranks):
        order = _in_order(hits.ranks)
        counts["queries_whose_scores_contradict_ranks"] += _contradicts([hits.scores[place] for place in order])
    else:
        _refuse_without_order(path, hits)
        order = sorted(range(len(hits.scores)), key=hits.scores.__getitem__, reverse=True)
        counts["queries_ranked_by_score"] += 1
    ranked = list(dict.fromkeys([hits.documents[place] for place in order]))
    counts["lines"] += len(order)
    counts["duplicates"] += len(order) - len(ranked)
    return ranked


def _in_order(ranks: list[Any]) -> Sequence[int]:
    places = range(len(ranks))
    return places if ranks == sorted(ranks) else sorted(places, key=ranks.__getitem__)


def _refuse_without_order(path: Path, hits: _Hits) -> None:
    for score, number in zip(hits.scores, hits.lines, strict=True):
        if math.isnan(score):
            what = "the ranks of this query are missing or repeated, and this line has no score to rank by"
            raise refused(path, number, f"{what}; number the query's results from 1 in the rank column")


def _contradicts(scores: list[float]) -> bool:
    known = [score for score in scores if not math.isnan(score)] if any(map(math.isnan, scores)) else scores
    return sorted(known, reverse=True) != known
