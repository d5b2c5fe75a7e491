"""Each rule's reading: where it breaches, where it is good again, where it keeps silent."""

from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from kb_pipeline.alerting.rules import data, emptiness, faithfulness, judge, parsing, signature, ungrounded
from kb_pipeline.alerting.rules.judge import JudgeCondition
from kb_pipeline.alerting.statistics import Past
from kb_pipeline.records import AlertStatus, Finding, Memory, Reading, Severity
from kb_pipeline.windows import HOUR
from kb_pipeline_tests.alerting.history import LIMITS, NOON, ago, calls, graded, past, retrievals

FRESH = Memory()
WEEK_H = 7 * 24


def firing(baseline: float | None = None) -> Memory:
    return Memory(status=AlertStatus.FIRING, severity=Severity.WARNING, fired_at=NOON, baseline=baseline)


def of_mean(mean: float, n: int, *, back: float = 10, ungraded: int = 0) -> Reading:
    """The reading of n turns with this mean, `back` hours ago."""
    return faithfulness.read(past(ago(back, graded([mean] * n, ungraded=ungraded))), FRESH, LIMITS, NOON)


@pytest.mark.parametrize(
    ("n", "largest"), [(20, 0.531), (30, 0.562), (50, 0.593), (100, 0.624), (200, 0.646), (500, 0.666)]
)
def test_faithfulness_breaches_at_the_largest_mean_of_the_table_and_not_above(n: int, largest: float) -> None:
    assert of_mean(largest, n).finding is Finding.BREACH
    assert of_mean(largest + 0.001, n).finding is not Finding.BREACH


def test_faithfulness_is_critical_where_even_the_bound_is_below_the_critical_threshold() -> None:
    assert of_mean(0.60, 100).severity is Severity.WARNING
    assert of_mean(0.40, 100).severity is Severity.CRITICAL


def test_faithfulness_is_good_only_three_hundredths_above_the_threshold() -> None:
    findings = [of_mean(mean, 100).finding for mean in (0.69, 0.70, 0.729, 0.73, 0.9)]
    assert findings == [Finding.BETWEEN, Finding.BETWEEN, Finding.BETWEEN, Finding.GOOD, Finding.GOOD]


def test_three_turns_say_nothing_however_bad() -> None:
    assert of_mean(0.0, 3).finding is Finding.THIN
    assert ungrounded.read(past(ago(1, graded([0.0] * 3))), FRESH, LIMITS, NOON).finding is Finding.THIN


def test_the_mean_is_withheld_below_80_percent_coverage() -> None:
    reading = of_mean(0.1, 79, ungraded=21)
    assert reading.finding is Finding.THIN
    assert reading.coverage == 0.79
    assert of_mean(0.1, 80, ungraded=20).finding is Finding.BREACH


def test_faithfulness_does_not_fire_while_the_last_six_hours_disagree() -> None:
    bad = ago(12, graded([0.4] * 60))
    recovered, few = graded([0.9] * 5), graded([0.9] * 4)
    assert faithfulness.read(past(bad, ago(1, recovered)), FRESH, LIMITS, NOON).finding is not Finding.BREACH
    assert faithfulness.read(past(bad, ago(1, few)), FRESH, LIMITS, NOON).finding is Finding.BREACH


def test_a_quiet_surface_is_judged_over_the_shortest_window_that_has_enough_and_says_which() -> None:
    rows = [ago(24 * day, graded([0.3] * 4)) for day in range(7)]
    reading = faithfulness.read(past(*rows), FRESH, LIMITS, NOON)
    assert (reading.finding, reading.window_h, reading.n) == (Finding.BREACH, WEEK_H, 28)
    assert "7 days" in reading.sentence


def test_the_seeds_plain_mean_is_the_same_rule_without_confidence() -> None:
    plain = replace(LIMITS, z=0.0, min_graded=1)

    def read(*scores: float) -> Reading:
        return faithfulness.read(past(ago(0, graded(scores))), FRESH, plain, NOON)

    assert read(0.9, 0.4).finding is Finding.BREACH
    assert read(0.7, 0.7, 0.7).finding is Finding.BETWEEN
    assert read(0.6).severity is Severity.WARNING
    assert read(0.5).severity is Severity.CRITICAL


def test_without_a_turn_for_a_day_there_is_no_data() -> None:
    assert of_mean(0.1, 100, back=24).finding is Finding.ABSENT


@pytest.mark.parametrize(("k", "n"), [(5, 20), (6, 30), (9, 50), (15, 100)])
def test_ungrounded_breaches_at_the_smallest_count_of_the_table_and_not_below(k: int, n: int) -> None:
    def read(bad: int) -> Reading:
        scores = [0.0] * bad + [1.0] * (n - bad)
        return ungrounded.read(past(ago(1, graded(scores))), FRESH, LIMITS, NOON)

    assert read(k).finding is Finding.BREACH
    assert read(k - 1).finding is not Finding.BREACH


