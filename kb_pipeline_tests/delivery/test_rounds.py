"""Delivery to a Keep that behaves as it was measured: order, proof, losses, poison, back-off, repeats."""

import json
import time
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta

import pytest

from kb_pipeline.adapters.postgres.connection import Database
from kb_pipeline.alert_desk import AlertDesk
from kb_pipeline.demo.local_keep import LocalKeep
from kb_pipeline_tests.alert_desk.windows import NOON
from kb_pipeline_tests.builders import table
from kb_pipeline_tests.clocks import MovedClock
from kb_pipeline_tests.delivery.flips import Flips, delivering, stands, to

pytestmark = pytest.mark.postgres


@pytest.fixture
def keep() -> Iterator[LocalKeep]:
    with LocalKeep() as running:
        yield running


@pytest.fixture
def clock() -> MovedClock:
    return MovedClock(NOON)


@pytest.fixture
def flips(database: Database, clock: MovedClock) -> Flips:
    return Flips(database, clock)


@pytest.fixture
def desk(database: Database, clock: MovedClock, keep: LocalKeep) -> AlertDesk:
    return delivering(database, clock, **to(keep))


def counts(desk: AlertDesk, destination: str = "keep") -> dict[str, int]:
    """What one round did, less what it did not."""
    return {name: int(count) for name, count in desk.deliver()[destination].counts.items() if count}


def seen(keep: LocalKeep) -> list[tuple[str, int]]:
    """Tenant and number of what became visible, in that order."""
    return [(alert["fingerprint"].split(":")[1], alert["kb_seq"]) for alert in keep.received]


def until_confirmed(desk: AlertDesk) -> None:
    for _ in range(100):
        desk.deliver()
        if not desk.delivery()[0].unconfirmed + desk.delivery()[0].pending:
            return
        time.sleep(0.01)
    raise AssertionError(desk.delivery())


def test_alerts_arrive_as_one_list_in_order_and_are_seen_there(
    desk: AlertDesk, flips: Flips, keep: LocalKeep, database: Database
) -> None:
    flips.fire("a")
    flips.resolve("a")
    flips.fire("b")
    until_confirmed(desk)
    assert sorted(seen(keep)) == [("a", 1), ("a", 2), ("b", 1)]
    assert keep.alerts.latest()[flips_of("a")]["status"] == "resolved"
    assert (keep.told("firing"), keep.told("resolved")) == ([flips_of("a"), flips_of("b")], [flips_of("a")])
    assert len(keep.bodies) == 1
    assert isinstance(json.loads(keep.bodies[0]), list)
    assert stands(database) == [("confirmed", 3)]
    assert desk.delivery()[0].last_confirmed_at == NOON


def flips_of(tenant: str) -> str:
    return f"rag_low_faithfulness|faithfulness|prod:{tenant}:public:rag"


def test_one_alert_is_a_list_too(desk: AlertDesk, flips: Flips, keep: LocalKeep) -> None:
    flips.fire("a")
    desk.deliver()
    assert keep.bodies[0].startswith(b"[{")


def test_nothing_of_a_fingerprint_follows_until_what_is_on_its_way_is_seen(
    desk: AlertDesk, flips: Flips, keep: LocalKeep, database: Database
) -> None:
    keep.conduct.lose = 1
    flips.fire("a")
    assert counts(desk) == {"accepted": 1}
    flips.resolve("a")
    flips.fire("b")
    assert counts(desk)["accepted"] == 1
    assert ("pending", 1) in stands(database)
    assert all(name == "b" for name, _ in seen(keep))


def test_what_was_accepted_and_lost_is_sent_again_before_what_follows(
    desk: AlertDesk, flips: Flips, keep: LocalKeep, clock: MovedClock, database: Database
) -> None:
    keep.conduct.lose = 1
    flips.fire("a")
    desk.deliver()
    flips.resolve("a")
    clock.pass_by(seconds=29)
    assert counts(desk) == {}
    clock.pass_by(seconds=1)
    assert counts(desk)["lost"] == 1
    until_confirmed(desk)
    assert seen(keep) == [("a", 1), ("a", 2)]
    assert stands(database) == [("confirmed", 2)]


def test_a_poisonous_alert_is_given_up_with_the_reason_and_the_rest_arrives(
    desk: AlertDesk, flips: Flips, keep: LocalKeep
) -> None:
    for tenant in ("a", "b", "c"):
        flips.fire(tenant, poison=tenant == "b")
    assert counts(desk)["dead"] == 1
    until_confirmed(desk)
    assert seen(keep) == [("a", 1), ("c", 1)]
    (dead,) = desk.outbox.dead(limit=9)
    assert dead.fingerprint == flips_of("b")
    assert dead.reason == "422: body.1.labels: value is not a valid dict"


