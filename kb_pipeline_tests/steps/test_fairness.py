"""Which hours of a backlog a run takes up first."""

from datetime import UTC, datetime, timedelta

import pytest

from kb_pipeline.steps.judge import visits
from kb_pipeline.windows import HOUR, Window

FIRST = datetime(2026, 3, 1, tzinfo=UTC)


def hours(count: int) -> list[Window]:
    return [Window(FIRST + HOUR * n, FIRST + HOUR * (n + 1)) for n in range(count)]


def order(count: int, *, max_batch: int = 100, now: datetime | None = None) -> list[tuple[int, int]]:
    given = hours(count)
    found = visits(given, max_batch=max_batch, now=now or FIRST + HOUR * count)
    return [(given.index(visit.hour), visit.at_most) for visit in found]


def test_a_fifth_goes_to_the_newest_closed_hour_and_the_rest_oldest_first() -> None:
    assert order(4) == [(3, 20), (0, 100), (1, 100), (2, 100), (3, 100)]


def test_the_running_hour_is_not_the_newest_closed_one() -> None:
    assert order(3, now=FIRST + HOUR * 2 + timedelta(minutes=5))[0] == (1, 20)
    assert order(3, now=FIRST + HOUR * 3)[0] == (2, 20)


@pytest.mark.parametrize("max_batch", [1, 2, 4])
def test_the_smallest_batch_has_room_for_the_newest_hour(max_batch: int) -> None:
    assert order(3, max_batch=max_batch)[0] == (2, 1)


def test_what_has_nothing_to_wait_behind_is_visited_once() -> None:
    assert order(0) == []
    assert order(1) == [(0, 100)]
    assert order(2, now=FIRST + HOUR) == [(0, 100), (1, 100)]
