"""Desks, a ranker without a database and one simulation, for the tests of this room."""

from datetime import UTC, datetime
from functools import cache

from kb_pipeline.demo import knowledge
from kb_pipeline.demo.retrieval.conversations import Plan, Simulation, simulate
from kb_pipeline.demo.retrieval.finding import Ranked
from kb_pipeline.demo.retrieval.library import desks
from kb_pipeline.demo.retrieval.world import Desk
from kb_pipeline.support.language import words

END = datetime(2026, 7, 9, 5, tzinfo=UTC)
SEED = 7


@cache
def demo_desks(seed: int = SEED) -> tuple[Desk, ...]:
    return desks(knowledge.load(), seed)


def desk(name: str) -> Desk:
    return next(each for each in demo_desks() if each.name == name)


@cache
def _words(text: str) -> frozenset[str]:
    return frozenset(word[:6] for word in words(text) if len(word) > 3)


@cache
def _overlap(documents: tuple[tuple[str, str], ...], searched: str) -> Ranked:
    wanted = _words(searched)
    scores = {doc_id: len(wanted & _words(text)) / len(wanted) for doc_id, text in documents if wanted}
    return tuple((doc_id, scores[doc_id]) for doc_id in sorted(scores, key=lambda d: (-scores[d], d)) if scores[doc_id])


def overlap(at: Desk, _engine: str, searched: str) -> Ranked:
    """Documents by the share of the search's longer words that they hold, whatever the engine."""
    return _overlap(tuple((each.doc_id, each.text) for each in at.documents.values()), searched)


@cache
def simulation(seed: int = SEED, drafts: int = 600) -> Simulation:
    return simulate(Plan(end=END, seed=seed, drafts=drafts), demo_desks(seed), overlap)