def test_a_refusal_that_names_nothing_is_narrowed_down_to_the_one_that_is_refused(
    desk: AlertDesk, flips: Flips, keep: LocalKeep, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kb_pipeline.adapters.notify.keep._index", lambda _place: None)
    for number in range(20):
        flips.fire(f"t{number:02}", poison=number == 13)
    until_confirmed(desk)
    assert [entry.fingerprint for entry in desk.outbox.dead(limit=9)] == [flips_of("t13")]
    assert len(seen(keep)) == 19


@pytest.mark.parametrize("status", [408, 429, 500, 503])
def test_a_busy_destination_is_left_alone_keeps_everything_and_is_tried_again(
    desk: AlertDesk, flips: Flips, keep: LocalKeep, clock: MovedClock, status: int
) -> None:
    keep.conduct.status, keep.conduct.times = status, 1
    flips.fire("a")
    assert counts(desk) == {"failed": 1}
    (health,) = desk.delivery()
    assert health.reason
    assert health.reason.startswith(str(status))
    assert health.pending + health.unconfirmed == 1
    assert counts(desk) == {}
    assert len(keep.bodies) == 1
    clock.pass_by(seconds=31)
    until_confirmed(desk)
    assert seen(keep) == [("a", 1)]
    assert desk.delivery()[0].failures == 0


@pytest.mark.parametrize("status", [401, 403, 404, 307])
def test_a_wrong_key_or_address_holds_the_destination_and_gives_nothing_up(
    desk: AlertDesk, flips: Flips, keep: LocalKeep, clock: MovedClock, status: int
) -> None:
    keep.conduct.status = status
    flips.fire("a")
    desk.deliver()
    clock.pass_by(minutes=2)
    desk.deliver()
    assert len(keep.bodies) == 1
    (health,) = desk.delivery()
    assert (health.pending, health.dead) == (1, 0)
    assert "alerts.keep_" in str(health.reason)
    keep.conduct.status = None
    desk.retry()
    until_confirmed(desk)
    assert seen(keep) == [("a", 1)]


def test_what_was_taken_although_the_answer_was_bad_is_not_sent_twice(
    desk: AlertDesk, flips: Flips, keep: LocalKeep, clock: MovedClock
) -> None:
    keep.conduct.status, keep.conduct.times, keep.conduct.taken = 504, 1, True
    flips.fire("a")
    assert counts(desk) == {"failed": 1}
    clock.pass_by(seconds=31)
    until_confirmed(desk)
    assert seen(keep) == [("a", 1)]
    assert len(keep.bodies) == 1


def test_a_person_who_acknowledges_an_alert_does_not_make_it_unseen(
    desk: AlertDesk, flips: Flips, keep: LocalKeep, database: Database
) -> None:
    flips.fire("a")
    desk.deliver()
    keep.alerts.keep([{**keep.alerts.latest()[flips_of("a")], "status": "acknowledged"}])
    until_confirmed(desk)
    assert stands(database) == [("confirmed", 1)]


def test_what_fires_is_looked_for_again_and_put_back_where_keep_forgot_it(
    desk: AlertDesk, flips: Flips, keep: LocalKeep, clock: MovedClock
) -> None:
    flips.fire("a")
    flips.fire("b")
    flips.resolve("b")
    until_confirmed(desk)
    keep.alerts.forget()
    clock.pass_by(minutes=29)
    desk.deliver()
    assert seen(keep) == []
    clock.pass_by(minutes=1)
    until_confirmed(desk)
    # The resolve is looked for once more too, since one that fired could have overtaken it.
    assert sorted(seen(keep)) == [("a", 1), ("b", 2)]
    clock.pass_by(hours=1)
    until_confirmed(desk)
    keep.alerts.forget()
    clock.pass_by(hours=2)
    until_confirmed(desk)
    assert seen(keep) == [("a", 1)]


class TestWithoutAReadKey:
    @pytest.fixture
    def desk(self, database: Database, clock: MovedClock, keep: LocalKeep) -> AlertDesk:
        return delivering(database, clock, **to(keep, reading=False))

    def test_what_fires_is_repeated_every_half_hour(
        self, desk: AlertDesk, flips: Flips, keep: LocalKeep, clock: MovedClock
    ) -> None:
        flips.fire("a")
        for _ in range(7):
            desk.deliver()
            clock.pass_by(minutes=15)
        assert [json.loads(body)[0]["kb_seq"] for body in keep.bodies] == [1, 1, 1, 1]
        stamps = [json.loads(body)[0].pop("lastReceived") for body in keep.bodies]
        assert stamps == sorted(set(stamps))

    def test_a_resolve_is_sent_three_times(
        self, desk: AlertDesk, flips: Flips, keep: LocalKeep, clock: MovedClock
    ) -> None:
        flips.fire("a")
        flips.resolve("a")
        for _ in range(60):
            desk.deliver()
            clock.pass_by(minutes=1)
        sent = [[alert["kb_seq"] for alert in json.loads(body)] for body in keep.bodies]
        assert sent == [[1, 2], [2], [2]]

    def test_the_next_of_a_fingerprint_waits_until_the_one_before_has_settled(
        self, desk: AlertDesk, flips: Flips, keep: LocalKeep, clock: MovedClock
    ) -> None:
        flips.fire("a")
        desk.deliver()
        flips.resolve("a")
        desk.deliver()
        assert len(keep.bodies) == 1
        clock.pass_by(seconds=30)
        desk.deliver()
        assert len(keep.bodies) == 2

    def test_nothing_is_called_confirmed(self, desk: AlertDesk, flips: Flips, clock: MovedClock) -> None:
        flips.fire("a")
        desk.deliver()
        clock.pass_by(minutes=1)
        desk.deliver()
        (health,) = desk.delivery()
        assert (health.pending, health.unconfirmed, health.last_confirmed_at) == (0, 0, None)


def test_a_read_key_that_is_refused_keeps_no_alert_back(
    database: Database, clock: MovedClock, keep: LocalKeep, flips: Flips
) -> None:
    desk = delivering(database, clock, **{**to(keep), "keep_read_key": keep.key})
    flips.fire("a")
    desk.deliver()
    flips.resolve("a")
    clock.pass_by(seconds=30)
    (report,) = desk.deliver().values()
    assert "alerts.keep_read_key is refused" in report.notes[0]
    assert [json.loads(body)[0]["kb_seq"] for body in keep.bodies] == [1, 2]


def test_a_destination_that_another_delivers_to_is_left_to_it(desk: AlertDesk, flips: Flips, keep: LocalKeep) -> None:
    flips.fire("a")
    with desk.outbox.exclusive("keep"):
        assert counts(desk) == {"busy": 1}
    assert keep.bodies == []


def test_a_batch_that_somebody_else_took_meanwhile_is_not_sent(
    desk: AlertDesk, flips: Flips, keep: LocalKeep, clock: MovedClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    flips.fire("a")
    (taken,) = desk.outbox.pending("keep", now=clock.now(), limit=9)
    desk.outbox.sent([taken], now=clock.now())
    monkeypatch.setattr(desk.outbox, "pending", lambda *_, **__: [replace(taken, state="pending")])
    desk.deliver()
    assert keep.bodies == []


def test_a_round_ends_in_time_however_long_a_receiver_is_silent(
    desk: AlertDesk, flips: Flips, keep: LocalKeep, database: Database
) -> None:
    keep.conduct.hang_s = 60
    for number in range(120):
        flips.fire(f"t{number}")
    started = time.monotonic()
    desk.deliver(budget_s=0.5)
    assert time.monotonic() - started < 20
    assert stands(database) == [("pending", 70), ("sent", 50)]
    # What a silent receiver got may have arrived; it is looked for and not sent twice.
    assert desk.delivery()[0].failures == 1


def test_a_dead_letter_can_be_tried_again(desk: AlertDesk, flips: Flips, keep: LocalKeep, database: Database) -> None:
    flips.fire("a", poison=True)
    desk.deliver()
    table(database, "UPDATE kb_alert_outbox SET payload = payload || '{\"labels\": {}}' RETURNING 1")
    assert desk.retry(destination="keep") == 1
    until_confirmed(desk)
    assert seen(keep) == [("a", 1)]


def test_what_waits_is_sent_in_batches(desk: AlertDesk, flips: Flips, keep: LocalKeep) -> None:
    for number in range(120):
        flips.fire(f"t{number:03}")
    until_confirmed(desk)
    assert [len(json.loads(body)) for body in keep.bodies] == [50, 50, 20]


def test_a_clock_that_went_back_between_two_flips_turns_nothing_round(
    desk: AlertDesk, flips: Flips, keep: LocalKeep, clock: MovedClock
) -> None:
    flips.fire("a")
    clock.instant -= timedelta(minutes=5)
    flips.resolve("a")
    clock.instant += timedelta(minutes=6)
    until_confirmed(desk)
    first, second = keep.received
    assert (first["kb_seq"], second["kb_seq"]) == (1, 2)
    assert first["lastReceived"] < second["lastReceived"]
