"""What the retrieval street found, beside what was planted: the numbers of the summary.

Belongs here: reading our tables, setting them beside the simulation, the JSON. Does not: words, tables, bars.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from kb_pipeline.adapters.postgres.connection import Database
from kb_pipeline.demo.queries import load
from kb_pipeline.demo.retrieval.conversations import Simulation
from kb_pipeline.demo.retrieval.finding import Ranker
from kb_pipeline.demo.retrieval.scoring import (
    NAIVE_RULES,
    Agreement,
    GapAgreement,
    Grades,
    Pair,
    agreement,
    gap_agreement,
    true_grades,
)
from kb_pipeline.demo.retrieval.systems import ndcg, rank_correlation, rankings_of, searches_of, systems
from kb_pipeline.records import GapKind, Outcome, Tenant

GRADES = ("0", "1", "2", "3")


@dataclass(frozen=True, kw_only=True, slots=True)
class Rule:
    """How a rule's judgments agree with the truth, and the tau between its ranking of systems and the true one.

    The tau is None where the judgments rank nothing.
    """

    agreement: Agreement
    kendall_tau: float | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Strongest:
    """The judgment that most conversations stand behind; who may see its query asks `ground-truth explain` for it."""

    pair: Pair
    grade: int
    conversations: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Findings:
    """The retrieval street's days in numbers; `systems` are (true, harvested) mean nDCG@10 by configuration."""

    events: int
    searches: int
    drafts: int
    outcomes: Mapping[str, int]
    ground_truth: Mapping[str, int]
    conflicts: int
    insufficient: int
    tasks: Mapping[str, int]
    harvested: Rule
    naive: Mapping[str, Rule]
    gaps: Mapping[GapKind, GapAgreement]
    systems: Mapping[str, tuple[float, float]]
    strongest: Strongest | None

    def as_json(self) -> dict[str, Any]:
        """The object under `retrieval` of `demo --json`; its keys are a contract (docs/reference/command-line.md)."""
        return {
            "events": self.events,
            "outcomes": dict(self.outcomes),
            "ground_truth": dict(self.ground_truth),
            "precision": self.harvested.agreement.precision,
            "recall": self.harvested.agreement.recall,
            "kendall_tau": self.harvested.kendall_tau,
            "gap_precision": {str(kind): gap.precision for kind, gap in self.gaps.items()},
            "naive": {
                name: {"precision": rule.agreement.precision, "kendall_tau": rule.kendall_tau}
                for name, rule in self.naive.items()
            },
        }


def find_out(database: Database, simulation: Simulation, ranker: Ranker) -> Findings:
    """Read what the street made of the simulation, and score it."""
    with database.connect() as connection:
        counted = connection.execute(load("retrieval_counts")).fetchall()
        judged = connection.execute(load("harvested_judgments")).fetchall()
        verdicts = connection.execute(load("gap_verdicts")).fetchall()
        strongest = connection.execute(load("strongest_judgment")).fetchone()
    counts = _by_class(counted)
    grades = {_pair(*key): grade for *key, grade in judged}
    comparison = _Comparison(simulation, ranker)
    return Findings(
        events=counts["events"].get("retrieval", 0),
        searches=counts["events"].get("search", 0),
        drafts=len(simulation.cases),
        outcomes={outcome: counts["outcomes"].get(outcome, 0) for outcome in Outcome},
        ground_truth={grade: counts["ground_truth"].get(grade, 0) for grade in GRADES},
        conflicts=counts["ground_truth"].get("conflict", 0),
        insufficient=counts["ground_truth"].get("insufficient", 0),
        tasks=counts["tasks"],
        harvested=comparison.rule(grades),
        naive={name: comparison.rule(make(simulation.cases)) for name, make in NAIVE_RULES.items()},
        gaps=gap_agreement({message_id: GapKind(kind) for message_id, kind in verdicts}, simulation.cases),
        systems=comparison.beside_truth(grades),
        strongest=_strongest(*strongest) if strongest else None,
    )


class _Comparison:
    """Ranks the systems once by the truth, and again by each set of judgments."""

    def __init__(self, simulation: Simulation, ranker: Ranker) -> None:
        self._simulation = simulation
        searches = searches_of(simulation)
        self._rankings = {name: rankings_of(each, searches) for name, each in systems(simulation, ranker).items()}
        self._truth = self._scores(true_grades(simulation))

    def rule(self, grades: Grades) -> Rule:
        """How these judgments do."""
        return Rule(
            agreement=agreement(grades, self._simulation),
            kendall_tau=rank_correlation(self._scores(grades), self._truth),
        )

    def beside_truth(self, grades: Grades) -> dict[str, tuple[float, float]]:
        """True and harvested score of each system, the best by truth first."""
        scores = self._scores(grades)
        order = sorted(self._truth, key=lambda name: -self._truth[name])
        return {name: (self._truth[name], scores[name]) for name in order}

    def _scores(self, grades: Grades) -> dict[str, float]:
        return {name: ndcg(rankings, grades) for name, rankings in self._rankings.items()}


def _by_class(counted: Iterable[tuple[Any, ...]]) -> dict[str, dict[str, int]]:
    found: dict[str, dict[str, int]] = {"events": {}, "outcomes": {}, "ground_truth": {}, "tasks": {}}
    for what, name, count in counted:
        found[what][name] = count
    return found


def _strongest(*row: Any) -> Strongest:
    *key, grade, conversations = row
    return Strongest(pair=_pair(*key), grade=grade, conversations=conversations)


def _pair(org_id: Any, specialist_id: Any, query_sha: str, doc_id: str) -> Pair:
    return Pair(tenant=Tenant(org_id=org_id, specialist_id=specialist_id), query_sha=query_sha, doc_id=doc_id)
