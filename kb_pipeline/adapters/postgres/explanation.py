"""Everything known of one turn, with where it came from.

Belongs here: one turn's facts for a person who may see them; each reading is recorded. Does not: formatting.
"""

from dataclasses import dataclass
from typing import Any

from psycopg.rows import dict_row

from kb_pipeline.adapters.postgres.connection import Database
from kb_pipeline.adapters.postgres.queries import load


@dataclass(frozen=True, kw_only=True, slots=True)
class Explanation:
    """Facts of one audited call; `scores` has one entry per judge version, oldest first."""

    turn: dict[str, Any]
    scores: list[dict[str, Any]]


def explain(database: Database, event_id: str, *, purpose: str) -> Explanation | None:
    """The facts of one call, or None where the ledger has no such call; the reading is recorded with its purpose."""
    with database.connect() as connection, connection.cursor(row_factory=dict_row) as cursor:
        turn = cursor.execute(load("explain_turn"), {"event_id": event_id}).fetchone()
        if turn is None:
            return None
        scores = cursor.execute(load("explain_scores"), {"event_id": event_id}).fetchall()
        cursor.execute(
            load("record_access"),
            {
                "actor": database.application_name,
                "purpose": purpose,
                "run_id": None,
                "ts_from": turn["ts"],
                "ts_to": turn["ts"],
                "bodies": 1,
                "body_bytes": len(turn["question"] or "") + len(turn["context"] or "") + len(turn["answer"] or ""),
            },
        )
    return Explanation(turn=turn, scores=scores)
