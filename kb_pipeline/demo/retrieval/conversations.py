"""Conversations over some days: who asks what when, what is retrieved and drafted, what experts decide hours later.

Belongs here: the order of events, times, the closing of a knowledge gap. Does not: rates of model and experts, tables.
"""

import heapq
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from hashlib import blake2b
from random import Random
from typing import Any
from uuid import UUID

from kb_pipeline.demo.retrieval.cases import Asked, Case, true_gap
from kb_pipeline.demo.retrieval.experts import CORRECTING, Action, Review, review
from kb_pipeline.demo.retrieval.finding import TOP_K, Found, Ranker, Shelves, find
from kb_pipeline.demo.retrieval.searching import search_steps
from kb_pipeline.demo.retrieval.world import Desk, Enquiry, Wording
from kb_pipeline.demo.retrieval.writing import reported, write
from kb_pipeline.demo.traffic.plan import DIURNAL, dice
from kb_pipeline.records import RetrievalEvent
from kb_pipeline.retrieval.events import build_retrieval_event

DAYS = 12
DRAFTS = 1_200
# How clients word their question: as in the bank, after a greeting, as keywords, in everyday words, with slips.
WORDING_SHARES = (0.35, 0.15, 0.20, 0.18, 0.12)
# A client who got no whole answer asks again in other words, this long after it was sent.
REPHRASE_SHARE = 0.35
REPHRASE_AFTER_S = (120, 5_400)
# A decision comes after hours: logarithmically normal around the median, at most some days later.
DECISION_MEDIAN_S = 3 * 3_600
DECISION_SIGMA = 1.1
DECISION_LIMITS_S = (90, 6 * 86_400)
READING_S = (12, 600)
STAMPING_S = (0.4, 1.8)
DRAFTING_S = (1.5, 9.0)
# The second conversation that misses the late document has it written, a day after its correction.
WRITTEN_AFTER = timedelta(hours=24)
MISSED_BY = 2
SHADOW_SHARE = 0.10
DEGRADED_SHARE = 0.02
LATENCY_MEDIAN_MS = {"fulltext": 45.0, "trigram": 80.0}
LATENCY_OTHER_MS = 50.0
LATENCY_SIGMA = 0.5
EXPERTS_PER_DESK = 5


@dataclass(frozen=True, kw_only=True, slots=True)
class Plan:
    """How much to simulate: about `drafts` drafts in the `days` before `end`, the same for the same seed.

    `until` ends a desk's conversations earlier, by its name.
    """

    end: datetime
    seed: int = 7
    drafts: int = DRAFTS
    days: int = DAYS
    until: dict[str, datetime] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True, slots=True)
class Simulation:
    """All that was simulated, cases by the time of their draft; `shadows` are retrievals that served no draft.

    `shelves` say when a late document was published, `sources` from which correction, by desk.
    """

    plan: Plan
    cases: tuple[Case, ...]
    shadows: tuple[RetrievalEvent, ...]
    shelves: dict[str, Shelves]
    sources: dict[str, UUID]


# When a client's message is played, and its number at the desk.
_Waiting = tuple[datetime, int, Asked]


def simulate(plan: Plan, desks: Sequence[Desk], ranker: Ranker) -> Simulation:
    """Play every desk's conversations."""
    played = [_Desk(plan, desk, ranker) for desk in desks]
    cases = [case for each in played for case in each.play()]
    return Simulation(
        plan=plan,
        cases=tuple(sorted(cases, key=lambda case: (case.drafted_at, case.message_id))),
        shadows=tuple(shadow for each in played for shadow in each.shadows),
        shelves={each.desk.name: each.shelves for each in played},
        sources={each.desk.name: each.source for each in played if each.source},
    )


