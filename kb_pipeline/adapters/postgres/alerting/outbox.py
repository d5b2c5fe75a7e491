"""The outbox: what waits, what is on its way, what arrived, what was refused, and destinations that back off.

Belongs here: the tables kb_alert_outbox and kb_alert_destination. Does not: HTTP, how long to back off.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Any, LiteralString

from psycopg.rows import dict_row

from kb_pipeline.adapters.postgres.alerting.queries import load
from kb_pipeline.adapters.postgres.batches import in_batches
from kb_pipeline.adapters.postgres.connection import Database
from kb_pipeline.adapters.postgres.text import storable
from kb_pipeline.records import OutboxEntry, OutboxHealth

REASON_CHARS = 500


class PostgresAlertOutbox:
    """What is to be delivered. Per fingerprint entries leave in the order of kb_seq, one batch of them in flight."""

    def __init__(self, database: Database) -> None:
        self._database = database

    @contextmanager
    def exclusive(self, destination: str) -> Iterator[bool]:
        """Whether this is the only deliverer of the destination; it stays so to the end of the block."""
        with self._database.session() as connection:
            row = connection.execute(load("lock_delivery"), {"destination": destination}).fetchone()
            is_only = bool(row and row[0])
            try:
                yield is_only
            finally:
                # A session that is closed lets go of it too, but some moments later.
                if is_only and not connection.closed:
                    connection.execute(load("unlock_delivery"), {"destination": destination})

    def pending(self, destination: str, *, now: datetime, limit: int) -> Sequence[OutboxEntry]:
        """What may be sent now, whole fingerprints from their oldest entry on; none while the destination is held."""
        return self._entries(load("pending_alerts"), destination=destination, now=now, limit=limit)

    def unconfirmed(self, destination: str, *, limit: int) -> Sequence[OutboxEntry]:
        """What was accepted and not seen there yet."""
        return self._entries(load("unconfirmed_alerts"), destination=destination, limit=limit)

    def dead(self, *, destination: str | None = None, limit: int) -> Sequence[OutboxEntry]:
        """What was given up, the newest first, with the reason."""
        return self._entries(load("dead_alerts"), destination=destination, limit=limit)

    def waiting(self, *, limit: int) -> Sequence[OutboxEntry]:
        """What is not done with, whatever holds it, the oldest first."""
        return self._entries(load("waiting_alerts"), limit=limit)

    def sent(self, entries: Sequence[OutboxEntry], *, now: datetime) -> int:
        """They are on their way, or were accepted; returns how many. Fewer than given: somebody else has them."""
        return self._mark(load("mark_sent"), entries, now=now)

    def returned(self, entries: Sequence[OutboxEntry]) -> None:
        """They were on their way and were certainly not taken: they wait again, as if they had not been sent."""
        self._mark(load("mark_returned"), entries)

    def lost(self, entries: Sequence[OutboxEntry]) -> None:
        """They were accepted and are not there: they wait again."""
        self._mark(load("mark_lost"), entries)

    def confirmed(self, entries: Sequence[OutboxEntry], *, now: datetime) -> None:
        """They are there, and with each every earlier one of its fingerprint that was sent."""
        self._mark(load("mark_confirmed"), entries, now=now)
        with self._database.connect() as connection:
            for destination in sorted({entry.destination for entry in entries}):
                connection.execute(load("note_confirmation"), {"destination": destination, "now": now})

    def assumed(self, entries: Sequence[OutboxEntry], *, now: datetime) -> None:
        """They were accepted and nothing more can be known: they are done with, and confirmed nothing."""
        self._mark(load("mark_confirmed"), entries, now=now)

    def doubt(self, destination: str, *, now: datetime, every: timedelta) -> int:
        """What was confirmed longer than `every` ago and still stands is to be seen anew; returns how many."""
        parameters = {"destination": destination, "now": now, "every": every}
        with self._database.connect() as connection:
            return connection.execute(load("doubt_alerts"), parameters).rowcount

    def repeat(self, destination: str, *, now: datetime, every: timedelta, resolves: int, spacing: timedelta) -> int:
        """What is due again where nothing can be read back waits again; returns how many."""
        parameters = {
            "destination": destination, "now": now, "every": every, "resolves": resolves, "spacing": spacing
        }  # fmt: skip
        with self._database.connect() as connection:
            return connection.execute(load("repeat_alerts"), parameters).rowcount

    def bury(self, entry: OutboxEntry, reason: str, *, now: datetime) -> None:
        """It was refused for good."""
        self._mark(load("mark_dead"), [entry], now=now, reason=storable(reason)[:REASON_CHARS])

    def revive(self, *, destination: str | None = None, fingerprint: str | None = None) -> int:
        """Try dead entries again; those behind which a later one was delivered stay dead. Returns how many."""
        parameters = {"destination": destination, "fingerprint": fingerprint}
        with self._database.connect() as connection:
            return connection.execute(load("revive_alerts"), parameters).rowcount

    def hold(self, destination: str, *, until: datetime, reason: str) -> int:
        """Send nothing there before the instant; returns the failures in a row."""
        parameters = {"destination": destination, "until": until, "reason": storable(reason)[:REASON_CHARS]}
        with self._database.connect() as connection:
            row = connection.execute(load("hold_destination"), parameters).fetchone()
        return int(row[0]) if row else 0

    def release(self, destination: str) -> None:
        """It works again."""
        with self._database.connect() as connection:
            connection.execute(load("release_destination"), {"destination": destination})

    def health(self, now: datetime) -> Sequence[OutboxHealth]:
        """How each destination stands."""
        with self._database.connect() as connection, connection.cursor(row_factory=dict_row) as cursor:
            return [OutboxHealth(**row) for row in cursor.execute(load("outbox_health"), {"now": now}).fetchall()]

    def expire(self, before: datetime) -> int:
        """Delete what was confirmed or given up before the instant, but the newest of each fingerprint; how many."""
        return in_batches(self._database, load("expire_alerts"), before)

    def _entries(self, query: LiteralString, **parameters: Any) -> list[OutboxEntry]:
        with self._database.connect() as connection, connection.cursor(row_factory=dict_row) as cursor:
            return [OutboxEntry(**row) for row in cursor.execute(query, parameters).fetchall()]

    def _mark(self, query: LiteralString, entries: Sequence[OutboxEntry], **parameters: Any) -> int:
        changed = 0
        with self._database.connect() as connection:
            for entry in entries:
                key = {"destination": entry.destination, "fingerprint": entry.fingerprint, "kb_seq": entry.kb_seq}
                changed += connection.execute(query, parameters | key).rowcount
        return changed
