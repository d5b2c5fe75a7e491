"""Keeping outcomes of drafts, and letting go of what the source deleted.

Belongs here: kb_draft_outcome, and the traces of a deleted draft in every table of ours. Does not: the classes, what
goes by age (erasure.py).
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from kb_pipeline.adapters.postgres.connection import Connection, Database
from kb_pipeline.adapters.postgres.retrieval.drafts import MESSAGES
from kb_pipeline.adapters.postgres.retrieval.queries import load
from kb_pipeline.adapters.postgres.retrieval.views import mapped_views
from kb_pipeline.adapters.postgres.text import storable
from kb_pipeline.records import DraftOutcome
from kb_pipeline.retrieval.outcomes import RULE_VERSION
from kb_pipeline.windows import Window, hour_of

# What a deleted draft leaves behind, besides its outcome.
FORGETTING = (
    "forget_evidence",
    "forget_gaps",
    "forget_event_words",
    "forget_conflict_words",
    "forget_search_words",
)


class PostgresOutcomes:
    """The book of outcomes. Runs of one hour take turns where they read (PostgresDrafts), so here nobody waits."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def save(self, outcomes: Sequence[DraftOutcome]) -> int:
        """Upsert in one transaction; returns how many rows were added or changed. The same again touches no row."""
        rows = [_row(outcome) for outcome in sorted(outcomes, key=lambda each: each.message_id)]
        if not rows:
            return 0
        with self._database.connect() as connection, connection.cursor() as cursor:
            cursor.executemany(load("save_outcome"), rows)
            return cursor.rowcount

    def forget_deleted(self, window: Window) -> int:
        """Delete outcome, diagnosis and evidence of the window's drafts that the source deleted; returns the drafts.

        Their retrievals and searches lose their words. A draft older than all that the source still has was purged
        there by age, which is no deletion; a source that shows none of our drafts, or has no messages mapped, deleted
        none.
        """
        if MESSAGES not in mapped_views(self._database):
            return 0
        with self._database.connect() as connection:
            oldest = _oldest_kept(connection)
            if oldest is None:
                return 0
            parameters = {"window_start": window.start, "window_end": window.end, "oldest": oldest}
            connection.execute(load("lock_harvest"))
            forgotten = connection.execute(load("forget_outcomes"), parameters).fetchall()
            message_ids = [message_id for (message_id,) in forgotten]
            for statement in FORGETTING if message_ids else ():
                connection.execute(load(statement), {"message_ids": message_ids})
        return len(message_ids)

    def hours_to_forget(self, window: Window) -> list[tuple[Window, int]]:
        """The hours of the window with outcomes of drafts that the source deleted, and how many."""
        if MESSAGES not in mapped_views(self._database):
            return []
        with self._database.connect() as connection:
            oldest = _oldest_kept(connection)
            if oldest is None:
                return []
            parameters = {"window_start": window.start, "window_end": window.end, "oldest": oldest}
            rows = connection.execute(load("hours_with_deleted_drafts"), parameters).fetchall()
        return [(hour_of(hour), int(drafts)) for hour, drafts in rows]


def _oldest_kept(connection: Connection) -> datetime | None:
    row = connection.execute(load("oldest_draft_at_source")).fetchone()
    return row[0] if row else None


def _row(outcome: DraftOutcome) -> dict[str, Any]:
    return {
        "message_id": outcome.message_id,
        "org_id": outcome.tenant.org_id,
        "specialist_id": outcome.tenant.specialist_id,
        "conversation_id": outcome.conversation_id,
        "event_id": outcome.event_id,
        "trace_id": None if outcome.trace_id is None else storable(outcome.trace_id),
        "correction_id": outcome.correction_id,
        "outcome": str(outcome.outcome),
        "drafted_at": outcome.drafted_at,
        "decided_at": outcome.decided_at,
        "decision_s": outcome.decision_s,
        "kept": outcome.kept,
        "new": outcome.new,
        "removed": outcome.removed,
        "similarity": outcome.similarity,
        "wrong_source": outcome.wrong_source,
        "suspect": outcome.suspect,
        "rephrased": outcome.rephrased,
        "source_state": outcome.source_state,
        "rule_version": RULE_VERSION,
    }
