"""Asset checks of the grading street: the verdicts of grading/health.py and the expectation suite of rag_quality.

Belongs here: checks and their metadata. Does not: how a verdict is reached.
"""

from collections.abc import Iterator
from dataclasses import asdict
from datetime import timedelta

import dagster as dg

from kb_pipeline.adapters.expectations import RAG_QUALITY
from kb_pipeline.defs.check_results import SETTLING, busy_window, expectation_results, expectation_specs, shown
from kb_pipeline.defs.partitions import window_of_check
from kb_pipeline.defs.resources import GradingStreets
from kb_pipeline.grading import health
from kb_pipeline.windows import HOUR, Window, hour_of

BASELINE = timedelta(days=14)


@dg.asset_check(asset="triads", description="Turns can still be read by the template's markers.")
def parse_success(
    context: dg.AssetCheckExecutionContext, grading: dg.ResourceParam[GradingStreets]
) -> dg.AssetCheckResult:
    """Warns below 99 %, fails below 90 % parse success, by the Wilson bound; never on one turn."""
    with grading.open() as street:
        window = window_of_check(context, street.clock.now())
        counts = street.ledger_counts(window)
        statuses = street.publication.parse_statuses(window)
    rate = counts.parse_success_rate
    return shown(health.parse_success(counts), window, {"parse_success_rate": rate, **statuses})


@dg.asset_check(asset="synthesis_bodies", description="Calls are still recognised as turns.")
def synthesis_share(
    context: dg.AssetCheckExecutionContext, grading: dg.ResourceParam[GradingStreets]
) -> dg.AssetCheckResult:
    """Fails when the share of recognised calls falls below a quarter of the fourteen days before."""
    with grading.open() as street:
        hour = window_of_check(context, street.clock.now())
        window = busy_window(hour, lambda hours: street.ledger_counts(hours).read, health.MIN_CALLS)
        counts = street.ledger_counts(window)
        baseline = street.baseline_counts(Window(window.start - BASELINE, window.start))
    shares = {"share": counts.synthesis_share, "usual": baseline.synthesis_share}
    return shown(health.synthesis_share(counts, baseline), window, shares)


@dg.asset_check(asset="judge_scores", description="The judge gives scores.")
def judge_answers(
    context: dg.AssetCheckExecutionContext, grading: dg.ResourceParam[GradingStreets]
) -> dg.AssetCheckResult:
    """Warns when most of the turns that were called have no scores: the run itself succeeds, and they wait."""
    with grading.open() as street:
        window = window_of_check(context, street.clock.now())
        scored, unscored = street.publication.scored(window)
    return shown(health.judge_answers(scored, unscored), window, {"scored": scored, "unscored": unscored})


@dg.asset_check(asset="rag_quality", description="Every recognised turn is in exactly one place.")
def coverage(context: dg.AssetCheckExecutionContext, grading: dg.ResourceParam[GradingStreets]) -> dg.AssetCheckResult:
    """Fails when seen is not graded + ungraded + skipped + pending + sampled out."""
    with grading.open() as street:
        window = window_of_check(context, street.clock.now())
        found = street.publication.coverage(window)
    return shown(health.coverage(found), window, asdict(found))


@dg.asset_check(asset="quality_windows", description="The newest closed hour was graded.")
def newest_closed_hour(grading: dg.ResourceParam[GradingStreets]) -> dg.AssetCheckResult:
    """Fails when the newest closed hour has calls and none was examined, whatever was backfilled."""
    with grading.open() as street:
        window = hour_of(street.clock.now() - HOUR - SETTLING)
        start = street.start_at()
        at_source, examined = street.publication.examined_of_source(window) if window.start >= start else (0, 0)
    return shown(health.newest_hour(at_source, examined), window, {"calls": at_source, "examined": examined})


@dg.multi_asset_check(
    name="rag_quality_expectations",
    specs=expectation_specs(RAG_QUALITY, "rag_quality"),
)
def rag_quality_expectations(
    context: dg.AssetCheckExecutionContext, grading: dg.ResourceParam[GradingStreets]
) -> Iterator[dg.AssetCheckResult]:
    """The Great Expectations suite over the published rows of the hour."""
    with grading.open() as street:
        window = window_of_check(context, street.clock.now())
        yield from expectation_results(street.database, RAG_QUALITY, window)


def grading_checks() -> list[dg.AssetChecksDefinition]:
    """The checks in plain SQL, cheap enough for every run."""
    return [parse_success, synthesis_share, judge_answers, coverage, newest_closed_hour]


def slow_grading_checks() -> list[dg.AssetChecksDefinition]:
    """The checks that import Great Expectations, for the hourly run."""
    return [rag_quality_expectations]
