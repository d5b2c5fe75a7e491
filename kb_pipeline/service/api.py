"""The JSON API.

Belongs here: routes, their parameters, their roles. Does not: numbers (reading.py), the shape of answers (answers.py).
"""

import math
import re
from datetime import datetime, timedelta
from typing import Annotated, Literal
from uuid import UUID

from fastapi import APIRouter, Depends, HTTPException, Path, Query, Request
from starlette.responses import Response

from kb_pipeline.adapters.postgres.dashboard.turns import Place, TurnRow, newest_turns, open_turn, worst_turns
from kb_pipeline.adapters.postgres.grader import grader_database
from kb_pipeline.adapters.postgres.retrieval.pairs import UnknownPair
from kb_pipeline.adapters.postgres.retrieval.settlement import settle_judgment
from kb_pipeline.dashboard.periods import Period, UnknownPeriod
from kb_pipeline.records import Tenant
from kb_pipeline.service import answers, replies
from kb_pipeline.service.problems import DESCRIBED
from kb_pipeline.service.viewing import (
    Desk,
    TheAuditor,
    TheDesk,
    ThePeriod,
    TheReader,
    TheRetrievals,
    TheTurns,
    reader,
)

api = APIRouter(prefix="/api", dependencies=[Depends(reader)], responses=DESCRIBED)
_MOST_ROWS = 5_000
_MOST_POINTS = 2_000
_Limit = Annotated[int, Query(ge=1, le=200)]
_Cursor = Annotated[str | None, Query(max_length=2_000, description="`next` of the page before.")]
_StepName = Annotated[str | None, Query(pattern=r"^[1-9]\d{0,3}[hd]$", description="For example 1h or 1d.")]
Order = Literal["worst", "newest"]
Kind = Literal["kb_gap", "ranking_gap", "recall_gap", "generation_gap", "undetermined", "none"]
Status = Literal["judged", "insufficient", "conflict"]
EventId = Annotated[str, Path(min_length=1, max_length=1_000, pattern=r"^[^\x00]*$")]


@api.get("/quality/summary", response_model=answers.Summary, tags=["quality"])
def quality_summary(request: Request, desk: TheDesk, period: ThePeriod, chosen: TheTurns) -> Response:
    """Counts, means with 95 % intervals, rates and coverage of a period, and the verdict in words."""
    found = desk.quality.summary(period, chosen)
    return replies.json_reply(request, answers.Summary.of(found, desk.quality.now(found, now=desk.now())))


@api.get("/quality/trend", response_model=answers.Trend, tags=["quality"])
def quality_trend(
    request: Request, desk: TheDesk, period: ThePeriod, chosen: TheTurns, step: _StepName = None
) -> Response:
    """Points of a period, each over the 24 hours before it; beyond 31 days a point is a whole UTC day."""
    length = _step(step, period)
    trend = [answers.TrendPoint.of(point) for point in desk.quality.trend(period, chosen, length)]
    whole = answers.Trend(period=answers.Span.of(period), step_s=int(length.total_seconds()), points=trend)
    return replies.json_reply(request, whole)


@api.get("/quality/trend.csv", tags=["quality"], response_class=Response)
def quality_trend_csv(
    request: Request, desk: TheDesk, period: ThePeriod, chosen: TheTurns, step: _StepName = None
) -> Response:
    """The same as a file."""
    trend = desk.quality.trend(period, chosen, _step(step, period))
    return replies.csv_reply(request, "trend", map(answers.TrendPoint.of, trend), answers.TrendPoint)


@api.get("/quality/recent", response_model=answers.Turns, tags=["quality"])
def quality_recent(  # noqa: PLR0917 parameters of a request are given by name
    request: Request,
    desk: TheDesk,
    period: ThePeriod,
    chosen: TheTurns,
    order: Order = "worst",
    limit: _Limit = 20,
    cursor: _Cursor = None,
) -> Response:
    """Turns with preview, scores and reasons: the least faithful first, or the newest first."""
    read = worst_turns if order == "worst" else newest_turns
    place = _place(order, cursor) if cursor else None
    found = read(desk.database, period.window, chosen, limit=limit + 1, after=place)
    items = [_turn(desk, row) for row in found[:limit]]
    leads_on = _cursor(order, found[limit - 1]) if len(found) > limit else None
    return replies.json_reply(request, answers.Turns(items=items, next=leads_on))


