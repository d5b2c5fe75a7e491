"""The one JSON object in a judge's text, or why there is not exactly one.

Belongs here: fences, prose, trailing commas, duplicate keys. Does not: what the object says.
"""

import json
import re
from typing import Any

from kb_pipeline.records import ErrorClass, Ungraded, Usage

MAX_CHARS = 65_536
_MAX_OBJECTS = 16
_STRUCTURE = re.compile(r'\\.|["{}]', re.DOTALL)
_STRING_OR_COMMA = re.compile(r'"(?:[^"\\]|\\.)*"|,(?=\s*[}\]])', re.DOTALL)
_SCORE_NAME = re.compile("faithfulness|answer_relevance|context_relevance", re.IGNORECASE)


class _Repeated:
    """An object in which a key stands twice."""


class _NotANumber:
    """NaN or Infinity, which JSON does not have."""


def only_object(text: str, *, was_cut: bool, usage: Usage) -> dict[str, Any] | Ungraded:
    """The single JSON object of `text`, in a fence or between prose; the same object written twice counts once.

    Trailing commas and raw control characters inside strings are forgiven. Two different objects, an unreadable one
    that names a score beside a readable one, a repeated key: bad_schema. An object that never ends:
    truncated_reply. None: not_json.
    """
    if len(text) > MAX_CHARS:
        return Ungraded(error_class=ErrorClass.BAD_SCHEMA, detail="the reply is too long to be scores", usage=usage)
    whole = _decoded(text)
    if whole is not None:
        return _as_object(whole[0], usage)
    regions, unclosed = _regions(text)
    if unclosed or (was_cut and not regions):
        return Ungraded(error_class=ErrorClass.TRUNCATED_REPLY, detail="the reply's object never ends", usage=usage)
    decoded = [(region, _decoded(region)) for region in regions[:_MAX_OBJECTS]]
    readable = [value[0] for _, value in decoded if value is not None]
    if not readable:
        return Ungraded(error_class=ErrorClass.NOT_JSON, detail="the reply holds no JSON object", usage=usage)
    strays = [region for region, value in decoded if value is None and _SCORE_NAME.search(region)]
    if strays or len(regions) > _MAX_OBJECTS or any(_image(other) != _image(readable[0]) for other in readable[1:]):
        return Ungraded(error_class=ErrorClass.BAD_SCHEMA, detail="the reply holds several objects", usage=usage)
    return _as_object(readable[0], usage)


def _as_object(value: Any, usage: Usage) -> dict[str, Any] | Ungraded:
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if isinstance(value, dict):
        return value
    repeated = isinstance(value, _Repeated)
    detail = "a key of the reply's object stands twice" if repeated else "the reply is JSON, but no object"
    return Ungraded(error_class=ErrorClass.BAD_SCHEMA, detail=detail, usage=usage)


def _regions(text: str) -> tuple[list[str], bool]:
    """The outermost balanced {…} of `text`, and whether one is still open at its end. One pass."""
    regions: list[str] = []
    depth = start = 0
    in_string = False
    for found in _STRUCTURE.finditer(text):
        mark = found[0]
        if mark == '"' and depth:
            in_string = not in_string
        elif in_string or mark not in "{}":
            continue
        elif mark == "{":
            start = found.start() if depth == 0 else start
            depth += 1
        elif depth:
            depth -= 1
            if depth == 0:
                regions.append(text[start : found.end()])
    return regions, depth > 0


def _decoded(text: str) -> tuple[Any] | None:
    """The value of `text` in a tuple of one, so that null is told from unreadable."""
    for candidate in (text, _STRING_OR_COMMA.sub(lambda found: "" if found[0] == "," else found[0], text)):
        try:
            return (
                json.loads(candidate, strict=False, object_pairs_hook=_pairs, parse_constant=lambda _: _NotANumber()),
            )
        except (ValueError, RecursionError):
            continue
    return None


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any] | _Repeated:
    return dict(pairs) if len({key for key, _ in pairs}) == len(pairs) else _Repeated()


def _image(value: Any) -> str:
    """A text that is the same for the same object; an unreadable part is only like itself by its kind."""
    try:
        return json.dumps(value, sort_keys=True, default=lambda part: type(part).__name__)
    except (ValueError, RecursionError):
        return repr(type(value))
