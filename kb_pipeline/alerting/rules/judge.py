"""rag_judge_outage: the judge gives no scores, or turns wait for it too long.

Belongs here: this rule, and what it looks at. Does not: the judge's reading (grading/canary.py).
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import takewhile

from kb_pipeline.alerting.rules.limits import Limits, thin
from kb_pipeline.alerting.statistics import Share
from kb_pipeline.counting import counted
from kb_pipeline.records import Finding, Memory, Reading, Severity

MIN_CALLS = 10
MOST_ERRORS = 0.5
FAILURES = 5
LONG_WAIT = timedelta(hours=2)
SHORT_WAIT = timedelta(minutes=30)
SUCCESSES = 10
# One run that finds the judge down may have met a restart.
DOWN_RUNS = 2


@dataclass(frozen=True, kw_only=True, slots=True)
class JudgeCondition:
    """What is known of the judge: whether each of its last turns got scores, the newest first, and who waits.

    `down_runs` counts the runs in a row that gave it up as down: such a run leaves most of its turns uncalled, so that
    they are in no outcome. `waiting_since` is when the turn that waits longest began to; None where none does, and
    where the day's tokens are spent, since then the judge is not to blame.
    """

    outcomes: tuple[bool, ...] = ()
    down_runs: int = 0
    waiting_since: datetime | None = None


def read(condition: JudgeCondition, memory: Memory, limits: Limits, now: datetime) -> Reading:  # noqa: ARG001
    """Breach where the lower bound of the error share is above half, five in a row failed, or a turn waits two hours.

    Two runs in a row that found the judge down are as good as five failures. Good after ten successes in a row while
    no turn waits half an hour.
    """
    failed = Share(sum(not scored for scored in condition.outcomes), len(condition.outcomes))
    in_a_row = len(list(takewhile(lambda scored: not scored, condition.outcomes)))
    waiting = max(timedelta(), now - condition.waiting_since) if condition.waiting_since else timedelta()
    if not failed.n and not condition.down_runs and waiting < SHORT_WAIT:
        return thin("The judge was not called yet.")
    is_down = (failed.n >= MIN_CALLS and failed.lower(limits.z) > MOST_ERRORS) or in_a_row >= FAILURES
    is_down = is_down or condition.down_runs >= DOWN_RUNS
    finding = Finding.BREACH if is_down or waiting > LONG_WAIT else Finding.BETWEEN
    is_well = (
        failed.n >= SUCCESSES
        and all(condition.outcomes[:SUCCESSES])
        and waiting < SHORT_WAIT
        and not condition.down_runs
    )
    return Reading(
        finding=Finding.GOOD if is_well else finding,
        severity=Severity.HIGH if finding is Finding.BREACH else None,
        sentence=(
            f"The judge gave no scores to {failed.k:,} of its last {counted(failed.n, 'turn')}, {in_a_row:,} of them "
            f"in a row; the oldest turn has waited {counted(waiting // timedelta(minutes=1), 'minute')}."
        ),
        value=failed.value,
        bound=failed.lower(limits.z),
        threshold=MOST_ERRORS,
        n=failed.n,
    )
