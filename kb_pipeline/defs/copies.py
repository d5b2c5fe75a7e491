"""The copy of retrieval events in ClickHouse, where one is configured: an asset, its job and its schedule.

Belongs here: these definitions, apart from the street's own, so that a copy that fails fails nothing else. Does not:
what is copied.
"""

import dagster as dg

from kb_pipeline.defs.hourly import OWNERS, whole_asset
from kb_pipeline.defs.jobs import in_process_job
from kb_pipeline.defs.retrieval import EVENTS
from kb_pipeline.defs.schedules import regular_schedule
from kb_pipeline.defs.streets import RETRIEVAL
from kb_pipeline.retrieval_street import RetrievalStreet

COPY_JOB = "copy_events"

clickhouse_events = whole_asset(
    RETRIEVAL,
    dg.AssetSpec(
        "clickhouse_events",
        deps=[EVENTS],
        description="Retrieval events in ClickHouse, for heavy analysis: keys, scores and hashes, no text.",
        group_name="copies",
        owners=OWNERS,
        kinds={"clickhouse"},
    ),
    RetrievalStreet.copy_events,
)


def copy_definitions() -> dg.Definitions:
    """The copy, brought up to date every hour."""
    description = "Brings the copy in ClickHouse up to date."
    return dg.Definitions(
        assets=[clickhouse_events],
        jobs=[in_process_job(COPY_JOB, dg.AssetSelection.assets(clickhouse_events), description)],
        schedules=[regular_schedule(f"{COPY_JOB}_hourly", COPY_JOB, "20 * * * *", description)],
    )
