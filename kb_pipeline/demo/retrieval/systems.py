"""Retrieval configurations, from good to useless, and how alike two sets of judgments rank them.

Belongs here: the configurations, their nDCG@10, Kendall's tau. Does not: judgments.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import isnan

from scipy.stats import kendalltau  # type: ignore[import-untyped]

from kb_pipeline.demo.retrieval.conversations import Simulation
from kb_pipeline.demo.retrieval.finding import POOL, Ranker, find
from kb_pipeline.demo.retrieval.scoring import Grades
from kb_pipeline.demo.retrieval.world import Desk
from kb_pipeline.demo.traffic.plan import dice
from kb_pipeline.harness.evaluation import evaluate
from kb_pipeline.records import Tenant

MEASURE = "nDCG@10"
FUSION_K = 60
DECIMALS = 9


@dataclass(frozen=True, kw_only=True, slots=True)
class Search:
    """A query that configurations are compared on, and what is searched for."""

    desk: Desk
    query_sha: str
    searched: str


# The documents that a configuration returns for a search, best first.
System = Callable[[Search], Sequence[str]]
Rankings = Mapping[str, Sequence[str]]


def searches_of(simulation: Simulation) -> list[Search]:
    """Every query of the simulation once."""
    found = {
        (case.desk.name, case.query_sha): Search(
            desk=case.desk, query_sha=case.query_sha, searched=case.asked.wording.searched
        )
        for case in simulation.cases
    }
    return list(found.values())


def systems(simulation: Simulation, ranker: Ranker) -> dict[str, System]:
    """The configurations by name: the engines as they serve, as they would without the desks' faults, and variations.

    All of them search the knowledge base as it stands at the end.
    """
    make = _Systems(simulation, ranker)
    return {
        "fulltext": make.serving("fulltext"),
        "trigram": make.serving("trigram"),
        "fulltext repaired": make.repaired("fulltext"),
        "trigram repaired": make.repaired("trigram"),
        "both, fused": make.fused("fulltext", "trigram"),
        "words unweighed": make.repaired("unweighed"),
        "titles only": make.repaired("titles"),
        "first two results": make.cut("fulltext", 2),
        "a third in disorder": make.disordered("fulltext", 1 / 3),
        "in any order": make.disordered("fulltext", 1.0),
    }


def rankings_of(system: System, searches: Iterable[Search]) -> Rankings:
    """What a configuration returns for every search, by the key of its query."""
    return {_key(search.desk.tenant, search.query_sha): system(search)[:POOL] for search in searches}


def ndcg(rankings: Rankings, grades: Grades) -> float:
    """Mean nDCG@10 over the queries with a relevant document among the grades, by the harness; 0.0 without any."""
    relevant: dict[str, dict[str, int]] = {}
    for pair, grade in grades.items():
        relevant.setdefault(_key(pair.tenant, pair.query_sha), {})[pair.doc_id] = grade
    judged = {key: docs for key, docs in relevant.items() if key in rankings and max(docs.values()) > 0}
    if not judged:
        return 0.0
    return evaluate(rankings, judged, MEASURE, resamples=1).measures[MEASURE].mean or 0.0


def rank_correlation(first: Mapping[str, float], second: Mapping[str, float]) -> float | None:
    """Kendall's tau-b of the orders in which two sets of scores put the same systems; None where one has no order."""
    names = sorted(first)
    tau = float(kendalltau([first[name] for name in names], [second[name] for name in names]).statistic)
    # A sum of thirds and ninths ends in noise.
    return None if isnan(tau) else round(tau, DECIMALS)


class _Systems:
    """Makes configurations over one simulation."""

    def __init__(self, simulation: Simulation, ranker: Ranker) -> None:
        self._simulation = simulation
        self._ranker = ranker
        self._end = simulation.plan.end

    def serving(self, engine: str) -> System:
        """The engine with the desk's faults, as deep as its candidates go."""

        def search(asked: Search) -> Sequence[str]:
            shelves = self._simulation.shelves[asked.desk.name]
            found = find(self._ranker, shelves, engine, asked.searched, self._end)
            first = [hit.doc_id for hit in found.hits]
            demoted = asked.desk.faults.demoted
            rest = [each.doc_id for each in found.pool if each.doc_id not in found.shown]
            return [*first, *sorted(rest, key=lambda doc_id: doc_id in demoted)]

        return search

    def repaired(self, method: str) -> System:
        """A way to rank over all that the knowledge base holds, without a fault."""

        def search(asked: Search) -> Sequence[str]:
            shelves = self._simulation.shelves[asked.desk.name]
            ranked = self._ranker(asked.desk, method, asked.searched)
            return [doc_id for doc_id, _ in ranked if shelves.has(doc_id, self._end)][:POOL]

        return search

    def fused(self, *engines: str) -> System:
        """Reciprocal rank fusion of engines as they serve (Cormack, Clarke and Büttcher, 2009)."""
        parts = [self.serving(engine) for engine in engines]

        def search(asked: Search) -> Sequence[str]:
            scores: dict[str, float] = {}
            for part in parts:
                for rank, doc_id in enumerate(part(asked), 1):
                    scores[doc_id] = scores.get(doc_id, 0.0) + 1 / (FUSION_K + rank)
            return sorted(scores, key=lambda doc_id: (-scores[doc_id], doc_id))

        return search

    def cut(self, engine: str, most: int) -> System:
        """The engine with fewer results."""
        whole = self.serving(engine)
        return lambda asked: whole(asked)[:most]

    def disordered(self, engine: str, share: float) -> System:
        """The engine with the results of a share of the queries in any order."""
        whole = self.serving(engine)

        def search(asked: Search) -> Sequence[str]:
            found = list(whole(asked))
            random = dice(self._simulation.plan.seed, "disorder", share, asked.desk.name, asked.query_sha)
            return random.sample(found, len(found)) if random.random() < share else found

        return search


def _key(tenant: Tenant, query_sha: str) -> str:
    return f"{tenant.org_id}/{tenant.specialist_id}/{query_sha}"
