"""How a verdict is shown by Dagster, and how long a window has to be to hold enough.

Belongs here: what the checks of both streets share. Does not: which checks there are, how a verdict is reached.
"""

from collections.abc import Callable, Iterator, Mapping
from datetime import timedelta
from typing import Any

import dagster as dg

from kb_pipeline.adapters.expectations import Subject, evaluate
from kb_pipeline.adapters.postgres.connection import Database
from kb_pipeline.verdicts import Health, Level, failed, passed
from kb_pipeline.windows import HOUR, Window

# A closed hour is given this long before it counts as missing.
SETTLING = timedelta(minutes=15)


def shown(
    verdict: Health, window: Window | None, facts: Mapping[str, Any], check_name: str | None = None
) -> dg.AssetCheckResult:
    """The verdict as a check's result, with the window it speaks of and what was counted."""
    bounds = {} if window is None else {"from": window.start.isoformat(), "to": window.end.isoformat()}
    known = {name: value for name, value in facts.items() if value is not None}
    return dg.AssetCheckResult(
        passed=verdict.level is Level.PASSED,
        severity=dg.AssetCheckSeverity.WARN if verdict.level is Level.WARNED else dg.AssetCheckSeverity.ERROR,
        check_name=check_name,
        description=verdict.reason,
        metadata={**bounds, **known},
    )


def expectation_specs(subject: Subject, asset: str) -> list[dg.AssetCheckSpec]:
    """One check of the asset per group of expectations."""
    return [dg.AssetCheckSpec(name, asset=asset, description=says) for name, says in subject.groups.items()]


def expectation_results(database: Database, subject: Subject, window: Window) -> Iterator[dg.AssetCheckResult]:
    """What the suite says of the rows of the window, check by check."""
    for each in evaluate(database, subject, window):
        broken = ", ".join(each.failed_expectations)
        verdict = passed(each.description) if each.passed else failed(f"Broken: {broken}.")
        yield shown(verdict, window, each.counts, check_name=each.name)


def busy_window(hour: Window, count: Callable[[Window], int], at_least: int) -> Window:
    """The shortest of 1, 6 and 24 hours up to this one that holds enough cases to judge a share."""
    for hours in (1, 6):
        window = Window(hour.end - hours * HOUR, hour.end)
        if count(window) >= at_least:
            return window
    return Window(hour.end - 24 * HOUR, hour.end)
