"""kb_no_data: no evaluation succeeds any more, or no call comes where many are usual.

Belongs here: both halves of the rule. Does not: what other rules do meanwhile (evaluation.py).
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from statistics import median

from kb_pipeline.alerting.rules.limits import Limits, thin
from kb_pipeline.alerting.statistics import Past
from kb_pipeline.counting import counted
from kb_pipeline.records import Finding, Memory, Reading, Severity
from kb_pipeline.windows import HOUR, floor_hour

SCHEDULES = 2
USUAL = 10
WEEK = timedelta(days=7)
WEEKS = 4
# So long after its end an hour's windows may be on their way.
GRACE = timedelta(minutes=15)


@dataclass(frozen=True, kw_only=True, slots=True)
class Pulse:
    """Whether this evaluation could read its statistics."""

    is_good: bool = True


def read_pulse(pulse: Pulse, memory: Memory, limits: Limits, now: datetime) -> Reading:
    """Breach where the last good evaluation is two schedules ago; the first good one resolves it."""
    if pulse.is_good:
        return Reading(finding=Finding.GOOD, sentence="The rules are evaluated.")
    if memory.good_at is None:
        return thin("No evaluation has succeeded yet.")
    silent = now - memory.good_at
    return Reading(
        finding=Finding.BREACH if silent >= SCHEDULES * limits.every else Finding.BETWEEN,
        severity=Severity.HIGH,
        sentence=(
            f"No evaluation has succeeded for {counted(silent // timedelta(minutes=1), 'minute')}; what stands is not "
            "known."
        ),
    )


def read_traffic(past: Past, memory: Memory, limits: Limits, now: datetime) -> Reading:  # noqa: ARG001 as other rules
    """Breach where the last closed hour has no call, and the same hour of four weeks had a median of ten turns.

    The first hour with a call, the running one too, is good.
    """
    closed = floor_hour(now - GRACE) - HOUR
    if past.hours.total("read", closed, now):
        return Reading(finding=Finding.GOOD, sentence="Calls arrive.")
    usual = median(
        past.hours.total("turns", earlier, earlier + HOUR)
        for earlier in (closed - WEEK * weeks for weeks in range(1, WEEKS + 1))
    )
    if usual < USUAL:
        return thin("No call in the last closed hour, which is nothing unusual.", window_h=1)
    return Reading(
        finding=Finding.BREACH,
        severity=Severity.HIGH,
        sentence=(
            f"No call in the last closed hour; {counted(round(usual), 'turn is', 'turns are')} usual at this hour of "
            "the week."
        ),
        value=0.0,
        threshold=float(USUAL),
        window_h=1,
        baseline=usual,
    )
