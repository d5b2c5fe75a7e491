"""What the checks of the retrieval street count.

Belongs here: counts of rows that are missing, broken or of another tenant. Does not: verdicts on them (health.py).
"""

from datetime import datetime, timedelta
from typing import Any

from psycopg.rows import dict_row

from kb_pipeline.adapters.postgres.connection import Database
from kb_pipeline.adapters.postgres.retrieval.queries import load
from kb_pipeline.adapters.postgres.retrieval.views import mapped_views
from kb_pipeline.windows import Window

# An audit entry without a message belongs to an event of its conversation this close to it: a draft takes its time.
NEARBY = timedelta(minutes=10)
# A retrieval happens before its draft is made, and leaves before it.
SPARE = timedelta(days=1)


class PostgresSoundness:
    """Counts over our tables and, where they are mapped, the operator's views."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def recorded(self, window: Window) -> tuple[int | None, int]:
        """Retrievals that the audit log has in the window, and how many of them have an event.

        None and 0 where no audit log is mapped. An entry belongs to the event of its message; where either has none, to
        one of its trace, or of its conversation within ten minutes.
        """
        if "audit_log" not in mapped_views(self._database):
            return None, 0
        loaded, recorded = self._row("count_recorded", window)
        return loaded, recorded

    def arrived(self, window: Window) -> tuple[int | None, int]:
        """Retrievals that the audit log has in the window, and events of it; None where no audit log is mapped."""
        (events,) = self._row("count_arrived", window)
        if "audit_log" not in mapped_views(self._database):
            return None, events
        (loaded,) = self._row("count_loaded", window)
        return loaded, events

    def empty(self, window: Window) -> tuple[int, int]:
        """Retrievals of the hourly windows, and how many of them found nothing."""
        retrievals, empty = self._row("count_empty", window)
        return retrievals, empty

    def outcome_references(self, window: Window, *, kept_from: datetime) -> dict[str, int]:
        """Outcomes of the window by what is wrong with the event they name; none is missed of drafts from before."""
        return self._counts("count_outcome_references", {**_bounds(window), "kept_from": kept_from + SPARE})

    def judgment_references(self) -> dict[str, int]:
        """Evidence without its query, judgments without evidence or query."""
        return self._counts("count_judgment_references")

    def other_tenants(self) -> dict[str, int]:
        """Evidence seen at another tenant's event, draft or search; documents that only another tenant has."""
        counts = self._counts("count_other_tenants")
        if "kb_chunk" in mapped_views(self._database):
            counts |= self._counts("count_documents_of_other_tenants")
        return counts

    def ground_truth(self) -> dict[str, int]:
        """Judgments by grade and status, queries, and those of them that have a judged document."""
        return self._counts("ground_truth_counts")

    def _row(self, query: str, window: Window) -> tuple[int, ...]:
        with self._database.connect() as connection:
            row = connection.execute(load(query), {**_bounds(window), "nearby": NEARBY}).fetchone()
        return tuple(map(int, row or ()))

    def _counts(self, query: str, parameters: dict[str, Any] | None = None) -> dict[str, int]:
        with self._database.connect() as connection, connection.cursor(row_factory=dict_row) as cursor:
            return cursor.execute(load(query), parameters or {}).fetchone() or {}


def _bounds(window: Window) -> dict[str, Any]:
    return {"window_start": window.start, "window_end": window.end}