class _Desk:
    """Plays one desk, message by message in the order of time."""

    def __init__(self, plan: Plan, desk: Desk, ranker: Ranker) -> None:
        self.plan = plan
        self.desk = desk
        self.ranker = ranker
        self.shelves = Shelves(desk)
        self.shadows: list[RetrievalEvent] = []
        self.source: UUID | None = None
        self._missed: dict[UUID, tuple[datetime, UUID]] = {}
        self._waiting: list[_Waiting] = []

    def play(self) -> Iterator[Case]:
        self._waiting = sorted(self._first_messages())
        count = len(self._waiting)
        while self._waiting:
            _, number, asked = heapq.heappop(self._waiting)
            case = self._case(asked, number, dice(self.plan.seed, "case", self.desk.name, number))
            yield case
            self._note_miss(case)
            again = self._asks_again(case, count)
            if again is not None:
                heapq.heappush(self._waiting, (again.at, count, again))
                count += 1

    def _first_messages(self) -> Iterator[_Waiting]:
        end = self.plan.until.get(self.desk.name, self.plan.end)
        start = self.plan.end - timedelta(days=self.plan.days)
        weights = [enquiry.weight for enquiry in self.desk.enquiries]
        for number in range(round(self.plan.drafts * self.desk.share)):
            random = dice(self.plan.seed, "conversation", self.desk.name, number)
            enquiry = random.choices(self.desk.enquiries, weights)[0]
            asked = Asked(
                at=_moment(start, end, random),
                conversation_id=self._identity("conversation", number),
                message_id=self._identity("client", number),
                enquiry=enquiry,
                wording=_wording(enquiry, random),
            )
            yield asked.at, number, asked

    def _case(self, asked: Asked, number: int, random: Random) -> Case:
        drafted_at = asked.at + timedelta(seconds=random.uniform(*DRAFTING_S))
        # One engine serves a whole conversation.
        engine = dice(asked.conversation_id).choice(self.desk.engines)
        degraded = random.random() < DEGRADED_SHARE
        found = find(self.ranker, self.shelves, engine, asked.wording.searched, drafted_at, reranks=not degraded)
        draft = write(self.desk, asked.enquiry, found, random)
        message_id = self._identity("draft", number)
        facts = {"message_id": message_id, "degraded": degraded, "event_id": self._identity("event", number)}
        results = replace(found, hits=reported(found, draft.used, random))
        event = retrieval_event(self.shelves, asked, results, drafted_at, engine=engine, random=random, **facts)
        if random.random() < SHADOW_SHARE:
            self._shadow(asked, number, drafted_at, other_engine(self.desk, engine), random)
        case = Case(
            desk=self.desk,
            asked=asked,
            message_id=message_id,
            drafted_at=drafted_at,
            found=found,
            draft=draft,
            event=event,
        )
        return decide(case, self.shelves, self.ranker, self.plan, random)

    def _shadow(self, asked: Asked, number: int, at: datetime, engine: str, random: Random) -> None:
        found = find(self.ranker, self.shelves, engine, asked.wording.searched, at)
        facts = {"shadow": True, "event_id": self._identity("shadow", number)}
        self.shadows.append(retrieval_event(self.shelves, asked, found, at, engine=engine, random=random, **facts))

    def _note_miss(self, case: Case) -> None:
        """Have the late document written once two conversations missed it."""
        late = self.desk.faults.late
        if late is None or case.correction_id is None or case.decided_at is None or case.review is None:
            return
        added = {point for point in case.review.added if late in self.desk.holders.get(point, ())}
        if added and not self.shelves.has(late, case.drafted_at):
            before = self._missed.get(case.conversation_id, (case.decided_at, case.correction_id))
            self._missed[case.conversation_id] = min(before, (case.decided_at, case.correction_id))
        if len(self._missed) >= MISSED_BY:
            decided_at, self.source = sorted(self._missed.values())[MISSED_BY - 1]
            self.shelves.published_at = decided_at + WRITTEN_AFTER

    def _asks_again(self, case: Case, number: int) -> Asked | None:
        random = dice(self.plan.seed, "again", self.desk.name, case.message_id)
        if case.decided_at is None or case.review is None or not case.review.is_weak:
            return None
        at = case.decided_at + timedelta(seconds=random.uniform(*REPHRASE_AFTER_S))
        others = [wording for wording in case.enquiry.wordings if wording != case.asked.wording]
        if random.random() >= REPHRASE_SHARE or at >= self.plan.end or not others:
            return None
        return replace(case.asked, at=at, message_id=self._identity("client", number), wording=random.choice(others))

    def _identity(self, role: str, number: int) -> UUID:
        return identity(role, self.plan.seed, self.plan.end.isoformat(), self.desk.name, number)


