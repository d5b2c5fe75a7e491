"""What has arrived since somebody last looked: events, and the experts' decisions.

Belongs here: counts of new rows, the newest instants. Does not: how a reader is told.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import LiteralString

from kb_pipeline.adapters.postgres.connection import Database
from kb_pipeline.adapters.postgres.retrieval.queries import load
from kb_pipeline.adapters.postgres.retrieval.views import mapped_views

# The first of these that is mapped tells.
DECISIONS: Mapping[str, LiteralString] = {
    "expert_queue_item": "new_decisions",
    "correction": "new_corrections",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Arrival:
    """New rows of one kind: how many, when the newest was written and when the newest happened."""

    rows: int
    newest_written_at: datetime
    newest_happened_at: datetime


def retrieval_arrivals(database: Database, since: datetime) -> Arrival | None:
    """Retrieval events written after the instant; None where there are none."""
    return _arrival(database, "new_retrieval_events", since)


def search_arrivals(database: Database, since: datetime) -> Arrival | None:
    """Search events written after the instant; None where there are none."""
    return _arrival(database, "new_search_events", since)


def decision_arrivals(database: Database, since: datetime) -> Arrival | None:
    """Decisions made after the instant, or corrections where no queue is mapped; None where there are none."""
    mapped = mapped_views(database)
    view = next((view for view in DECISIONS if view in mapped), None)
    return _arrival(database, DECISIONS[view], since) if view else None


def _arrival(database: Database, query: LiteralString, since: datetime) -> Arrival | None:
    with database.connect() as connection:
        row = connection.execute(load(query), {"since": since}).fetchone()
    if row is None or not row[0]:
        return None
    rows, written, happened = row
    return Arrival(rows=rows, newest_written_at=written, newest_happened_at=happened)
