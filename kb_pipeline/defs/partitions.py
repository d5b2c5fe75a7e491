"""Partitions: hours in UTC, the running one included.

Belongs here: partition definitions and their keys. Does not: what happens in an hour.
"""

from datetime import UTC, datetime

import dagster as dg

from kb_pipeline.windows import PARTITION_FORMAT, Window, floor_hour, hour_of, window_of

# Fixed, so that the keys of an installation never move; an earlier start_at moves it back.
FIRST_HOUR = datetime(2024, 1, 1, tzinfo=UTC)


def hourly_partitions(start_at: datetime | None = None) -> dg.HourlyPartitionsDefinition:
    """Every UTC hour from the first one on, the running hour included."""
    first = min(FIRST_HOUR, floor_hour(start_at)) if start_at else FIRST_HOUR
    return dg.HourlyPartitionsDefinition(
        start_date=first.strftime(PARTITION_FORMAT), timezone="UTC", fmt=PARTITION_FORMAT, end_offset=1
    )


def window_of_run(context: dg.AssetExecutionContext) -> Window:
    """The hour that a run materializes."""
    return window_of(context.partition_key)


def window_of_check(context: dg.AssetCheckExecutionContext, now: datetime) -> Window:
    """The hour that a check looks at: the run's partition, else the newest closed hour."""
    execution = context.op_execution_context
    if execution.has_partition_key:
        return window_of(execution.partition_key)
    current = hour_of(now)
    return Window(current.start - (current.end - current.start), current.start)
