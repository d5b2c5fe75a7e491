"""Counts of windows and the intervals around their shares.

Belongs here: coverage arithmetic, rates, Wilson bounds. Does not: SQL, thresholds of alerts.
"""

from dataclasses import dataclass
from math import sqrt


@dataclass(frozen=True, kw_only=True, slots=True)
class Coverage:
    """Where the recognised turns of a window are; each turn is in exactly one place."""

    seen: int
    sampled_out: int
    graded: int
    ungraded: int
    skipped: int
    pending: int

    @property
    def adds_up(self) -> bool:
        """Whether no turn is missing and none is counted twice."""
        return self.seen == self.sampled_out + self.graded + self.ungraded + self.skipped + self.pending


@dataclass(frozen=True, slots=True)
class CallCounts:
    """What the ledger says of a window; `parsed` of `parse_attempted` is the parse-success rate."""

    examined: int
    synthesis: int
    sampled_out: int
    other: int
    self_calls: int
    unreadable: int
    parsed: int
    parse_attempted: int

    @property
    def parse_success_rate(self) -> float | None:
        """parsed / parse_attempted; None where nothing was attempted."""
        return share(self.parsed, self.parse_attempted)

    @property
    def synthesis_share(self) -> float | None:
        """Recognised turns among the calls that were read: it falls when the signature changes."""
        return share(self.synthesis + self.sampled_out, self.examined - self.self_calls)


def share(part: int, whole: int) -> float | None:
    """part / whole; None where there is no whole."""
    return part / whole if whole else None


def wilson(part: float, whole: int, *, z: float = 1.96) -> tuple[float, float]:
    """The Wilson score interval of a share; (0, 1) where there is no whole.

    Wilson (1927), Probable inference, the law of succession, and statistical inference. z = 1.96 gives 95 %.
    """
    if not whole:
        return 0.0, 1.0
    p = part / whole
    centre = p + z * z / (2 * whole)
    spread = z * sqrt(p * (1 - p) / whole + z * z / (4 * whole * whole))
    scale = 1 + z * z / whole
    return max(0.0, (centre - spread) / scale), min(1.0, (centre + spread) / scale)
