"""Replies: JSON and pages with an ETag, CSV that no spreadsheet runs, cursors.

Belongs here: how an answer travels. Does not: what it says.
"""

import base64
import csv
import io
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import reduce
from hashlib import sha256
from operator import getitem
from typing import Any

from fastapi import HTTPException, Request
from pydantic import BaseModel
from starlette.responses import Response

_FORMULA = ("=", "+", "-", "@", "\t", "\r")
PRIVATE = "private, no-cache"


def tagged(request: Request, body: bytes, media_type: str, headers: Mapping[str, str] | None = None) -> Response:
    """The body with its ETag; 304 without it where the client has it already."""
    tag = f'"{sha256(body).hexdigest()[:32]}"'
    known = {each.strip().removeprefix("W/") for each in request.headers.get("if-none-match", "").split(",")}
    given = {"ETag": tag, "Cache-Control": PRIVATE, "Vary": "Authorization, Cookie", **(headers or {})}
    if tag in known or "*" in known:
        return Response(status_code=304, headers=given)
    return Response(body, 200, given, media_type)


def json_reply(request: Request, answer: BaseModel) -> Response:
    """An answer as JSON; an undefined number is null, never NaN."""
    return tagged(request, answer.model_dump_json().encode(), "application/json")


def csv_reply(request: Request, name: str, answers: Iterable[BaseModel], model: type[BaseModel]) -> Response:
    """Answers as a CSV file with a header; a mean or a share is one column for each of its parts."""
    text = io.StringIO()
    writer = csv.writer(text)
    columns = list(_columns(model))
    writer.writerow(".".join(path) for path in columns)
    for answer in answers:
        row = answer.model_dump(mode="json")
        writer.writerow([cell(reduce(getitem, path, row)) for path in columns])
    disposition = {"Content-Disposition": f'attachment; filename="{name}.csv"'}
    return tagged(request, text.getvalue().encode("utf-8", "replace"), "text/csv; charset=utf-8", disposition)


def _columns(model: type[BaseModel], above: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    for name, field in model.model_fields.items():
        inner = field.annotation
        if isinstance(inner, type) and issubclass(inner, BaseModel):
            yield from _columns(inner, (*above, name))
        else:
            yield (*above, name)


def cell(value: Any) -> Any:
    """A value that no spreadsheet takes for a formula: text that begins like one gets an apostrophe in front."""
    if isinstance(value, list):
        value = " ".join(map(str, value))
    if isinstance(value, str) and value.lstrip().startswith(_FORMULA):
        return f"'{value}"
    return value


def cursor_of(values: Sequence[object]) -> str:
    """Where a list goes on, as one opaque word."""
    return base64.urlsafe_b64encode(json.dumps([str(value) for value in values]).encode()).decode().rstrip("=")


def cursor_values(cursor: str, count: int) -> list[str]:
    """What a cursor holds; raises 422 for anything that is none of ours."""
    try:
        values = json.loads(base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True))
    except (ValueError, RecursionError):
        raise bad_cursor() from None
    if not isinstance(values, list) or len(values) != count or not all(map(_is_text, values)):
        raise bad_cursor()
    return values


def bad_cursor() -> HTTPException:
    """What a cursor that leads nowhere comes to."""
    return HTTPException(422, "The cursor is not one of this list; begin without one.")


def _is_text(value: object) -> bool:
    """Whether PostgreSQL takes it for text."""
    return isinstance(value, str) and "\0" not in value and not any("\ud800" <= sign <= "\udfff" for sign in value)
