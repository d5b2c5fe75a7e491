"""What the retrieval street lets go of by age, and the words of queries that nothing carries any more.

Belongs here: expiry of words, previews and rows in batches. Does not: the ages, what the source deleted (outcomes.py).
"""

from datetime import datetime
from typing import LiteralString

from kb_pipeline.adapters.postgres.batches import in_batches
from kb_pipeline.adapters.postgres.connection import Database
from kb_pipeline.adapters.postgres.retrieval.queries import load


class PostgresQueryRetention:
    """Deletes by age in transactions of at most 5,000 rows, so that nobody waits long; a row in use waits for tomorrow.

    Evidence and judgments keep their keys whatever goes: a judgment outlives the words of its query, and the event that
    it was seen at.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    def expire_queries(self, before: datetime) -> int:
        """Drop the words of every retrieval and search before the instant; returns how many events lost theirs.

        The query itself loses its words when no event carries them any more, also where the source deleted the message
        they came from. What is left in kb_query is a tombstone, until somebody asks the same again.
        """
        events = self._in_batches("expire_event_text", before) + self._in_batches("expire_search_text", before)
        events += self._in_batches("expire_conflict_text", before)
        self._in_batches("expire_queries", before)
        return events

    def expire_query_previews(self, before: datetime) -> int:
        """Drop the previews of queries last asked before the instant; returns how many."""
        return self._in_batches("expire_query_previews", before)

    def expire_events(self, before: datetime) -> int:
        """Delete retrievals, searches and conflicts before the instant; returns how many rows went.

        With them go the tombstones of queries that have no evidence: nothing is left that needs their keys.
        """
        rows = self._in_batches("expire_events", before) + self._in_batches("expire_searches", before)
        rows += self._in_batches("expire_conflicts", before)
        self._in_batches("expire_queries", before)
        self._in_batches("expire_tombstones", before)
        return rows

    def _in_batches(self, statement: LiteralString, before: datetime) -> int:
        return in_batches(self._database, load(statement), before)
