"""rag_parse_success_drop: turns cannot be read any more, as when the prompt template has changed.

Belongs here: this rule, a burn rate over two windows. Does not: which statuses count as read (records).
"""

from collections.abc import Sequence
from datetime import datetime
from itertools import islice

from kb_pipeline.alerting.rules.limits import Limits, absent, thin
from kb_pipeline.alerting.statistics import DAY_H, Past, Share
from kb_pipeline.counting import counted, out_of
from kb_pipeline.records import Finding, Memory, Reading, Severity

# An objective of 99 %: 14.4 times its budget burns a fiftieth of the month in an hour, 6 times a tenth in three days.
BURNS_FAST = 0.144
BURNS = 0.06
RECOVERED = 0.02
RUNS = 2
LONG_H = 3 * DAY_H


def read(past: Past, memory: Memory, limits: Limits, now: datetime) -> Reading:  # noqa: ARG001 the signature of rules
    """Breach where the lower bound of the share of unread turns burns the budget in a short and a long window.

    A run is the newest hours that together hold five turns. Two runs without one turn read are critical, two without
    one unread are good, whatever the day holds.
    """
    day = past.share("unparsed", "attempted", DAY_H)
    if not day.n:
        return absent("turn that could be read or not")
    runs = list(islice(past.runs("unparsed", "attempted", within=LONG_H), RUNS))
    if not runs:
        return thin(
            f"{counted(day.n, 'turn in 24 hours is', 'turns in 24 hours are')} too few to judge the template by.",
            n=day.n,
            window_h=DAY_H,
        )
    finding, severity = _finding(past, day, runs, limits.z)
    return Reading(
        finding=finding,
        severity=severity,
        sentence=(
            f"{out_of(day.k, day.n, 'turn')} in 24 hours, and {runs[0].k:,} of the newest {runs[0].n:,}, "
            f"could not be read by the template's markers."
        ),
        value=day.value,
        bound=day.lower(limits.z),
        threshold=BURNS_FAST if severity is Severity.CRITICAL else BURNS,
        n=day.n,
        window_h=DAY_H,
    )


def _finding(past: Past, day: Share, runs: Sequence[Share], z: float) -> tuple[Finding, Severity | None]:
    is_pair = len(runs) == RUNS
    if is_pair and all(run.k == run.n for run in runs):
        return Finding.BREACH, Severity.CRITICAL
    if is_pair and not any(run.k for run in runs):
        return Finding.GOOD, None
    if min(runs[0].lower(z), day.lower(z)) > BURNS_FAST:
        return Finding.BREACH, Severity.CRITICAL
    if min(past.share("unparsed", "attempted", LONG_H).lower(z), day.lower(z)) > BURNS:
        return Finding.BREACH, Severity.WARNING
    return (Finding.GOOD if day.upper(z) < RECOVERED else Finding.BETWEEN), None
