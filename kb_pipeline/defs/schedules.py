"""Schedules, born running: the last closed hour and the current one every hour, housekeeping every night.

Belongs here: when jobs run. Does not: which hours hold a backlog (sensors.py).
"""

from collections.abc import Iterator

import dagster as dg

from kb_pipeline.defs.in_flight import hours_in_flight
from kb_pipeline.defs.jobs import DAILY_JOB, HOURLY_JOB, PRIORITY
from kb_pipeline.defs.maintenance import CLEANUP_JOB
from kb_pipeline.windows import last_hours, partition_key


@dg.schedule(
    name="grade_hourly",
    job_name=HOURLY_JOB,
    cron_schedule="2 * * * *",
    execution_timezone="UTC",
    default_status=dg.DefaultScheduleStatus.RUNNING,
    description="Grades the last closed hour and the current one.",
)
def grade_hourly(context: dg.ScheduleEvaluationContext) -> Iterator[dg.RunRequest | dg.SkipReason]:
    """One run per hour; an hour whose run is in flight is left to that run and to the backlog sensor."""
    busy = hours_in_flight(context.instance)
    for hour in last_hours(context.scheduled_execution_time, 2):
        key = partition_key(hour)
        if key not in busy:
            run_key = f"{context.scheduled_execution_time:%Y-%m-%dT%H:%M}|{key}"
            yield dg.RunRequest(run_key=run_key, partition_key=key, tags=PRIORITY)


def schedules() -> list[dg.ScheduleDefinition]:
    """All schedules of the street."""
    return [
        grade_hourly,
        _nightly(DAILY_JOB, "10 3 * * *", "Drops what is past its retention and makes partitions ahead."),
        _nightly(CLEANUP_JOB, "40 3 * * *", "Keeps Dagster's own event log small."),
    ]


def _nightly(job: str, cron: str, description: str) -> dg.ScheduleDefinition:
    return dg.ScheduleDefinition(
        name=f"{job}_nightly",
        job_name=job,
        cron_schedule=cron,
        execution_timezone="UTC",
        default_status=dg.DefaultScheduleStatus.RUNNING,
        description=description,
    )
