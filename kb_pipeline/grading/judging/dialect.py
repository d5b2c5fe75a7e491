"""What a server accepts beside the messages, and the next weaker thing to ask when it refuses.

Belongs here: response formats and refusals of them. Does not: the memory of what a server accepts.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal

import msgspec

ResponseFormat = Literal["json_schema", "json_object", "text"]
_WEAKER: dict[ResponseFormat, ResponseFormat] = {"json_schema": "json_object", "json_object": "text"}
_REFUSING = frozenset({400, 404, 405, 415, 422, 500, 501})
_OF_FORMAT = re.compile(
    r"response[ _-]?format|json[ _-]?(?:schema|object|mode)|guided|structured|grammar|schema", re.IGNORECASE
)
_OF_TEMPERATURE = re.compile(r"temperature", re.IGNORECASE)
_OF_MAX_TOKENS = re.compile(
    r"(?:unsupported|unknown|unrecogni[sz]ed|unexpected|extra|not (?:supported|permitted|allowed)).{0,80}max_tokens"
    r"|max_tokens.{0,80}(?:unsupported|not (?:supported|permitted|allowed)|max_completion_tokens)",
    re.IGNORECASE | re.DOTALL,
)
_OF_BOUNDS = re.compile(r"max_?length|minimum|maximum", re.IGNORECASE)
_OF_THE_TURN = re.compile(
    r"context[ _-]?(?:length|size|window)|max(?:imum)?[ _-]?(?:context|model[ _-]?len|tokens)"
    r"|too (?:long|many tokens|large)|exceed|content[ _-]?(?:filter|policy)",
    re.IGNORECASE,
)
# Where servers put words of their own; other places may repeat the request, which is a stranger's text.
_SPOKEN_KEYS = frozenset({"message", "msg", "param", "code", "type", "loc", "detail", "error"})
_SPOKEN_CHARS = 600


@dataclass(frozen=True, kw_only=True, slots=True)
class Dialect:
    """How a call is worded for one server: what of the optional it is asked for.

    `bounds` are the limits of numbers and lengths inside the JSON schema, which some servers that know schemas refuse.
    """

    response_format: ResponseFormat = "json_schema"
    bounds: bool = True
    temperature: bool = True
    max_tokens: bool = True


def weaker_dialect(dialect: Dialect, http_status: int, body: bytes) -> Dialect | None:
    """The dialect to try after a refusal of this one; None when the reply is not about the dialect.

    A refusal that speaks of the turn (its length, its content) or of nothing in particular is not one of these.
    """
    if http_status not in _REFUSING:
        return None
    said = spoken(body)
    if dialect.max_tokens and _OF_MAX_TOKENS.search(said):
        return replace(dialect, max_tokens=False)
    if _OF_THE_TURN.search(said):
        return None
    if dialect.temperature and _OF_TEMPERATURE.search(said):
        return replace(dialect, temperature=False)
    if dialect.bounds and dialect.response_format == "json_schema" and _OF_BOUNDS.search(said):
        return replace(dialect, bounds=False)
    weaker = _WEAKER.get(dialect.response_format)
    return replace(dialect, response_format=weaker) if weaker and _OF_FORMAT.search(said) else None


def spoken(body: bytes) -> str:
    """The first of the words that a refusing server says of its own, never those that it repeats of the request."""
    try:
        decoded = msgspec.json.decode(body)
    except (msgspec.DecodeError, RecursionError):
        return body[:_SPOKEN_CHARS].decode("utf-8", "replace")
    return " ".join(_own_words(decoded, depth=4))[:_SPOKEN_CHARS]


def _own_words(value: Any, *, depth: int) -> Iterator[str]:
    """The strings that the server itself wrote, outside in."""
    if isinstance(value, str):
        yield value[:_SPOKEN_CHARS]
    elif depth and isinstance(value, list):
        for item in value[:8]:
            yield from _own_words(item, depth=depth - 1)
    elif depth and isinstance(value, dict):
        for key in (key for key in value if key in _SPOKEN_KEYS):
            yield from _own_words(value[key], depth=depth - 1)
