"""What must go, and the partitions that must come.

Belongs here: expiry by age, erasure of what the source erased, partitions ahead. Does not: the ages.
"""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import LiteralString

from kb_pipeline.adapters.postgres.batches import in_batches
from kb_pipeline.adapters.postgres.connection import Database
from kb_pipeline.adapters.postgres.publication import lock_hour, mark_stale
from kb_pipeline.adapters.postgres.queries import load
from kb_pipeline.windows import Window, hour_of


class PostgresRetention:
    """Deletes by age and by the source's example; every method returns how many turns it touched.

    Published rows are changed an hour at a time, in turns with whoever publishes that hour: a publisher that read a
    turn before it was erased would bring it back.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    def expire_text(self, before: datetime) -> int:
        """Drop question, context, passages, history and answer of turns before the instant, in batches."""
        return in_batches(self._database, load("expire_text"), before)

    def expire_previews(self, before: datetime) -> int:
        """Drop question previews and the judge's reasons of turns before the instant."""
        return self._by_hour("hours_past_previews", ("mark_past_previews", "drop_reasons"), instant=before)

    def expire_quality(self, before: datetime) -> int:
        """Delete turns before the instant; their ledger rows stay as tombstones, their windows as they are."""
        erasure = ("mark_past_quality", "erase_marked_triads", "erase_marked_scores")
        return self._by_hour("hours_past_quality", erasure, instant=before)

    def erase_deleted(self) -> int:
        """Delete the turns that the source deleted, and mark their windows as stale.

        A turn older than all that the source still has was purged there by age, which is no deletion.
        """
        with self._database.connect() as connection:
            oldest = connection.execute(load("oldest_at_source")).fetchone()
        if oldest is None:
            return 0
        erasure = ("mark_deleted_at_source", "erase_marked_triads", "erase_marked_scores")
        return self._by_hour("hours_deleted_at_source", erasure, instant=oldest[0], stale="aggregate")

    def erase_purged_text(self) -> int:
        """Drop the text of turns whose bodies the source no longer has, with previews and the judge's reasons."""
        return self._by_hour("hours_purged_at_source", ("drop_purged_text", "drop_reasons"))

    def ensure_partitions(self, first: datetime, last: datetime) -> int:
        """Make the monthly partitions of rag_quality from `first` to `last`; returns how many were made."""
        with self._database.connect() as connection:
            row = connection.execute(load("ensure_partitions"), {"first": first, "last": last}).fetchone()
        return int(row[0]) if row else 0

    def _by_hour(
        self,
        due: LiteralString,
        statements: Sequence[LiteralString],
        *,
        instant: datetime | None = None,
        stale: str | None = None,
    ) -> int:
        """Run the statements over each hour that is due; the first one says how many turns it was."""
        total = 0
        for hour in self._hours(due, instant):
            parameters = {"window_start": hour.start, "window_end": hour.end, "instant": instant}
            with self._database.connect() as connection:
                lock_hour(connection, hour, "publish")
                first, *_ = [connection.execute(load(each), parameters).rowcount for each in statements]
                if stale:
                    mark_stale(connection, hour, stale)
            total += first
        return total

    def _hours(self, due: LiteralString, instant: datetime | None) -> Iterator[Window]:
        with self._database.connect() as connection:
            rows = connection.execute(load(due), {"instant": instant}).fetchall()
        return (hour_of(row[0]) for row in rows)
