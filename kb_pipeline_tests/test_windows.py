"""Hours are half-open, whole and in UTC."""

from datetime import UTC, datetime, timedelta, timezone
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb_pipeline.windows import HOUR, Window, hour_of, last_hours, partition_key, window_of

instants = st.datetimes(
    min_value=datetime(2000, 1, 1),  # noqa: DTZ001
    max_value=datetime(2100, 1, 1),  # noqa: DTZ001
    timezones=st.timezones(),
)


@given(instants)
def test_every_instant_is_in_exactly_its_own_hour(instant: datetime) -> None:
    hour = hour_of(instant)
    assert instant in hour
    assert hour.end not in hour
    assert hour.end - hour.start == HOUR
    assert hour.start.tzinfo is UTC


@given(instants)
def test_a_partition_key_leads_back_to_its_hour(instant: datetime) -> None:
    assert window_of(partition_key(hour_of(instant))) == hour_of(instant)


@given(instants, st.timedeltas(min_value=timedelta(microseconds=1), max_value=timedelta(days=3)))
def test_the_hours_of_a_window_cover_it_without_a_gap(start: datetime, length: timedelta) -> None:
    # In UTC: an hour on the wall clock may be two, or none.
    window = Window(start, start.astimezone(UTC) + length)
    hours = list(window.hours())
    assert hours[0].start <= window.start < hours[0].end
    assert hours[-1].start < window.end <= hours[-1].end
    assert all(left.end == right.start for left, right in pairwise(hours))


def test_an_hour_off_the_full_hour_in_its_zone_is_still_a_whole_utc_hour() -> None:
    kathmandu = timezone(timedelta(hours=5, minutes=45))
    assert hour_of(datetime(2026, 7, 9, 12, 0, tzinfo=kathmandu)).start == datetime(2026, 7, 9, 6, 0, tzinfo=UTC)


def test_the_running_hour_is_the_last_of_the_newest_hours() -> None:
    now = datetime(2026, 7, 9, 0, 30, tzinfo=UTC)
    assert [hour.start.hour for hour in last_hours(now, 2)] == [23, 0]


@pytest.mark.parametrize(
    ("start", "end"),
    [
        (datetime(2026, 7, 9), datetime(2026, 7, 10, tzinfo=UTC)),  # noqa: DTZ001
        (datetime(2026, 7, 9, tzinfo=UTC), datetime(2026, 7, 9, tzinfo=UTC)),
    ],
    ids=["naive", "empty"],
)
def test_a_window_refuses_a_naive_instant_and_an_empty_span(start: datetime, end: datetime) -> None:
    with pytest.raises(ValueError, match=r"window"):
        Window(start, end)
