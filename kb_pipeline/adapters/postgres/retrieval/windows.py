"""Hourly windows of retrieval health and their daily roll-ups: derived by SQL from the events.

Belongs here: aggregating, counting rows. Does not: which hours lag behind (backlog.py), rules on those numbers.
"""

from kb_pipeline.adapters.postgres.connection import Database
from kb_pipeline.adapters.postgres.publication import lock_day, lock_hour
from kb_pipeline.adapters.postgres.retrieval.queries import load
from kb_pipeline.windows import Window

STAGE = "retrieval"


class PostgresRetrievalWindows:
    """Keeps kb_retrieval_window and kb_retrieval_day in step with the events; refreshes of an hour take turns."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def aggregate(self, window: Window) -> int:
        """Recompute the windows of each hour, and its day; returns how many hourly rows were added, changed or deleted.

        A row stands for each tenant and engine with an event in the hour, and for no other.
        """
        return sum(self._aggregate_hour(hour) for hour in window.hours())

    def _aggregate_hour(self, hour: Window) -> int:
        with self._database.connect() as connection:
            lock_hour(connection, hour, STAGE)
            row = connection.execute(load("aggregate_retrievals"), _bounds(hour)).fetchone() or (0, 0)
            changed = sum(int(count) for count in row)
            if changed:
                lock_day(connection, hour, STAGE)
                connection.execute(load("aggregate_retrieval_day"), _bounds(hour))
        return changed

    def row_counts(self, window: Window) -> dict[str, int]:
        """Rows of the window in kb_draft_outcome, kb_retrieval_gap and kb_retrieval_window, by table."""
        with self._database.connect() as connection:
            return dict(connection.execute(load("hourly_row_counts"), _bounds(window)).fetchall())


def _bounds(window: Window) -> dict[str, object]:
    return {"window_start": window.start, "window_end": window.end}
