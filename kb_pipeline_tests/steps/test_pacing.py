"""When a call may start, when a turn is tried again, when a judge is down."""

import pytest

from kb_pipeline.records import ErrorClass, Ungraded
from kb_pipeline.steps.judge import Pace, RetryBudget, wait_before_retry
from kb_pipeline_tests.turns import claim

T = 60.0


def test_a_quarter_of_refusals_for_load_halves_what_may_be_in_flight() -> None:
    pace = Pace(ceiling=16, timeout_s=T, now=0.0)
    for _ in range(3):
        pace.failed(ErrorClass.RATE_LIMITED, started_at=0.0, now=1.0)
    assert pace.limit == 16
    pace.failed(ErrorClass.TIMEOUT, started_at=0.0, now=1.0)
    assert pace.limit == 8
    assert pace.may_start(in_flight=7, now=1.0)
    assert not pace.may_start(in_flight=8, now=1.0)


def test_calls_that_started_before_the_halving_do_not_halve_again() -> None:
    pace = Pace(ceiling=16, timeout_s=T, now=0.0)
    for _ in range(12):
        pace.failed(ErrorClass.RATE_LIMITED, started_at=0.0, now=1.0)
    assert pace.limit == 8


def test_a_single_refusal_among_successes_changes_nothing() -> None:
    pace = Pace(ceiling=16, timeout_s=T, now=0.0)
    for step in range(64):
        if step % 16 == 5:
            pace.failed(ErrorClass.RATE_LIMITED, started_at=step, now=step)
        else:
            pace.succeeded(started_at=step, now=step)
    assert pace.limit == 16


def test_what_may_be_in_flight_grows_back_by_one_with_each_full_round() -> None:
    pace = Pace(ceiling=4, timeout_s=T, now=0.0)
    for _ in range(2):
        pace.failed(ErrorClass.RATE_LIMITED, started_at=0.0, now=1.0)
    assert pace.limit == 2
    for now in range(2, 30):
        pace.succeeded(started_at=now, now=now)
    assert pace.limit == 4


def test_outages_in_a_row_suspend_and_a_success_in_flight_lifts_that() -> None:
    pace = Pace(ceiling=4, timeout_s=T, now=0.0)
    for _ in range(5):
        pace.failed(ErrorClass.HTTP_5XX, started_at=0.0, now=1.0)
    assert not pace.may_start(in_flight=0, now=1.0)
    assert not pace.is_down(in_flight=1, now=1.0)
    assert pace.is_down(in_flight=0, now=1.0)
    pace.succeeded(started_at=0.0, now=2.0)
    assert pace.may_start(in_flight=0, now=2.0)


def test_unusable_replies_suspend_later_than_outages() -> None:
    pace = Pace(ceiling=4, timeout_s=T, now=0.0)
    for _ in range(9):
        pace.failed(ErrorClass.BAD_SCHEMA, started_at=0.0, now=1.0)
    assert pace.may_start(in_flight=0, now=1.0)
    pace.failed(ErrorClass.HTTP_4XX, started_at=0.0, now=1.0)
    assert not pace.may_start(in_flight=0, now=1.0)


def test_silence_for_longer_than_a_time_limit_suspends() -> None:
    pace = Pace(ceiling=1, timeout_s=T, now=0.0)
    pace.failed(ErrorClass.TIMEOUT, started_at=0.0, now=T)
    assert pace.may_start(in_flight=0, now=T)
    pace.failed(ErrorClass.TIMEOUT, started_at=T, now=2 * T)
    assert not pace.may_start(in_flight=0, now=2 * T)


def test_a_quiet_run_without_failures_is_not_suspended() -> None:
    assert Pace(ceiling=1, timeout_s=T, now=0.0).may_start(in_flight=0, now=10 * T)


@pytest.mark.parametrize(("turns", "retries"), [(0, 3), (10, 3), (20, 6), (200, 60)])
def test_the_budget_is_three_for_ten_turns_and_three_in_any_case(turns: int, retries: int) -> None:
    budget = RetryBudget()
    for _ in range(turns):
        budget.turn_started()
    assert sum(budget.take() for _ in range(100)) == retries


@pytest.mark.parametrize(
    ("error_class", "retry_after", "tries", "least"),
    [
        (ErrorClass.HTTP_5XX, None, 1, 0.5),
        (ErrorClass.HTTP_5XX, None, 3, 2.0),
        (ErrorClass.RATE_LIMITED, 7.0, 1, 7.0),
        (ErrorClass.RATE_LIMITED, 0.1, 1, 0.5),
        (ErrorClass.BAD_SCHEMA, None, 1, 0.5),
    ],
)
def test_a_wait_doubles_and_is_never_shorter_than_asked(
    error_class: ErrorClass, retry_after: float | None, tries: int, least: float
) -> None:
    failed = Ungraded(error_class=error_class, retry_after=retry_after)
    wait = wait_before_retry(claim(attempts=1), failed, tries=tries, max_attempts=3)
    assert wait is not None
    assert least <= wait <= 1.25 * least


@pytest.mark.parametrize(
    ("error_class", "retry_after", "tries", "attempts"),
    [
        (ErrorClass.HTTP_4XX, None, 1, 0),
        (ErrorClass.RATE_LIMITED, 31.0, 1, 0),
        (ErrorClass.CONNECTION, None, 6, 0),
        (ErrorClass.BAD_SCHEMA, None, 1, 2),
    ],
)
def test_what_cannot_help_is_not_tried(
    error_class: ErrorClass, retry_after: float | None, tries: int, attempts: int
) -> None:
    failed = Ungraded(error_class=error_class, retry_after=retry_after)
    assert wait_before_retry(claim(attempts=attempts), failed, tries=tries, max_attempts=3) is None


def test_two_turns_do_not_wait_for_the_same_time() -> None:
    failed = Ungraded(error_class=ErrorClass.HTTP_5XX)
    waits = {wait_before_retry(claim(f"event-{n}"), failed, tries=1, max_attempts=3) for n in range(20)}
    assert len(waits) == 20