def test_ungrounded_is_critical_above_twice_the_limit_and_good_at_eight_tenths() -> None:
    def read(bad: int) -> Reading:
        scores = [0.0] * bad + [1.0] * (100 - bad)
        return ungrounded.read(past(ago(1, graded(scores))), FRESH, LIMITS, NOON)

    assert [read(bad).severity for bad in (26, 27)] == [Severity.WARNING, Severity.CRITICAL]
    assert [read(bad).finding for bad in (8, 9)] == [Finding.GOOD, Finding.BETWEEN]


def test_ungrounded_needs_the_last_six_hours_too() -> None:
    old = ago(12, graded([0.0] * 20 + [1.0] * 20))
    clean, bad = ago(1, graded([1.0] * 5)), ago(1, graded([0.0] * 2))
    assert ungrounded.read(past(old, bad), FRESH, LIMITS, NOON).finding is Finding.BREACH
    assert ungrounded.read(past(old, clean), FRESH, LIMITS, NOON).finding is Finding.BETWEEN
    assert ungrounded.read(past(old), FRESH, LIMITS, NOON).finding is Finding.BETWEEN


def unread(*hours: tuple[float, int, int]) -> Reading:
    """Parsing read over hours of (hours ago, turns, turns that could not be read)."""
    rows = [ago(back, calls(turns, unparsed=bad)) for back, turns, bad in hours]
    return parsing.read(past(*rows), FRESH, LIMITS, NOON)


def test_a_burst_of_unread_turns_is_critical_and_a_slow_burn_a_warning() -> None:
    assert unread((0, 20, 8), (3, 20, 8)).severity is Severity.CRITICAL
    slow = unread((0, 40, 3), (5, 40, 8), (30, 60, 8), (50, 60, 8))
    assert (slow.finding, slow.severity) == (Finding.BREACH, Severity.WARNING)


def test_two_runs_of_which_nothing_could_be_read_are_critical_whatever_the_day_holds() -> None:
    before = (10, 500, 0)
    assert unread((0, 5, 5), (1, 5, 5), before).severity is Severity.CRITICAL
    assert unread((0, 5, 5), (1, 5, 4), before).finding is not Finding.BREACH
    assert unread((0, 4, 4), before).finding is not Finding.BREACH


def test_one_unread_turn_is_no_drop() -> None:
    assert unread((0, 1, 1)).finding is Finding.THIN
    assert unread((0, 5, 1)).finding is not Finding.BREACH


def test_two_clean_runs_resolve_a_drop_though_the_day_was_bad() -> None:
    assert unread((0, 6, 0), (1, 6, 0), (5, 30, 30)).finding is Finding.GOOD
    assert unread((0, 6, 0), (5, 30, 30)).finding is Finding.BREACH
    assert unread((0, 6, 1), (1, 994, 0)).finding is Finding.GOOD


def recognised(now: tuple[int, int], usual: tuple[int, int], memory: Memory = FRESH) -> Reading:
    """Signature read of (recognised, others) in the last hour and in each of the days before."""
    rows = [ago(24.0 * day, calls(usual[0], others=usual[1])) for day in range(1, 15)]
    return signature.read(past(ago(0, calls(now[0], others=now[1])), *rows), memory, LIMITS, NOON)


def test_a_lost_signature_is_traffic_of_which_hardly_a_call_is_recognised() -> None:
    assert recognised((0, 20), (10, 10)).severity is Severity.CRITICAL
    assert recognised((0, 19), (10, 10)).finding is not Finding.BREACH
    assert recognised((8, 12), (10, 10)).finding is Finding.GOOD
    assert recognised((5, 15), (10, 10)).finding is Finding.BETWEEN


def test_a_surface_without_turns_before_has_no_signature_to_lose() -> None:
    assert recognised((0, 40), (0, 20)).finding is Finding.THIN


def test_while_the_signature_is_lost_what_was_usual_before_stays_the_measure() -> None:
    reading = recognised((0, 40), (0, 20), firing(baseline=0.5))
    assert (reading.finding, reading.baseline) == (Finding.BREACH, 0.5)


def empty(now: tuple[int, int], usual: tuple[int, int], memory: Memory = FRESH) -> Reading:
    """Emptiness read of (retrievals, empty) in the last hour and in each of the days before."""
    rows = [ago(24.0 * day, retrievals(*usual)) for day in range(1, 15)]
    return emptiness.read(past(ago(0, retrievals(*now)), *rows), memory, LIMITS, NOON)


@pytest.mark.parametrize(("k", "n"), [(6, 50), (9, 100)])
def test_empty_results_spike_at_the_smallest_count_of_the_table(k: int, n: int) -> None:
    assert empty((n, k), (100, 0)).finding is Finding.BREACH
    assert empty((n, k - 1), (100, 0)).finding is not Finding.BREACH


def test_empty_results_are_held_against_three_times_what_is_usual() -> None:
    assert empty((100, 30), (100, 10)).finding is Finding.BETWEEN
    assert empty((100, 45), (100, 10)).finding is Finding.BREACH
    assert [empty((100, k), (100, 10)).finding for k in (15, 16)] == [Finding.GOOD, Finding.BETWEEN]
    assert empty((49, 49), (0, 0)).finding is Finding.THIN


