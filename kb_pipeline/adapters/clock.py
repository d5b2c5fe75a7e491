"""The system clock: the only place that may ask what time it is, and the wait for something to come true.

Belongs here: asking, waiting. Does not: arithmetic on what it says (windows.py).
"""

import time
from collections.abc import Callable
from datetime import UTC, datetime

PAUSE_S = 0.02


class SystemClock:
    """Wall clock in UTC, monotonic seconds for deadlines."""

    def now(self) -> datetime:
        """The current instant."""
        return datetime.now(UTC)

    def monotonic(self) -> float:
        """Seconds that never go back."""
        return time.monotonic()


def wait_until(condition: Callable[[], bool], seconds: float) -> bool:
    """Whether the condition came true within so many seconds; it is asked fifty times a second."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(PAUSE_S)
    return True
