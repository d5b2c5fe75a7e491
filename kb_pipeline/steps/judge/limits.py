"""What one run of the judge may do.

Belongs here: the operator's limits and what follows from them. Does not: decisions in the middle of a run.
"""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class JudgeLimits:
    """Turns for `max_batch` calls a run, `concurrency` at once, `timeout_s` seconds a call, `max_attempts` a turn.

    An attempt is an unusable reply; an outage is none. Raises ValueError when a limit is not positive.
    """

    max_batch: int
    concurrency: int
    timeout_s: float
    max_attempts: int

    def __post_init__(self) -> None:
        for name in ("max_batch", "concurrency", "timeout_s", "max_attempts"):
            value: float = getattr(self, name)
            if not value > 0:
                raise ValueError(f"{name} of the judge's limits is {value}; it must be more than 0")

    @property
    def longest_run_s(self) -> float:
        """Seconds after which no call starts: every wave at its time limit, and two for tries that are repeated."""
        return self.timeout_s * (-(-self.max_batch // self.concurrency) + 2)
