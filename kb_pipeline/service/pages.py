"""The pages: server-rendered, the same numbers as the API.

Belongs here: routes of pages and their forms. Does not: what a page shows (…_page.py), numbers.
"""

import secrets
from collections.abc import Callable
from typing import Annotated
from urllib.parse import parse_qs, urlsplit

from fastapi import APIRouter, Depends, HTTPException, Path, Query, Request
from pydantic import ValidationError
from starlette.concurrency import run_in_threadpool
from starlette.responses import RedirectResponse, Response

from kb_pipeline.adapters.postgres.dashboard.turns import neighbours, open_turn
from kb_pipeline.counting import counted
from kb_pipeline.service import replies
from kb_pipeline.service.access import AUDITOR, Visitor
from kb_pipeline.service.api import settle
from kb_pipeline.service.links import turn_address
from kb_pipeline.service.list_pages import gaps_page, judgments_page, turns_page
from kb_pipeline.service.listing import AskedGrade, AskedKind, AskedStatus, Cursor, Order
from kb_pipeline.service.pipeline_page import alerts_page, pipeline_page
from kb_pipeline.service.quality_page import quality_page
from kb_pipeline.service.retrieval_answers import SettleRequest
from kb_pipeline.service.retrieval_page import conflicts_page, retrieval_page
from kb_pipeline.service.templating import render
from kb_pipeline.service.turn_page import turn_page
from kb_pipeline.service.viewing import (
    COOKIE,
    ZONE_COOKIE,
    Desk,
    TheDesk,
    ThePeriod,
    TheRetrievals,
    TheTurns,
    refuse_token,
    visitor_or_none,
)

pages = APIRouter(include_in_schema=False)
FORM_COOKIE = "kb_form"
_LONGEST_FORM = 16_384


class NeedsLogin(Exception):
    """A page was asked for by a stranger."""


def guest(visitor: Annotated[Visitor | None, Depends(visitor_or_none)]) -> Visitor:
    """A visitor of a page; strangers are sent to the login."""
    if visitor is None:
        raise NeedsLogin
    return visitor


TheGuest = Annotated[Visitor, Depends(guest)]


def to_login(request: Request, _error: Exception) -> Response:
    """The way to the login and back."""
    target = request.url.path + (f"?{request.url.query}" if request.url.query else "")
    return RedirectResponse(str(request.url_for("login").include_query_params(next=target).replace(
        scheme="", netloc="")), 303)  # fmt: skip


@pages.get("/")
def home(request: Request, desk: TheDesk, visitor: TheGuest, period: ThePeriod, chosen: TheTurns) -> Response:
    """How the chatbot is, and whether that can be trusted."""
    return _page(request, desk, visitor, "quality.html", lambda: quality_page(desk, visitor, period, chosen), period)


@pages.get("/turns")
def turns(  # noqa: PLR0917 parameters of a request are given by name
    request: Request,
    desk: TheDesk,
    visitor: TheGuest,
    period: ThePeriod,
    chosen: TheTurns,
    order: Order = "worst",
    cursor: Cursor = None,
) -> Response:
    """All turns of a period and filters, page by page."""

    def values() -> dict[str, object]:
        return turns_page(desk, visitor, period, chosen, order, cursor)

    return _page(request, desk, visitor, "turns.html", values, period)


@pages.get("/turns/{event_id:path}")
def turn(
    request: Request,
    desk: TheDesk,
    visitor: TheGuest,
    period: ThePeriod,
    event_id: Annotated[str, Path(max_length=1_000, pattern=r"^[^\x00]*$")],
) -> Response:
    """One turn with its text; the opening is recorded."""
    if visitor.role != AUDITOR:
        raise HTTPException(403, "The full text of a turn is for auditors; operators see the preview only.")
    found = open_turn(desk.auditor_database, event_id, actor=f"{visitor.name} ({visitor.role})")
    if found is None:
        raise HTTPException(404, "The ledger has no such call.")
    worse, better = neighbours(desk.database, period.window, event_id, found.turn["ts"])
    steps = {name: turn_address(at, period) if at else None for name, at in (("worse", worse), ("better", better))}
    values = turn_page(desk, found) | steps
    body = render("turn.html", request, visitor=visitor, **_clock(desk, period), **values)
    return Response(body, media_type="text/html")


