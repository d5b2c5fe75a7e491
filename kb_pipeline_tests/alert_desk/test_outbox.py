"""The outbox: order per fingerprint, one batch in flight, a destination that backs off, the dead and their reasons."""

from collections.abc import Sequence
from datetime import timedelta

import pytest

from kb_pipeline.adapters.postgres import batches
from kb_pipeline.adapters.postgres.alerting.outbox import PostgresAlertOutbox
from kb_pipeline.adapters.postgres.connection import Database
from kb_pipeline.records import OutboxEntry
from kb_pipeline_tests.alert_desk.windows import NOON

pytestmark = pytest.mark.postgres

LATER = NOON + timedelta(minutes=5)


@pytest.fixture
def outbox(database: Database) -> PostgresAlertOutbox:
    """Three alerts of a, one of b, for keep; the clock went back between the first and the second of a."""
    rows = [("a", 1, 2), ("a", 2, 0), ("a", 3, 3), ("b", 1, 1)]
    with database.connect() as connection:
        for fingerprint, kb_seq, minute in rows:
            connection.execute(
                "INSERT INTO kb_alert_outbox (destination, fingerprint, kb_seq, payload, queued_at)"
                " VALUES ('keep', %s, %s, '{}', %s)",
                [fingerprint, kb_seq, NOON + timedelta(minutes=minute)],
            )
    return PostgresAlertOutbox(database)


def keys(entries: Sequence[OutboxEntry]) -> list[tuple[str, int]]:
    return [(entry.fingerprint, entry.kb_seq) for entry in entries]


def waiting(outbox: PostgresAlertOutbox, *, limit: int = 100) -> list[tuple[str, int]]:
    return keys(outbox.pending("keep", now=LATER, limit=limit))


def test_alerts_leave_in_the_order_of_kb_seq_whatever_the_clock_and_the_limit(outbox: PostgresAlertOutbox) -> None:
    assert waiting(outbox) == [("a", 1), ("a", 2), ("a", 3), ("b", 1)]
    assert waiting(outbox, limit=2) == [("a", 1), ("a", 2)]
    assert outbox.pending("webhook", now=LATER, limit=9) == []


def test_a_fingerprint_with_a_batch_in_flight_waits_and_the_others_do_not(outbox: PostgresAlertOutbox) -> None:
    outbox.sent(outbox.pending("keep", now=LATER, limit=1), now=LATER)
    assert waiting(outbox) == [("b", 1)]
    in_flight = outbox.unconfirmed("keep", limit=9)
    assert keys(in_flight) == [("a", 1)]
    assert in_flight[0].attempts == 1
    outbox.lost(in_flight)
    assert waiting(outbox)[:3] == [("a", 1), ("a", 2), ("a", 3)]


def test_what_is_confirmed_confirms_the_earlier_ones_that_were_sent(outbox: PostgresAlertOutbox) -> None:
    batch = [entry for entry in outbox.pending("keep", now=LATER, limit=9) if entry.fingerprint == "a"]
    outbox.sent(batch[:2], now=LATER)
    outbox.confirmed(batch[1:2], now=LATER)
    assert waiting(outbox) == [("b", 1), ("a", 3)]
    (health,) = outbox.health(LATER)
    assert (health.pending, health.unconfirmed, health.last_confirmed_at) == (2, 0, LATER)


def test_the_dead_have_a_reason_block_nobody_and_can_be_tried_again(outbox: PostgresAlertOutbox) -> None:
    first, *_ = outbox.pending("keep", now=LATER, limit=1)
    outbox.bury(first, "422: labels.value is no string\0", now=LATER)
    assert waiting(outbox) == [("a", 2), ("a", 3), ("b", 1)]
    (dead,) = outbox.dead(limit=9)
    assert dead.reason
    assert dead.reason.startswith("422: labels.value is no string")
    assert outbox.revive() == 1
    assert waiting(outbox)[0] == ("a", 1)


def test_a_dead_alert_is_not_revived_behind_a_later_one_that_was_delivered(outbox: PostgresAlertOutbox) -> None:
    entries = [entry for entry in outbox.pending("keep", now=LATER, limit=9) if entry.fingerprint == "a"]
    outbox.bury(entries[0], "422", now=LATER)
    outbox.sent(entries[1:2], now=LATER)
    assert outbox.revive(fingerprint="a") == 0


def test_a_held_destination_gets_nothing_until_its_time_and_counts_its_failures(outbox: PostgresAlertOutbox) -> None:
    assert outbox.hold("keep", until=LATER + timedelta(seconds=1), reason="503") == 1
    assert outbox.hold("keep", until=LATER + timedelta(seconds=2), reason="503") == 2
    assert waiting(outbox) == []
    assert len(outbox.pending("keep", now=LATER + timedelta(seconds=2), limit=9)) == 4
    (health,) = outbox.health(LATER)
    assert (health.failures, health.reason, health.dead) == (2, "503", 0)
    assert health.oldest_pending_s == 300
    outbox.release("keep")
    assert len(waiting(outbox)) == 4
    assert outbox.hold("keep", until=LATER, reason="timeout") == 1


def test_a_destination_has_one_deliverer_at_a_time(outbox: PostgresAlertOutbox) -> None:
    with outbox.exclusive("keep") as first, outbox.exclusive("keep") as second, outbox.exclusive("webhook") as other:
        assert (first, second, other) == (True, False, True)
    with outbox.exclusive("keep") as again:
        assert again


def test_old_alerts_leave_from_the_oldest_on_and_neither_what_waits_nor_the_newest_does(
    outbox: PostgresAlertOutbox, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batches, "BATCH", 2)
    old = NOON - timedelta(days=91)
    rows = [
        *(("done", seq, "confirmed", old) for seq in range(1, 8)),
        ("refused", 1, "dead", old), ("refused", 2, "confirmed", old),
        ("recent", 1, "confirmed", NOON), ("recent", 2, "confirmed", NOON),
        ("held", 1, "confirmed", old), ("held", 2, "pending", None), ("held", 3, "dead", old),
        ("held", 4, "sent", None),
    ]  # fmt: skip
    with database.connect() as connection:
        for fingerprint, kb_seq, state, settled_at in rows:
            connection.execute(
                "INSERT INTO kb_alert_outbox (destination, fingerprint, kb_seq, payload, queued_at, state, settled_at,"
                " reason) VALUES ('webhook', %s, %s, '{}', %s, %s, %s, 'r')",
                [fingerprint, kb_seq, old, state, settled_at],
            )
    assert outbox.expire(NOON - timedelta(days=90)) == 6 + 1 + 1
    with database.connect() as connection:
        left = connection.execute(
            "SELECT fingerprint, kb_seq FROM kb_alert_outbox WHERE destination = 'webhook' ORDER BY 1, 2"
        ).fetchall()
    assert left == [("done", 7), ("held", 2), ("held", 3), ("held", 4), ("recent", 1), ("recent", 2), ("refused", 2)]
    assert len(waiting(outbox)) == 4
