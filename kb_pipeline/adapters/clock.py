"""The system clock: the only place that may ask what time it is.

Belongs here: asking. Does not: arithmetic on what it says (windows.py).
"""

import time
from datetime import UTC, datetime


class SystemClock:
    """Wall clock in UTC, monotonic seconds for deadlines."""

    def now(self) -> datetime:
        """The current instant."""
        return datetime.now(UTC)

    def monotonic(self) -> float:
        """Seconds that never go back."""
        return time.monotonic()
