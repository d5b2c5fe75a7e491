"""Alerts in the outbox as evaluations put them there, and desks that deliver them quickly.

Belongs here: those. Does not: assertions.
"""

from collections import Counter
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from kb_pipeline.adapters.postgres.alerting.book import PostgresAlertBook
from kb_pipeline.adapters.postgres.connection import Database
from kb_pipeline.alert_desk import AlertDesk
from kb_pipeline.alerting.delivery import Pace
from kb_pipeline.alerting.payloads import Sender, alert_of
from kb_pipeline.demo.local_keep import LocalKeep
from kb_pipeline.ports import Clock
from kb_pipeline.records import (
    AlertState,
    AlertStatus,
    Decision,
    Finding,
    Memory,
    Notice,
    NoticeStatus,
    OutboxEntry,
    Reading,
    Severity,
)
from kb_pipeline.settings import Settings
from kb_pipeline_tests.builders import table

# Waits that a test has the time for; nothing else differs.
QUICK = Pace(back_off_s=0.01, back_off_cap_s=0.1, held_s=0.2, lost_s=0.2, lost_cap_s=0.4, request_s=1)
SENDER = Sender(environment="prod", public_url="https://quality.example.org")


class Flips:
    """Writes the flips of made-up subjects: each call is one more notice of one of them, for every destination."""

    def __init__(self, database: Database, clock: Clock, destinations: Sequence[str] = ("keep",)) -> None:
        self._book = PostgresAlertBook(database)
        self._clock = clock
        self._destinations = destinations
        self._told: Counter[str] = Counter()

    def fire(self, tenant: str, *, poison: bool = False) -> str:
        return self._tell(tenant, NoticeStatus.FIRING, poison=poison)

    def resolve(self, tenant: str) -> str:
        return self._tell(tenant, NoticeStatus.RESOLVED)

    def _tell(self, tenant: str, status: NoticeStatus, *, poison: bool = False) -> str:
        now = self._clock.now()
        number = self._told[tenant] + 1
        state = _state(tenant, status, number, now)
        payload = alert_of(state, title="Answers are less faithful", sender=SENDER, now=now)
        if poison:
            payload |= {"labels": "none"}
        with self._book.turn() as turn:
            decision = Decision(state=state, expected_version=number - 1, payload=payload)
            turn.save([decision], destinations=self._destinations, now=now)
        self._told[tenant] = number
        return state.fingerprint


def _state(tenant: str, status: NoticeStatus, number: int, now: datetime) -> AlertState:
    is_firing = status is NoticeStatus.FIRING
    memory = Memory(
        status=AlertStatus.FIRING if is_firing else AlertStatus.OK, severity=Severity.WARNING if is_firing else None
    )
    return AlertState(
        fingerprint=f"rag_low_faithfulness|faithfulness|prod:{tenant}:public:rag",
        rule="rag_low_faithfulness",
        metric="faithfulness",
        subject=("prod", tenant, "public", "rag"),
        memory=memory,
        before=memory,
        reading=Reading(finding=Finding.BREACH, sentence=f"Look number {number}.", value=0.5, n=30),
        window_end=now,
        since=now,
        notice=Notice(status=status, severity=Severity.WARNING),
        kb_seq=number,
        version=number,
    )


def delivering(database: Database, clock: Clock, **alerts: Any) -> AlertDesk:
    given = {"alerts": alerts, "database": {"url": database.url.render_as_string(hide_password=False)}}
    return AlertDesk(Settings.model_validate(given), database, clock=clock)


def to(keep: LocalKeep, *, reading: bool = True) -> dict[str, Any]:
    """The configuration that leads to a local Keep."""
    read = {"keep_read_key": keep.read_key} if reading else {}
    return {"keep_url": keep.base_url, "keep_api_key": keep.key, **read}


def stands(database: Database, destination: str = "keep") -> list[tuple[str, int]]:
    """How many alerts of the outbox are in each state."""
    return table(
        database,
        "SELECT state, count(*) FROM kb_alert_outbox WHERE destination = %s GROUP BY state ORDER BY 1",
        destination,
    )


def entry(fingerprint: str = "a", kb_seq: int = 1, **changes: Any) -> OutboxEntry:
    given: dict[str, Any] = {
        "destination": "keep", "fingerprint": fingerprint, "kb_seq": kb_seq, "state": "sent", "attempts": 1,
        "payload": {"fingerprint": fingerprint, "kb_seq": kb_seq, "lastReceived": "2026-03-04T12:00:00.000Z"},
        "reason": None, "queued_at": NOON, "sent_at": NOON,
    }  # fmt: skip
    return OutboxEntry(**given | changes)


NOON = datetime.fromisoformat("2026-03-04T12:00:00+00:00")
MINUTE = timedelta(minutes=1)
