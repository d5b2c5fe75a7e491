"""What answers mean, how long waits are, what counts as there, what a repeat looks like."""

from dataclasses import replace
from datetime import timedelta

import pytest

from kb_pipeline.alerting.delivery import Answer, Outcome, Pace, arrived, back_off, lost_after, named, stamped
from kb_pipeline_tests.delivery.flips import NOON, entry

PACE = Pace()
SECOND = timedelta(seconds=1)


@pytest.mark.parametrize(
    ("status", "outcome"),
    [
        (200, Outcome.ACCEPTED),
        (202, Outcome.ACCEPTED),
        (204, Outcome.ACCEPTED),
        (301, Outcome.HELD),
        (307, Outcome.HELD),
        (400, Outcome.REFUSED),
        (401, Outcome.HELD),
        (403, Outcome.HELD),
        (404, Outcome.HELD),
        (408, Outcome.LATER),
        (413, Outcome.REFUSED),
        (422, Outcome.REFUSED),
        (429, Outcome.LATER),
        (500, Outcome.LATER),
        (503, Outcome.LATER),
        (0, Outcome.LATER),
    ],
)
def test_an_answer_decides_what_becomes_of_the_alerts(status: int, outcome: Outcome) -> None:
    assert Answer(status=status).outcome is outcome


def test_what_nobody_can_use_is_held_and_says_so() -> None:
    answer = Answer(words="apprise is not installed", is_usable=False)
    assert answer.outcome is Outcome.HELD
    assert answer.sentence == "cannot be used: apprise is not installed"


def test_whether_alerts_were_taken_is_known_of_most_answers_and_not_of_silence_or_a_proxy() -> None:
    assert Answer(status=503).is_lost
    assert Answer(words="it cannot be reached").is_lost
    assert not Answer(is_certain=False).is_lost
    assert not Answer(status=504).is_lost
    assert not Answer(status=408).is_lost


def test_a_destination_that_fails_is_left_alone_twice_as_long_each_time_up_to_half_a_minute() -> None:
    waits = [back_off(Answer(status=503), failures, pace=PACE, chance=0).total_seconds() for failures in range(8)]
    assert waits == [0.5, 1, 2, 4, 8, 16, 30, 30]
    assert back_off(Answer(status=503), 10_000, pace=PACE, chance=0) == 30 * SECOND


def test_jitter_takes_up_to_half_of_a_wait_off() -> None:
    assert back_off(Answer(), 3, pace=PACE, chance=0.5) == 3 * SECOND
    assert back_off(Answer(), 3, pace=PACE, chance=0.999) > 2 * SECOND


def test_what_a_person_has_to_mend_is_tried_every_few_minutes() -> None:
    assert back_off(Answer(status=401), 0, pace=PACE, chance=0) == 300 * SECOND


def test_a_server_that_asks_to_be_left_alone_is_within_limits() -> None:
    assert back_off(Answer(status=429, retry_after_s=60), 0, pace=PACE, chance=0) == 60 * SECOND
    assert back_off(Answer(status=429, retry_after_s=86_400), 0, pace=PACE, chance=0) == 600 * SECOND


def test_what_is_not_seen_is_lost_after_half_a_minute_then_twice_that_up_to_ten_minutes() -> None:
    assert [lost_after(attempts, pace=PACE).total_seconds() for attempts in (1, 2, 3, 4, 5, 6, 10_000)] == [
        30, 60, 120, 240, 480, 600, 600,
    ]  # fmt: skip


def test_what_stands_there_is_told_by_kb_seq() -> None:
    batch = [entry("a", 1), entry("a", 2), entry("b", 4), entry("c", 1)]
    there, lost = arrived(batch, {"a": 2, "b": 3}, now=NOON + SECOND, pace=PACE)
    assert [(each.fingerprint, each.kb_seq) for each in there] == [("a", 2)]
    assert lost == []


def test_what_came_half_is_lost_by_half() -> None:
    batch = [entry("a", 1), entry("a", 2), entry("a", 3)]
    there, lost = arrived(batch, {"a": 2}, now=NOON + 30 * SECOND, pace=PACE)
    assert [each.kb_seq for each in there] == [2]
    assert [each.kb_seq for each in lost] == [3]


def test_a_number_from_a_history_that_is_not_ours_confirms_nothing() -> None:
    there, lost = arrived([entry("a", 3)], {"a": 9}, now=NOON + 30 * SECOND, pace=PACE)
    assert (len(there), len(lost)) == (0, 1)


def test_what_was_sent_more_often_is_waited_for_longer() -> None:
    assert arrived([entry(attempts=2)], {}, now=NOON + 59 * SECOND, pace=PACE) == ([], [])
    assert len(arrived([entry(attempts=2)], {}, now=NOON + 60 * SECOND, pace=PACE)[1]) == 1


def test_a_first_sending_goes_out_as_decided_and_a_repeat_with_the_present() -> None:
    first, again = entry(attempts=0), entry("b", attempts=1)
    alerts = stamped([first, again], NOON + SECOND)
    assert alerts[0] == first.payload
    assert alerts[1] == {**again.payload, "lastReceived": "2026-03-04T12:00:01.000Z"}


def test_the_instants_of_a_fingerprint_rise_whatever_the_clock_did() -> None:
    entries = [
        entry("a", 1, attempts=1),
        entry("a", 2, attempts=0, queued_at=NOON - SECOND),
        entry("b", 1, attempts=0),
    ]
    assert [alert["lastReceived"] for alert in stamped(entries, NOON + SECOND)] == [
        "2026-03-04T12:00:01.000Z",
        "2026-03-04T12:00:01.001Z",
        "2026-03-04T12:00:00.000Z",
    ]


def test_a_refusal_names_places_of_the_list_and_needs_none_where_there_is_one() -> None:
    batch = [entry("a"), entry("b"), entry("c")]
    refusal = Answer(status=422, refused=(2, 2, 7, -1))
    assert named(refusal, batch) == [batch[2]]
    assert named(replace(refusal, refused=()), batch) == []
    assert named(replace(refusal, refused=()), batch[:1]) == batch[:1]
