"""The demo's alerts: rules evaluated hour by hour as if the days were passing now, and what was told.

Belongs here: the clock of the past, the order of evaluations, the facts. Does not: rules, delivery.
"""

from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Any

from kb_pipeline.adapters.clock import SystemClock
from kb_pipeline.adapters.postgres.connection import Database
from kb_pipeline.alert_desk import AlertDesk
from kb_pipeline.demo.queries import load
from kb_pipeline.settings import Settings
from kb_pipeline.windows import Window

# An hour is looked at when it is nearly over; the window of rules ends with it.
BEFORE_ITS_END = timedelta(minutes=1)


@dataclass(frozen=True, kw_only=True, slots=True)
class AlertFacts:
    """Fingerprints of the alerts that fired and of those that resolved, in the order of time; what was delivered."""

    fired: tuple[str, ...]
    resolved: tuple[str, ...]
    delivered: int
    dead: int

    def as_json(self) -> dict[str, Any]:
        """A part of what `demo --json` prints."""
        return asdict(self)


class Alarms:
    """Evaluates hours of the past, each at its own time; the judge's state is that of now, when it was called."""

    def __init__(self, settings: Settings, database: Database) -> None:
        self._clock = PastClock()
        self._database = database
        self._desk = AlertDesk(settings, database, clock=self._clock, judge_clock=SystemClock())

    def evaluate(self, hour: Window) -> None:
        """What the rules say at the end of the hour."""
        self._clock.at = hour.end - BEFORE_ITS_END
        self._desk.evaluate()

    def facts(self) -> AlertFacts:
        """What was told."""
        with self._database.connect() as connection:
            flips = connection.execute(load("alert_flips")).fetchall()
            delivered, dead = connection.execute(load("alert_deliveries")).fetchone() or (0, 0)
        return AlertFacts(
            fired=tuple(dict.fromkeys(name for name, status in flips if status == "firing")),
            resolved=tuple(dict.fromkeys(name for name, status in flips if status == "ok")),
            delivered=delivered,
            dead=dead,
        )


class PastClock:
    """A clock that stands where it is put."""

    at: datetime

    def now(self) -> datetime:
        return self.at

    def monotonic(self) -> float:
        return 0.0
