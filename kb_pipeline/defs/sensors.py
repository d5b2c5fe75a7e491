"""The backlog sensor: requests exactly the hours that hold work, late ones too.

Belongs here: which hours a tick requests. Does not: what counts as work (backlog_hours.sql).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import dagster as dg

from kb_pipeline.adapters.postgres.backlog import HourlyBacklog
from kb_pipeline.defs.in_flight import ended_runs, hours_in_flight
from kb_pipeline.defs.jobs import BACKLOG_JOB, PRIORITY
from kb_pipeline.defs.resources import GradingStreets
from kb_pipeline.windows import hour_of, partition_key

# At most this many hours wait for their run at a time, so that a new hour never stands behind a long queue.
MAX_IN_FLIGHT = 24
# Calls this late are found by every tick, later ones within the hour: a look at a trail of years costs seconds.
LATE = timedelta(days=7)
# These go first, whatever waits.
NEWEST = 2


@dataclass(frozen=True, kw_only=True, slots=True)
class Cursor:
    """Where a tick goes on: behind the hour `after`; in the hour `looked_at_all` the whole trail was looked through.

    It passes nothing over: what a tick does not ask for, a later one finds again.
    """

    after: str = ""
    looked_at_all: str = ""

    @classmethod
    def read(cls, text: str | None) -> "Cursor":
        """From what an earlier tick wrote; anything else begins anew."""
        after, _, looked_at_all = (text or "").partition("|")
        return cls(after=after, looked_at_all=looked_at_all)

    def written(self) -> str:
        """As Dagster keeps it."""
        return f"{self.after}|{self.looked_at_all}"


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
        # Asked before the backlog: an hour whose run ends in between is left to the next tick, not asked for twice.
        busy = hours_in_flight(context.instance)
        seen = Cursor.read(context.cursor)
        with streets.open() as street:
            this_hour = partition_key(hour_of(street.clock.now()))
            backlog = street.backlog(look_back=LATE if seen.looked_at_all == this_hour else None)
        newest, older = requested(backlog, busy, first, after=seen.after)
        asked = {partition_key(each.hour) for each in (*newest, *older)}
        is_all = all(partition_key(each.hour) in asked | busy for each in backlog if each.hour.start >= first)
        cursor = Cursor(
            after=partition_key(older[-1].hour) if older else seen.after,
            # What this tick had no room for must not wait for an hour.
            looked_at_all=this_hour if is_all else "",
        ).written()
        if not newest and not older:
            return dg.SensorResult(skip_reason=f"No hour needs a run; {len(busy)} in flight.", cursor=cursor)
        return dg.SensorResult(
            run_requests=[
                *(_request(context.instance, each, PRIORITY) for each in newest),
                *(_request(context.instance, each, {}) for each in older),
            ],
            cursor=cursor,
        )

    return grading_backlog


def requested(
    backlog: Sequence[HourlyBacklog], busy: set[str], first: datetime, *, after: str = ""
) -> tuple[list[HourlyBacklog], list[HourlyBacklog]]:
    """The hours a tick asks for, none of them in flight: the two newest, and older ones while the queue has room.

    The older ones come in turn, oldest first, from the key `after` on and around: hours that fail again and again
    starve no other.
    """
    free = [each for each in backlog if partition_key(each.hour) not in busy and each.hour.start >= first]
    newest, older = free[-NEWEST:], free[:-NEWEST]
    done = [each for each in older if partition_key(each.hour) <= after]
    room = max(0, MAX_IN_FLIGHT - len(busy) - len(newest))
    return newest[::-1], [*older[len(done) :], *done][:room]


def _request(instance: dg.DagsterInstance, backlog: HourlyBacklog, tags: dict[str, str]) -> dg.RunRequest:
    key = partition_key(backlog.hour)
    # A run key is remembered for ever: without the progress in it the rest after max_batch would never run again.
    run_key = f"{key}|{backlog.progress}|{ended_runs(instance, key)}"
    return dg.RunRequest(partition_key=key, run_key=run_key, tags=tags)
