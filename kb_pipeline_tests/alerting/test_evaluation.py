"""A whole evaluation: whose alert it is, who holds whom, what late data may do, and that nothing blocks another."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from kb_pipeline.alerting.catalogue import RULE_NAMES, RULES
from kb_pipeline.alerting.evaluation import decide_run
from kb_pipeline.alerting.rules.judge import JudgeCondition
from kb_pipeline.alerting.rules.limits import Limits
from kb_pipeline.records import AlertStatus, Reading, Silence
from kb_pipeline.windows import HOUR
from kb_pipeline_tests.alerting.history import (
    LIMITS,
    NOON,
    PUBLIC,
    SENDER,
    Desk,
    Row,
    ago,
    calls,
    graded,
    hours_of,
    retrievals,
)

FAITHFULNESS = "rag_low_faithfulness|faithfulness|prod:portal:public:rag"
BAD, FINE = graded([0.3] * 12), graded([0.9] * 12)
WELL = JudgeCondition(outcomes=(True,) * 20)
DOWN = JudgeCondition(outcomes=(False,) * 6)


def series(*counts: tuple[int, dict[str, float]]) -> list[Row]:
    """Hours from NOON on: each of the counts as many times."""
    flat = [each for times, each in counts for _ in range(times)]
    return [(NOON + HOUR * hour, each) for hour, each in enumerate(flat)]


def test_a_drop_fires_once_and_resolves_when_the_window_is_good_again() -> None:
    desk = Desk()
    desk.play(series((24, FINE), (12, BAD), (40, FINE)), NOON, 76)
    quality = [told for told in desk.told() if told[0] == "rag_low_faithfulness"]
    assert [status for _, status, _ in quality] == ["firing", "resolved"]
    assert {alert["fingerprint"] for alert in desk.sent if alert["name"] == "rag_low_faithfulness"} == {FAITHFULNESS}
    assert [alert["kb_seq"] for alert in desk.sent if alert["name"] == "rag_low_faithfulness"] == [1, 2]


def test_good_quality_is_not_told() -> None:
    desk = Desk()
    desk.play(series((48, FINE)), NOON, 48)
    assert desk.told() == []


def test_the_same_evaluation_again_changes_nothing() -> None:
    desk = Desk()
    bad = {PUBLIC: hours_of([ago(1, graded([0.3] * 40))])}
    assert any(decision.payload for decision in desk.see(quality=bad))
    assert not any(decision.changes for decision in desk.see(quality=bad))


def test_two_tenants_have_two_alerts_also_where_their_names_look_alike() -> None:
    desk = Desk()
    bad = hours_of([ago(1, graded([0.3] * 40))])
    names = [("portal", "public", "rag"), ("Portal", "public", "rag"), ("por/tal", "public", "rag")]
    desk.see(quality=dict.fromkeys(names, bad))
    assert len({alert["fingerprint"] for alert in desk.sent if alert["name"] == "rag_low_faithfulness"}) == 3


def test_three_turns_have_no_alert() -> None:
    desk = Desk()
    desk.see(quality={PUBLIC: hours_of([ago(0, graded([0.0] * 3))])})
    assert desk.told() == []


def test_the_seeds_success_test_gives_one_warning_from_a_handful_of_turns() -> None:
    desk = Desk(limits=replace(LIMITS, z=0.0, min_graded=1))
    desk.see(quality={PUBLIC: hours_of([ago(0, graded([0.6, 0.9, 0.4]))])})
    assert desk.told() == [("rag_low_faithfulness", "firing", "warning")]


def test_a_judge_outage_is_one_alert_and_the_quality_alerts_hold() -> None:
    desk = Desk()
    bad = {PUBLIC: hours_of([ago(1, graded([0.3] * 40))])}
    desk.see(quality=bad, judge=DOWN)
    assert desk.told() == [("rag_judge_outage", "firing", "high")]
    held = desk.states[FAITHFULNESS]
    assert (held.status, held.inhibited_by) == (AlertStatus.OK, "rag_judge_outage|judge_errors|prod")
    desk.see(NOON + HOUR, quality={PUBLIC: hours_of([ago(-1, graded([0.3] * 40))], NOON + HOUR)}, judge=WELL)
    assert ("rag_judge_outage", "resolved", "high") in desk.told()
    assert desk.states[FAITHFULNESS].status is AlertStatus.FIRING


def test_a_judge_outage_holds_no_rule_that_asks_no_judge() -> None:
    desk = Desk()
    unread = hours_of([ago(hour, calls(10, unparsed=10)) for hour in range(4)])
    desk.see(traffic={PUBLIC[:2]: unread}, judge=DOWN)
    assert {name for name, _, _ in desk.told()} == {"rag_judge_outage", "rag_parse_success_drop"}


def test_an_alert_that_fires_before_the_outage_does_not_resolve_during_it() -> None:
    desk = Desk()
    rows = series((3, BAD))
    desk.play(rows, NOON, 3)
    assert desk.states[FAITHFULNESS].status is AlertStatus.FIRING
    for hour in range(4, 40):
        end = NOON + HOUR * hour
        desk.see(end, quality={PUBLIC: hours_of([*rows, ago(0, FINE, end=end)], end)}, judge=DOWN)
    assert desk.states[FAITHFULNESS].status is AlertStatus.FIRING


def test_when_data_stops_nothing_resolves_though_the_bad_turns_leave_the_window() -> None:
    desk = Desk()
    rows = series((60, FINE), (12, BAD), (4, graded([0.9] * 3)))
    desk.play(rows, NOON, 76)
    assert desk.states[FAITHFULNESS].status.is_active
    for hour in range(77, 24 * 32):
        end = NOON + HOUR * hour
        desk.see(end, quality={PUBLIC: hours_of(rows, end)})
    assert desk.states[FAITHFULNESS].status.is_active
    assert "resolved" not in {status for _, status, _ in desk.told()}


def test_no_data_holds_every_rule_below_its_subject_and_ends_with_the_first_call() -> None:
    desk = Desk()
    usual = [(NOON - timedelta(weeks=week), calls(12)) for week in range(1, 5)]
    late = NOON + HOUR + timedelta(minutes=20)
    desk.see(
        NOON + 2 * HOUR,
        now=late,
        traffic={PUBLIC[:2]: hours_of(usual, late)},
        quality={PUBLIC: hours_of([ago(5, graded([0.1] * 40))])},
    )
    assert desk.told() == [("kb_no_data", "firing", "high")]
    assert desk.states[FAITHFULNESS].inhibited_by == "kb_no_data|turns|prod:portal:public"
    back = [*usual, (NOON + HOUR, calls(1))]
    desk.see(NOON + 2 * HOUR, now=late + HOUR / 6, traffic={PUBLIC[:2]: hours_of(back, late)})
    assert desk.told()[-1] == ("kb_no_data", "resolved", "high")


def test_an_evaluation_that_can_read_nothing_fires_after_two_schedules_and_holds_all_others() -> None:
    desk = Desk()
    desk.see(quality={PUBLIC: hours_of([ago(1, FINE)])})
    desk.see(now=NOON + timedelta(minutes=29), is_readable=False)
    assert desk.told() == []
    desk.see(NOON + HOUR, now=NOON + timedelta(minutes=31), is_readable=False)
    assert desk.told() == [("kb_no_data", "firing", "high")]
    desk.see(NOON + HOUR, now=NOON + timedelta(minutes=40))
    assert desk.told()[-1] == ("kb_no_data", "resolved", "high")


def test_late_data_opens_the_last_window_again_and_no_older_one() -> None:
    desk = Desk()
    few, many = hours_of([ago(1, graded([0.3] * 5))]), hours_of([ago(1, graded([0.3] * 40))])
    desk.see(quality={PUBLIC: few})
    assert desk.states[FAITHFULNESS].status is AlertStatus.OK
    desk.see(quality={PUBLIC: many})
    assert desk.states[FAITHFULNESS].status is AlertStatus.FIRING
    later = NOON + HOUR
    quiet = Desk()
    quiet.see(later, quality={PUBLIC: hours_of([ago(1, FINE, end=later)], later)})
    assert not any(decision.changes for decision in quiet.see(NOON, now=later, quality={PUBLIC: many}))
    assert quiet.told() == []


def test_late_data_never_takes_back_what_was_fired_in_its_window() -> None:
    desk = Desk()
    desk.see(quality={PUBLIC: hours_of([ago(1, graded([0.3] * 40))])})
    desk.see(quality={PUBLIC: hours_of([ago(1, graded([0.3] * 40 + [0.95] * 400))])})
    assert desk.states[FAITHFULNESS].status is AlertStatus.FIRING
    assert [status for _, status, _ in desk.told()] == ["firing", "firing"]
    assert [name for name, _, _ in desk.told()] == ["rag_low_faithfulness", "rag_ungrounded_spike"]


def test_looking_at_one_window_often_counts_as_one_evaluation() -> None:
    desk = Desk()
    spike = {("o", "s", "hybrid"): hours_of([ago(0, retrievals(60, 30))])}
    for minute in range(5):
        desk.see(NOON, now=NOON + timedelta(minutes=minute), retrieval=spike)
    assert desk.told() == []
    more = hours_of([ago(0, retrievals(60, 30)), ago(-1, retrievals(60, 30))], NOON + HOUR)
    desk.see(NOON + HOUR, retrieval={("o", "s", "hybrid"): more})
    assert desk.told() == [("kb_empty_result_spike", "firing", "warning")]


def _raises(*_: Any) -> Reading:
    raise ZeroDivisionError("what a citizen wrote")


def test_a_rule_that_raises_is_an_alert_itself_and_blocks_no_other() -> None:
    broken = [replace(rule, read=_raises) if rule.name == "rag_ungrounded_spike" else rule for rule in RULES]
    desk = Desk(rules=broken)
    bad = {PUBLIC: hours_of([ago(1, graded([0.3] * 40))])}
    desk.see(quality=bad)
    assert [name for name, _, _ in desk.told()] == ["rag_low_faithfulness", "kb_rule_error"]
    alert = desk.sent[-1]
    assert alert["fingerprint"] == "kb_rule_error|evaluation|prod:rag_ungrounded_spike"
    assert "ZeroDivisionError" in alert["message"]
    assert "citizen" not in str(alert)
    desk.rules = RULES
    desk.see(NOON + 2 * HOUR, quality=bad)
    assert ("kb_rule_error", "resolved", "high") in desk.told()


def test_silence_speaks_of_one_fingerprint_a_rule_or_a_beginning() -> None:
    def told_under(pattern: str) -> list[str]:
        desk = Desk()
        desk.silences = [
            Silence(
                silence_id=1, pattern=pattern, starts_at=NOON, ends_at=NOON + HOUR, author="a", reason="maintenance"
            )
        ]
        desk.see(quality={PUBLIC: hours_of([ago(1, graded([0.3] * 40))])})
        return [name for name, _, _ in desk.told()]

    both = ["rag_low_faithfulness", "rag_ungrounded_spike"]
    assert told_under(FAITHFULNESS) == both[1:]
    assert told_under("rag_ungrounded_spike") == both[:1]
    assert told_under("rag_*") == []
    assert told_under("rag_low") == both


def test_states_of_another_environment_are_left_alone() -> None:
    desk = Desk()
    desk.see(quality={PUBLIC: hours_of([ago(1, graded([0.3] * 40))])})
    other = {name: replace(state, subject=("test", *state.subject[1:])) for name, state in desk.states.items()}
    desk.states = other
    assert all(decision.state.subject[0] == "prod" for decision in desk.see(NOON + HOUR))


@pytest.mark.parametrize("topic", RULE_NAMES)
def test_every_rule_has_a_name_in_the_alphabet_of_fingerprints(topic: str) -> None:
    assert topic.replace("_", "").isalnum()
    assert topic.islower()


def test_a_failed_run_is_told_once_and_resolves_with_the_next_that_succeeds() -> None:
    states: list[Any] = []
    told = []
    for minute, failed in enumerate([False, True, True, False, False]):
        decision = decide_run(
            "grade_hour",
            failed=failed,
            states=states,
            silences=[],
            limits=Limits(),
            sender=SENDER,
            now=NOON + timedelta(minutes=minute),
        )
        if decision:
            states = [decision.state]
            told += [decision.payload["status"]] if decision.payload else []
    assert told == ["firing", "resolved"]
    assert states[0].fingerprint == "kb_run_failed|run|prod:grade_hour"
