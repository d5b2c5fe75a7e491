"""Half-open UTC hours: the only place that knows what "an hour" is.

Belongs here: arithmetic on time windows. Does not: the clock (callers pass `now`).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

HOUR = timedelta(hours=1)
PARTITION_FORMAT = "%Y-%m-%d-%H:%M"


@dataclass(frozen=True, slots=True, order=True)
class Window:
    """The instants t with start <= t < end; both ends are aware and kept in UTC.

    Raises ValueError for a naive datetime or an end that is not after the start.
    """

    start: datetime
    end: datetime

    def __post_init__(self) -> None:
        for name in ("start", "end"):
            value: datetime = getattr(self, name)
            if value.tzinfo is None:
                raise ValueError(
                    f"{name} of a window has no time zone: {value.isoformat()}; give one, for example +00:00"
                )
            object.__setattr__(self, name, value.astimezone(UTC))
        if self.end <= self.start:
            raise ValueError(f"a window ends after it starts, but {self.end.isoformat()} <= {self.start.isoformat()}")

    def __contains__(self, instant: datetime) -> bool:
        return self.start <= instant < self.end

    def hours(self) -> Iterator["Window"]:
        """The whole UTC hours that this window touches, oldest first."""
        start = floor_hour(self.start)
        while start < self.end:
            yield Window(start, start + HOUR)
            start += HOUR


def floor_hour(instant: datetime) -> datetime:
    """The start of the UTC hour that holds `instant`."""
    if instant.tzinfo is None:
        raise ValueError(f"an instant has no time zone: {instant.isoformat()}; give one, for example +00:00")
    return instant.astimezone(UTC).replace(minute=0, second=0, microsecond=0)


def hour_of(instant: datetime) -> Window:
    """The UTC hour that holds `instant`."""
    start = floor_hour(instant)
    return Window(start, start + HOUR)


def partition_key(window: Window) -> str:
    """The key of an hourly partition, for example 2026-07-09-14:00."""
    return window.start.strftime(PARTITION_FORMAT)


def window_of(key: str) -> Window:
    """The hour of a partition key; raises ValueError for anything else."""
    return hour_of(datetime.strptime(key, PARTITION_FORMAT).replace(tzinfo=UTC))


def last_hours(now: datetime, count: int) -> tuple[Window, ...]:
    """The `count` newest hours, the running one last."""
    current = hour_of(now)
    return tuple(Window(current.start - HOUR * back, current.end - HOUR * back) for back in reversed(range(count)))
