"""Bodies that stand for no answer: errors in the shapes of many servers, and place-holders of what was not kept.

Belongs here: recognising them. Does not: completions and streams.
"""

import re
from collections.abc import Iterator, Mapping

from kb_pipeline.records import ParseStatus

# Where servers put what went wrong. `error` counts beside a reply too, the others only where there is none.
_ERROR_KEYS = ("Error", "errors", "fault", "exception", "detail", "error_code")
_MESSAGE_KEYS = (
    *("message", "Message", "msg", "error_msg", "error_message", "errorMessage", "error_description", "errmsg"),
    "status_msg",
)
_CODE_KEYS = ("code", "type", "status", "statusCode", "status_code", "error_code", "errorCode", "errcode", "reason")
_SAYS_NOTHING = frozenset({"", "0", "null", "none", "success", "ok"})
_FAILED = frozenset({"error", "failed", "failure", "fail"})
# What only a body has that carries a reply, or wraps another body.
_REPLY_KEYS = frozenset(
    "choices output content candidates role text generated_text results data result response body payload".split()
)
# Codes and types by which servers say that a filter stopped the request or the reply.
_FILTER_CODE = re.compile(
    r"content[_ -]?(filter|policy|moderation|safety)|responsible[_ ]?ai|data_?inspection|moderation|guardrail|jailbreak"
    r"|prohibited|sensitive[_ ]content",
    re.IGNORECASE,
)
_FILTER_MESSAGE = re.compile(
    r"content[_ ]?filter|content[_ ]?policy[_ ]?violation|content management policy|data_?inspection_?failed",
    re.IGNORECASE,
)
_DEEPEST_ERROR = 4
_WHAT = r"(?:content|body|data|message|prompt|response)"
_PLACEHOLDER = re.compile(
    rf"\W*(?:{_WHAT}s?[ _-]*)?redacted(?:[ _-]+(?:by|due|for|because)\b.{{0,60}})?\W*"
    rf"|[\[<({{*]+\W*(?:{_WHAT}s?[ _-]*)?"
    r"(?:removed|hidden|masked|omitted|filtered|scrubbed|not[ _-](?:stored|logged|recorded)|disabled)\W*[\])>}*]+"
    r"|\*{3,}",
    re.IGNORECASE,
)
_LONGEST_PLACEHOLDER = 120
# A key that says with `true` that a body was left out.
_LEFT_OUT = re.compile(r"redacted|omitted", re.IGNORECASE)


def is_placeholder(text: str) -> bool:
    """Whether the whole text only says that something was not kept, for example `redacted-by-litellm`."""
    return len(text) <= _LONGEST_PLACEHOLDER and _PLACEHOLDER.fullmatch(text.strip()) is not None


def is_redacted(body: Mapping[str, object]) -> bool:
    """Whether the body is an empty object, or holds nothing but place-holders."""
    texts = [value for value in body.values() if isinstance(value, str)]
    is_marked = any(value is True and _LEFT_OUT.search(key) for key, value in body.items())
    return not body or is_marked or (bool(texts) and all(map(is_placeholder, texts)))


def failure_of(body: Mapping[str, object]) -> ParseStatus | None:
    """`error` or `content_filter` when the body says that the call failed, else None."""
    error = body.get("error")
    told: object = error if _says_something(error) else dict(body) if _is_flat_error(body) else None
    if told is None and error is not None and body.keys() == {"error"}:
        return ParseStatus.ERROR  # an error that says nothing, and nothing beside it
    if told is None:
        return None
    return ParseStatus.CONTENT_FILTER if _is_filter(told) else ParseStatus.ERROR


def _says_something(value: object, depth: int = _DEEPEST_ERROR) -> bool:
    """An error object whose every entry is empty or zero is a server's way to say that there was none."""
    if isinstance(value, dict) and depth:
        return any(_says_something(entry, depth - 1) for entry in value.values())
    return bool(value) and not (isinstance(value, str) and value.strip().lower() in _SAYS_NOTHING)


def _is_flat_error(body: Mapping[str, object]) -> bool:
    """Errors that are the body themselves: FastAPI's detail, vLLM's object, API gateways' message, problem details."""
    base = body.get("base_resp")
    if isinstance(base, dict) and _says_something(base.get("status_code")):
        return True
    if any(_says_something(body.get(key)) for key in _REPLY_KEYS):
        return False
    return (
        body.get("object") == "error"
        or body.get("type") == "error"
        or body.get("success") is False
        or str(body.get("status")).lower() in _FAILED
        or any(_says_something(body.get(key)) for key in _ERROR_KEYS)
        or any(isinstance(body.get(key), str) and _says_something(body[key]) for key in _MESSAGE_KEYS)
    )


def _is_filter(told: object) -> bool:
    return any(pattern.search(text) for pattern, text in _clues(told, _DEEPEST_ERROR))


def _clues(told: object, depth: int) -> Iterator[tuple[re.Pattern[str], str]]:
    """Each text of an error with the pattern that it is to be searched for."""
    if isinstance(told, str):
        yield _FILTER_MESSAGE, told
    elif isinstance(told, list) and depth:
        for entry in told[:8]:
            yield from _clues(entry, depth - 1)
    elif isinstance(told, dict) and depth:
        for key, value in told.items():
            if isinstance(value, str):
                yield (_FILTER_CODE if key in _CODE_KEYS else _FILTER_MESSAGE), value
            else:
                yield from _clues(value, depth - 1)
