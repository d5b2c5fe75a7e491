"""What keeps the worker from its work: said once when it begins, once when it is over, and shown in between.

Belongs here: beginning and end of a fault. Does not: finding one, mending it.
"""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from threading import Lock

from kb_pipeline.ports import Clock

log = logging.getLogger("kb_pipeline.worker")


class FaultKind(StrEnum):
    """Whose fault it is."""

    DATABASE = "database"
    """The database cannot be used; events in hand wait for it."""
    QUEUE = "queue"
    """The queue server does not answer."""
    REFUSED = "refused"
    """The queue server answers, and refuses what BullMQ asks of it."""
    STUCK = "stuck"
    """Jobs wait, and none is taken."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Fault:
    """One fault, in one sentence without any text of a query."""

    kind: FaultKind
    sentence: str
    since: datetime


class Faults:
    """The faults of one worker. Any thread may ask; `on_change` hears of a kind whether it is there now."""

    def __init__(self, clock: Clock, on_change: Callable[[FaultKind, bool], None]) -> None:
        self._clock = clock
        self._on_change = on_change
        self._present: dict[FaultKind, Fault] = {}
        self._lock = Lock()

    def begin(self, kind: FaultKind, sentence: str) -> None:
        """Note a fault; its sentence is logged when it begins, not every time that it is noted again."""
        with self._lock:
            earlier = self._present.get(kind)
            since = earlier.since if earlier else self._clock.now()
            self._present[kind] = Fault(kind=kind, sentence=sentence, since=since)
        if earlier is None:
            log.warning("%s", sentence)
            self._on_change(kind, True)

    def end(self, kind: FaultKind, sentence: str) -> None:
        """Note that a fault is over, and log it with how long it was; nothing where there was none."""
        with self._lock:
            fault = self._present.pop(kind, None)
        if fault is not None:
            seconds = (self._clock.now() - fault.since).total_seconds()
            log.info("%s, after %.0f s", sentence, seconds)
            self._on_change(kind, False)

    def present(self) -> list[Fault]:
        """All of them, the oldest first."""
        with self._lock:
            return sorted(self._present.values(), key=lambda fault: fault.since)
