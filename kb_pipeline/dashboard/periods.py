"""The period that somebody looks at, in whole UTC hours, and how it is read from days and hours.

Belongs here: zones, daylight saving, steps. Does not: the clock (callers pass `now`), numbers.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from functools import cache
from zoneinfo import ZoneInfo, available_timezones

from kb_pipeline.counting import counted
from kb_pipeline.windows import HOUR, Window, floor_hour, hour_of

DAY = timedelta(days=1)
LONGEST_DAYS = 5 * 366
NAMED = {"24h": "24 hours", "7d": "7 days", "30d": "30 days", "90d": "90 days", "365d": "1 year"}
_NAME = re.compile(r"(?P<count>[1-9][0-9]{0,4})(?P<unit>[hd])")
# Up to here a trend is read hour by hour; beyond, a point is a whole UTC day.
_HOURLY = timedelta(days=31)
_MOST_POINTS = 64
_FIRST_YEAR = 1900
_CALENDAR = f"dates from the year {_FIRST_YEAR} to the year 9998 are accepted"


class UnknownPeriod(ValueError):
    """A period, date or zone that cannot be used; the message says what is accepted."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Period:
    """A window in whole UTC hours, seen in a zone; `is_rounded` where the zone's days begin off the full hour."""

    window: Window
    zone: ZoneInfo
    name: str
    is_rounded: bool = False

    @property
    def before(self) -> Window:
        """The window of the same length that ends where this one begins."""
        return Window(self.window.start - self.length, self.window.start)

    @property
    def length(self) -> timedelta:
        """How long it is."""
        return self.window.end - self.window.start

    @property
    def words(self) -> str:
        """Its length in words, as in "week before": "7 days"."""
        return NAMED.get(self.name, _length_words(self.length))

    @property
    def is_read_hourly(self) -> bool:
        """Whether a trend over it has points within a day."""
        return self.length <= _HOURLY

    @property
    def step(self) -> timedelta:
        """The distance of a trend's points: at most 64 of them within a day's reading, else one a day."""
        if not self.is_read_hourly:
            return DAY
        return next(step * HOUR for step in (1, 2, 3, 6, 12, 24) if self.length <= step * HOUR * _MOST_POINTS)

    @property
    def days(self) -> list[date]:
        """The days that counts are shown by, oldest first: those of the zone, or UTC days of a long period."""
        if self.is_read_hourly:
            return [day for day, _ in self.local_days()]
        first, last = self.window.start.astimezone(UTC).date(), (self.window.end - HOUR).astimezone(UTC).date()
        return [first + DAY * number for number in range((last - first).days + 1)]

    def local_days(self) -> Iterator[tuple[date, Window]]:
        """The days of the zone that the window touches, cut to it, oldest first; a day may have 23 or 25 hours."""
        day = self.window.start.astimezone(self.zone).date()
        while True:
            start = max(self.window.start, midnight(day, self.zone))
            end = min(self.window.end, midnight(day + DAY, self.zone))
            if start >= self.window.end:
                return
            if start < end:
                yield day, Window(start, end)
            day += DAY


@dataclass(frozen=True, kw_only=True, slots=True)
class Parts:
    """A window as whole UTC days, and hours before and after them; a part without any is empty: start = end."""

    head: tuple[datetime, datetime]
    days: tuple[date, date]
    tail: tuple[datetime, datetime]

    @property
    def bounds(self) -> dict[str, datetime | date]:
        """The parts as parameters of a query; each end is excluded."""
        names = ("head_start", "head_end", "first_day", "last_day", "tail_start", "tail_end")
        return dict(zip(names, (*self.head, *self.days, *self.tail), strict=True))


def parts(window: Window) -> Parts:
    """How the sums over a window are read with the fewest rows: each hour of it is in exactly one part."""
    first = _midnight_from(window.start)
    last = floor_hour(window.end).replace(hour=0)
    if first >= last:
        return Parts(
            head=(window.start, window.end),
            days=(window.start.date(), window.start.date()),
            tail=(window.end, window.end),
        )
    return Parts(head=(window.start, first), days=(first.date(), last.date()), tail=(last, window.end))


def _midnight_from(instant: datetime) -> datetime:
    start = instant.replace(hour=0, minute=0, second=0, microsecond=0)
    return start if start == instant else start + DAY


@cache
def zone_of(name: str) -> ZoneInfo:
    """The zone of an IANA name; raises UnknownPeriod for any other."""
    if name not in available_timezones():
        raise UnknownPeriod("a zone of the IANA database is accepted, for example Asia/Jakarta or UTC")
    return ZoneInfo(name)


def midnight(day: date, zone: ZoneInfo) -> datetime:
    """The start of a day in the zone, in UTC, rounded down to the full hour."""
    return floor_hour(datetime.combine(day, time(), zone).astimezone(UTC))


def period_of(name: str, *, now: datetime, zone: ZoneInfo) -> Period:
    """The last hours ("24h") or days ("7d") up to and including the running hour; never an hour ahead of it.

    A day is a day of the zone: seven of them may be 167 or 169 hours. Raises UnknownPeriod.
    """
    match = _NAME.fullmatch(name)
    end = hour_of(now).end
    if not match:
        raise UnknownPeriod("a number of hours or days is accepted, for example 24h or 7d")
    count = int(match["count"])
    if match["unit"] == "h" and count <= LONGEST_DAYS * 24:
        return Period(window=Window(end - HOUR * count, end), zone=zone, name=name, is_rounded=_is_off(end, zone))
    if match["unit"] == "h" or count > LONGEST_DAYS:
        raise UnknownPeriod(f"up to {LONGEST_DAYS} days are accepted")
    wall = end.astimezone(zone).replace(tzinfo=None) - timedelta(days=count)
    start = floor_hour(wall.replace(tzinfo=zone))
    return Period(window=Window(start, end), zone=zone, name=name, is_rounded=_is_off(end, zone))


def period_between(first: date, last: date, *, now: datetime, zone: ZoneInfo) -> Period:
    """The days of the zone from `first` to `last`, both included, up to the running hour; raises UnknownPeriod."""
    try:
        start, end = midnight(first, zone), min(midnight(last + DAY, zone), hour_of(now).end)
    except (OverflowError, ValueError):
        raise UnknownPeriod(_CALENDAR) from None
    if start.year < _FIRST_YEAR:
        # What is read beside a period lies before it.
        raise UnknownPeriod(_CALENDAR)
    if end <= start:
        raise UnknownPeriod("a first day that is not after the last one, and not in the future, is accepted")
    if end - start > timedelta(days=LONGEST_DAYS):
        raise UnknownPeriod(f"up to {LONGEST_DAYS} days are accepted")
    return Period(window=Window(start, end), zone=zone, name=f"{first} to {last}", is_rounded=_is_off(start, zone))


def _is_off(instant: datetime, zone: ZoneInfo) -> bool:
    offset = instant.astimezone(zone).utcoffset() or timedelta()
    return bool(offset % HOUR)


def _length_words(length: timedelta) -> str:
    hours = int(length / HOUR)
    return counted(hours, "hour") if hours % 24 else counted(hours // 24, "day")
