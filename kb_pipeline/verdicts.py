"""Verdicts on the measurement itself, and the bounds that shares are judged by.

Belongs here: what both streets' checks share. Does not: what they count, their thresholds, how a verdict is shown.
"""

from dataclasses import dataclass
from enum import StrEnum
from math import sqrt

# One-sided 95 %.
Z = 1.645
# One odd case is an odd case; a share is judged from the second one on.
MIN_CASES = 2


class Level(StrEnum):
    """How a check came out."""

    PASSED = "passed"
    WARNED = "warned"
    FAILED = "failed"


@dataclass(frozen=True, kw_only=True, slots=True)
class Health:
    """A verdict with its reason in one sentence."""

    level: Level
    reason: str


def passed(reason: str) -> Health:
    """All is well."""
    return Health(level=Level.PASSED, reason=reason)


def warned(reason: str) -> Health:
    """Somebody should look."""
    return Health(level=Level.WARNED, reason=reason)


def failed(reason: str) -> Health:
    """Something is wrong."""
    return Health(level=Level.FAILED, reason=reason)


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
