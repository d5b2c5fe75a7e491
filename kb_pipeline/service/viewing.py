"""What a request asks to see: the visitor, the period, the filters.

Belongs here: dependencies of routes. Does not: answers.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime
from difflib import get_close_matches
from ipaddress import IPv6Network, ip_address
from typing import Annotated, cast
from uuid import UUID
from zoneinfo import ZoneInfo

from fastapi import Depends, HTTPException, Query, Request
from fastapi.exceptions import RequestValidationError
from prometheus_client import CollectorRegistry
from pydantic import BeforeValidator

from kb_pipeline.adapters.postgres.bounds import Bounds
from kb_pipeline.adapters.postgres.connection import Database
from kb_pipeline.dashboard.filters import QualityFilter, RetrievalFilter
from kb_pipeline.dashboard.periods import Period, UnknownPeriod, period_between, period_of, zone_of
from kb_pipeline.service.access import LOCAL, Patience, Sessions, Tokens, Visitor
from kb_pipeline.service.reading import QualityReading
from kb_pipeline.service.remembering import Memory
from kb_pipeline.service.retrieval_reading import RetrievalReading
from kb_pipeline.settings import Settings

COOKIE = "kb_session"
ZONE_COOKIE = "kb_zone"
_ALIKE = 0.7
_Name = Annotated[str | None, Query(max_length=200, pattern=r"^[^\x00]*$")]
# What a form sends for "all" is empty.
OR_NONE = BeforeValidator(lambda value: value or None)


@dataclass(frozen=True, kw_only=True)
class Desk:
    """What every route works with; it hangs on the application."""

    settings: Settings
    database: Database
    auditor_database: Database
    bounds: Bounds
    """Those of both, for a database of another role."""
    quality: QualityReading
    retrieval: RetrievalReading
    tokens: Tokens
    sessions: Sessions
    patience: Patience
    now: Callable[[], datetime]
    is_open: bool
    """Whether anybody on this machine is an auditor: no tokens, loopback only."""
    registry: CollectorRegistry
    memory: Memory


def desk_of(request: Request) -> Desk:
    """The desk of the application that serves the request."""
    return cast(Desk, request.app.state.desk)


TheDesk = Annotated[Desk, Depends(desk_of)]


def address_of(request: Request) -> str:
    """Where the request comes from: an address, of IPv6 the network that one customer is given, or "unknown"."""
    try:
        address = ip_address(request.client.host if request.client else "")
    except ValueError:
        return "unknown"
    return str(address) if address.version == 4 else str(IPv6Network((int(address), 64), strict=False))  # noqa: PLR2004


def refuse_token(request: Request, desk: Desk) -> int:
    """Note a wrong token; 0, or the seconds to wait after too many of them."""
    address = address_of(request)
    wait = desk.patience.wait(address)
    if not wait:
        desk.patience.failed(address)
    return wait


def visitor_or_none(request: Request, desk: TheDesk) -> Visitor | None:
    """Whoever asks, by bearer token or session; None for a stranger. Raises 429 after too many wrong tokens."""
    if desk.is_open:
        return Visitor(LOCAL, "auditor", desk.sessions.form_key(LOCAL))
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer" and token:
        # Every token is compared before anybody is told to wait, which takes the same time then as ever.
        found = desk.tokens.holder(token.strip())
        if found is None and (wait := refuse_token(request, desk)):
            raise HTTPException(429, "Too many wrong tokens.", {"Retry-After": str(wait)})
        return found
    return desk.sessions.visitor(request.cookies.get(COOKIE, ""))


def reader(visitor: Annotated[Visitor | None, Depends(visitor_or_none)]) -> Visitor:
    """A visitor of any role; raises 401."""
    if visitor is None:
        raise HTTPException(401, "A bearer token is needed, or a login.", {"WWW-Authenticate": "Bearer"})
    return visitor


def auditor(visitor: Annotated[Visitor, Depends(reader)]) -> Visitor:
    """A visitor who may see full text; raises 403."""
    if not visitor.sees_text:
        raise HTTPException(403, "The full text of a turn is for auditors.")
    return visitor


TheReader = Annotated[Visitor, Depends(reader)]
TheAuditor = Annotated[Visitor, Depends(auditor)]


def period(  # noqa: PLR0917 parameters of a request are given by name
    request: Request,
    desk: TheDesk,
    window: Annotated[str | None, Query(description="Hours or days up to now, for example 24h or 7d.")] = None,
    first: Annotated[date | None, Query(alias="from", description="First day, with `to` in place of window.")] = None,
    last: Annotated[date | None, Query(alias="to", description="Last day.")] = None,
    tz: Annotated[str | None, Query(description="Zone whose days are meant, by its IANA name.")] = None,
) -> Period:
    """The period that is asked for; seven days up to now by default."""
    zone = zone_of(tz) if tz else _kept_zone(request)
    now = desk.now()
    if first is None and last is None:
        return period_of(window or "7d", now=now, zone=zone)
    if window is not None:
        raise HTTPException(422, "A window, or days from and to, are accepted, and not both.")
    today = now.astimezone(zone).date()
    return period_between(first or last or today, last or first or today, now=now, zone=zone)


def _kept_zone(request: Request) -> ZoneInfo:
    try:
        return zone_of(request.cookies.get(ZONE_COOKIE) or "UTC")
    except UnknownPeriod:
        return zone_of("UTC")


ThePeriod = Annotated[Period, Depends(period)]


def quality_filter(tenant: _Name = None, surface: _Name = None, engine: _Name = None) -> QualityFilter:
    """The turns that are asked for; an empty value is no filter."""
    return QualityFilter(tenant=tenant or None, surface=surface or None, engine=engine or None)


def retrieval_filter(
    org: Annotated[UUID | None, OR_NONE, Query(description="Organisation.")] = None,
    specialist: Annotated[UUID | None, OR_NONE, Query(description="Specialist.")] = None,
    engine: _Name = None,
) -> RetrievalFilter:
    """The retrievals that are asked for; an empty value is no filter."""
    return RetrievalFilter(org=org, specialist=specialist, engine=engine or None)


def tenant_filter(
    org: Annotated[UUID | None, OR_NONE, Query(description="Organisation.")] = None,
    specialist: Annotated[UUID | None, OR_NONE, Query(description="Specialist.")] = None,
) -> RetrievalFilter:
    """The tenants that are asked for, where an engine has no part in it."""
    return RetrievalFilter(org=org, specialist=specialist)


def well_spelt(request: Request) -> None:
    """Refuse a parameter that is one of the route's misspelt, or given twice: it would filter nothing, or not as meant.

    What is nothing like any of them is passed over, as clients expect.
    """
    described = request.app.openapi()["paths"][request.scope["route"].path_format][request.method.lower()]
    known = {each["name"] for each in described.get("parameters", ()) if each["in"] == "query"}
    given = Counter(name for name, _ in request.query_params.multi_items())
    meant = {name: get_close_matches(name, known, 1, _ALIKE) for name in given if name not in known}
    wrong = [
        *(_wrong(name, f"no such parameter; {close[0]} is one") for name, close in meant.items() if close),
        *(_wrong(name, "given more than once") for name, times in given.items() if name in known and times > 1),
    ]
    if wrong:
        raise RequestValidationError(wrong)


def _wrong(name: str, why: str) -> dict[str, object]:
    return {"loc": ("query", name), "msg": why}


TheTurns = Annotated[QualityFilter, Depends(quality_filter)]
TheRetrievals = Annotated[RetrievalFilter, Depends(retrieval_filter)]
TheTenants = Annotated[RetrievalFilter, Depends(tenant_filter)]
