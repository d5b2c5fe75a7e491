"""Periods are whole UTC hours of the viewer's days, also when the clock changes."""

from datetime import UTC, date, datetime, timedelta
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb_pipeline.dashboard.periods import (
    UnknownPeriod,
    parts,
    period_between,
    period_of,
    zone_of,
)
from kb_pipeline.windows import HOUR, Window

NOW = datetime(2026, 3, 30, 7, 20, tzinfo=UTC)
INSTANTS = st.datetimes(NOW.replace(year=2020, tzinfo=None), NOW.replace(year=2030, tzinfo=None))
ZONES = st.sampled_from(
    ["UTC", "Asia/Jakarta", "Europe/Berlin", "America/New_York", "Asia/Kolkata", "Australia/Lord_Howe"]
)


def test_a_period_ends_with_the_running_hour_and_never_ahead_of_it() -> None:
    found = period_of("24h", now=NOW, zone=zone_of("UTC"))
    assert found.window == Window(datetime(2026, 3, 29, 8, tzinfo=UTC), datetime(2026, 3, 30, 8, tzinfo=UTC))


@pytest.mark.parametrize(
    ("now", "hours"),
    [
        (NOW, 7 * 24 - 1),
        (datetime(2026, 10, 26, 7, 20, tzinfo=UTC), 7 * 24 + 1),
        (datetime(2026, 7, 9, tzinfo=UTC), 7 * 24),
    ],
)
def test_seven_days_are_an_hour_shorter_or_longer_when_the_clock_changes(now: datetime, hours: int) -> None:
    assert period_of("7d", now=now, zone=zone_of("Europe/Berlin")).length == HOUR * hours


def test_the_day_of_the_change_has_23_or_25_hours() -> None:
    berlin = zone_of("Europe/Berlin")
    now = datetime(2026, 12, 1, tzinfo=UTC)
    short = period_between(date(2026, 3, 29), date(2026, 3, 29), now=now, zone=berlin)
    long = period_between(date(2026, 10, 25), date(2026, 10, 25), now=now, zone=berlin)
    assert (short.length, long.length) == (HOUR * 23, HOUR * 25)


def test_a_zone_off_the_full_hour_is_rounded_and_says_so() -> None:
    kolkata = zone_of("Asia/Kolkata")
    found = period_between(date(2026, 3, 1), date(2026, 3, 2), now=NOW, zone=kolkata)
    assert found.is_rounded
    assert found.window.start == datetime(2026, 2, 28, 18, tzinfo=UTC)
    assert not period_of("7d", now=NOW, zone=zone_of("Asia/Jakarta")).is_rounded


@given(ZONES, st.integers(1, 400), INSTANTS)
def test_the_days_of_a_period_are_all_of_it_once(zone: str, days: int, naive: datetime) -> None:
    found = period_of(f"{days}d", now=naive.replace(tzinfo=UTC), zone=zone_of(zone))
    windows = [window for _, window in found.local_days()]
    assert windows[0].start == found.window.start
    assert windows[-1].end == found.window.end
    assert all(before.end == after.start for before, after in pairwise(windows))


@given(INSTANTS, st.integers(1, 2000))
def test_each_hour_of_a_window_is_read_from_exactly_one_place(naive: datetime, hours: int) -> None:
    start = naive.replace(tzinfo=UTC, minute=0, second=0, microsecond=0)
    found = parts(Window(start, start + HOUR * hours))
    day_hours = (found.days[1] - found.days[0]) // timedelta(hours=1)
    head, tail = ((end - begin) // HOUR for begin, end in (found.head, found.tail))
    assert head + day_hours + tail == hours
    assert head < 48
    assert tail < 24


@pytest.mark.parametrize("name", ["", "7", "d", "0d", "-1d", "7w", "99999d", "99999h", "7d ", "٧d"])
def test_what_is_no_period_is_refused(name: str) -> None:
    with pytest.raises(UnknownPeriod):
        period_of(name, now=NOW, zone=zone_of("UTC"))


@pytest.mark.parametrize(
    ("first", "last"),
    [(date(2026, 4, 2), date(2026, 4, 3)), (date(2026, 3, 9), date(2026, 3, 8)), (date.min, date.max)],
)
def test_days_that_are_no_period_are_refused(first: date, last: date) -> None:
    with pytest.raises(UnknownPeriod):
        period_between(first, last, now=NOW, zone=zone_of("Asia/Jakarta"))


@pytest.mark.parametrize("name", ["Mars/Olympus", "../etc/passwd", "", "asia/jakarta/"])
def test_what_is_no_zone_is_refused(name: str) -> None:
    with pytest.raises(UnknownPeriod):
        zone_of(name)