def test_a_spike_that_lasts_does_not_become_usual_while_it_fires() -> None:
    assert empty((100, 40), (100, 40)).finding is Finding.GOOD
    assert empty((100, 40), (100, 40), firing(baseline=0.02)).finding is Finding.BREACH


def judged(outcomes: str, *, waiting: timedelta | None = None) -> Reading:
    """The judge's last turns, the newest first: + scored, - not."""
    condition = JudgeCondition(
        outcomes=tuple(sign == "+" for sign in outcomes), waiting_since=NOON - waiting if waiting else None
    )
    return judge.read(condition, FRESH, LIMITS, NOON)


def test_the_judge_is_out_after_five_failures_in_a_row_or_by_its_error_share() -> None:
    assert judged("----+" + "+" * 20).finding is not Finding.BREACH
    assert judged("-----" + "+" * 20).severity is Severity.HIGH
    assert judged("+--+--+--+").finding is not Finding.BREACH
    assert judged("+---+----+----+----").finding is Finding.BREACH
    assert judged("+--").finding is not Finding.BREACH


def test_the_judge_is_out_when_a_turn_waits_more_than_two_hours() -> None:
    assert judged("+" * 10, waiting=timedelta(hours=2)).finding is not Finding.BREACH
    assert judged("+" * 10, waiting=timedelta(hours=2, seconds=1)).finding is Finding.BREACH
    assert judged("", waiting=timedelta(hours=3)).finding is Finding.BREACH


def test_the_judge_is_back_after_ten_successes_without_a_backlog() -> None:
    assert judged("+" * 10).finding is Finding.GOOD
    assert judged("+" * 9).finding is Finding.BETWEEN
    assert judged("+" * 9 + "-" + "+" * 9).finding is Finding.BETWEEN
    assert judged("+" * 10, waiting=timedelta(minutes=29)).finding is Finding.GOOD
    assert judged("+" * 10, waiting=timedelta(minutes=30)).finding is Finding.BETWEEN


def test_two_runs_that_found_the_judge_down_are_an_outage_and_it_is_not_back_before_one_finds_it_up() -> None:
    def after(runs: int, outcomes: str = "") -> Reading:
        condition = JudgeCondition(outcomes=tuple(sign == "+" for sign in outcomes), down_runs=runs)
        return judge.read(condition, FRESH, LIMITS, NOON)

    assert [after(runs).finding for runs in (0, 1, 2)] == [Finding.THIN, Finding.BETWEEN, Finding.BREACH]
    assert after(1, "+" * 10).finding is Finding.BETWEEN
    assert after(0, "+" * 10).finding is Finding.GOOD


def test_a_judge_that_nobody_called_is_neither_well_nor_out() -> None:
    assert judged("").finding is Finding.THIN


def traffic(now: datetime, *weeks: int, last: int = 0) -> Reading:
    """Turns at the same hour of the weeks before, and calls of the last closed hour."""
    closed = NOON - HOUR
    rows = [(closed - timedelta(weeks=number), calls(turns)) for number, turns in enumerate(weeks, 1)]
    found = past(*rows, (closed, calls(last)))
    return data.read_traffic(Past(found.hours, NOON + HOUR), FRESH, LIMITS, now)


def test_no_call_where_ten_turns_are_usual_is_no_data() -> None:
    at = NOON + timedelta(minutes=20)
    assert traffic(at, 10, 10, 10, 10).severity is Severity.HIGH
    assert traffic(at, 9, 9, 10, 30).finding is Finding.THIN
    assert traffic(at, 30, 30).finding is Finding.BREACH
    assert traffic(at, 30).finding is Finding.THIN
    assert traffic(at, 10, 10, 10, 10, last=1).finding is Finding.GOOD


def test_an_hour_has_a_quarter_of_an_hour_to_arrive() -> None:
    assert traffic(NOON + timedelta(minutes=14), 10, 10, 10, 10).finding is Finding.THIN
    assert traffic(NOON + timedelta(minutes=15), 10, 10, 10, 10).finding is Finding.BREACH


def test_two_missed_schedules_are_no_data_and_the_first_good_evaluation_ends_it() -> None:
    last = Memory(good_at=NOON)
    dead = data.Pulse(is_good=False)
    assert data.read_pulse(dead, last, LIMITS, NOON + timedelta(minutes=29)).finding is Finding.BETWEEN
    assert data.read_pulse(dead, last, LIMITS, NOON + timedelta(minutes=30)).finding is Finding.BREACH
    assert data.read_pulse(dead, FRESH, LIMITS, NOON).finding is Finding.THIN
    assert data.read_pulse(data.Pulse(), last, LIMITS, NOON).finding is Finding.GOOD


def test_a_spike_can_be_told_however_much_is_usually_empty() -> None:
    limits = [emptiness.spike_limit(usual / 100) for usual in range(1, 100)]
    assert all(usual / 100 < limit < 1 for usual, limit in enumerate(limits, 1))
    assert limits == sorted(limits)
    assert emptiness.spike_limit(0.05) == pytest.approx(0.15)
