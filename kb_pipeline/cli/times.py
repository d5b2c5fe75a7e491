"""Instants on the command line: an ISO 8601 time with its zone, or how long ago.

Belongs here: reading --since and --until. Does not: hours and windows (kb_pipeline/windows.py).
"""

import re
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from kb_pipeline.windows import Window

AGO = re.compile(r"(?P<count>[0-9]{1,6})(?P<unit>[mhdw])")
FIRST_YEAR = 1900
UNITS = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
ACCEPTED = "a time with its zone such as 2026-07-09T14:00+07:00, or how long ago, such as 90m, 24h or 7d"


class Instant(click.ParamType[datetime]):
    """An aware instant in UTC."""

    name = "T"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> datetime:
        if isinstance(value, datetime):
            return value
        try:
            return parse_instant(str(value))
        except ValueError as error:
            self.fail(str(error), param, ctx)


def parse_instant(text: str) -> datetime:
    """The instant that `text` names, in UTC; raises ValueError with a sentence."""
    from kb_pipeline.adapters.clock import SystemClock

    if ago := AGO.fullmatch(text.strip()):
        try:
            return _in_the_calendar(text, SystemClock().now() - timedelta(**{UNITS[ago["unit"]]: int(ago["count"])}))
        except OverflowError:
            raise ValueError(f"{text} lies before the calendar begins; accepted: {ACCEPTED}") from None
    try:
        instant = datetime.fromisoformat(text.strip())
    except ValueError:
        raise ValueError(f"{text!r} is not a time; accepted: {ACCEPTED}") from None
    if instant.tzinfo is None:
        raise ValueError(f"{text!r} has no time zone; accepted: {ACCEPTED}")
    try:
        return _in_the_calendar(text, instant.astimezone(UTC))
    except OverflowError:
        raise ValueError(f"{text!r} lies outside the calendar; accepted: {ACCEPTED}") from None


def _in_the_calendar(text: str, instant: datetime) -> datetime:
    """Rules look back from an instant, and nothing was audited that long ago."""
    if instant.year < FIRST_YEAR:
        raise ValueError(f"{text} lies before {FIRST_YEAR}; accepted: {ACCEPTED}")
    return instant


def refuse_future(instant: datetime | None, option: str) -> None:
    """Raises click.UsageError where the instant that `option` gives has not come yet."""
    from kb_pipeline.adapters.clock import SystemClock

    if instant and instant >= SystemClock().now():
        raise click.UsageError(f"{option} ({instant.isoformat()}) lies in the future; give a time before now")


def check_order(since: datetime | None, until: datetime | None) -> None:
    """Raises click.UsageError where --since lies in the future, or --until is not after it."""
    refuse_future(since, "--since")
    if since and until and until <= since:
        raise click.UsageError(f"--until ({until.isoformat()}) is not after --since ({since.isoformat()})")


def window_until_now(since: datetime) -> "Window":
    """From `since` until now; raises click.UsageError where that lies in the future."""
    from kb_pipeline.adapters.clock import SystemClock
    from kb_pipeline.windows import Window

    refuse_future(since, "--since")
    return Window(since, SystemClock().now())


def period(since: datetime, until: datetime | None = None) -> "Window":
    """From `since` to `until`, or until now; raises click.UsageError where it is empty or begins in the future."""
    from kb_pipeline.windows import Window

    until_now = window_until_now(since)
    check_order(since, until)
    return Window(since, until) if until else until_now
