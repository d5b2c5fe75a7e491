"""What must go, and the partitions that must come.

Belongs here: expiry by age, erasure of what the source erased, partitions ahead. Does not: the ages.
"""

from datetime import datetime

from kb_pipeline.adapters.postgres.connection import Database
from kb_pipeline.adapters.postgres.queries import load

BATCH = 5_000


class PostgresRetention:
    """Deletes by age and by the source's example; every method returns how many turns it touched."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def expire_text(self, before: datetime) -> int:
        """Drop question, context, passages, history and answer of turns before the instant, in batches."""
        total = 0
        while True:
            with self._database.connect() as connection:
                expired = connection.execute(load("expire_text"), {"before": before, "limit": BATCH}).rowcount
            total += expired
            if expired < BATCH:
                return total

    def expire_previews(self, before: datetime) -> int:
        """Drop question previews and the judge's reasons of turns before the instant."""
        with self._database.connect() as connection:
            return connection.execute(load("expire_previews"), {"before": before}).rowcount

    def expire_quality(self, before: datetime) -> int:
        """Delete published rows before the instant; their ledger rows stay as tombstones."""
        with self._database.connect() as connection:
            return connection.execute(load("expire_quality"), {"before": before}).rowcount

    def erase_deleted(self) -> int:
        """Delete the turns that the source deleted."""
        with self._database.connect() as connection:
            row = connection.execute(load("erase_deleted_turns")).fetchone()
        return int(row[0]) if row else 0

    def erase_purged_text(self) -> int:
        """Drop the text of turns whose bodies the source no longer has."""
        with self._database.connect() as connection:
            return connection.execute(load("erase_purged_text")).rowcount

    def ensure_partitions(self, first: datetime, last: datetime) -> int:
        """Make the monthly partitions of rag_quality from `first` to `last`; returns how many were made."""
        with self._database.connect() as connection:
            row = connection.execute(load("ensure_partitions"), {"first": first, "last": last}).fetchone()
        return int(row[0]) if row else 0
