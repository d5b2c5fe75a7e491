"""The retrieval street's demo in one process, without queue and Dagster: for the tests and the benchmarks.

Belongs here: simulate, store, run the street, score. Does not: the demo that a user sees (kb_pipeline/demo/run.py).
"""

from collections.abc import Callable, Sequence
from datetime import datetime

from kb_pipeline.adapters.postgres.connection import Database
from kb_pipeline.adapters.postgres.retrieval.events import PostgresEventStore
from kb_pipeline.demo.retrieval.conversations import Plan, Simulation, simulate
from kb_pipeline.demo.retrieval.finding import Ranker
from kb_pipeline.demo.retrieval.findings import Findings, find_out
from kb_pipeline.demo.retrieval.upstream import plant
from kb_pipeline.demo.retrieval.world import Desk
from kb_pipeline.records import RetrievalEvent, SearchEvent
from kb_pipeline.retrieval_street import RetrievalStreet
from kb_pipeline.settings import Settings

BATCH = 500


def rehearse(
    database: Database, settings: Settings, plan: Plan, desks: Sequence[Desk], ranker: Ranker
) -> tuple[Simulation, Findings]:
    """Play the plan into an empty, migrated database with the example upstream tables; what the street made of it.

    The street's clock stands at the end of the plan, so that the same plan gives the same numbers on any day.
    """
    simulation = simulate(plan, desks, ranker)
    plant(database, simulation, desks)
    store(database, events_of(simulation))
    RetrievalStreet(settings, database, clock=_StoppedClock(plan.end)).run()
    return simulation, find_out(database, simulation, ranker)


class _StoppedClock:
    """A clock that stands at one instant."""

    def __init__(self, at: datetime) -> None:
        self._at = at

    def now(self) -> datetime:
        return self._at

    def monotonic(self) -> float:
        return 0.0


def events_of(simulation: Simulation) -> list[RetrievalEvent | SearchEvent]:
    """Everything that the application would put on the queue, in the order of time."""
    events: list[RetrievalEvent | SearchEvent] = [case.event for case in simulation.cases]
    events += simulation.shadows
    events += [step for case in simulation.cases for step in case.searches]
    return sorted(events, key=lambda event: (event.occurred_at, event.id))


def store(
    database: Database,
    events: Sequence[RetrievalEvent | SearchEvent],
    on_batch: Callable[[int], None] | None = None,
) -> None:
    """Write events as the worker does."""
    keeper = PostgresEventStore(database)
    for start in range(0, len(events), BATCH):
        batch = events[start : start + BATCH]
        keeper.save(batch)
        if on_batch:
            on_batch(len(batch))
