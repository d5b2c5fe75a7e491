"""Housekeeping: retention and partitions of our tables, and the size of Dagster's own event log.

Belongs here: the daily assets and the clean-up job. Does not: what is deleted (steps/expire.py, SQL).
"""

from datetime import timedelta

import dagster as dg

from kb_pipeline.adapters.clock import SystemClock
from kb_pipeline.adapters.postgres.dagster_storage import delete_old_events
from kb_pipeline.defs.hourly import OWNERS
from kb_pipeline.defs.jobs import MAINTENANCE_GROUP
from kb_pipeline.defs.resources import GradingStreets, RetrievalStreets

CLEANUP_JOB = "clean_event_log"
KEEP_EVENTS = timedelta(days=14)


@dg.asset(
    name="expired_text",
    group_name=MAINTENANCE_GROUP,
    owners=OWNERS,
    kinds={"postgres"},
    deps=["triads", "rag_quality"],
    description="Text, previews and rows past their retention, and turns that the source deleted, are gone from here.",
)
def expired_text(
    context: dg.AssetExecutionContext, grading: dg.ResourceParam[GradingStreets]
) -> dg.MaterializeResult[None]:
    """Apply the retention, once a day."""
    with grading.open(context.run.run_id) as street:
        return dg.MaterializeResult(metadata=dict(street.expire().counts))


@dg.asset(
    name="quality_partitions",
    group_name=MAINTENANCE_GROUP,
    owners=OWNERS,
    kinds={"postgres"},
    description="Monthly partitions of rag_quality exist from this month to three months ahead.",
)
def quality_partitions(
    context: dg.AssetExecutionContext, grading: dg.ResourceParam[GradingStreets]
) -> dg.MaterializeResult[None]:
    """Make the partitions ahead, once a day."""
    with grading.open(context.run.run_id) as street:
        return dg.MaterializeResult(metadata=dict(street.make_partitions().counts))


@dg.asset(
    name="expired_queries",
    group_name=MAINTENANCE_GROUP,
    owners=OWNERS,
    kinds={"postgres"},
    deps=["retrieval_events", "search_events", "draft_outcomes", "ground_truth"],
    description="Queries, previews and events past their retention, and drafts that the source deleted, are gone.",
)
def expired_queries(
    context: dg.AssetExecutionContext, retrieval: dg.ResourceParam[RetrievalStreets]
) -> dg.MaterializeResult[None]:
    """Apply the retention of the retrieval street, once a day."""
    with retrieval.open(context.run.run_id) as street:
        return dg.MaterializeResult(metadata=dict(street.expire().counts))


@dg.asset(
    name="late_hours",
    group_name=MAINTENANCE_GROUP,
    owners=OWNERS,
    kinds={"python", "postgres"},
    deps=["expired_queries"],
    description="Hours of the retrieval street that lag behind are derived, however old; the ground truth follows.",
)
def late_hours(
    context: dg.AssetExecutionContext, retrieval: dg.ResourceParam[RetrievalStreets]
) -> dg.MaterializeResult[None]:
    """Derive what is too old for the backlog sensor to look at, once a day."""
    with retrieval.open(context.run.run_id) as street:
        report = street.run()
    changed = {"outcomes_changed": report.outcomes.get("changed", 0), **report.windows}
    return dg.MaterializeResult(metadata={"hours": report.hours, **changed})


@dg.op(
    description="Delete log lines and step events of runs that ended two weeks ago; materializations and checks stay."
)
def delete_old_run_events(context: dg.OpExecutionContext) -> None:
    """Keep Dagster's event log from growing for ever."""
    deleted = delete_old_events(context.instance, before=SystemClock().now() - KEEP_EVENTS)
    context.log.info("%d events deleted", deleted)


@dg.job(name=CLEANUP_JOB, executor_def=dg.in_process_executor)
def clean_event_log() -> None:
    """Clean Dagster's own event log."""
    delete_old_run_events()
