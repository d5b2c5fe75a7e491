"""How well judgments and gap verdicts agree with what was planted, and the naive rules to beat.

Belongs here: the planted truth as judgments, precision and recall, the naive rules, precision of gap verdicts.
Does not: the ranking of systems (systems.py), reading our tables (findings.py).
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from kb_pipeline.demo.retrieval.cases import Case
from kb_pipeline.demo.retrieval.conversations import Simulation
from kb_pipeline.demo.retrieval.world import Desk
from kb_pipeline.records import GapKind, Tenant


@dataclass(frozen=True, kw_only=True, slots=True, order=True)
class Pair:
    """A query and a document of one tenant."""

    tenant: Tenant
    query_sha: str
    doc_id: str


Grades = Mapping[Pair, int]


@dataclass(frozen=True, kw_only=True, slots=True)
class Agreement:
    """Judgments of grade 1 and more against the planted truth; a share is None where there is nothing to share.

    `recovered` of the `true` pairs are among the judgments. `right` counts those of queries too that experts alone
    searched for.
    """

    positives: int
    right: int
    recovered: int
    true: int

    @property
    def precision(self) -> float | None:
        """The share of the judgments that is true."""
        return self.right / self.positives if self.positives else None

    @property
    def recall(self) -> float | None:
        """The share of the true pairs that is judged so."""
        return self.recovered / self.true if self.true else None


def true_grades(simulation: Simulation) -> dict[Pair, int]:
    """Grade 1 for every true pair that was asked about.

    A pair is true when a retrieval was made for the query, and the document stands in the tenant's knowledge base at
    the end and says something that answers a question of this wording.
    """
    return {pair: 1 for case in simulation.cases for pair in _answering(case, simulation)}


def agreement(judged: Grades, simulation: Simulation) -> Agreement:
    """The judgments beside the truth."""
    positives = {pair for pair, grade in judged.items() if grade > 0}
    true = set(true_grades(simulation))
    desks = {case.desk.tenant: case.desk for case in simulation.cases}
    right = {pair for pair in positives if is_true(pair, desks.get(pair.tenant))}
    return Agreement(positives=len(positives), right=len(right), recovered=len(positives & true), true=len(true))


def is_true(pair: Pair, desk: Desk | None) -> bool:
    """Whether the document answers the query at that desk."""
    return desk is not None and pair.doc_id in desk.answering(desk.points_by_query.get(pair.query_sha, ()))


def accepted_rank_1(cases: Iterable[Case]) -> dict[Pair, int]:
    """Naive: an accepted draft makes its first result relevant."""
    accepted = (case for case in cases if case.status == "accepted" and case.event.retrieved)
    return {_pair(case, case.event.retrieved[0].doc_id): 1 for case in accepted}


def all_used(cases: Iterable[Case]) -> dict[Pair, int]:
    """Naive: whatever a draft used that was sent, edited or not, is relevant."""
    sent = (case for case in cases if case.status in {"accepted", "edited"})
    return {_pair(case, hit.doc_id): 1 for case in sent for hit in case.event.retrieved if hit.used_in_final}


NAIVE_RULES: Mapping[str, Callable[[Iterable[Case]], dict[Pair, int]]] = {
    "accepted_rank_1": accepted_rank_1,
    "all_used": all_used,
}


@dataclass(frozen=True, kw_only=True, slots=True)
class GapAgreement:
    """Verdicts of one kind against the truth about the same corrections."""

    found: int
    right: int
    true: int

    @property
    def precision(self) -> float | None:
        """The share of the verdicts that is true."""
        return self.right / self.found if self.found else None


def gap_agreement(verdicts: Mapping[UUID, GapKind], cases: Sequence[Case]) -> dict[GapKind, GapAgreement]:
    """Per kind of gap the verdicts, how many of them are true, and how many corrections truly are one.

    A verdict is true when the worst place of what the expert added, as planted, is of that kind.
    """
    truth = {case.message_id: case.gap for case in cases if case.gap is not None}
    found = Counter(kind for message_id, kind in verdicts.items() if message_id in truth)
    right = Counter(kind for message_id, kind in verdicts.items() if truth.get(message_id) is kind)
    true = Counter(truth.values())
    kinds = [GapKind.KB_GAP, GapKind.RANKING_GAP, GapKind.RECALL_GAP, GapKind.GENERATION_GAP]
    return {kind: GapAgreement(found=found[kind], right=right[kind], true=true[kind]) for kind in kinds}


def _answering(case: Case, simulation: Simulation) -> list[Pair]:
    shelves = simulation.shelves[case.desk.name]
    points = case.desk.points_by_query[case.query_sha]
    doc_ids = case.desk.answering(points)
    return [_pair(case, doc_id) for doc_id in doc_ids if shelves.has(doc_id, simulation.plan.end)]


def _pair(case: Case, doc_id: str) -> Pair:
    return Pair(tenant=case.desk.tenant, query_sha=case.query_sha, doc_id=doc_id)
