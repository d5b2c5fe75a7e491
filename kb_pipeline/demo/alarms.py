"""The demo's alerts: rules evaluated hour by hour as if the days were passing now, and what was told.

Belongs here: the clock of the past, the order of evaluations, the facts. Does not: rules, delivery.
"""

from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Any

from kb_pipeline.adapters.clock import SystemClock
from kb_pipeline.adapters.postgres.connection import Database
from kb_pipeline.alert_desk import AlertDesk
from kb_pipeline.demo.local_keep import LocalKeep
from kb_pipeline.records import OutboxHealth
from kb_pipeline.settings import Settings
from kb_pipeline.windows import Window

# An hour is looked at when it is nearly over; the window of rules ends with it.
BEFORE_ITS_END = timedelta(minutes=1)
ARRIVAL_S = 30.0


@dataclass(frozen=True, kw_only=True, slots=True)
class AlertFacts:
    """Fingerprints that the receiver was told of as firing and as resolved, in the order of time.

    `delivered` notices reached it, `dead` ones were refused for good.
    """

    fired: tuple[str, ...]
    resolved: tuple[str, ...]
    delivered: int
    dead: int

    def as_json(self) -> dict[str, Any]:
        """A part of what `demo --json` prints."""
        return asdict(self)


class Alarms:
    """Evaluates hours of the past, each at its own time; the judge's state is that of now, when it was called.

    What is to be told goes to the local Keep at once.
    """

    def __init__(self, settings: Settings, database: Database, keep: LocalKeep) -> None:
        self._clock = PastClock()
        self._desk = AlertDesk(settings, database, clock=self._clock, judge_clock=SystemClock())
        self._courier = AlertDesk(settings, database)
        self._keep = keep

    def evaluate(self, hour: Window) -> None:
        """What the rules say at the end of the hour."""
        self._clock.at = hour.end - BEFORE_ITS_END
        if self._desk.evaluate().counts["notices"]:
            self._courier.deliver()

    def facts(self) -> AlertFacts:
        """What was told, once all of it has arrived; nothing is waited for longer than half a minute."""
        deadline = SystemClock().monotonic() + ARRIVAL_S
        while any(map(_is_under_way, self._courier.delivery())) and SystemClock().monotonic() < deadline:
            self._courier.deliver()
        health = self._courier.delivery()
        return AlertFacts(
            fired=self._told("firing"),
            resolved=self._told("resolved"),
            delivered=len({(alert["fingerprint"], alert["kb_seq"]) for alert in self._keep.received}),
            dead=sum(each.dead for each in health),
        )

    def _told(self, status: str) -> tuple[str, ...]:
        names = (str(alert["fingerprint"]) for alert in self._keep.received if alert["status"] == status)
        return tuple(dict.fromkeys(names))


def _is_under_way(health: OutboxHealth) -> bool:
    return health.pending > 0 or health.unconfirmed > 0


class PastClock:
    """A clock that stands where it is put."""

    at: datetime

    def now(self) -> datetime:
        return self.at

    def monotonic(self) -> float:
        return 0.0
