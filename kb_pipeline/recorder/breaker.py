"""Keeps a pump from hammering on a server that is away: after some failures it pauses, ever longer, and probes.

Belongs here: when to try again. Does not: trying.
"""

import random
from collections.abc import Callable

FAILURES_TO_OPEN = 3
FIRST_PAUSE_S = 0.1
LONGEST_PAUSE_S = 5.0


def _jitter() -> float:
    """Between a half and one: many processes that lost one server do not come back to it in step."""
    return random.uniform(0.5, 1.0)  # noqa: S311 spreads load, keeps no secret


class Breaker:
    """Closed while the server answers. Open after three failures in a row: one probe a pause, until one succeeds."""

    def __init__(self, jitter: Callable[[], float] = _jitter) -> None:
        self._failures = 0
        self._jitter = jitter

    @property
    def is_open(self) -> bool:
        """Whether the server is taken to be away."""
        return self._failures >= FAILURES_TO_OPEN

    def pause_s(self) -> float:
        """How long to wait before the next try, in seconds: 0.1 after the third failure, doubling up to 5."""
        if not self.is_open:
            return 0.0
        # No server is away so long that the power matters, but a float has an end.
        doublings = min(self._failures - FAILURES_TO_OPEN, 10)
        return min(FIRST_PAUSE_S * 2.0**doublings, LONGEST_PAUSE_S) * self._jitter()

    def failed(self) -> None:
        """The server did not take what was sent."""
        self._failures += 1

    def succeeded(self) -> None:
        """It did."""
        self._failures = 0
