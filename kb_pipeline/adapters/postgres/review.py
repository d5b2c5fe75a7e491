"""The turns that a person should look at first.

Belongs here: the list and its record. Does not: words, the turns' text.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from psycopg.rows import class_row

from kb_pipeline.adapters.postgres.connection import Database
from kb_pipeline.adapters.postgres.queries import load
from kb_pipeline.grading.opinion import DISAGREEMENT
from kb_pipeline.windows import Window


@dataclass(frozen=True, kw_only=True, slots=True)
class TurnToReview:
    """One published turn; scores are fractions or None, `doubted` the kinds that the second opinion doubts."""

    event_id: str
    ts: datetime
    tenant: str
    surface: str
    engine: str
    question_preview: str | None
    faithfulness: float | None
    answer_relevance: float | None
    context_relevance: float | None
    support_score: float | None
    disagreement: float | None
    disagrees: bool
    doubted: Sequence[str]
    faithfulness_reason: str | None


def turns_to_review(
    database: Database, window: Window, *, limit: int, surface: str | None = None
) -> list[TurnToReview]:
    """At most `limit` turns: strong disagreements of judge and second opinion first, then the least faithful."""
    parameters = {
        "window_start": window.start,
        "window_end": window.end,
        "strong": DISAGREEMENT,
        "surface": surface,
        "limit": limit,
    }
    with database.connect() as connection, connection.cursor(row_factory=class_row(TurnToReview)) as cursor:
        return cursor.execute(load("turns_to_review"), parameters).fetchall()
