"""Housekeeping: retention and partitions of our tables, and the size of Dagster's own event log.

Belongs here: the daily assets and the clean-up job. Does not: what is deleted (steps/expire.py, SQL).
"""

from collections.abc import Sequence
from datetime import timedelta

import dagster as dg

from kb_pipeline.adapters.clock import SystemClock
from kb_pipeline.adapters.postgres.dagster_storage import delete_old_events
from kb_pipeline.counting import counted
from kb_pipeline.defs.hourly import OWNERS, whole_asset
from kb_pipeline.defs.jobs import MAINTENANCE_GROUP
from kb_pipeline.defs.resources import RetrievalStreets
from kb_pipeline.defs.streets import GRADING, RETRIEVAL
from kb_pipeline.grading_street import GradingStreet
from kb_pipeline.retrieval_street import RetrievalStreet

CLEANUP_JOB = "clean_event_log"
KEEP_EVENTS = timedelta(days=14)


def _kept(name: str, description: str, deps: Sequence[str] = ()) -> dg.AssetSpec:
    return dg.AssetSpec(
        name, deps=deps, description=description, group_name=MAINTENANCE_GROUP, owners=OWNERS, kinds={"postgres"}
    )


expired_text = whole_asset(
    GRADING,
    _kept(
        "expired_text",
        "Text, previews and rows past their retention, and turns that the source deleted, are gone from here.",
        ["triads", "rag_quality"],
    ),
    GradingStreet.expire,
)
quality_partitions = whole_asset(
    GRADING,
    _kept("quality_partitions", "Monthly partitions of rag_quality exist from this month to three months ahead."),
    GradingStreet.make_partitions,
)
expired_queries = whole_asset(
    RETRIEVAL,
    _kept(
        "expired_queries",
        "Queries, previews and events past their retention, and drafts that the source deleted, are gone.",
        ["retrieval_events", "search_events", "draft_outcomes", "ground_truth"],
    ),
    RetrievalStreet.expire,
)


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
    context.log.info("%s deleted", counted(deleted, "event"))


@dg.job(name=CLEANUP_JOB, executor_def=dg.in_process_executor)
def clean_event_log() -> None:
    """Clean Dagster's own event log."""
    delete_old_run_events()