@api.get("/quality/recent.csv", tags=["quality"], response_class=Response)
def quality_recent_csv(
    request: Request, desk: TheDesk, period: ThePeriod, chosen: TheTurns, order: Order = "worst"
) -> Response:
    """The same as a file, up to 5,000 turns."""
    read = worst_turns if order == "worst" else newest_turns
    found = read(desk.database, period.window, chosen, limit=_MOST_ROWS)
    return replies.csv_reply(request, "turns", (_turn(desk, row) for row in found), answers.Turn)


@api.get("/quality/turns/{event_id:path}", response_model=answers.WholeTurn, tags=["quality"])
def quality_turn(desk: TheDesk, visitor: TheAuditor, event_id: EventId) -> Response:
    """One turn with its full text, for auditors; each reading is one row of kb_access_record."""
    found = open_turn(desk.auditor_database, event_id, actor=f"{visitor.name} ({visitor.role})")
    if found is None:
        raise HTTPException(404, "The ledger has no such call.")
    whole = answers.WholeTurn(
        turn=dict(found.turn),
        scores=[dict(score) for score in found.scores],
        run_id=found.run_id,
        outcome=dict(found.outcome) if found.outcome else None,
        access_id=found.access_id,
        opened_at=found.opened_at,
    )
    return Response(whole.model_dump_json(), media_type="application/json")


@api.get("/retrieval/summary", response_model=answers.RetrievalAnswer, tags=["retrieval"])
def retrieval_summary(request: Request, desk: TheDesk, period: ThePeriod, chosen: TheRetrievals) -> Response:
    """Volume, empty share, best scores and latency by engine; gaps by kind; judgments by grade."""
    return replies.json_reply(request, answers.RetrievalAnswer.of(desk.retrieval.summary(period, chosen)))


@api.get("/retrieval/gaps", response_model=answers.Gaps, tags=["retrieval"])
def retrieval_gaps(  # noqa: PLR0917 parameters of a request are given by name
    request: Request,
    desk: TheDesk,
    period: ThePeriod,
    chosen: TheRetrievals,
    kind: Kind | None = None,
    limit: _Limit = 50,
    cursor: _Cursor = None,
) -> Response:
    """Corrected drafts and where the right information went missing, the newest first."""
    after = _instant_and_id(cursor) if cursor else None
    found = desk.retrieval.rows.gaps(period.window, chosen, limit=limit + 1, kind=kind, after=after)
    last = found[limit - 1] if len(found) > limit else None
    leads_on = replies.cursor_of((last["decided_at"].isoformat(), last["message_id"])) if last else None
    return replies.json_reply(request, answers.Gaps(items=answers.rows(answers.Gap, found[:limit]), next=leads_on))


@api.get("/retrieval/gaps.csv", tags=["retrieval"], response_class=Response)
def retrieval_gaps_csv(
    request: Request, desk: TheDesk, period: ThePeriod, chosen: TheRetrievals, kind: Kind | None = None
) -> Response:
    """The same as a file, up to 5,000 drafts."""
    found = desk.retrieval.rows.gaps(period.window, chosen, limit=_MOST_ROWS, kind=kind)
    return replies.csv_reply(request, "gaps", answers.rows(answers.Gap, found), answers.Gap)


@api.get("/retrieval/tasks", response_model=answers.Tasks, tags=["retrieval"])
def retrieval_tasks(request: Request, desk: TheDesk, chosen: TheRetrievals, limit: _Limit = 50) -> Response:
    """What gaps of two conversations and more have in common, the most frequent first."""
    found = desk.retrieval.rows.tasks(chosen, limit=limit)
    return replies.json_reply(request, answers.Tasks(items=answers.rows(answers.Task, found)))


@api.get("/retrieval/tasks.csv", tags=["retrieval"], response_class=Response)
def retrieval_tasks_csv(request: Request, desk: TheDesk, chosen: TheRetrievals) -> Response:
    """The same as a file, up to 5,000 tasks."""
    found = desk.retrieval.rows.tasks(chosen, limit=_MOST_ROWS)
    return replies.csv_reply(request, "tasks", answers.rows(answers.Task, found), answers.Task)


