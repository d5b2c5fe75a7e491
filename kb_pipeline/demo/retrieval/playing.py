"""The retrieval side of `kb-pipeline demo`: conversations beside the graded traffic, from the client to the findings.

Belongs here: the order of its parts, its volume. Does not: each part.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from itertools import islice
from typing import Self

from kb_pipeline.adapters.postgres.connection import Database
from kb_pipeline.demo import knowledge
from kb_pipeline.demo.retrieval.conversations import DAYS, Plan, Simulation, simulate
from kb_pipeline.demo.retrieval.delivery import deliver
from kb_pipeline.demo.retrieval.engines import PostgresEngines
from kb_pipeline.demo.retrieval.findings import Findings, find_out
from kb_pipeline.demo.retrieval.graded import asked_in, with_graded
from kb_pipeline.demo.retrieval.kiosk import kiosk_searches
from kb_pipeline.demo.retrieval.library import desks
from kb_pipeline.demo.retrieval.rehearsal import events_of
from kb_pipeline.demo.retrieval.upstream import plant
from kb_pipeline.demo.search import FullTextSearch
from kb_pipeline.demo.traffic import Traffic
from kb_pipeline.demo.traffic.turns import QuestionBank, turns
from kb_pipeline.records import RetrievalEvent, SearchEvent
from kb_pipeline.settings import Settings
from kb_pipeline.windows import Window

# So many drafts are simulated for each graded turn, at most so many in all, over some days that end with the graded
# one; and so many of the graded turns become drafts themselves.
DRAFTS_PER_TURN = 5
MOST_DRAFTS = 6_000
MOST_GRADED = 2_000


@dataclass(frozen=True, kw_only=True)
class RetrievalPlay:
    """A simulation whose drafts stand in the application's tables, and the events that are to go through the queue."""

    database: Database
    simulation: Simulation
    engines: PostgresEngines
    events: tuple[RetrievalEvent | SearchEvent, ...]

    @classmethod
    def of(cls, database: Database, traffic: Traffic, *, empty: Window | None = None) -> Self:
        """Play conversations beside the traffic; the portal's articles must be indexed.

        Beside them a kiosk searches, for nothing within `empty`.
        """
        articles = knowledge.load()
        bank = QuestionBank(articles, FullTextSearch(database))
        graded = list(islice(turns(traffic, bank), MOST_GRADED))
        portal, *others = desks(articles, traffic.seed)
        portal = asked_in(portal, graded)
        engines = PostgresEngines(database)
        engines.index([portal, *others])
        plan = _plan(traffic, portal.name)
        simulation = simulate(plan, [portal, *others], engines)
        simulation = with_graded(simulation, portal, traffic, graded, engines)
        plant(database, simulation, [portal, *others])
        searches = kiosk_searches(portal, engines, _window(plan), outage=empty, seed=traffic.seed)
        events = sorted([*events_of(simulation), *searches], key=lambda event: (event.occurred_at, event.id))
        return cls(database=database, simulation=simulation, engines=engines, events=tuple(events))

    @property
    def window(self) -> Window:
        """The hours that hold something."""
        return _window(self.simulation.plan)

    def deliver(self, settings: Settings, on_arrival: Callable[[int], None]) -> None:
        """Send the events; `on_arrival` hears how many the worker has written."""
        deliver(self.database, settings, self.events, on_arrival)

    def find_out(self) -> Findings:
        """What the street made of it."""
        return find_out(self.database, self.simulation, self.engines)


def _window(plan: Plan) -> Window:
    return Window(plan.end - timedelta(days=plan.days), plan.end)


def _plan(traffic: Traffic, portal: str) -> Plan:
    return Plan(
        end=traffic.end,
        seed=traffic.seed,
        drafts=min(MOST_DRAFTS, traffic.turns * DRAFTS_PER_TURN),
        days=max(DAYS, traffic.hours // 24 + 2),
        # From here on its drafts are the graded turns.
        until={portal: traffic.window.start},
    )
