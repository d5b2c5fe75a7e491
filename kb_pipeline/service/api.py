"""The JSON API.

Belongs here: routes, their parameters, their roles. Does not: numbers (reading.py), the shape of answers (answers.py).
"""

from datetime import timedelta
from typing import Annotated, Any

from fastapi import APIRouter, Depends, HTTPException, Path, Query, Request
from starlette.responses import Response

from kb_pipeline.adapters.postgres.dashboard.turns import TurnRow, open_turn
from kb_pipeline.adapters.postgres.grader import grader_database
from kb_pipeline.adapters.postgres.retrieval.pairs import UnknownPair
from kb_pipeline.adapters.postgres.retrieval.settlement import settle_judgment
from kb_pipeline.dashboard.periods import Period, UnknownPeriod
from kb_pipeline.records import Tenant
from kb_pipeline.service import answers, replies, retrieval_answers
from kb_pipeline.service.listing import (
    MOST_ROWS,
    AskedGrade,
    AskedKind,
    AskedStatus,
    Cursor,
    Order,
    listed_changes,
    listed_gaps,
    listed_judgments,
    listed_turns,
)
from kb_pipeline.service.problems import DESCRIBED
from kb_pipeline.service.viewing import (
    Desk,
    TheAuditor,
    TheDesk,
    ThePeriod,
    TheReader,
    TheRetrievals,
    TheTenants,
    TheTurns,
    reader,
    well_spelt,
)

api = APIRouter(prefix="/api", dependencies=[Depends(reader), Depends(well_spelt)], responses=DESCRIBED)
_MOST_POINTS = 2_000
CSV: dict[int | str, dict[str, Any]] = {200: {"description": "The file.", "content": {"text/csv": {}}}}
_Limit = Annotated[int, Query(ge=1, le=200)]
_StepName = Annotated[str | None, Query(pattern=r"^[1-9][0-9]{0,3}[hd]$", description="For example 1h or 1d.")]
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


@api.get("/quality/trend.csv", tags=["quality"], response_class=Response, responses=CSV)
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
    cursor: Cursor = None,
) -> Response:
    """Turns with preview, scores and reasons: the least faithful first, or the newest first."""
    found = listed_turns(desk, period, chosen, order=order, limit=limit, cursor=cursor)
    items = [_turn(desk, row) for row in found.rows]
    return replies.json_reply(request, answers.Turns(items=items, next=found.next))


@api.get("/quality/recent.csv", tags=["quality"], response_class=Response, responses=CSV)
def quality_recent_csv(
    request: Request, desk: TheDesk, period: ThePeriod, chosen: TheTurns, order: Order = "worst"
) -> Response:
    """The same as a file, up to 5,000 turns."""
    found = listed_turns(desk, period, chosen, order=order, limit=MOST_ROWS)
    return replies.csv_reply(request, "turns", (_turn(desk, row) for row in found.rows), answers.Turn)


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


@api.get("/retrieval/summary", response_model=retrieval_answers.RetrievalAnswer, tags=["retrieval"])
def retrieval_summary(request: Request, desk: TheDesk, period: ThePeriod, chosen: TheRetrievals) -> Response:
    """Volume, empty share, best scores and latency by engine; gaps by kind; judgments by grade."""
    return replies.json_reply(request, retrieval_answers.RetrievalAnswer.of(desk.retrieval.summary(period, chosen)))


@api.get("/retrieval/gaps", response_model=retrieval_answers.Gaps, tags=["retrieval"])
def retrieval_gaps(  # noqa: PLR0917 parameters of a request are given by name
    request: Request,
    desk: TheDesk,
    period: ThePeriod,
    chosen: TheRetrievals,
    kind: AskedKind = None,
    limit: _Limit = 50,
    cursor: Cursor = None,
) -> Response:
    """Corrected drafts and where the right information went missing, the newest first."""
    found = listed_gaps(desk, period, chosen, kind=kind, limit=limit, cursor=cursor)
    return replies.json_reply(
        request, retrieval_answers.Gaps(items=answers.rows(retrieval_answers.Gap, found.rows), next=found.next)
    )


@api.get("/retrieval/gaps.csv", tags=["retrieval"], response_class=Response, responses=CSV)
def retrieval_gaps_csv(
    request: Request, desk: TheDesk, period: ThePeriod, chosen: TheRetrievals, kind: AskedKind = None
) -> Response:
    """The same as a file, up to 5,000 drafts."""
    found = listed_gaps(desk, period, chosen, kind=kind, limit=MOST_ROWS)
    return replies.csv_reply(request, "gaps", answers.rows(retrieval_answers.Gap, found.rows), retrieval_answers.Gap)