@pages.get("/retrieval")
def retrieval(request: Request, desk: TheDesk, visitor: TheGuest, period: ThePeriod, chosen: TheRetrievals) -> Response:
    """Whether each engine finds something, and why drafts were wrong."""
    return _page(request, desk, visitor, "retrieval.html", lambda: retrieval_page(desk, period, chosen), period)


@pages.get("/retrieval/conflicts")
def conflicts(  # noqa: PLR0917 parameters of a request are given by name
    request: Request,
    desk: TheDesk,
    visitor: TheGuest,
    period: ThePeriod,
    chosen: TheRetrievals,
    cursor: Cursor = None,
) -> Response:
    """Judgments that wait for a person's word."""

    def values() -> dict[str, object]:
        return conflicts_page(desk, chosen, cursor, is_noted="noted" in request.query_params)

    return _page(request, desk, visitor, "conflicts.html", values, period)


@pages.post("/retrieval/conflicts")
async def settle_conflict(request: Request, desk: TheDesk, visitor: TheGuest) -> Response:
    """A person's word on one of them."""
    form = await _form(request)
    secret = "local" if desk.is_open else request.cookies.get(COOKIE, "")
    if not desk.sessions.fits(secret, form.get("csrf", "")):
        raise HTTPException(403, "The form does not belong to this session; load the page again.")
    try:
        word = SettleRequest.model_validate(
            {
                name: form.get(name, "")
                for name in ("org_id", "specialist_id", "query_sha", "doc_id", "relevant", "reason")
            }
        )
    except ValidationError:
        raise HTTPException(422, "A verdict and a reason of up to 500 characters are needed.") from None
    await run_in_threadpool(settle, desk, visitor.name, word)
    return RedirectResponse("/retrieval/conflicts?noted=1", 303)


@pages.get("/gaps")
def gaps(  # noqa: PLR0917 parameters of a request are given by name
    request: Request,
    desk: TheDesk,
    visitor: TheGuest,
    period: ThePeriod,
    chosen: TheRetrievals,
    kind: AskedKind = None,
    cursor: Cursor = None,
) -> Response:
    """All corrected drafts of a period and filters, page by page."""
    return _page(request, desk, visitor, "gaps.html", lambda: gaps_page(desk, period, chosen, kind, cursor), period)


@pages.get("/judgments")
def judgments(  # noqa: PLR0917 parameters of a request are given by name
    request: Request,
    desk: TheDesk,
    visitor: TheGuest,
    period: ThePeriod,
    chosen: TheRetrievals,
    status: AskedStatus = None,
    grade: AskedGrade = None,
    cursor: Cursor = None,
) -> Response:
    """All judgments by status and grade, page by page."""

    def values() -> dict[str, object]:
        return judgments_page(desk, chosen, status, grade, cursor)

    return _page(request, desk, visitor, "judgments.html", values, period)


@pages.get("/alerts")
def alerts(  # noqa: PLR0917 parameters of a request are given by name
    request: Request,
    desk: TheDesk,
    visitor: TheGuest,
    period: ThePeriod,
    fingerprint: Annotated[str | None, Query(max_length=255, pattern=r"^[^\x00]*$")] = None,
    cursor: Cursor = None,
) -> Response:
    """Where rules stand, and what changed; with a fingerprint, of that one."""
    return _page(request, desk, visitor, "alerts.html", lambda: alerts_page(desk, fingerprint or None, cursor), period)


@pages.get("/pipeline")
def pipeline(request: Request, desk: TheDesk, visitor: TheGuest, period: ThePeriod, chosen: TheTurns) -> Response:
    """Whether the measurement itself is healthy."""
    return _page(request, desk, visitor, "pipeline.html", lambda: pipeline_page(desk, period, chosen), period)


@pages.get("/login")
def login(request: Request, desk: TheDesk, next: str = "/") -> Response:  # noqa: A002 the name in the address
    """The form for a token."""
    return _login(request, desk, next)


