"""Let go of queries and events past their retention, and of drafts that the source let go of.

Belongs here: ages turned into instants, the order of deletion. Does not: SQL, turns of the grading street (expire.py).
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol

from kb_pipeline.records import StepReport
from kb_pipeline.windows import Window


class QueryRetention(Protocol):
    """Where queries and events are kept."""

    def expire_queries(self, before: datetime) -> int: ...
    def expire_query_previews(self, before: datetime) -> int: ...
    def expire_events(self, before: datetime) -> int: ...


class DraftErasure(Protocol):
    """Where outcomes of drafts are kept."""

    def forget_deleted(self, window: Window) -> int: ...


@dataclass(frozen=True, kw_only=True, slots=True)
class QueryAges:
    """How long the words of queries, their previews and events are kept, in days."""

    query_text_days: int
    preview_days: int
    quality_days: int


def expire_queries(window: Window, *, retention: QueryRetention, drafts: DraftErasure, ages: QueryAges) -> StepReport:
    """Erase what the source erased of the window, then what is too old at its end.

    The report counts `drafts_deleted_at_source`, and rows that were deleted or lost their words.
    """
    now = window.end
    return StepReport(
        counts={
            "drafts_deleted_at_source": drafts.forget_deleted(window),
            "events_expired": retention.expire_events(now - timedelta(days=ages.quality_days)),
            "previews_expired": retention.expire_query_previews(now - timedelta(days=ages.preview_days)),
            "queries_expired": retention.expire_queries(now - timedelta(days=ages.query_text_days)),
        }
    )
