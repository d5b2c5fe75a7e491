"""How much of the interpreter the pump may take from those who record.

Belongs here: the rest after each batch. Does not: pauses after failures (breaker.py).
"""

from kb_pipeline.ports import Clock

# Encoding a batch keeps the interpreter busy, and whoever records meanwhile waits for it.
FLOOD_PER_S = 2000
FLOOD_REST = 9
LONGEST_REST_S = 0.05


class Pace:
    """A rest as long as the work, so that the pump never takes more than half; in a flood nine times as long.

    In a flood of events then fewer than one call in a hundred meets a batch; the buffer takes it in meanwhile.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._arrived = 0
        self._looked_at = clock.monotonic()

    def rest_s(self, *, arrived: int, took_s: float) -> float:
        """Seconds to rest after a batch that took `took_s`; `arrived` is how many events there ever were."""
        now = self._clock.monotonic()
        is_flood = arrived - self._arrived > FLOOD_PER_S * (now - self._looked_at)
        self._arrived, self._looked_at = arrived, now
        return min(took_s * (FLOOD_REST if is_flood else 1), LONGEST_REST_S)
