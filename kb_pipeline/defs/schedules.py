"""Schedules, born running: the last closed hour and the current one every hour, housekeeping every night.

Belongs here: when jobs run. Does not: which hours hold a backlog (sensors.py).
"""

from collections.abc import Iterator
from typing import Any

import dagster as dg

from kb_pipeline.defs.in_flight import hours_in_flight
from kb_pipeline.defs.jobs import DAILY_JOB, HARVEST_JOB, PRIORITY
from kb_pipeline.defs.maintenance import CLEANUP_JOB
from kb_pipeline.defs.streets import StreetNames
from kb_pipeline.windows import last_hours, partition_key


def hourly_schedule(street: StreetNames[Any]) -> dg.ScheduleDefinition:
    """One run each for the last closed hour and the current one of a street.

    An hour whose run is in flight is left to that run and to the backlog sensor.
    """

    @dg.schedule(
        name=street.schedule,
        job_name=street.hourly_job,
        cron_schedule=f"{street.minute} * * * *",
        execution_timezone="UTC",
        default_status=dg.DefaultScheduleStatus.RUNNING,
        description=f"{street.does}: the last closed hour and the current one.",
    )
    def run_newest_hours(context: dg.ScheduleEvaluationContext) -> Iterator[dg.RunRequest | dg.SkipReason]:
        busy = hours_in_flight(context.instance, street)
        for hour in last_hours(context.scheduled_execution_time, 2):
            key = partition_key(hour)
            if key not in busy:
                run_key = f"{context.scheduled_execution_time:%Y-%m-%dT%H:%M}|{key}"
                yield dg.RunRequest(run_key=run_key, partition_key=key, tags=PRIORITY)

    return run_newest_hours


def harvest_schedule() -> dg.ScheduleDefinition:
    """The ground truth, once an hour, when the hour's outcomes stand."""
    return regular_schedule(f"{HARVEST_JOB}_hourly", HARVEST_JOB, "15 * * * *", "Brings the ground truth up to date.")


def nightly_schedules() -> list[dg.ScheduleDefinition]:
    """Housekeeping."""
    return [
        regular_schedule(
            f"{DAILY_JOB}_nightly", DAILY_JOB, "10 3 * * *", "Drops what is past its retention, makes partitions ahead."
        ),
        regular_schedule(f"{CLEANUP_JOB}_nightly", CLEANUP_JOB, "40 3 * * *", "Keeps Dagster's own event log small."),
    ]


def regular_schedule(name: str, job: str, cron: str, description: str) -> dg.ScheduleDefinition:
    """A schedule in UTC for a job without hours."""
    return dg.ScheduleDefinition(
        name=name,
        job_name=job,
        cron_schedule=cron,
        execution_timezone="UTC",
        default_status=dg.DefaultScheduleStatus.RUNNING,
        description=description,
    )
