"""Housekeeping: retention and partitions of our tables, and the size of Dagster's own event log.

Belongs here: the daily assets and the clean-up job. Does not: what is deleted (steps/expire.py, SQL).
"""

from datetime import timedelta

import dagster as dg

from kb_pipeline.adapters.clock import SystemClock
from kb_pipeline.adapters.postgres.dagster_storage import delete_old_events
from kb_pipeline.defs.resources import GradingStreets

MAINTENANCE_GROUP = "maintenance"
CLEANUP_JOB = "clean_event_log"
KEEP_EVENTS = timedelta(days=14)


@dg.asset(
    name="expired_text",
    group_name=MAINTENANCE_GROUP,
    owners=["team:rag-quality"],
    kinds={"postgres"},
    deps=["triads", "rag_quality"],
    description="Text, previews and rows past their retention, and turns that the source deleted, are gone from here.",
)
def expired_text(
    context: dg.AssetExecutionContext, streets: dg.ResourceParam[GradingStreets]
) -> dg.MaterializeResult[None]:
    """Apply the retention, once a day."""
    with streets.open(context.run.run_id) as street:
        return dg.MaterializeResult(metadata=dict(street.expire().counts))


@dg.asset(
    name="quality_partitions",
    group_name=MAINTENANCE_GROUP,
    owners=["team:rag-quality"],
    kinds={"postgres"},
    description="Monthly partitions of rag_quality exist from this month to three months ahead.",
)
def quality_partitions(
    context: dg.AssetExecutionContext, streets: dg.ResourceParam[GradingStreets]
) -> dg.MaterializeResult[None]:
    """Make the partitions ahead, once a day."""
    with streets.open(context.run.run_id) as street:
        return dg.MaterializeResult(metadata=dict(street.make_partitions().counts))


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
