"""Asset checks: the verdicts of grading/health.py and the expectation suite, as Dagster shows them.

Belongs here: checks and their metadata. Does not: how a verdict is reached.
"""

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from datetime import timedelta
from typing import Any

import dagster as dg

from kb_pipeline.adapters.expectations import EXPECTATION_GROUPS, evaluate
from kb_pipeline.defs.partitions import window_of_check
from kb_pipeline.defs.resources import GradingStreets
from kb_pipeline.grading import health
from kb_pipeline.grading.health import Health, Level
from kb_pipeline.grading_street import GradingStreet
from kb_pipeline.windows import HOUR, Window, hour_of

BASELINE = timedelta(days=14)
# A closed hour is given this long before it counts as missing.
SETTLING = timedelta(minutes=15)


@dg.asset_check(asset="triads", description="Turns can still be read by the template's markers.")
def parse_success(
    context: dg.AssetCheckExecutionContext, streets: dg.ResourceParam[GradingStreets]
) -> dg.AssetCheckResult:
    """Warns below 99 %, fails below 90 % parse success, by the Wilson bound; never on one turn."""
    with streets.open() as street:
        window = window_of_check(context, street.clock.now())
        counts = street.ledger_counts(window)
        statuses = street.publication.parse_statuses(window)
    rate = counts.parse_success_rate
    return _result(health.parse_success(counts), window, {"parse_success_rate": rate, **statuses})


@dg.asset_check(asset="synthesis_bodies", description="Calls are still recognised as turns.")
def synthesis_share(
    context: dg.AssetCheckExecutionContext, streets: dg.ResourceParam[GradingStreets]
) -> dg.AssetCheckResult:
    """Fails when the share of recognised calls falls below a quarter of the fourteen days before."""
    with streets.open() as street:
        window = _busy_window(street, window_of_check(context, street.clock.now()))
        counts = street.ledger_counts(window)
        baseline = street.baseline_counts(Window(window.start - BASELINE, window.start))
    shares = {"share": counts.synthesis_share, "usual": baseline.synthesis_share}
    return _result(health.synthesis_share(counts, baseline), window, shares)


@dg.asset_check(asset="judge_scores", description="The judge gives scores.")
def judge_answers(
    context: dg.AssetCheckExecutionContext, streets: dg.ResourceParam[GradingStreets]
) -> dg.AssetCheckResult:
    """Warns when most of the turns that were called have no scores: the run itself succeeds, and they wait."""
    with streets.open() as street:
        window = window_of_check(context, street.clock.now())
        scored, unscored = street.publication.scored(window)
    return _result(health.judge_answers(scored, unscored), window, {"scored": scored, "unscored": unscored})


@dg.asset_check(asset="rag_quality", description="Every recognised turn is in exactly one place.")
def coverage(context: dg.AssetCheckExecutionContext, streets: dg.ResourceParam[GradingStreets]) -> dg.AssetCheckResult:
    """Fails when seen is not graded + ungraded + skipped + pending + sampled out."""
    with streets.open() as street:
        window = window_of_check(context, street.clock.now())
        found = street.publication.coverage(window)
    return _result(health.coverage(found), window, asdict(found))


@dg.asset_check(asset="quality_windows", description="The newest closed hour was graded.")
def newest_closed_hour(streets: dg.ResourceParam[GradingStreets]) -> dg.AssetCheckResult:
    """Fails when the newest closed hour has calls and none was examined, whatever was backfilled."""
    with streets.open() as street:
        window = hour_of(street.clock.now() - HOUR - SETTLING)
        start = street.start_at()
        at_source, examined = street.publication.examined_of_source(window) if window.start >= start else (0, 0)
    return _result(health.newest_hour(at_source, examined), window, {"calls": at_source, "examined": examined})


@dg.multi_asset_check(
    name="rag_quality_expectations",
    specs=[
        dg.AssetCheckSpec(name, asset="rag_quality", description=description)
        for name, description in EXPECTATION_GROUPS.items()
    ],
)
def rag_quality_expectations(
    context: dg.AssetCheckExecutionContext, streets: dg.ResourceParam[GradingStreets]
) -> Iterator[dg.AssetCheckResult]:
    """The Great Expectations suite over the published rows of the hour."""
    with streets.open() as street:
        window = window_of_check(context, street.clock.now())
        results = evaluate(street.database, window)
    for each in results:
        broken = ", ".join(each.failed_expectations)
        verdict = Health(
            level=Level.PASSED if each.passed else Level.FAILED,
            reason=each.description if each.passed else f"Broken: {broken}.",
        )
        yield _result(verdict, window, each.counts, check_name=each.name)


def ledger_checks() -> list[dg.AssetChecksDefinition]:
    """The checks in plain SQL, cheap enough for every run."""
    return [parse_success, synthesis_share, judge_answers, coverage, newest_closed_hour]


def expectation_checks() -> list[dg.AssetChecksDefinition]:
    """The checks that import Great Expectations, for the hourly run."""
    return [rag_quality_expectations]


def _busy_window(street: GradingStreet, hour: Window) -> Window:
    """The shortest of 1, 6 and 24 hours up to this one that holds enough calls to judge a share."""
    for hours in (1, 6):
        window = Window(hour.end - hours * HOUR, hour.end)
        counts = street.ledger_counts(window)
        if counts.examined - counts.self_calls >= health.MIN_CALLS:
            return window
    return Window(hour.end - 24 * HOUR, hour.end)


def _result(
    verdict: Health, window: Window, facts: Mapping[str, Any], check_name: str | None = None
) -> dg.AssetCheckResult:
    known = {name: value for name, value in facts.items() if value is not None}
    return dg.AssetCheckResult(
        passed=verdict.level is Level.PASSED,
        severity=dg.AssetCheckSeverity.WARN if verdict.level is Level.WARNED else dg.AssetCheckSeverity.ERROR,
        check_name=check_name,
        description=verdict.reason,
        metadata={"from": window.start.isoformat(), "to": window.end.isoformat(), **known},
    )
