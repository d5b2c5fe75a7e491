"""Calibrate the judge on the experts' own outcomes: scores and decisions of thirty days become one day's rows.

Belongs here: load, decide, save, and which days belong to a day. Does not: formulas (grading/calibration), SQL.
"""

from datetime import UTC, date, datetime, time, timedelta

from kb_pipeline.grading.calibration import expert_agreements
from kb_pipeline.ports import CalibrationBook
from kb_pipeline.records import StepReport
from kb_pipeline.windows import Window

SPAN = timedelta(days=30)


def calibrate_judge(day: date, *, book: CalibrationBook, threshold: float, seed: int = 0) -> StepReport:
    """The rows of `day`, over the turns of the thirty UTC days that end with it; a second time replaces them.

    `threshold` is the faithfulness from which on a score says good.
    """
    end = datetime.combine(day, time(), UTC) + timedelta(days=1)
    labels, sums = book.expert_labels(Window(end - SPAN, end))
    rows = expert_agreements(labels, sums, threshold=threshold, seed=seed)
    book.replace(day, rows)
    return StepReport(
        counts={"graded_turns": sum(each.n for each in sums), "expert_labels": len(labels), "rows": len(rows)}
    )


def last_closed_day(now: datetime) -> date:
    """The UTC day before the running one."""
    return now.astimezone(UTC).date() - timedelta(days=1)
