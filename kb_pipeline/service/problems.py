"""One shape for every error: RFC 9457 problem details, and the same as a page for a browser.

Belongs here: status, title, detail. Does not: which error is whose.
"""

import logging
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, Response

from kb_pipeline.dashboard.periods import UnknownPeriod
from kb_pipeline.errors import DatabaseAway, DatabaseError, KbPipelineError
from kb_pipeline.service.templating import render

MEDIA_TYPE = "application/problem+json"
_LOG = logging.getLogger(__name__)
_UNSAID = {
    404: "There is nothing at this address; the dashboard is at /, the API is described at /api/openapi.json.",
    405: "This address is not asked in this way.",
}
_RETRY_AFTER_S = 5


class Problem(BaseModel):
    """An error as RFC 9457 has it."""

    type: str = "about:blank"
    title: str
    status: int
    detail: str | None = None
    errors: list[dict[str, Any]] | None = Field(default=None, description="What is wrong, parameter by parameter.")


DESCRIBED: dict[int | str, dict[str, Any]] = {
    status: {
        "description": HTTPStatus(status).phrase,
        "content": {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}},
    }
    for status in (401, 403, 404, 405, 408, 413, 422, 429, 500, 503)
}


def problem(
    request: Request,
    status: int,
    detail: str | None = None,
    *,
    errors: list[dict[str, Any]] | None = None,
    headers: Mapping[str, str] | None = None,
) -> Response:
    """The response of an error: a page where a browser asks for one, else problem details."""
    found = Problem(title=HTTPStatus(status).phrase, status=status, detail=detail, errors=errors)
    wants_page = "text/html" in request.headers.get("accept", "") and not request.url.path.startswith("/api/")
    if wants_page:
        page = render("problem.html", request, problem=found, visitor=None, title=found.title)
        return Response(page, status, dict(headers or {}), "text/html")
    return JSONResponse(found.model_dump(exclude_none=True), status, dict(headers or {}), MEDIA_TYPE)


def handle_problems(app: FastAPI) -> None:
    """Give every error that a request may end in that shape."""
    app.add_exception_handler(HTTPException, _http)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(UnknownPeriod, _unknown)
    app.add_exception_handler(DatabaseError, _database)
    app.add_exception_handler(KbPipelineError, _mendable)
    app.add_exception_handler(Exception, _unforeseen)


def _http(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)  # noqa: S101 the handler is registered for it
    detail = _UNSAID.get(error.status_code) if error.detail == HTTPStatus(error.status_code).phrase else error.detail
    return problem(request, error.status_code, detail, headers=error.headers)


def _invalid(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)  # noqa: S101 the handler is registered for it
    # The value itself is not said back: it may be anything.
    errors = [{"loc": [str(step) for step in each["loc"]], "msg": str(each["msg"])} for each in error.errors()]
    return problem(request, 422, "A parameter cannot be used.", errors=errors)


def _unknown(request: Request, error: Exception) -> Response:
    return problem(request, 422, str(error))


def _database(request: Request, error: Exception) -> Response:
    assert isinstance(error, DatabaseError)  # noqa: S101 the handler is registered for it
    _LOG.warning("database: %s", error)
    later = {"Retry-After": str(_RETRY_AFTER_S)} if isinstance(error, DatabaseAway) else None
    return problem(request, 503, error.told, headers=later)


def _unforeseen(request: Request, _error: Exception) -> Response:
    return problem(request, 500, "Something went wrong here; the log names it.")


def _mendable(request: Request, error: Exception) -> Response:
    return problem(request, 422, str(error))