def retrieval_event(
    shelves: Shelves, asked: Asked, found: Found, at: datetime, *, engine: str, random: Random, **facts: Any
) -> RetrievalEvent:
    """The event as the application builds it; `facts` go to `build_retrieval_event` as they are."""
    is_later = shelves.published_at is not None and shelves.published_at <= at
    return build_retrieval_event(
        tenant=shelves.desk.tenant,
        conversation_id=asked.conversation_id,
        engine=engine,
        query=asked.wording.text,
        query_rewritten=asked.wording.rewritten,
        results=found.hits,
        candidate_pool=found.pool,
        top_k=TOP_K,
        occurred_at=at,
        latency_ms=LATENCY_MEDIAN_MS.get(engine, LATENCY_OTHER_MS) * random.lognormvariate(0, LATENCY_SIGMA),
        kb_version="2" if is_later else "1",
        **facts,
    )


def decide(case: Case, shelves: Shelves, ranker: Ranker, plan: Plan, random: Random) -> Case:
    """The case with what an expert did about it, as far as that was before the end."""
    reviewed = review(case.desk, case.enquiry, case.draft, random)
    delay = min(max(_decision_delay(random), DECISION_LIMITS_S[0]), DECISION_LIMITS_S[1])
    decided_at = case.drafted_at + timedelta(seconds=delay)
    if reviewed.action is Action.LEAVE or decided_at >= plan.end:
        return case
    expert = random.randrange(EXPERTS_PER_DESK)
    made = replace(
        case,
        review=reviewed,
        opened_at=decided_at - timedelta(seconds=_reading(reviewed, delay, random)),
        decided_at=decided_at,
        expert_id=identity("expert", case.desk.name, expert),
        correction_id=identity("correction", plan.seed, case.message_id) if reviewed.final is not None else None,
        gap=true_gap(reviewed, case.found, case.draft, shelves, case.drafted_at) if reviewed.final else None,
    )
    return replace(made, searches=search_steps(made, shelves, ranker, dice(plan.seed, "search", case.message_id)))


def other_engine(desk: Desk, engine: str) -> str:
    """The engine that does not serve the conversation."""
    return desk.engines[desk.engines.index(engine) - 1]


def identity(*parts: object) -> UUID:
    """A UUID that repeats: the same parts give the same one."""
    return UUID(bytes=blake2b("/".join(map(str, parts)).encode(), digest_size=16).digest(), version=4)


def _decision_delay(random: Random) -> float:
    return DECISION_MEDIAN_S * random.lognormvariate(0, DECISION_SIGMA)


def _reading(reviewed: Review, delay: float, random: Random) -> float:
    if reviewed.action is Action.STAMP:
        return random.uniform(*STAMPING_S)
    longest = READING_S[1] * (2 if reviewed.action in CORRECTING else 1)
    return min(random.uniform(READING_S[0], longest), delay / 2)


def _moment(start: datetime, end: datetime, random: Random) -> datetime:
    """An instant between the two, by the volume of its hour of day."""
    while True:
        at = start + random.random() * (end - start)
        if random.random() * max(DIURNAL) < DIURNAL[at.hour]:
            return at


def _wording(enquiry: Enquiry, random: Random) -> Wording:
    wordings = enquiry.wordings[: len(WORDING_SHARES)]
    return random.choices(wordings, WORDING_SHARES[: len(wordings)])[0]
