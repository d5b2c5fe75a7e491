"""The backlog sensor: requests exactly the hours that hold work, late ones too.

Belongs here: which hours a tick requests. Does not: what counts as work (backlog_hours.sql).
"""

from collections.abc import Sequence
from datetime import datetime

import dagster as dg

from kb_pipeline.adapters.postgres.backlog import HourlyBacklog
from kb_pipeline.defs.in_flight import broken_runs, hours_in_flight
from kb_pipeline.defs.jobs import BACKLOG_JOB
from kb_pipeline.defs.resources import GradingStreets
from kb_pipeline.windows import partition_key

# Newer ticks bring the rest; the newest hours go first, so that a long backlog starves none of them.
MAX_REQUESTS = 24
NEWEST_FIRST = 2


def backlog_sensor(interval_s: int, first: datetime) -> dg.SensorDefinition:
    """The sensor, ticking every `interval_s` seconds; hours before `first` have no partition to request."""

    @dg.sensor(
        name="grading_backlog",
        job_name=BACKLOG_JOB,
        minimum_interval_seconds=interval_s,
        default_status=dg.DefaultSensorStatus.RUNNING,
        description="Requests the hours that hold unexamined, pending or retryable turns.",
    )
    def grading_backlog(
        context: dg.SensorEvaluationContext, streets: dg.ResourceParam[GradingStreets]
    ) -> dg.SensorResult:
        with streets.open() as street:
            backlog = street.backlog()
        busy = hours_in_flight(context.instance)
        hours = requested(backlog, busy, first)
        if not hours:
            return dg.SensorResult(skip_reason=f"No hour needs a run; {len(busy)} in flight.")
        return dg.SensorResult(run_requests=[_request(context.instance, each) for each in hours])

    return grading_backlog


def requested(backlog: Sequence[HourlyBacklog], busy: set[str], first: datetime) -> list[HourlyBacklog]:
    """The hours a tick asks for: none that is in flight, the two newest, then the oldest."""
    free = [each for each in backlog if partition_key(each.hour) not in busy and each.hour.start >= first]
    newest, older = free[-NEWEST_FIRST:], free[:-NEWEST_FIRST]
    return [*reversed(newest), *older[: MAX_REQUESTS - len(newest)]]


def _request(instance: dg.DagsterInstance, backlog: HourlyBacklog) -> dg.RunRequest:
    key = partition_key(backlog.hour)
    # A run key is remembered for ever: without the progress in it the rest after max_batch would never run again.
    return dg.RunRequest(partition_key=key, run_key=f"{key}|{backlog.progress}|{broken_runs(instance, key)}")
