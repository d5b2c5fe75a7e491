"""Single turns: the list that people look at, and one turn whole for a person who may see it.

Belongs here: rows of rag_quality by an index, a turn's text with the record of its opening. Does not: words, marks.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from psycopg import sql
from psycopg.rows import class_row, dict_row

from kb_pipeline.adapters.postgres import queries as shared
from kb_pipeline.adapters.postgres.connection import Connection, Database
from kb_pipeline.adapters.postgres.dashboard.queries import load
from kb_pipeline.dashboard.filters import QualityFilter
from kb_pipeline.windows import HOUR, Window

OPENED = "dashboard turn page"


@dataclass(frozen=True, kw_only=True, slots=True)
class TurnRow:
    """One published turn: previews and reasons, no text; `opinion` holds counts alone."""

    event_id: str
    ts: datetime
    tenant: str
    surface: str
    engine: str
    question_preview: str | None
    faithfulness: float | None
    answer_relevance: float | None
    context_relevance: float | None
    faithfulness_reason: str | None
    answer_relevance_reason: str | None
    context_relevance_reason: str | None
    support_score: float | None
    disagreement: float | None
    opinion: Mapping[str, Any] | None
    judge_model: str | None
    prompt_version: str | None
    parse_status: str
    judge_status: str
    skip_reason: str | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Place:
    """A place in a list of turns, after which it goes on; `score` only where it is ordered by score."""

    ts: datetime
    event_id: str
    score: float = 0.0


@dataclass(frozen=True, kw_only=True, slots=True)
class OpenedTurn:
    """Everything known of a turn, and the number of the access record that says who opened it and when."""

    turn: Mapping[str, Any]
    scores: Sequence[Mapping[str, Any]]
    run_id: str | None
    outcome: Mapping[str, Any] | None
    access_id: int
    opened_at: datetime


def worst_turns(
    database: Database, window: Window, chosen: QualityFilter, *, limit: int, after: Place | None = None
) -> list[TurnRow]:
    """Graded turns of the window, the least faithful first, of equal ones the newest first."""
    return _listed(database, "worst_turns", window, chosen, limit=limit, after=after)


def newest_turns(
    database: Database, window: Window, chosen: QualityFilter, *, limit: int, after: Place | None = None
) -> list[TurnRow]:
    """Published turns of the window, the newest first, graded or not."""
    return _listed(database, "newest_turns", window, chosen, limit=limit, after=after)


def _listed(
    database: Database, name: str, window: Window, chosen: QualityFilter, *, limit: int, after: Place | None
) -> list[TurnRow]:
    parameters = {
        "window_start": window.start,
        "window_end": window.end,
        "limit": limit,
        "after_score": after.score if after else 0.0,
        "after_ts": after.ts if after else None,
        "after_id": after.event_id if after else None,
        **asdict(chosen),
    }
    with database.connect() as connection, connection.cursor(row_factory=class_row(TurnRow)) as cursor:
        by_hours = chosen.is_set and _few_pass(connection, window, parameters)
        # The window differs from call to call so much that a plan for all of them would be a bad one for most.
        return cursor.execute(listing(name, by_hours=by_hours), parameters, prepare=False).fetchall()


def listing(name: str, *, by_hours: bool) -> sql.Composed:
    """The query of a list of turns, over the table in the list's order or over the hours in which any turn passes."""
    return sql.SQL(load(name)).format(turns=sql.SQL(load("turns_of_hours") if by_hours else "rag_quality"))


def _few_pass(connection: Connection, window: Window, parameters: Mapping[str, Any]) -> bool:
    """Whether reading the hours of the turns that pass costs less than looking for them in the order of the list.

    Of N turns in h hours m pass: the list in order reads about limit × N ÷ m rows, the hours at most m × N ÷ h.
    """
    row = connection.execute(load("turns_that_pass"), parameters, prepare=False).fetchone()
    hours = (window.end - window.start) / HOUR
    return row is not None and row[0] ** 2 < parameters["limit"] * hours


def neighbours(database: Database, window: Window, event_id: str, ts: datetime) -> tuple[str | None, str | None]:
    """The turns of the window before and after one in the order of the least faithful first: the worse, the better."""
    with database.connect() as connection:
        place = connection.execute(load("place_of_turn"), {"event_id": event_id, "ts": ts}).fetchone()
        if place is None:
            return None, None
        bounds = {"window_start": window.start, "window_end": window.end}
        at = {"score": place[0], "ts": ts, "event_id": event_id}
        worse = connection.execute(load("worse_turn"), bounds | at, prepare=False).fetchone()
    after = Place(score=place[0], ts=ts, event_id=event_id)
    better = worst_turns(database, window, QualityFilter(), limit=1, after=after)
    return worse[0] if worse else None, better[0].event_id if better else None


def open_turn(database: Database, event_id: str, *, actor: str) -> OpenedTurn | None:
    """A turn with its text, or None where the ledger has none such; its opening is recorded, or it is not shown.

    Needs a role that reads rag_triad and adds to kb_access_record (kb_auditor).
    """
    with database.connect() as connection, connection.cursor(row_factory=dict_row) as cursor:
        turn = cursor.execute(shared.load("explain_turn"), {"event_id": event_id}).fetchone()
        if turn is None:
            return None
        scores = cursor.execute(shared.load("explain_scores"), {"event_id": event_id}).fetchall()
        run = cursor.execute(
            load("run_that_examined"), {"examined_at": turn["examined_at"], "ts": turn["ts"]}
        ).fetchone()
        outcome = cursor.execute(load("outcome_of_trace"), {"trace_id": turn["trace_id"]}).fetchone()
        size = sum(len((turn[name] or "").encode()) for name in ("question", "context", "answer"))
        record = {"actor": actor, "purpose": OPENED, "ts": turn["ts"], "body_bytes": size}
        opened = cursor.execute(load("record_opening"), record).fetchone() or {}
    return OpenedTurn(
        turn=turn,
        scores=scores,
        run_id=run["run_id"] if run else None,
        outcome=outcome,
        access_id=opened["access_id"],
        opened_at=opened["read_at"],
    )
