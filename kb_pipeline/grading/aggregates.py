"""Counts of windows and their shares.

Belongs here: coverage arithmetic, rates. Does not: SQL, bounds (verdicts.py), thresholds of alerts.
"""

from dataclasses import dataclass

from kb_pipeline.verdicts import share


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
    def read(self) -> int:
        """Calls of others: the pipeline's own are left out."""
        return self.examined - self.self_calls

    @property
    def parse_success_rate(self) -> float | None:
        """parsed / parse_attempted; None where nothing was attempted."""
        return share(self.parsed, self.parse_attempted)

    @property
    def synthesis_share(self) -> float | None:
        """Recognised turns among the calls that were read: it falls when the signature changes."""
        return share(self.synthesis + self.sampled_out, self.read)
