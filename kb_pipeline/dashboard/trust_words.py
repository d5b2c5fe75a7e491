"""Whether the numbers can be trusted, in one sentence: the pipeline's own checks, in words.

Belongs here: which check speaks first. Does not: the checks (kb_pipeline/grading/health.py).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from kb_pipeline.counting import counted
from kb_pipeline.dashboard import numbers
from kb_pipeline.dashboard.quality_words import Level, Verdict
from kb_pipeline.dashboard.sums import Tally
from kb_pipeline.dashboard.trend import LEAST_COVERAGE
from kb_pipeline.grading import health
from kb_pipeline.grading.aggregates import CallCounts
from kb_pipeline.grading.canary import CanaryReport
from kb_pipeline.verdicts import Health
from kb_pipeline.verdicts import Level as Outcome

LONG = timedelta(hours=2)
FEWEST_LABELS = 30
LEAST_KAPPA = 0.4
_RANK = {Level.NONE: 0, Level.GOOD: 1, Level.WATCH: 2, Level.WARNING: 3, Level.CRITICAL: 4}
_CHECK = "kb-pipeline check tells whether the judge answers and Dagster's daemon runs."
_CALIBRATION = "The calibration tells for which decisions."


@dataclass(frozen=True, kw_only=True, slots=True)
class Agreement:
    """How far the judge agrees with experts: κ, None where it cannot be told, over n labelled turns up to a day."""

    kappa: float | None
    n: int
    day: str
    reason: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Measurement:
    """What trust rests on: the period's counts, what was usual before, the judge's canary and calibration."""

    tally: Tally
    calls: CallCounts
    usual: CallCounts
    canary: CanaryReport | None
    agreement: Agreement | None
    waiting: int
    waits: timedelta


def trust(found: Measurement) -> Verdict:
    """Yes, with care, or no; the worst check speaks."""
    checks = [
        health.canary(found.canary),
        health.parse_success(found.calls),
        health.synthesis_share(found.calls, found.usual),
    ]
    failed = _first(checks, Outcome.FAILED)
    if failed:
        return Verdict(level=Level.CRITICAL, sentence=f"No: {_head(failed.reason)}", detail=_rest(failed.reason))
    coverage = found.tally.coverage
    if coverage is not None and coverage < LEAST_COVERAGE:
        return Verdict(
            level=Level.CRITICAL,
            sentence=f"No: only {numbers.rate(coverage)} of the answers have a grade.",
            detail="Those without may be the bad ones.",
        )
    return _careful(found, checks)


def worse(day: Verdict, period: Verdict) -> Verdict:
    """The worse of two verdicts on the measurement; where the last day is worse than the period, it says so."""
    if _RANK[day.level] <= _RANK[period.level]:
        return period
    head, _, rest = day.sentence.partition(": ")
    return Verdict(level=day.level, sentence=f"{head}: in the last 24 hours {rest}", detail=day.detail)


def _careful(found: Measurement, checks: Sequence[Health]) -> Verdict:
    warned = _first(checks, Outcome.WARNED)
    if warned:
        return Verdict(level=Level.WARNING, sentence=f"With care: {_head(warned.reason)}", detail=_rest(warned.reason))
    if found.waits > LONG:
        reason = f"{counted(found.waiting, 'turn waits', 'turns wait')}, the oldest for {numbers.age(found.waits)}."
        return Verdict(level=Level.WARNING, sentence=f"With care: {reason}", detail=_CHECK)
    agreement = found.agreement
    if agreement and agreement.kappa is not None and agreement.n >= FEWEST_LABELS and agreement.kappa < LEAST_KAPPA:
        reason = f"judge and experts agree little (κ {agreement.kappa:.2f}, n = {agreement.n:,})."
        return Verdict(level=Level.WARNING, sentence=f"With care: {reason}", detail=_CALIBRATION)
    if not found.tally.graded:
        return Verdict(level=Level.NONE, sentence="Nothing is graded yet.", detail="")
    return Verdict(level=Level.GOOD, sentence="Yes, the measurement is healthy.", detail="")


def _first(checks: Sequence[Health], outcome: Outcome) -> Health | None:
    return next((check for check in checks if check.level is outcome), None)


def _head(reason: str) -> str:
    """The first sentence, going on from a colon."""
    head = reason.partition(". ")[0].rstrip(".") + "."
    return head[:1].lower() + head[1:]


def _rest(reason: str) -> str:
    """What follows the first sentence."""
    return reason.partition(". ")[2]


def oldest_words(waiting: int, oldest: datetime | None, now: datetime) -> str:
    """22 turns, oldest 4 min."""
    if not waiting or oldest is None:
        return "no turn waits"
    return f"{counted(waiting, 'turn')}, oldest {numbers.age(now - oldest)}"
