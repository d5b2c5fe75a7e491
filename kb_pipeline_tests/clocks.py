"""A clock that a test moves."""

import time
from datetime import datetime, timedelta


class MovedClock:
    """Stands still at `instant` until it is moved; its seconds for deadlines are real."""

    def __init__(self, instant: datetime) -> None:
        self.instant = instant

    def now(self) -> datetime:
        return self.instant

    def monotonic(self) -> float:
        return time.monotonic()

    def pass_by(self, **much: float) -> None:
        self.instant += timedelta(**much)
