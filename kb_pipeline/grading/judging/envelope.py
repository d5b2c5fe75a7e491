"""From the bytes of an HTTP reply to the text that the judge wrote.

Belongs here: statuses, error bodies under a status of success, tokens spent. Does not: the shapes of chat replies
(grading/bodies), the scores in the text.
"""

import json
import re
from dataclasses import dataclass
from typing import Any

import msgspec

from kb_pipeline.grading.bodies import is_length, read_response
from kb_pipeline.records import ErrorClass, ParseStatus, Ungraded, Usage

_MAX_INT4 = 2**31 - 1
# What a reply without usable text amounts to; every other status is no chat reply at all.
_CLASSES = {
    ParseStatus.EMPTY: ErrorClass.EMPTY_REPLY,
    ParseStatus.EMPTY_ANSWER: ErrorClass.EMPTY_REPLY,
    ParseStatus.NO_CHOICES: ErrorClass.EMPTY_REPLY,
    ParseStatus.REFUSAL: ErrorClass.EMPTY_REPLY,
    ParseStatus.CONTENT_FILTER: ErrorClass.EMPTY_REPLY,
    ParseStatus.TOOL_CALLS: ErrorClass.EMPTY_REPLY,
    ParseStatus.STREAM_INCOMPLETE: ErrorClass.TRUNCATED_REPLY,
    ParseStatus.TRUNCATED_JSON: ErrorClass.TRUNCATED_REPLY,
    ParseStatus.NOT_JSON: ErrorClass.NOT_JSON,
    ParseStatus.UNDECODABLE: ErrorClass.NOT_JSON,
}
_THINKING_BEGINS = re.compile(r"<\s*(?:\w+:)?think(?:ing)?\b[^<>]*>|\[THINK\]|◁think▷", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True, slots=True)
class Written:
    """What the judge wrote, without its thinking, and whether a length limit ended it."""

    text: str
    was_cut: bool
    usage: Usage


class _Metered(msgspec.Struct):
    """What stands beside the choices of a reply."""

    usage: Any = None
    error: Any = None


class _PlainMessage(msgspec.Struct):
    content: str


class _PlainChoice(msgspec.Struct):
    message: _PlainMessage
    index: int = 0


class _Plain(msgspec.Struct):
    """The usual reply: choices with a text each."""

    choices: list[_PlainChoice]


# No key, no money, no right, no such model or address: what the server says to every turn alike.
_REFUSING_ALL = frozenset({401, 402, 403, 404, 405, 407, 410})


def read_envelope(body: bytes, http_status: int) -> Written | Ungraded:
    """The judge's text; or why there is none: an error status, an error body, another protocol, nothing written."""
    refused = _by_status(http_status)
    if refused is not None:
        redirects = 300 <= http_status < 400  # noqa: PLR2004 the range of redirects
        detail = f"HTTP {http_status}" + (", a redirect, is not followed" if redirects else "")
        return Ungraded(error_class=refused, detail=detail, refuses_all=redirects or http_status in _REFUSING_ALL)
    beside = _beside(body)
    usage = _usage(beside.usage)
    whole = _whole_json(body)
    if whole is not None:
        return Written(text=whole, was_cut=False, usage=usage)
    response = read_response(body)
    was_cut = is_length(response.finish_reason)
    text = _without_open_thinking(response.answer.strip())
    if text and response.parse_status in {ParseStatus.OK, ParseStatus.OK_LENGTH, ParseStatus.TOOL_CALLS}:
        return Written(text=text, was_cut=was_cut, usage=usage)
    if response.parse_status in {ParseStatus.ERROR, ParseStatus.STREAM_ERROR}:
        return Ungraded(error_class=_class_of_error(beside.error), detail="HTTP 200 with an error body", usage=usage)
    if was_cut:
        return Ungraded(error_class=ErrorClass.TRUNCATED_REPLY, detail="cut before its text began", usage=usage)
    error_class = ErrorClass.EMPTY_REPLY if response.parse_status.is_judged else _CLASSES.get(response.parse_status)
    return Ungraded(
        error_class=error_class or ErrorClass.BAD_SCHEMA,
        detail=f"the reply reads as {response.parse_status}",
        usage=usage,
    )


def _by_status(http_status: int) -> ErrorClass | None:
    if 200 <= http_status < 300:  # noqa: PLR2004 the range of success
        return None
    named = {408: ErrorClass.TIMEOUT, 429: ErrorClass.RATE_LIMITED}
    if http_status in named:
        return named[http_status]
    return ErrorClass.HTTP_4XX if 300 <= http_status < 500 else ErrorClass.HTTP_5XX  # noqa: PLR2004


def _class_of_error(error: Any) -> ErrorClass:
    """By the error's own status or name; an error that gives neither is the server's."""
    fields = error if isinstance(error, dict) else {}
    for key in ("code", "status", "status_code"):
        status = str(fields.get(key))
        if re.fullmatch("[345][0-9]{2}", status):
            return _by_status(int(status)) or ErrorClass.HTTP_5XX
    named = f"{fields.get('type')} {fields.get('code')}".lower()
    if "rate_limit" in named or "quota" in named:
        return ErrorClass.RATE_LIMITED
    return ErrorClass.HTTP_4XX if "invalid" in named or "context_length" in named else ErrorClass.HTTP_5XX


def _without_open_thinking(text: str) -> str:
    """`text` up to a thought that never ends."""
    return _THINKING_BEGINS.split(text, maxsplit=1)[0].strip()


def _is_json(text: str) -> bool:
    try:
        json.loads(text, strict=False)
    except (ValueError, RecursionError):
        return False
    return True


def _whole_json(body: bytes) -> str | None:
    """The first choice's content where all of it is a JSON object: a mark of thinking in it is part of a reason."""
    try:
        choices = msgspec.json.decode(body, type=_Plain).choices
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return None
    text = min(choices, key=lambda choice: choice.index).message.content.strip() if choices else ""
    return text if text.startswith("{") and _is_json(text) else None


def _beside(body: bytes) -> _Metered:
    try:
        return msgspec.json.decode(body, type=_Metered)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return _Metered()


def _usage(counts: Any) -> Usage:
    counts = counts if isinstance(counts, dict) else {}
    return Usage(
        prompt_tokens=_count(counts.get("prompt_tokens")), completion_tokens=_count(counts.get("completion_tokens"))
    )


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _MAX_INT4 else None
