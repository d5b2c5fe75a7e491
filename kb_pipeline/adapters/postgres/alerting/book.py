"""States, flips and what is to be sent, in one transaction; silences.

Belongs here: the tables kb_alert_state, kb_alert_transition and kb_alert_silence, adding to the outbox. Does not:
deciding, delivering.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import Any, TypeVar

import msgspec
from psycopg.rows import dict_row
from psycopg.types.json import Jsonb

from kb_pipeline.adapters.postgres.alerting.queries import load
from kb_pipeline.adapters.postgres.batches import in_batches
from kb_pipeline.adapters.postgres.connection import Connection, Database
from kb_pipeline.adapters.postgres.text import storable
from kb_pipeline.errors import DatabaseError
from kb_pipeline.records import AlertState, Decision, Memory, Notice, Reading, Silence

RecordT = TypeVar("RecordT")
HISTORY = 200


class PostgresAlertTurn:
    """One evaluation's turn with the states: nobody else decides until the transaction ends."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def states(self) -> Sequence[AlertState]:
        """Every state."""
        return _states(self._connection)

    def silences(self, now: datetime) -> Sequence[Silence]:
        """Those of the instant."""
        return _silences(self._connection, now)

    def save(self, decisions: Sequence[Decision], *, destinations: Sequence[str], now: datetime) -> int:
        """Write what changed: states, flips, and the alert of each notice for every destination. Returns states.

        Raises DatabaseError where somebody else changed a state since it was read; then nothing is written.
        """
        changed = [decision for decision in decisions if decision.changes]
        for decision in changed:
            self._save(decision, list(destinations), now)
        return len(changed)

    def _save(self, decision: Decision, destinations: list[str], now: datetime) -> None:
        parameters = _row(decision.state) | {"expected_version": decision.expected_version, "now": now}
        if self._connection.execute(load("save_state"), parameters).rowcount != 1:
            raise DatabaseError(
                f"the alert {decision.state.fingerprint} was changed by somebody else meanwhile; nothing was written, "
                "evaluate again"
            )
        if flip := decision.transition:
            facts = {
                "from_status": str(flip.from_status),
                "to_status": str(flip.to_status),
                "flip_severity": flip.severity and str(flip.severity),
                "reason": flip.reason,
                "flip_seq": flip.kb_seq,
            }
            self._connection.execute(load("append_transition"), parameters | facts)
        if decision.payload and destinations:
            queued = {"payload": Jsonb(dict(decision.payload)), "destinations": destinations}
            self._connection.execute(load("queue_alert"), parameters | queued)


class PostgresAlertBook:
    """Keeps alerts."""

    def __init__(self, database: Database) -> None:
        self._database = database

    @contextmanager
    def turn(self) -> Iterator[PostgresAlertTurn]:
        """Wait for whoever evaluates; all that is saved in the block is there at its end, or none of it."""
        with self._database.connect() as connection:
            connection.execute(load("lock_evaluation"))
            yield PostgresAlertTurn(connection)

    def states(self) -> Sequence[AlertState]:
        """Every state, as it stands."""
        with self._database.connect() as connection:
            return _states(connection)

    def history(self, *, since: datetime, fingerprint: str | None = None, limit: int = HISTORY) -> list[dict[str, Any]]:
        """The newest flips since the instant, as facts."""
        parameters = {"since": since, "fingerprint": fingerprint, "limit": limit}
        with self._database.connect() as connection, connection.cursor(row_factory=dict_row) as cursor:
            return cursor.execute(load("newest_transitions"), parameters).fetchall()

    def expire_flips(self, before: datetime) -> int:
        """Delete the flips before the instant; returns how many."""
        return in_batches(self._database, load("expire_transitions"), before)

    def silences(self, now: datetime) -> Sequence[Silence]:
        """Those of the instant."""
        with self._database.connect() as connection:
            return _silences(connection, now)

    def silence(self, *, pattern: str, now: datetime, ends_at: datetime, author: str, reason: str) -> int:
        """Add a silence; returns its number."""
        parameters = {
            "pattern": storable(pattern),
            "now": now,
            "ends_at": ends_at,
            "author": storable(author),
            "reason": storable(reason),
        }
        with self._database.connect() as connection:
            row = connection.execute(load("add_silence"), parameters).fetchone()
        return int(row[0]) if row else 0

    def end_silences(self, pattern: str, now: datetime) -> int:
        """End the silences of a pattern; returns how many there were."""
        with self._database.connect() as connection:
            return connection.execute(load("end_silences"), {"pattern": storable(pattern), "now": now}).rowcount


def _states(connection: Connection) -> list[AlertState]:
    with connection.cursor(row_factory=dict_row) as cursor:
        return [_state(row) for row in cursor.execute(load("alert_states")).fetchall()]


def _silences(connection: Connection, now: datetime) -> list[Silence]:
    with connection.cursor(row_factory=dict_row) as cursor:
        return [Silence(**row) for row in cursor.execute(load("silences_of"), {"now": now}).fetchall()]


def _state(row: dict[str, Any]) -> AlertState:
    return AlertState(
        **{
            **row,
            "subject": tuple(row["subject"]),
            "memory": _record(row["memory"], Memory),
            "before": _record(row["before"], Memory),
            "reading": _record(row["reading"], Reading),
            "notice": _record(row["notice"], Notice) if row["notice"] else None,
        }
    )


def _row(state: AlertState) -> dict[str, Any]:
    reading = state.reading
    return {
        "fingerprint": state.fingerprint,
        "rule": state.rule,
        "metric": state.metric,
        "subject": list(state.subject),
        "status": str(state.status),
        "severity": state.memory.severity and str(state.memory.severity),
        "since": state.since,
        "window_end": state.window_end,
        "sentence": reading.sentence if reading else "",
        "reading": Jsonb(msgspec.to_builtins(reading)),
        "memory": Jsonb(msgspec.to_builtins(state.memory)),
        "before": Jsonb(msgspec.to_builtins(state.before)),
        "inhibited_by": state.inhibited_by,
        "is_silenced": state.is_silenced,
        "notice": Jsonb(msgspec.to_builtins(state.notice)) if state.notice else None,
        "kb_seq": state.kb_seq,
        "version": state.version,
    }


def _record(value: Any, kind: type[RecordT]) -> RecordT:
    return msgspec.convert(value, kind)
