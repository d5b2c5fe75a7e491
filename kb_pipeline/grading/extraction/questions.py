"""The question by itself: unwrapped, hashed, and shortened for people to see.

Belongs here: what is derived from a question's text. Does not: finding it in the prompt.
"""

import ast
import hashlib
import json
import re
import unicodedata
from collections.abc import Sequence

PREVIEW_CHARACTERS = 120
REDACTED = "[redacted]"

_ELLIPSIS = "…"
_ENTITY = re.compile(r"&[A-Za-z0-9#]{0,31}\Z")
_ENTITY_REST = re.compile(r"[A-Za-z0-9#]{0,31};")
# What hides or reorders text when it is shown: bidirectional controls, invisible signs, control characters.
_UNSEEN = re.compile(r"[\u202a-\u202e\u2066-\u2069\u200b\u2060\ufeff\u00ad]")
_SPACE = re.compile(r"[\s\x00-\x1f\x7f-\x9f\u2028\u2029]+")
_KEYS = ("question", "pertanyaan", "query", "text", "content", "input")
_ZWJ = "\u200d"


def unwrapped(question: str) -> str:
    """The question inside a JSON string, list or object, for example `["Apa itu PT?"]`; other text as it is.

    A string or list with nothing in it wraps an empty question.
    """
    if question[:1] not in {'"', "[", "{"}:
        return question
    try:
        # A list as Python writes it.
        value = ast.literal_eval(question) if question.startswith("['") else json.loads(question, strict=False)
        return _text_in(value) or ("" if _is_blank(value) else question)
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return question


def question_sha(question: str) -> str | None:
    """SHA-256 (hex) of the NFC-normalised question; None for an empty one."""
    if not question:
        return None
    return hashlib.sha256(unicodedata.normalize("NFC", question).encode("utf-8", "replace")).hexdigest()


def question_preview(question: str, *, redact: Sequence[re.Pattern[str]] = ()) -> str | None:
    """The question on one line in at most 120 characters, None for an empty one.

    What the patterns match is replaced before the cut. The cut is marked by an ellipsis and falls between characters
    as people see them (never inside a letter with its accents, a joined emoji, a flag or an entity).
    """
    line = _on_one_line(_redacted(question, redact))
    line = _redacted(line, redact)
    if len(line) > PREVIEW_CHARACTERS:
        line = line[: _border(line, PREVIEW_CHARACTERS - len(_ELLIPSIS))].rstrip() + _ELLIPSIS
    return line or None


def _text_in(value: object) -> str:
    if isinstance(value, str):
        return value.strip()
    if isinstance(value, list):
        return "\n".join(filter(None, map(_text_in, value)))
    if isinstance(value, dict):
        return next((_text_in(value[key]) for key in _KEYS if key in value), "")
    return ""


def _is_blank(value: object) -> bool:
    if isinstance(value, list):
        return all(map(_is_blank, value))
    return isinstance(value, str) and not value.strip()


def _redacted(text: str, patterns: Sequence[re.Pattern[str]]) -> str:
    for pattern in patterns:
        text = pattern.sub(lambda match: REDACTED if match.group() else "", text)
    return text


def _on_one_line(text: str) -> str:
    text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return _SPACE.sub(" ", _UNSEEN.sub("", text)).strip()


def _border(text: str, limit: int) -> int:
    """The last place not after `limit` where `text` may be cut; 0 when one visible character fills everything."""
    cut = limit
    while cut > 0 and _joins(text, cut):
        cut -= 1
    return _before_entity(text, cut)


def _joins(text: str, at: int) -> bool:
    """Whether the characters before and after `at` are one to the eye (the common cases of Unicode's annex 29)."""
    before, after = text[at - 1], text[at]
    if _ZWJ in (before, after) or unicodedata.category(after) in {"Mn", "Mc", "Me"}:
        return True
    if "\U0001f3fb" <= after <= "\U0001f3ff" or "\U000e0020" <= after <= "\U000e007f":  # skin tones, tags of flags
        return True
    if _is_flag_letter(before) and _is_flag_letter(after):
        return _flag_letters_before(text, at) % 2 == 1
    return _is_jamo(before) and "\u1160" <= after <= "\u11ff"


def _is_flag_letter(character: str) -> bool:
    return "\U0001f1e6" <= character <= "\U0001f1ff"


def _flag_letters_before(text: str, at: int) -> int:
    start = at
    while start > 0 and _is_flag_letter(text[start - 1]):
        start -= 1
    return at - start


def _is_jamo(character: str) -> bool:
    return "\u1100" <= character <= "\u11ff" or "\uac00" <= character <= "\ud7a3"


def _before_entity(text: str, cut: int) -> int:
    opened = _ENTITY.search(text, max(0, cut - 32), cut)
    return opened.start() if opened and _ENTITY_REST.match(text, cut) else cut
