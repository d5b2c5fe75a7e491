"""Says in the log which events are gone and why, a minute apart at least.

Belongs here: the log's words and their pace. Does not: the metrics, which count each one at once.
"""

import logging
import threading
from collections import Counter

from kb_pipeline.ports import Clock

APART_S = 60.0

_log = logging.getLogger("kb_pipeline.recorder")


class DropReport:
    """Any thread notes; the pump says, so that no request ever waits for a handler of the log."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._counts: Counter[tuple[str, str]] = Counter()
        self._said_at: float | None = None

    def note(self, label: str, events: int = 1, *, detail: str = "") -> None:
        """Remember events that are gone; `detail` is one sentence for the developer, without a word of the event."""
        with self._lock:
            self._counts[label, detail] += events

    def say(self, *, at_once: bool = False) -> None:
        """Write one line for each reason and detail, unless the last ones are younger than a minute."""
        now = self._clock.monotonic()
        is_due = at_once or self._said_at is None or now - self._said_at >= APART_S
        if not self._counts or not is_due:
            return
        with self._lock:
            counts, self._counts = self._counts, Counter()
        self._said_at = now
        for (label, detail), events in counts.items():
            _log.warning("retrieval events dropped: %d, %s%s", events, label, f": {detail}" if detail else "")
