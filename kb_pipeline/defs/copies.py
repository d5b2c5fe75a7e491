"""The copy of retrieval events in ClickHouse, where one is configured: an asset, its job and its schedule.

Belongs here: these definitions, apart from the street's own, so that a copy that fails fails nothing else. Does not:
what is copied.
"""

import dagster as dg

from kb_pipeline.defs.hourly import OWNERS
from kb_pipeline.defs.resources import RetrievalStreets
from kb_pipeline.defs.retrieval import EVENTS

COPY_JOB = "copy_events"


@dg.asset(
    name="clickhouse_events",
    group_name="copies",
    owners=OWNERS,
    kinds={"clickhouse"},
    deps=[EVENTS],
    description="Retrieval events in ClickHouse, for heavy analysis: keys, scores and hashes, no text.",
)
def clickhouse_events(
    context: dg.AssetExecutionContext, retrieval: dg.ResourceParam[RetrievalStreets]
) -> dg.MaterializeResult[None]:
    """Add what was written since the newest event of the copy."""
    with retrieval.open(context.run.run_id) as street:
        return dg.MaterializeResult(metadata=dict(street.copy_events().counts))


def copy_definitions() -> dg.Definitions:
    """The copy, brought up to date every hour."""
    selection = dg.AssetSelection.assets(clickhouse_events)
    job = dg.define_asset_job(
        COPY_JOB, selection, executor_def=dg.in_process_executor, description="Bring the copy in ClickHouse up to date."
    )
    schedule = dg.ScheduleDefinition(
        name=f"{COPY_JOB}_hourly",
        job_name=COPY_JOB,
        cron_schedule="20 * * * *",
        execution_timezone="UTC",
        default_status=dg.DefaultScheduleStatus.RUNNING,
        description="Brings the copy in ClickHouse up to date.",
    )
    return dg.Definitions(assets=[clickhouse_events], jobs=[job], schedules=[schedule])
