"""Plain bytes to text, and text to the JSON values it holds, with what is wrong with them.

Belongs here: character sets and tolerant JSON. Does not: what a chat request or completion looks like.
"""

import json
import re
from codecs import BOM_UTF16_BE, BOM_UTF16_LE, BOM_UTF32_BE, BOM_UTF32_LE
from collections.abc import Iterator
from typing import NamedTuple

from kb_pipeline.records import ParseStatus

# White space, NUL bytes, the separator of JSON text sequences, and the mark of UTF-8.
_PADDING = " \t\r\n\0\x1e\ufeff"
_MARKS = (
    # The UTF-32 marks come first: one of them begins like a UTF-16 mark.
    (BOM_UTF32_LE, "utf-32"),
    (BOM_UTF32_BE, "utf-32"),
    (BOM_UTF16_LE, "utf-16"),
    (BOM_UTF16_BE, "utf-16"),
)
# Where the NUL bytes of the first two ASCII characters lie tells an encoding without a mark.
_NUL_LAYOUTS = (
    (re.compile(rb"[^\0]\0\0\0[^\0]\0\0\0"), "utf-32-le"),
    (re.compile(rb"\0\0\0[^\0]\0\0\0[^\0]"), "utf-32-be"),
    (re.compile(rb"[^\0]\0[^\0]\0"), "utf-16-le"),
    (re.compile(rb"\0[^\0]\0[^\0]"), "utf-16-be"),
)
_LONGEST_INTEGER = 300
_DEEPEST = 100
_MOST_VALUES = 100_000

_SEPARATORS = re.compile(r"[\s\0\x1e]*")
_ESCAPED = re.compile(r'[\[{\s]*\{\s*\\"')
_BETWEEN_ELEMENTS = re.compile(r"[\s,]*")
_STRING_OR_BRACKETS = re.compile(r'"(?:[^"\\]++|\\.)*+(?:"|\Z)|[\[{]++|[\]}]++', re.DOTALL)
# What is left of a literal or a number when the text ends inside it.
_PARTIAL_LITERAL = re.compile(
    r"-?(?:\d+(?:\.\d*)?(?:[eE][+-]?\d*)?)?\.?|t(?:ru?)?|f(?:a(?:ls?)?)?|nu?l?|Na?|-?I(?:n(?:f(?:i(?:n(?:it?)?)?)?)?)?"
)
# A body that its keeper cut and marked, for example `{"choices": [... [truncated 4096 bytes]`.
_CUT_TAIL = re.compile(r"(?:\.{3}|…|[\[(<])\W{0,4}(?:\w+[ _-])?truncated\b.{0,200}\Z", re.DOTALL | re.IGNORECASE)


def _integer(digits: str) -> int | float:
    return int(digits) if len(digits) <= _LONGEST_INTEGER else float(digits)


_DECODER = json.JSONDecoder(strict=False, parse_int=_integer)


class Documents(NamedTuple):
    """The JSON values of a text in order, and what is wrong after the last one (None when nothing is)."""

    values: list[object]
    damage: ParseStatus | None


def to_text(data: bytes) -> str | ParseStatus:
    """The text of plain bytes, without padding; `undecodable` when it is in no Unicode encoding.

    A character cut at the very end is dropped: whoever reads on finds the text cut.
    """
    encoding = _encoding(data)
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        if error.end < len(data) or error.reason not in {"unexpected end of data", "truncated data"}:
            return ParseStatus.UNDECODABLE
        text = data[: error.start].decode(encoding)
    return without_padding(text)


def without_padding(text: str) -> str:
    """`text` without the white space, NUL bytes and marks of an encoding around it."""
    return text.strip(_PADDING)


def _encoding(data: bytes) -> str:
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return encoding
    for layout, encoding in _NUL_LAYOUTS:
        if layout.match(data):
            return encoding
    return "utf-8"


def read_documents(text: str) -> Documents:
    """The JSON values that stand in `text` one after another (one document, NDJSON, or simply concatenated).

    Tolerates NaN and Infinity, control characters in strings, duplicate keys (the last one counts) and integers of any
    length; what is nested deeper than 100 levels is read as null. A list cut in its midst gives the elements before.
    A document whose quotes were escaped once too often is read all the same.
    """
    if _ESCAPED.match(text):
        text = _unescaped(text)
    try:
        return _read(text)
    except RecursionError:
        return _read(_without_the_deep(text))


def _unescaped(text: str) -> str:
    try:
        return str(_DECODER.decode(f'"{text}"'))
    except ValueError:
        return text


def _read(text: str) -> Documents:
    values: list[object] = []
    position = _skip(_SEPARATORS, text, 0)
    while position < len(text) and len(values) < _MOST_VALUES:
        try:
            value, position = _DECODER.raw_decode(text, position)
        except json.JSONDecodeError as error:
            damage = _damage(text, error)
            if not values and text[position] == "[" and damage is ParseStatus.TRUNCATED_JSON:
                values = list(_elements(text, position + 1))
            return Documents(values, damage)
        values.append(value)
        position = _skip(_SEPARATORS, text, position)
    return Documents(values, None if position >= len(text) else ParseStatus.NOT_JSON)


def _elements(text: str, position: int) -> Iterator[object]:
    """The whole elements of a list whose end is missing."""
    for _ in range(_MOST_VALUES):
        try:
            value, position = _DECODER.raw_decode(text, _skip(_BETWEEN_ELEMENTS, text, position))
        except json.JSONDecodeError:
            return
        yield value


def _skip(pattern: re.Pattern[str], text: str, position: int) -> int:
    match = pattern.match(text, position)
    return match.end() if match else position


def _damage(text: str, error: json.JSONDecodeError) -> ParseStatus:
    """Whether the text ends too early, or is no JSON."""
    if error.msg.startswith("Unterminated string"):
        return ParseStatus.TRUNCATED_JSON
    rest = text[error.pos :]
    in_escape = error.msg.startswith("Invalid \\") and len(rest) <= len(r"\u1234")
    at_end = not rest.strip(" \t\r\n,") or _PARTIAL_LITERAL.fullmatch(rest)
    if text[:1] in '{["' and (in_escape or at_end or _CUT_TAIL.search(text, max(0, len(text) - 300))):
        return ParseStatus.TRUNCATED_JSON
    return ParseStatus.NOT_JSON


def _without_the_deep(text: str) -> str:
    """`text` with everything below the deepest level that is read replaced by null."""
    kept: list[str] = []
    depth = start = 0
    for match in _STRING_OR_BRACKETS.finditer(text):
        token = match.group()
        if token[0] == '"':
            continue
        opening = token[0] in "[{"
        before, depth = depth, max(0, depth + len(token) if opening else depth - len(token))
        if opening and before <= _DEEPEST < depth:
            kept.append(text[start : match.start() + _DEEPEST - before] + "null")
            start = len(text)
        elif not opening and depth <= _DEEPEST < before:
            start = match.end() - (_DEEPEST - depth)
    kept.append(text[start:])
    return "".join(kept)