@api.get("/retrieval/tasks", response_model=retrieval_answers.Tasks, tags=["retrieval"])
def retrieval_tasks(request: Request, desk: TheDesk, chosen: TheTenants, limit: _Limit = 50) -> Response:
    """What gaps of two conversations and more have in common, the most frequent first."""
    found = desk.retrieval.rows.tasks(chosen, limit=limit)
    return replies.json_reply(request, retrieval_answers.Tasks(items=answers.rows(retrieval_answers.Task, found)))


@api.get("/retrieval/tasks.csv", tags=["retrieval"], response_class=Response, responses=CSV)
def retrieval_tasks_csv(request: Request, desk: TheDesk, chosen: TheTenants) -> Response:
    """The same as a file, up to 5,000 tasks."""
    found = desk.retrieval.rows.tasks(chosen, limit=MOST_ROWS)
    return replies.csv_reply(request, "tasks", answers.rows(retrieval_answers.Task, found), retrieval_answers.Task)


@api.get("/ground-truth", response_model=retrieval_answers.JudgedList, tags=["ground truth"])
def ground_truth(  # noqa: PLR0917 parameters of a request are given by name
    request: Request,
    desk: TheDesk,
    chosen: TheTenants,
    status: AskedStatus = None,
    grade: AskedGrade = None,
    limit: _Limit = 50,
    cursor: Cursor = None,
) -> Response:
    """Judgments of query and document, in the order of their key."""
    found = listed_judgments(desk, chosen, status=status, grade=grade, limit=limit, cursor=cursor)
    items = answers.rows(retrieval_answers.Judged, found.rows)
    return replies.json_reply(request, retrieval_answers.JudgedList(items=items, next=found.next))


@api.get("/ground-truth.csv", tags=["ground truth"], response_class=Response, responses=CSV)
def ground_truth_csv(
    request: Request, desk: TheDesk, chosen: TheTenants, status: AskedStatus = None, grade: AskedGrade = None
) -> Response:
    """The same as a file, up to 5,000 judgments."""
    found = listed_judgments(desk, chosen, status=status, grade=grade, limit=MOST_ROWS)
    return replies.csv_reply(
        request, "ground-truth", answers.rows(retrieval_answers.Judged, found.rows), retrieval_answers.Judged
    )


@api.post("/ground-truth/settle", response_model=retrieval_answers.Settled, tags=["ground truth"])
def ground_truth_settle(
    desk: TheDesk, visitor: TheReader, word: retrieval_answers.SettleRequest, request: Request
) -> Response:
    """Append a person's word on a document and a query; nothing earlier is changed. For bearers of a token."""
    if visitor.csrf is not None and not desk.sessions.fits(_session(request, desk), request.headers.get("x-csrf", "")):
        raise HTTPException(403, "A session settles through the page; a program through a bearer token.")
    settle(desk, visitor.name, word)
    noted = retrieval_answers.Settled(
        query_sha=word.query_sha, doc_id=word.doc_id, relevant=word.relevant, author=visitor.name
    )
    return Response(noted.model_dump_json(), media_type="application/json")


@api.get("/alerts", response_model=answers.Alerts, tags=["alerts"])
def alerts(request: Request, desk: TheDesk, limit: _Limit = 50, cursor: Cursor = None) -> Response:
    """Where every rule stands with every subject, and changes of that, the newest first."""
    history = listed_changes(desk, limit=limit, cursor=cursor)
    found = answers.Alerts(
        counts=dict(desk.quality.alert_counts().by_status),
        states=answers.rows(answers.Alert, desk.quality.alert_states()),
        history=answers.rows(answers.AlertChange, history.rows),
        next=history.next,
    )
    return replies.json_reply(request, found)


@api.get("/alerts.csv", tags=["alerts"], response_class=Response, responses=CSV)
def alerts_csv(request: Request, desk: TheDesk) -> Response:
    """The newest 5,000 changes as a file."""
    history = listed_changes(desk, limit=MOST_ROWS)
    return replies.csv_reply(request, "alerts", answers.rows(answers.AlertChange, history.rows), answers.AlertChange)


def settle(desk: Desk, author: str, word: retrieval_answers.SettleRequest) -> None:
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
