"""Dagster's own event log, where it lives in PostgreSQL.

Belongs here: its clean-up. Does not: our tables.
"""

from datetime import datetime
from typing import TYPE_CHECKING

from dagster_postgres.event_log import PostgresEventLogStorage
from sqlalchemy import text

from kb_pipeline.adapters.postgres.queries import load

if TYPE_CHECKING:
    from dagster import DagsterInstance

BATCH = 10_000
# Partition history, check results and the outcome of runs are read from these for ever.
KEPT_EVENTS = (
    "ASSET_MATERIALIZATION",
    "ASSET_OBSERVATION",
    "ASSET_CHECK_EVALUATION",
    "ASSET_CHECK_EVALUATION_PLANNED",
    "ASSET_MATERIALIZATION_PLANNED",
    "ASSET_FAILED_TO_MATERIALIZE",
    "ASSET_WIPED",
    "FRESHNESS_STATE_CHANGE",
    "PIPELINE_START",
    "PIPELINE_SUCCESS",
    "PIPELINE_FAILURE",
    "PIPELINE_CANCELED",
)


def delete_old_events(instance: "DagsterInstance", *, before: datetime) -> int:
    """Delete, in batches, events of runs that ended before the instant; returns how many: none outside PostgreSQL."""
    storage = instance.event_log_storage
    if not isinstance(storage, PostgresEventLogStorage):
        return 0
    parameters = {"before": before.timestamp(), "kept": list(KEPT_EVENTS), "limit": BATCH}
    statement = text(load("delete_dagster_events"))
    total = 0
    while True:
        with storage.index_connection() as connection:
            deleted = connection.execute(statement, parameters).rowcount
        total += deleted
        if deleted < BATCH:
            return total
