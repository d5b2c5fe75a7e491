"""Bounds and windows: the fixture tables, exactly, and sums that are the same however they are cut."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb_pipeline.alerting.statistics import Hours, Mean, Past, Share
from kb_pipeline.windows import HOUR, Window
from kb_pipeline_tests.alerting.history import NOON, ago, graded, past

Z = 1.645


@pytest.mark.parametrize(
    ("n", "largest"),
    [(10, 0.461), (20, 0.531), (30, 0.562), (50, 0.593), (100, 0.624), (200, 0.646), (500, 0.666)],
)
def test_the_largest_mean_whose_upper_bound_is_below_70_percent(n: int, largest: float) -> None:
    assert Mean(n, largest).upper(Z) < 0.70
    assert Mean(n, largest + 0.001).upper(Z) >= 0.70


@pytest.mark.parametrize(
    ("limit", "k", "n"),
    [
        (0.05, 3, 20), (0.05, 4, 30), (0.05, 6, 50), (0.05, 9, 100),
        (0.10, 5, 20), (0.10, 6, 30), (0.10, 9, 50), (0.10, 15, 100),
        (0.20, 7, 20), (0.20, 10, 30), (0.20, 15, 50), (0.20, 27, 100),
    ],
)  # fmt: skip
def test_the_smallest_count_whose_lower_bound_exceeds_a_limit(limit: float, k: int, n: int) -> None:
    assert Share(k, n).lower(Z) > limit
    assert Share(k - 1, n).lower(Z) <= limit


def test_without_confidence_the_bound_of_a_mean_is_the_mean() -> None:
    assert Mean(3, 0.7).upper(0) == 0.7
    assert Mean(0, 0.0).upper(0) == 1.0


def test_a_share_says_nothing_on_one_case_nor_without_a_bound_on_few() -> None:
    assert Share(1, 1).lower(Z) == 0.0
    assert Share(1, 19).lower(0) == 0.0
    assert Share(10, 19).lower(0) == 0.0
    assert Share(10, 20).lower(0) == 0.5
    assert Share(0, 19).upper(0) == 1.0


def test_the_window_is_the_shortest_that_holds_enough() -> None:
    rows = [ago(0, graded([0.8] * 4)), ago(30, graded([0.8] * 5)), ago(100, graded([0.8] * 6))]
    found = past(*rows)
    assert [found.shortest("scored", least) for least in (4, 5, 9, 10, 15, 16)] == [24, 72, 72, 168, 168, None]


def test_an_hour_outside_what_is_known_counts_nothing() -> None:
    found = Past(Hours(NOON, {}), NOON)
    assert found.total("scored", 24) == 0
    assert Past(Hours(NOON - HOUR, {"scored": [3]}), NOON + timedelta(days=400)).count("scored", 24) == 0


def test_runs_are_taken_from_the_newest_hours_until_they_hold_five() -> None:
    counts = [(0, 3), (2, 1), (0, 9), (1, 2)]
    rows = [ago(back, {"bad": bad, "all": total}) for back, (bad, total) in enumerate(counts)]
    found = [(run.k, run.n) for run in past(*rows).runs("bad", "all")]
    assert found == [(2, 13)]
    assert [(run.k, run.n) for run in past(*rows).runs("bad", "all", least=4)] == [(2, 4), (0, 9)]


@given(
    st.lists(st.integers(0, 9), min_size=1, max_size=60),
    st.integers(0, 70),
    st.integers(0, 70),
    st.integers(0, 70),
)
def test_a_window_is_the_sum_of_its_parts(values: list[int], start: int, middle: int, end: int) -> None:
    hours = Hours(NOON, {"n": values})
    first, second, third = sorted((start, middle, end))
    at = [NOON + HOUR * hour for hour in (first, second, third)]
    assert hours.total("n", at[0], at[2]) == hours.total("n", at[0], at[1]) + hours.total("n", at[1], at[2])
    assert hours.total("n", at[0], at[2]) == sum(values[first:third])


def test_several_rows_of_one_hour_are_added_up() -> None:
    window = Window(NOON - timedelta(days=1), NOON)
    hours = Hours.of(window, [(NOON - HOUR, {"n": 1}), (NOON - HOUR, {"n": 2})])
    assert hours.total("n", NOON - HOUR, NOON) == 3