@pages.post("/login")
async def log_in(request: Request, desk: TheDesk) -> Response:
    """A session for whoever holds a token."""
    form = await _form(request)
    target = _local(form.get("next", "/"))
    if not desk.sessions.fits(request.cookies.get(FORM_COOKIE, ""), form.get("csrf", "")):
        return _login(request, desk, target, "This form was too old; try again.", status=403)
    visitor = desk.tokens.holder(form.get("token", "").strip())
    if visitor is None:
        wait = refuse_token(request, desk)
        wrong = (
            f"Too many wrong tokens; try again in {counted(wait // 60 + 1, 'minute')}."
            if wait
            else "Nobody has this token."
        )
        return _login(request, desk, target, wrong, status=429 if wait else 401, wait=wait)
    response = RedirectResponse(target, 303)
    _set(response, request, desk, COOKIE, desk.sessions.start(visitor))
    response.delete_cookie(FORM_COOKIE, path="/login")
    return response


@pages.post("/logout")
async def log_out(request: Request, desk: TheDesk) -> Response:
    """The end of a session."""
    form = await _form(request)
    if not desk.sessions.fits(request.cookies.get(COOKIE, ""), form.get("csrf", "")):
        raise HTTPException(403, "The form does not belong to this session; load the page again.")
    desk.sessions.end(request.cookies.get(COOKIE, ""))
    response = RedirectResponse("/login", 303)
    response.delete_cookie(COOKIE)
    return response


def _page(  # noqa: PLR0917 what every page has
    request: Request,
    desk: Desk,
    visitor: Visitor,
    name: str,
    values: Callable[[], dict[str, object]],
    period: ThePeriod,
) -> Response:
    """A page, rendered once in a few seconds for the same visitor and question."""

    def rendered() -> bytes:
        return render(name, request, visitor=visitor, **_clock(desk, period), **values()).encode("utf-8", "replace")

    body = desk.memory.recall((name, visitor, period, request.url.query), rendered)
    response = replies.tagged(request, body, "text/html; charset=utf-8")
    if "tz" in request.query_params:
        _set(response, request, desk, ZONE_COOKIE, str(period.zone))
    return response


def _clock(desk: Desk, period: ThePeriod) -> dict[str, object]:
    return {"now": desk.now(), "zone": period.zone, "period": period, "is_open": desk.is_open}


def _login(
    request: Request, desk: Desk, target: str, wrong: str | None = None, *, status: int = 200, wait: int = 0
) -> Response:
    secret = secrets.token_hex(16)
    body = render(
        "login.html",
        request,
        title="Sign in",
        visitor=None,
        wrong=wrong,
        csrf=desk.sessions.form_key(secret),
        next=_local(target),
    )
    response = Response(body, status, {"Retry-After": str(wait)} if wait else None, "text/html")
    _set(response, request, desk, FORM_COOKIE, secret, path="/login")
    return response


def _set(response: Response, request: Request, desk: Desk, name: str, value: str, *, path: str = "/") -> None:
    public = desk.settings.service.public_url or ""
    is_secure = request.url.scheme == "https" or public.startswith("https://")
    response.set_cookie(name, value, httponly=True, samesite="lax", secure=is_secure, path=path)


def _local(target: str) -> str:
    """A path of this service, never another host's address."""
    try:
        parts = urlsplit(target)
    except ValueError:
        return "/"
    is_ours = not parts.scheme and not parts.netloc and target.startswith("/") and not target.startswith(("//", "/\\"))
    return target if is_ours and target.isprintable() else "/"


async def _form(request: Request) -> dict[str, str]:
    """The fields of a form; raises 413 for a large one, or one of more fields than any form has."""
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > _LONGEST_FORM:
            raise HTTPException(413, "The form is too large.")
    try:
        fields = parse_qs(body.decode("utf-8", "replace"), keep_blank_values=True, max_num_fields=20)
    except ValueError:
        raise HTTPException(413, "The form is too large.") from None
    return {name: values[0].replace("\0", "") for name, values in fields.items()}
