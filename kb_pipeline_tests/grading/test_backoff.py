"""How long a turn, a judge and an hour wait after a run that failed."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb_pipeline.grading.judging import wait_of_hour, wait_of_judge, wait_of_turn
from kb_pipeline.records import ErrorClass, Ungraded

MINUTE = timedelta(minutes=1)
OUTAGE = Ungraded(error_class=ErrorClass.HTTP_5XX)
counts = st.integers(1, 10_000)
keys = st.text(max_size=8)
failures = st.builds(Ungraded, error_class=st.sampled_from(ErrorClass), refuses_all=st.booleans())


@given(count=counts, key=keys)
def test_after_an_outage_a_turn_waits_from_a_minute_doubling_to_an_hour_and_up_to_a_quarter_more(
    count: int, key: str
) -> None:
    base = min(MINUTE * 2 ** min(count - 1, 10), timedelta(hours=1))
    assert base <= wait_of_turn(OUTAGE, failures=count, key=key) <= base * 1.25


@given(key=keys)
def test_after_an_unusable_reply_a_turn_waits_a_little(key: str) -> None:
    for error_class in set(ErrorClass) - {each for each in ErrorClass if each.is_outage}:
        assert wait_of_turn(Ungraded(error_class=error_class), failures=1, key=key) < MINUTE / 2


def test_a_server_that_would_refuse_every_turn_is_waited_for_as_in_an_outage() -> None:
    refused = Ungraded(error_class=ErrorClass.HTTP_4XX, refuses_all=True)
    assert wait_of_turn(refused, failures=1, key="k") == wait_of_turn(OUTAGE, failures=1, key="k")


@given(failed=failures, count=counts, asked=st.floats(0, 86_400), key=keys)
def test_no_wait_is_shorter_than_the_server_asked_for(failed: Ungraded, count: int, asked: float, key: str) -> None:
    told = Ungraded(error_class=failed.error_class, refuses_all=failed.refuses_all, retry_after=asked)
    least = timedelta(seconds=asked)
    assert wait_of_turn(told, failures=count, key=key) >= least
    assert wait_of_judge(runs=count, asked_s=asked, key=key) >= least


@given(count=counts, turn=keys, judge=keys)
def test_a_judge_is_asked_again_in_half_the_time_at_most(count: int, turn: str, judge: str) -> None:
    assert wait_of_judge(runs=count, asked_s=0, key=judge) * 2 <= wait_of_turn(OUTAGE, failures=count, key=turn)


def test_turns_that_failed_together_do_not_come_back_together() -> None:
    waits = {wait_of_turn(OUTAGE, failures=5, key=f"event-{n}") for n in range(50)}
    assert max(waits) - min(waits) > 2 * MINUTE


@pytest.mark.parametrize(("times", "minutes"), [(1, 1), (2, 2), (3, 4), (6, 32), (7, 60), (5_000, 60)])
def test_an_hour_whose_run_failed_waits_from_a_minute_to_an_hour(times: int, minutes: int) -> None:
    assert wait_of_hour(times) == MINUTE * minutes
