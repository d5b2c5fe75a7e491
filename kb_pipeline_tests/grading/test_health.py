"""When the measurement itself is in doubt."""

import pytest

from kb_pipeline.grading.aggregates import CallCounts, Coverage
from kb_pipeline.grading.health import coverage, judge_answers, newest_hour, parse_success, synthesis_share
from kb_pipeline.verdicts import Level


def ledger(*, examined: int = 0, synthesis: int = 0, own: int = 0, parsed: int = 0, attempted: int = 0) -> CallCounts:
    return CallCounts(examined, synthesis, 0, examined - synthesis - own, own, 0, parsed, attempted)


@pytest.mark.parametrize(
    ("parsed", "attempted", "level"),
    [
        (0, 0, Level.PASSED),
        (0, 1, Level.PASSED),
        (19, 20, Level.PASSED),
        (0, 2, Level.FAILED),
        (98, 100, Level.PASSED),
        (95, 100, Level.WARNED),
        (80, 100, Level.FAILED),
        (10_000, 10_000, Level.PASSED),
    ],
)
def test_parse_success_warns_and_fails_by_its_bound_and_never_on_one_turn(
    parsed: int, attempted: int, level: Level
) -> None:
    assert parse_success(ledger(parsed=parsed, attempted=attempted)).level is level


def test_a_lost_signature_fails_although_every_recognised_turn_parses() -> None:
    before = ledger(examined=2_000, synthesis=1_000)
    assert synthesis_share(ledger(examined=40, synthesis=0), before).level is Level.FAILED
    assert synthesis_share(ledger(examined=40, synthesis=18), before).level is Level.PASSED


def test_a_quiet_hour_and_a_young_installation_say_nothing_of_the_share() -> None:
    assert synthesis_share(ledger(examined=5), ledger(examined=2_000, synthesis=1_000)).level is Level.PASSED
    assert synthesis_share(ledger(examined=500), ledger()).level is Level.PASSED


def test_the_pipelines_own_calls_do_not_thin_the_share() -> None:
    before = ledger(examined=2_000, synthesis=1_000)
    assert synthesis_share(ledger(examined=1_000, own=960, synthesis=20), before).level is Level.PASSED


@pytest.mark.parametrize(
    ("scored", "unscored", "level"),
    [(0, 0, Level.PASSED), (0, 1, Level.PASSED), (0, 2, Level.WARNED), (10, 4, Level.PASSED), (3, 9, Level.WARNED)],
)
def test_a_judge_that_scores_less_than_half_of_an_hour_is_a_warning(scored: int, unscored: int, level: Level) -> None:
    assert judge_answers(scored, unscored).level is level


def test_coverage_fails_with_the_numbers_in_words() -> None:
    broken = coverage(Coverage(seen=3, sampled_out=0, graded=1, ungraded=0, skipped=0, pending=1))
    assert broken.level is Level.FAILED
    assert "3 seen" in broken.reason


def test_a_newest_hour_without_traffic_is_present_and_one_without_examination_is_not() -> None:
    assert newest_hour(0, 0).level is Level.PASSED
    assert newest_hour(7, 7).level is Level.PASSED
    assert newest_hour(7, 0).level is Level.FAILED
