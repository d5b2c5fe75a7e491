"""Retrieval events as lines of JSON, for a copy elsewhere: keys, scores and hashes.

Belongs here: reading them in chunks. Does not: text of queries, where the copy is.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime

from kb_pipeline.adapters.postgres.connection import Database
from kb_pipeline.adapters.postgres.retrieval.queries import load


class PostgresEventLines:
    """The events of kb_retrieval_event in the order they were written."""

    def __init__(self, database: Database) -> None:
        self._database = database

    @contextmanager
    def since(self, instant: datetime, *, chunk: int) -> Iterator[Iterator[Sequence[str]]]:
        """Chunks of at most `chunk` JSON objects of the events written from the instant on; memory holds one chunk."""
        with self._database.connect() as connection, connection.cursor(name="kb_copied_events") as cursor:
            cursor.itersize = chunk
            cursor.execute(load("copied_events"), {"since": instant})
            yield iter(lambda: [line for _, line in cursor.fetchmany(chunk)], [])
