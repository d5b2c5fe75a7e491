"""Lists that go on from page to page, the same for API and pages: rows, and the cursor of what follows them.

Belongs here: cursors. Does not: the shape of answers, markup, SQL.
"""

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, Generic, Literal, TypeVar
from uuid import UUID

from fastapi import Query
from pydantic import Field

from kb_pipeline.adapters.postgres.dashboard.pipeline import Row as AlertRow
from kb_pipeline.adapters.postgres.dashboard.retrieval import Row as RetrievalRow
from kb_pipeline.adapters.postgres.dashboard.turns import Place, TurnRow, newest_turns, worst_turns
from kb_pipeline.dashboard.filters import QualityFilter, RetrievalFilter
from kb_pipeline.dashboard.opinion_words import OpinionWords, opinion_words
from kb_pipeline.dashboard.periods import Period
from kb_pipeline.service import replies
from kb_pipeline.service.viewing import OR_NONE, Desk

MOST_ROWS = 5_000
Row = TypeVar("Row")
Order = Literal["worst", "newest"]
Kind = Literal["kb_gap", "ranking_gap", "recall_gap", "generation_gap", "undetermined", "none"]
Status = Literal["judged", "insufficient", "conflict"]
AskedKind = Annotated[Kind | None, OR_NONE, Query(description="Kind of gap.")]
AskedStatus = Annotated[Status | None, OR_NONE, Query(description="Status of judgments.")]
AskedGrade = Annotated[
    Annotated[int, Field(ge=0, le=3)] | None, OR_NONE, Query(description="Grade of judgments, 0 to 3.")
]
Cursor = Annotated[str | None, Query(max_length=2_000, description="`next` of the page before.")]


@dataclass(frozen=True, kw_only=True, slots=True)
class Listed(Generic[Row]):
    """Some rows of a list; `next` leads on, None at the end."""

    rows: Sequence[Row]
    next: str | None


def listed_turns(
    desk: Desk, period: Period, chosen: QualityFilter, *, order: Order, limit: int, cursor: str | None = None
) -> Listed[TurnRow]:
    """Turns of the period, the least faithful or the newest first; raises 422 for a cursor of another list."""
    read = worst_turns if order == "worst" else newest_turns
    place = _place(order, cursor) if cursor else None
    found = read(desk.database, period.window, chosen, limit=limit + 1, after=place)
    return _cut(found, limit, lambda row: (order, repr(row.faithfulness), row.ts.isoformat(), row.event_id))


def listed_gaps(
    desk: Desk,
    period: Period,
    chosen: RetrievalFilter,
    *,
    kind: Kind | None,
    limit: int,
    cursor: str | None = None,
) -> Listed[RetrievalRow]:
    """Diagnosed drafts of the period, the newest first; raises 422 for a cursor of another list."""
    after = _instant_and_id(cursor) if cursor else None
    found = desk.retrieval.rows.gaps(period.window, chosen, limit=limit + 1, kind=kind, after=after)
    return _cut(found, limit, lambda row: (row["decided_at"].isoformat(), row["message_id"]))


def listed_judgments(
    desk: Desk,
    chosen: RetrievalFilter,
    *,
    status: Status | None,
    grade: int | None,
    limit: int,
    cursor: str | None = None,
) -> Listed[RetrievalRow]:
    """Judgments in the order of their key; raises 422 for a cursor of another list."""
    after = _judgment(cursor) if cursor else None
    found = desk.retrieval.rows.listed_judgments(chosen, limit=limit + 1, status=status, grade=grade, after=after)
    keys = ("org_id", "specialist_id", "query_sha", "doc_id")
    return _cut(found, limit, lambda row: [row[key] for key in keys])


def listed_changes(
    desk: Desk, *, fingerprint: str | None = None, limit: int, cursor: str | None = None
) -> Listed[AlertRow]:
    """Changes of alert states, or of one of them, the newest first; raises 422 for a cursor of another list."""
    before = _number(cursor) if cursor else None
    found = desk.quality.pipeline.alert_history(limit=limit + 1, before=before, fingerprint=fingerprint)
    return _cut(found, limit, lambda row: [row["transition_id"]])


def opinion_on(row: TurnRow, *, warn: float) -> OpinionWords:
    """What the second opinion says of a listed turn."""
    # A judge gives a relevance of the context where there is one, and nowhere else.
    had_context = row.context_relevance is not None
    return opinion_words(
        row.faithfulness, row.support_score, row.disagreement, row.opinion, warn=warn, had_context=had_context
    )


def _cut(found: Sequence[Row], limit: int, place: Callable[[Row], Sequence[Any]]) -> Listed[Row]:
    """The rows that were asked for, of one more than that."""
    leads_on = len(found) > limit
    return Listed(rows=found[:limit], next=replies.cursor_of(place(found[limit - 1])) if leads_on else None)


def _place(order: Order, cursor: str) -> Place:
    made_for, score, ts, event_id = replies.cursor_values(cursor, 4)
    try:
        place = Place(score=float(score) if order == "worst" else 0.0, ts=datetime.fromisoformat(ts), event_id=event_id)
    except ValueError:
        raise replies.bad_cursor() from None
    if made_for != order or place.ts.tzinfo is None or not math.isfinite(place.score):
        raise replies.bad_cursor()
    return place


def _instant_and_id(cursor: str) -> tuple[datetime, UUID]:
    at, message_id = replies.cursor_values(cursor, 2)
    try:
        found = datetime.fromisoformat(at), UUID(message_id)
    except ValueError:
        raise replies.bad_cursor() from None
    if found[0].tzinfo is None:
        raise replies.bad_cursor()
    return found


def _number(cursor: str) -> int:
    (number,) = replies.cursor_values(cursor, 1)
    if not re.fullmatch(r"[1-9][0-9]{0,17}", number):
        raise replies.bad_cursor()
    return int(number)


def _judgment(cursor: str) -> tuple[UUID, UUID, str, str]:
    org, specialist, sha, doc_id = replies.cursor_values(cursor, 4)
    try:
        return UUID(org), UUID(specialist), sha, doc_id
    except ValueError:
        raise replies.bad_cursor() from None
