"""The system clock: with settings.py the only place that may ask what time it is."""

import time
from datetime import UTC, datetime


class SystemClock:
    """Wall clock in UTC, monotonic seconds for deadlines."""

    def now(self) -> datetime:
        return datetime.now(UTC)

    def monotonic(self) -> float:
        return time.monotonic()
