"""Values of untrusted JSON by what they mean: identifiers, numbers, flags, texts of bounded length.

Belongs here: one value in, a clean one or None out, with a note where it changed. Does not: which property is which.
"""

import math
import re
from hashlib import sha256
from uuid import UUID

from kb_pipeline.retrieval.events.verdict import Note

LARGEST_INT = 2**31 - 1
"""What PostgreSQL's int holds."""
MAX_QUERY_BYTES = 8192
MAX_LABEL_CHARS = 200
MAX_ID_CHARS = 512
# Half of what 512 characters can weigh: fifty results with the heaviest ids and scores stay below 256 kB of jsonb.
MAX_ID_BYTES = 1024
_HASH_DIGITS = 16
_LARGEST_ID_NUMBER = 10**40

_UUID = re.compile(r"[0-9a-f]{8}(-?)[0-9a-f]{4}\1[0-9a-f]{4}\1[0-9a-f]{4}\1[0-9a-f]{12}", re.IGNORECASE | re.ASCII)
_NUMBER = re.compile(r"[+-]?(?:\d{1,40}(?:\.\d{0,40})?|\.\d{1,40})(?:[eE][+-]?\d{1,4})?", re.ASCII)
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
_CONTROL = re.compile("[\x00-\x1f]")
_FLAGS = {"true": True, "false": False, "1": True, "0": False}
REPLACEMENT = "\ufffd"

Notes = set[Note]


def uuid_of(value: object) -> UUID | None:
    """A UUID with or without hyphens; None for anything else."""
    if isinstance(value, UUID):
        return value
    if isinstance(value, str) and _UUID.fullmatch(value.strip()):
        return UUID(value.strip())
    return None


def number_of(value: object) -> float | None:
    """A finite number, also one written in a text, as databases' decimals are by JavaScript; None for anything else."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, str):
        return number_of(float(value)) if _NUMBER.fullmatch(value := value.strip()) else None
    if isinstance(value, bool) or not isinstance(value, int):
        return None
    try:
        return float(value)
    except OverflowError:
        return None


def whole_of(value: object, *, least: int, notes: Notes) -> int | None:
    """A whole number from `least` to what an int column holds; None for anything else, noted unless it was null."""
    number = number_of(value)
    if number is not None and number.is_integer() and least <= number <= LARGEST_INT:
        return int(number)
    if value is not None:
        notes.add(Note.NUMBER_DROPPED)
    return None


def milliseconds_of(value: object, notes: Notes) -> int | None:
    """A latency in whole milliseconds; None where it is unknown, negative or no number."""
    number = number_of(value)
    return whole_of(value if number is None else float(round(number)), least=0, notes=notes)


def score_of(value: object, notes: Notes) -> float | None:
    """A finite score; None for anything else, noted unless it was null."""
    number = number_of(value)
    if number is None and value is not None:
        notes.add(Note.SCORE_DROPPED)
    return number


def flag_of(value: object, notes: Notes) -> bool | None:
    """True, false, 1, 0 or one of these as a text; None for anything else, noted unless it was null."""
    if isinstance(value, bool):
        return value
    flag = _FLAGS.get(str(value).strip().lower()) if isinstance(value, str | int) else None
    if flag is None and value is not None:
        notes.add(Note.FLAG_DROPPED)
    return flag


def text_of(value: object) -> str | None:
    """A text, or a number as one; None for anything else."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < _LARGEST_ID_NUMBER:
        return None
    return str(int(value)) if value == int(value) else str(value)


def query_of(value: str, notes: Notes, *, cut: Note) -> str:
    """Storable text of at most 8 kB of UTF-8."""
    # No character weighs less than a byte; the pairs of surrogates that are joined weigh more.
    text = _storable(value[: 2 * MAX_QUERY_BYTES], notes)
    kept = _within_bytes(text, MAX_QUERY_BYTES)
    if len(kept) < len(text):
        notes.add(cut)
    return kept


def label_of(value: object, notes: Notes) -> str | None:
    """A short text such as a version, of at most 200 characters; None for anything else, noted unless it was null."""
    text = text_of(value)
    if text is None:
        if value is not None:
            notes.add(Note.TEXT_DROPPED)
        return None
    if len(text) > MAX_LABEL_CHARS:
        notes.add(Note.TEXT_CUT)
    return _storable(text[:MAX_LABEL_CHARS], notes)


def id_of(value: object, notes: Notes) -> str | None:
    """A document's or chunk's id as text; None for anything else, an empty one included.

    Longer ids than 512 characters or 1,024 bytes of UTF-8 end in "~" and the first 16 digits of the whole id's SHA-256.
    """
    text = value if isinstance(value, str) else text_of(value)
    if text is None or not text or text.isspace():
        return None
    # Nearly all of them.
    if len(text) <= MAX_ID_CHARS and text.isascii() and text.isprintable():
        return text
    clean = _CONTROL.sub(REPLACEMENT, text)
    if clean != text:
        notes.add(Note.TEXT_CLEANED)
    return _short_id(_storable(clean, notes), notes)


def _short_id(text: str, notes: Notes) -> str:
    if len(text) <= MAX_ID_CHARS and len(text.encode()) <= MAX_ID_BYTES:
        return text
    notes.add(Note.ID_CUT)
    suffix = "~" + sha256(text.encode()).hexdigest()[:_HASH_DIGITS]
    return _within_bytes(text[: MAX_ID_CHARS - len(suffix)], MAX_ID_BYTES - len(suffix)) + suffix


def _storable(text: str, notes: Notes) -> str:
    """The text with its surrogate pairs joined, and U+FFFD for lone surrogates and NUL."""
    if not _UNSTORABLE.search(text):
        return text
    joined = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    notes.add(Note.TEXT_CLEANED)
    return joined.replace("\x00", REPLACEMENT)


def _within_bytes(text: str, limit: int) -> str:
    """As much of the text as fits into so many bytes of UTF-8, whole characters only."""
    if len(text) * 4 <= limit:
        return text
    return text.encode()[:limit].decode(errors="ignore")
