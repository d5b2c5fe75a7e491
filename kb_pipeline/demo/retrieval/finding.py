"""What a desk's retrieval finds: an engine's ranking, less what it does not know, put in order by the re-ranker.

Belongs here: availability, the faults of retrieval, pools and results. Does not: scores (kb_pipeline/demo/search.py).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime

from kb_pipeline.demo.retrieval.world import Desk, Document
from kb_pipeline.records import Candidate, RetrievedDocument

TOP_K = 5
POOL = 50
# Results below it are not shown.
LEAST_SCORE: Mapping[str, float] = {"fulltext": 0.3, "trigram": 0.4}
# What the re-ranker leaves of the score of a document that it puts down.
DEMOTION = 0.3

Ranked = tuple[tuple[str, float], ...]
# Documents with a score above 0, best first, for a desk, an engine and what is searched for.
Ranker = Callable[[Desk, str, str], Ranked]


@dataclass(frozen=True, kw_only=True, slots=True)
class Found:
    """Results as they are shown, best first, and the candidates that the engine gave to the re-ranker."""

    hits: tuple[RetrievedDocument, ...] = ()
    pool: tuple[Candidate, ...] = ()

    @property
    def shown(self) -> frozenset[str]:
        """The documents among the results."""
        return frozenset(hit.doc_id for hit in self.hits)

    @property
    def considered(self) -> frozenset[str]:
        """The documents among the candidates."""
        return frozenset(candidate.doc_id for candidate in self.pool)


class Shelves:
    """Which documents of a desk there are at a time: the late one from its publication on."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk
        self.published_at: datetime | None = None

    def has(self, doc_id: str, at: datetime) -> bool:
        """Whether the knowledge base holds the document."""
        if doc_id == self.desk.faults.late:
            return self.published_at is not None and self.published_at <= at
        return doc_id in self.desk.documents and doc_id not in self.desk.faults.withheld

    def finds(self, doc_id: str, at: datetime) -> bool:
        """Whether the engines know the document."""
        return self.has(doc_id, at) and doc_id not in self.desk.faults.unindexed


def find(ranker: Ranker, shelves: Shelves, engine: str, searched: str, at: datetime, *, reranks: bool = True) -> Found:
    """Pool and results of one search; without the re-ranker the results stand as the engine ranked them."""
    desk = shelves.desk
    ranked = [(doc_id, score) for doc_id, score in ranker(desk, engine, searched) if shelves.finds(doc_id, at)][:POOL]
    before = {doc_id: (rank, score) for rank, (doc_id, score) in enumerate(ranked, 1)}
    demoted = desk.faults.demoted if reranks else frozenset()
    after = {doc_id: score * DEMOTION if doc_id in demoted else score for doc_id, (_, score) in before.items()}
    order = sorted(after, key=lambda doc_id: -after[doc_id])
    shown = [doc_id for doc_id in order if round(after[doc_id], 2) >= _least(engine)][:TOP_K]
    return Found(
        hits=tuple(
            RetrievedDocument(
                doc_id=doc_id,
                chunk_id=desk.documents[doc_id].chunk_id,
                rank=rank,
                score=round(after[doc_id], 4),
                bm25_score=round(before[doc_id][1], 4) if engine == "fulltext" else None,
                pre_rerank_rank=before[doc_id][0],
                rerank_score=round(after[doc_id], 4) if reranks else None,
            )
            for rank, doc_id in enumerate(shown, 1)
        ),
        pool=tuple(_candidate(desk.documents[doc_id], rank) for doc_id, (rank, _) in before.items()),
    )


def _candidate(document: Document, rank: int) -> Candidate:
    return Candidate(doc_id=document.doc_id, chunk_id=document.chunk_id, pre_rank=rank)


def _least(engine: str) -> float:
    return LEAST_SCORE.get(engine, 0.0)
