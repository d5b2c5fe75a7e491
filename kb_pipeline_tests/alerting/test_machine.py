"""The state machine: when an alert fires, how long it stays, what receivers are told of it."""

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from kb_pipeline.alerting.machine import Policy, advance, settle, worse
from kb_pipeline.records import AlertState, AlertStatus, Finding, Memory, NoticeStatus, Reading, Severity
from kb_pipeline.windows import HOUR
from kb_pipeline_tests.alerting.history import NOON

BREACH = Reading(finding=Finding.BREACH, sentence="", severity=Severity.WARNING)
CRITICAL = replace(BREACH, severity=Severity.CRITICAL)
GOOD = Reading(finding=Finding.GOOD, sentence="")
BETWEEN = Reading(finding=Finding.BETWEEN, sentence="")
THIN = Reading(finding=Finding.THIN, sentence="")
ABSENT = Reading(finding=Finding.ABSENT, sentence="")
STATE = AlertState(fingerprint="r|m|s", rule="r", metric="m", subject=("s",))


def after(
    *readings: Reading, policy: Policy | None = None, memory: Memory | None = None, begin: datetime = NOON
) -> Memory:
    """The memory after one reading an hour."""
    memory = memory or Memory()
    for hour, reading in enumerate(readings):
        at = begin + HOUR * hour
        memory = advance(memory, reading, policy or Policy(), end=at, now=at)
    return memory


def statuses(*readings: Reading, policy: Policy | None = None) -> list[str]:
    return [after(*readings[: length + 1], policy=policy).status.value for length in range(len(readings))]


def notices(memories: Iterable[Memory], *, silenced: Iterable[bool] = ()) -> list[tuple[str, str, int]]:
    """What receivers are told over these memories: status, severity, kb_seq."""
    state, told = STATE, []
    quiet = list(silenced)
    for number, memory in enumerate(memories):
        is_silenced = quiet[number] if quiet else False
        state, flip = settle(state, memory, now=NOON, is_silenced=is_silenced)
        if flip and flip.kb_seq:
            assert state.notice
            told.append((state.notice.status.value, state.notice.severity.value, flip.kb_seq))
    return told


def test_an_alert_resolves_after_three_good_evaluations_and_not_after_two() -> None:
    assert statuses(BREACH, GOOD, GOOD, GOOD) == ["firing", "recovering", "recovering", "ok"]


def test_what_is_neither_good_nor_bad_begins_the_count_anew() -> None:
    assert statuses(BREACH, GOOD, GOOD, BETWEEN, GOOD, GOOD, GOOD)[3:] == [
        "firing",
        "recovering",
        "recovering",
        "ok",
    ]


def test_thin_and_absent_data_neither_fire_nor_resolve() -> None:
    assert statuses(THIN, ABSENT, THIN) == ["ok", "no_data", "no_data"]
    assert statuses(BREACH, *[THIN] * 9, *[ABSENT] * 9)[-1] == "firing"
    assert statuses(BREACH, GOOD, THIN, ABSENT, GOOD, GOOD) == [
        "firing",
        "recovering",
        "recovering",
        "recovering",
        "recovering",
        "ok",
    ]


def test_the_same_turns_looked_at_again_do_not_count_as_another_good_evaluation() -> None:
    stale = replace(GOOD, is_news=False)
    assert after(BREACH, GOOD, stale, stale, stale).status is AlertStatus.RECOVERING
    assert after(replace(BREACH, is_news=False)).status is AlertStatus.OK


def test_a_rule_that_wants_two_breaches_waits_for_the_second() -> None:
    twice = Policy(confirm=2)
    assert statuses(BREACH, BREACH, policy=twice) == ["pending", "firing"]
    assert statuses(BREACH, BETWEEN, BREACH, policy=twice) == ["pending", "ok", "pending"]


def test_an_alert_is_held_for_its_least_time() -> None:
    policy = Policy(recover=1, hold=timedelta(hours=3))
    assert statuses(BREACH, GOOD, GOOD, GOOD, policy=policy) == ["firing", "recovering", "recovering", "ok"]


def test_severity_rises_while_an_alert_fires_and_does_not_fall() -> None:
    assert after(BREACH, CRITICAL, BREACH).severity is Severity.CRITICAL
    assert worse(None, Severity.LOW) is Severity.LOW
    memories = [after(BREACH), after(BREACH, CRITICAL), after(BREACH, CRITICAL, BREACH)]
    assert notices(memories) == [("firing", "warning", 1), ("firing", "critical", 2)]


def test_the_third_fire_in_a_day_is_held_until_a_whole_quiet_window_has_passed() -> None:
    once = Policy(recover=1, hold=timedelta())
    flapping = after(BREACH, GOOD, BREACH, GOOD, BREACH, policy=once)
    assert flapping.is_flapping
    held = after(*[GOOD] * 24, policy=once, memory=flapping, begin=NOON + 5 * HOUR)
    assert held.status is AlertStatus.RECOVERING
    assert after(GOOD, policy=once, memory=held, begin=NOON + 29 * HOUR).status is AlertStatus.OK
    broken = after(BETWEEN, GOOD, policy=once, memory=held, begin=NOON + 29 * HOUR)
    assert broken.status is AlertStatus.RECOVERING


def test_flapping_is_said_once() -> None:
    once = Policy(recover=1, hold=timedelta())
    readings = [BREACH, GOOD, BREACH, GOOD, BREACH, GOOD, BREACH, GOOD, BREACH]
    told = notices(after(*readings[: length + 1], policy=once) for length in range(len(readings)))
    assert [status for status, _, _ in told] == ["firing", "resolved", "firing", "resolved", "firing"]


def test_fires_of_yesterday_are_no_flapping() -> None:
    once = Policy(recover=1, hold=timedelta())
    memory = after(BREACH, GOOD, BREACH, GOOD, policy=once)
    assert not after(BREACH, policy=once, memory=memory, begin=NOON + 25 * HOUR).is_flapping


def test_a_silenced_fire_is_told_when_the_silence_ends_and_its_resolve_only_to_who_was_told() -> None:
    fire, calm = after(BREACH), after(BREACH, GOOD, GOOD, GOOD)
    assert notices([fire, fire], silenced=[True, False]) == [("firing", "warning", 1)]
    assert notices([fire, calm], silenced=[True, True]) == []
    assert notices([fire, calm], silenced=[False, True]) == [("firing", "warning", 1), ("resolved", "warning", 2)]


READINGS = st.sampled_from([BREACH, CRITICAL, GOOD, BETWEEN, THIN, ABSENT, replace(GOOD, is_news=False)])


@given(st.lists(READINGS, max_size=80), st.integers(1, 3), st.integers(1, 4))
def test_whatever_comes_receivers_hear_fire_and_resolve_in_turns_and_kb_seq_grows_by_one(
    readings: list[Reading], confirm: int, recover: int
) -> None:
    state, memory, told = STATE, Memory(), []
    for hour, reading in enumerate(readings):
        at = NOON + HOUR * hour
        memory = advance(memory, reading, Policy(confirm=confirm, recover=recover), end=at, now=at)
        state, flip = settle(state, memory, now=at)
        assert state.status.is_active == (state.notice is not None and state.notice.status is NoticeStatus.FIRING)
        if flip and flip.kb_seq:
            assert state.notice
            told.append((flip.kb_seq, state.notice))
    assert [kb_seq for kb_seq, _ in told] == list(range(1, len(told) + 1))
    assert all(first != second for (_, first), (_, second) in pairwise(told))
    if told:
        assert told[0][1].status is NoticeStatus.FIRING
