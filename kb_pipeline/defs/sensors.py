"""The backlog sensor of a street: requests exactly the hours that hold work, late ones too.

Belongs here: which hours a tick requests. Does not: what counts as work (the street's backlog).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, TypeVar

import dagster as dg

from kb_pipeline.defs.in_flight import ended_runs, hours_in_flight, hours_that_wait
from kb_pipeline.defs.jobs import PRIORITY
from kb_pipeline.defs.streets import HourWithWork, StreetNames
from kb_pipeline.windows import hour_of, partition_key

# At most this many hours wait for their run at a time, so that a new hour never stands behind a long queue.
MAX_IN_FLIGHT = 24
# What is this late is found by every tick, what is later within the hour: a look at a trail of years costs seconds.
LATE = timedelta(days=7)
# These go first, whatever waits.
NEWEST = 2

WorkT = TypeVar("WorkT", bound=HourWithWork)


@dataclass(frozen=True, kw_only=True, slots=True)
class Cursor:
    """Where a tick goes on: behind the hour `after`; in the hour `looked_at_all` the far look was made.

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


def backlog_sensor(street: StreetNames[Any], interval_s: int, first: datetime) -> dg.SensorDefinition:
    """The street's sensor, ticking every `interval_s` seconds; hours before `first` have no partition to request."""

    @dg.sensor(
        name=street.sensor,
        job_name=street.backlog_job,
        minimum_interval_seconds=interval_s,
        default_status=dg.DefaultSensorStatus.RUNNING,
        description=f"Requests the hours that hold {street.waits}.",
        required_resource_keys={street.name},
    )
    def look_for_backlog(context: dg.SensorEvaluationContext) -> dg.SensorResult:
        # Asked before the backlog: an hour whose run ends in between is left to the next tick, not asked for twice.
        busy = hours_in_flight(context.instance, street)
        seen = Cursor.read(context.cursor)
        with street.of(context.resources).open() as opened:
            now = opened.clock.now()
            this_hour = partition_key(hour_of(now))
            backlog = opened.backlog(look_back=LATE if seen.looked_at_all == this_hour else street.far)
        failed = hours_that_wait(context.instance, street, now)
        backlog = [each for each in backlog if partition_key(each.hour) not in failed]
        newest, older = requested(backlog, busy, first, after=seen.after)
        asked = {partition_key(each.hour) for each in (*newest, *older)}
        is_all = all(partition_key(each.hour) in asked | busy for each in backlog if each.hour.start >= first)
        cursor = Cursor(
            after=partition_key(older[-1].hour) if older else seen.after,
            # What this tick had no room for must not wait for an hour.
            looked_at_all=this_hour if is_all else "",
        ).written()
        if not newest and not older:
            return dg.SensorResult(skip_reason=_idle(busy, failed), cursor=cursor)
        return dg.SensorResult(
            run_requests=[
                *(_request(context.instance, each, PRIORITY) for each in newest),
                *(_request(context.instance, each, {}) for each in older),
            ],
            cursor=cursor,
        )

    return look_for_backlog


def requested(
    backlog: Sequence[WorkT], busy: set[str], first: datetime, *, after: str = ""
) -> tuple[list[WorkT], list[WorkT]]:
    """The hours a tick asks for, none of them in flight: the two newest, and older ones while the queue has room.

    The older ones come in turn, oldest first, from the key `after` on and around: hours that fail again and again
    starve no other.
    """
    free = [each for each in backlog if partition_key(each.hour) not in busy and each.hour.start >= first]
    newest, older = free[-NEWEST:], free[:-NEWEST]
    done = [each for each in older if partition_key(each.hour) <= after]
    room = max(0, MAX_IN_FLIGHT - len(busy) - len(newest))
    return newest[::-1], [*older[len(done) :], *done][:room]


def _idle(busy: set[str], failed: set[str]) -> str:
    waits = f", {len(failed)} wait after a failed run" if failed else ""
    return f"No hour needs a run; {len(busy)} in flight{waits}."


def _request(instance: dg.DagsterInstance, backlog: HourWithWork, tags: dict[str, str]) -> dg.RunRequest:
    key = partition_key(backlog.hour)
    # A run key is remembered for ever: without the progress in it the rest after max_batch would never run again.
    run_key = f"{key}|{backlog.progress}|{ended_runs(instance, key)}"
    return dg.RunRequest(partition_key=key, run_key=run_key, tags=tags)