@api.get("/ground-truth", response_model=answers.JudgedList, tags=["ground truth"])
def ground_truth(  # noqa: PLR0917 parameters of a request are given by name
    request: Request,
    desk: TheDesk,
    chosen: TheRetrievals,
    status: Status | None = None,
    limit: _Limit = 50,
    cursor: _Cursor = None,
) -> Response:
    """Judgments of query and document, in the order of their key."""
    after = _judgment(cursor) if cursor else None
    found = desk.retrieval.rows.listed_judgments(chosen, limit=limit + 1, status=status, after=after)
    last = found[limit - 1] if len(found) > limit else None
    keys = ("org_id", "specialist_id", "query_sha", "doc_id")
    leads_on = replies.cursor_of([last[key] for key in keys]) if last else None
    items = answers.rows(answers.Judged, found[:limit])
    return replies.json_reply(request, answers.JudgedList(items=items, next=leads_on))


@api.get("/ground-truth.csv", tags=["ground truth"], response_class=Response)
def ground_truth_csv(request: Request, desk: TheDesk, chosen: TheRetrievals, status: Status | None = None) -> Response:
    """The same as a file, up to 5,000 judgments."""
    found = desk.retrieval.rows.listed_judgments(chosen, limit=_MOST_ROWS, status=status)
    return replies.csv_reply(request, "ground-truth", answers.rows(answers.Judged, found), answers.Judged)


@api.post("/ground-truth/settle", response_model=answers.Settled, tags=["ground truth"])
def ground_truth_settle(desk: TheDesk, visitor: TheReader, word: answers.SettleRequest, request: Request) -> Response:
    """Append a person's word on a document and a query; nothing earlier is changed. For bearers of a token."""
    if visitor.csrf is not None and not desk.sessions.fits(_session(request, desk), request.headers.get("x-csrf", "")):
        raise HTTPException(403, "A session settles through the page; a program through a bearer token.")
    settle(desk, visitor.name, word)
    noted = answers.Settled(query_sha=word.query_sha, doc_id=word.doc_id, relevant=word.relevant, author=visitor.name)
    return Response(noted.model_dump_json(), media_type="application/json")


@api.get("/alerts", response_model=answers.Alerts, tags=["alerts"])
def alerts(request: Request, desk: TheDesk, limit: _Limit = 50, cursor: _Cursor = None) -> Response:
    """Where every rule stands with every subject, and changes of that, the newest first."""
    before = _change(cursor) if cursor else None
    history = desk.quality.pipeline.alert_history(limit=limit + 1, before=before)
    last = history[limit - 1] if len(history) > limit else None
    found = answers.Alerts(
        states=answers.rows(answers.Alert, desk.quality.alert_states()),
        history=answers.rows(answers.AlertChange, history[:limit]),
        next=replies.cursor_of([last["transition_id"]]) if last else None,
    )
    return replies.json_reply(request, found)


@api.get("/alerts.csv", tags=["alerts"], response_class=Response)
def alerts_csv(request: Request, desk: TheDesk) -> Response:
    """The newest 5,000 changes as a file."""
    history = desk.quality.pipeline.alert_history(limit=_MOST_ROWS)
    return replies.csv_reply(request, "alerts", answers.rows(answers.AlertChange, history), answers.AlertChange)


def settle(desk: Desk, author: str, word: answers.SettleRequest) -> None:
    """Append the word under the role that may; raises 404 where there is no such query or document."""
    with grader_database(desk.settings.database_url, bounds=desk.bounds) as database:
        try:
            settle_judgment(
                database,
                query=word.query_sha,
                doc_id=word.doc_id,
                is_relevant=word.relevant,
                author=author,
                reason=word.reason,
                tenant=Tenant(org_id=word.org_id, specialist_id=word.specialist_id),
            )
        except UnknownPair as error:
            raise HTTPException(404, str(error)) from None


def _session(request: Request, desk: Desk) -> str:
    return "local" if desk.is_open else request.cookies.get("kb_session", "")


def _turn(desk: Desk, row: TurnRow) -> answers.Turn:
    return answers.Turn.of(row, warn=desk.quality.limits.warn)


def _step(name: str | None, period: Period) -> timedelta:
    """The distance of a trend's points; raises UnknownPeriod where that would be too many of them."""
    if name is None:
        return period.step
    count = int(name[:-1])
    length = timedelta(hours=count) if name.endswith("h") else timedelta(days=count)
    if period.length / length > _MOST_POINTS:
        raise UnknownPeriod(f"at most {_MOST_POINTS} points are given; a longer step is accepted")
    return length


def _cursor(order: Order, row: TurnRow) -> str:
    return replies.cursor_of((order, repr(row.faithfulness), row.ts.isoformat(), row.event_id))


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


def _change(cursor: str) -> int:
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
