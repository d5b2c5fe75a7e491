"""Whether a gateway cut the prompt it stored.

Belongs here: the marks that cuts leave in a text. Does not: cuts of the body itself (bodies), which leave no request.
"""

import re
from collections.abc import Sequence

_CUT = (
    r"(?:\w+_)?(?:truncated|truncation|omitted|skipped|elided|trimmed|snipped|clipped|removed|cut(?:[ ]off)?|dipotong"
    r"|terpotong|dipangkas|dihilangkan|dilewati|truncad[oa]|recortad[oa]|tronqué|gekürzt|abgeschnitten|截断|省略)"
)
_UNIT = (
    r"(?:(?:more|further|extra)[ ])?(?:chars?|characters?|bytes?|tokens?|words?|lines?|[km]i?b|karakter|huruf|kata|baris"
    r"|caracteres|caractères|zeichen|字符|字)\b"
)
_COUNT = rf"\d[\d.,]*\s*{_UNIT}"
_NEAR = r"[^\])}>\n]{0,60}?"
_OPEN = r"[\[({<]"
_BARE = rf"{_OPEN}\W{{0,3}}(?:(?:content|text|output|prompt)\s+)?{_CUT}(?:\b[^\])}}>\n]{{0,60}})?[\])}}>]"
_DOTS = r"(?:\.{2,}|…)"
# Marks that tell how much is gone.
_COUNTED = re.compile(
    rf"{_OPEN}{_NEAR}(?:\b{_CUT}\b{_NEAR}{_COUNT}|{_COUNT}{_NEAR}\b{_CUT}\b)|{_DOTS}\s*{_OPEN}?\+?\s*\d[\d.,]*\s*more\s+\w+"
    rf"|{_DOTS}\s*(?:{_COUNT}\s*{_CUT}|{_CUT}\s*{_COUNT})",
    re.IGNORECASE,
)
_MARK = re.compile(_BARE, re.IGNORECASE)
_BETWEEN_DOTS = re.compile(rf"{_DOTS}\s*{_BARE}\s*{_DOTS}", re.IGNORECASE)
_AT_END = re.compile(rf"(?:{_BARE}\W*|{_DOTS}\s*{_OPEN}?\s*{_CUT}\W*)\Z", re.IGNORECASE)
# Looking for pieces of the words is quicker than the expressions; the rarer words are looked for at the end only.
_TRACES = ("runca", "RUNCA", "mitted", "MITTED", "kipped", "lided", "otong", "OTONG", "more", "截断", "省略")
# How a text ends that was cut at its end; the full stop of a sentence is none of them.
_LAST_SIGNS = (
    *(
        ")",
        "]",
        "}",
        ">",
        "..",
        "…",
        "characters",
        "chars",
        "bytes",
        "tokens",
        "karakter",
        "runcated",
        "RUNCATED",
        "mitted",
    ),
    *("potong", "POTONG"),
)
_TAIL = 300


def is_cut(pieces: Sequence[str]) -> bool:
    """Whether one of the texts of a prompt carries the mark of a cut, for example
    `... (litellm_truncated skipped 912 chars) ...`.

    A mark stands in brackets or behind dots and tells how much is gone; or it stands between dots; or it is the last thing
    in the last text. The bare word is no mark, and neither is a bare mark that repeats: whoever shortens every passage
    does so before the model reads them.
    """
    suspects = [piece for piece in pieces if _has_bracket(piece) and any(trace in piece for trace in _TRACES)]
    last = pieces[-1].rstrip()[-_TAIL:] if pieces else ""
    if last.endswith(_LAST_SIGNS):
        suspects.append(last)
    if not suspects:
        return False
    if any(_COUNTED.search(piece) for piece in suspects):
        return True
    is_bare = any(_BETWEEN_DOTS.search(piece) for piece in suspects) or _AT_END.search(last)
    return bool(is_bare) and sum(len(_MARK.findall(piece)) for piece in pieces) <= 1


def _has_bracket(text: str) -> bool:
    return "(" in text or "[" in text or "<" in text or "{" in text
