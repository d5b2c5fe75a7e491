"""Shares and their intervals."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb_pipeline.verdicts import share, wilson


@pytest.mark.parametrize(
    ("n", "largest_mean_below"),
    [(10, 0.461), (20, 0.531), (30, 0.562), (50, 0.593), (100, 0.624), (200, 0.646), (500, 0.666)],
)
def test_the_upper_bound_meets_the_warning_line_where_the_published_table_says(
    n: int, largest_mean_below: float
) -> None:
    assert wilson(largest_mean_below * n, n, z=1.645)[1] < 0.70
    assert wilson((largest_mean_below + 0.001) * n, n, z=1.645)[1] >= 0.70 - 1e-3


@given(st.integers(0, 10_000), st.integers(1, 10_000))
def test_an_interval_holds_its_share_and_stays_within_zero_and_one(part: int, whole: int) -> None:
    part = min(part, whole)
    low, high = wilson(part, whole)
    assert 0.0 <= low <= part / whole + 1e-12
    assert part / whole - 1e-12 <= high <= 1.0


def test_without_a_whole_there_is_no_share_and_nothing_is_known() -> None:
    assert share(0, 0) is None
    assert wilson(0, 0) == (0.0, 1.0)
