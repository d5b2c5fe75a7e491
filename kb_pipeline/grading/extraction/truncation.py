"""Whether a gateway cut the prompt it stored.

Belongs here: the marks that cuts leave in a text. Does not: cuts of the body itself (bodies), which leave no request.
"""

import re
from collections.abc import Iterator, Sequence

_CUT = (
    r"(?:\w+_)?(?:truncated|truncation|omitted|skipped|elided|trimmed|snipped|clipped|removed|cut(?:[ ]off)?|dipotong"
    r"|terpotong|dipangkas|dihilangkan|dilewati|truncad[oa]|recortad[oa]|tronqué|gekürzt|abgeschnitten|截断|省略)"
)
_UNIT = (
    r"(?:(?:more|further|extra)[ ])?(?:chars?|characters?|bytes?|tokens?|words?|lines?|[km]i?b|karakter|huruf|kata"
    r"|baris|caracteres|caractères|zeichen|字符|字)\b"
)
_COUNT = rf"\d[\d.,]{{0,20}}\s{{0,4}}{_UNIT}"
_OPEN, _CLOSE = r"[\[({<]", r"[\])}>]"
_NEAR = r"[^\])}>\n]{0,60}?"
_DOTS = r"(?:\.\.|…)\s{0,4}"
_WHAT = r"(?:\w{2,20}:\s)?(?:(?:content|text|output|prompt)\s{1,4})?"
_BARE = rf"{_OPEN}\W{{0,3}}{_WHAT}{_CUT}(?:\b[^\])}}>\n]{{0,60}})?{_CLOSE}"
# Marks that tell how much is gone.
_COUNTED = re.compile(
    rf"{_DOTS}{_OPEN}\+?\s?(?:{_COUNT}|\d[\d.,]{{0,20}}\s?more)\s?{_CLOSE}|{_OPEN}{_NEAR}(?:\b{_CUT}\b{_NEAR}{_COUNT}|{_COUNT}{_NEAR}\b{_CUT}\b)"
    rf"|{_DOTS}(?:{_COUNT}\s{{0,4}}{_CUT}|{_CUT}\s{{0,4}}{_COUNT}|{_OPEN}?\+?\s{{0,4}}\d[\d.,]{{0,20}}\s?more\s\w+)",
    re.IGNORECASE,
)
_MARK = re.compile(_BARE, re.IGNORECASE)
_BETWEEN_DOTS = re.compile(rf"{_DOTS}{_BARE}\s{{0,4}}(?:\.\.|…)", re.IGNORECASE)
_AT_END = re.compile(rf"(?:{_BARE}|{_DOTS}{_OPEN}?\s?{_CUT}|-{{2,9}}\s?{_CUT}\s?-{{2,9}})\W{{0,8}}\Z", re.IGNORECASE)
# Looking for pieces of the words is quicker than the expressions; the rarer words are looked for at the end only.
_TRACES = (
    "runca",
    "RUNCA",
    "mitted",
    "MITTED",
    "kipped",
    "elided",
    "ipotong",
    "rpotong",
    "POTONG",
    "截断",
    "省略",
    "[+",
    "chars]",
)
_AROUND = 120
_MOST_TRACES = 100
# How a text ends that was cut at its end; the full stop of a sentence is none of them.
_LAST_SIGNS = (
    *(
        ")",
        "]",
        "}",
        ">",
        "--",
        "..",
        "…",
        "characters",
        "chars",
        "bytes",
        "tokens",
        "karakter",
        "runcated",
        "RUNCATED",
    ),
    *("mitted", "potong", "POTONG"),
)
_TAIL = 300


def is_cut(pieces: Sequence[str]) -> bool:
    """Whether one of the texts of a prompt carries the mark of a cut.

    For example `... (litellm_truncated skipped 912 chars) ...`. A mark stands in brackets or behind dots and tells how
    much is gone; or it stands between dots; or it is the last thing in the last text. The bare word is no mark, and
    neither is a bare mark that repeats: whoever shortens every passage does so before the model reads them.
    """
    suspects: list[str] = []
    for piece in pieces:
        if "(" in piece or "[" in piece or "<" in piece or "{" in piece:
            suspects.extend(_around_traces(piece))
    last = pieces[-1].rstrip() if pieces else ""
    if last.endswith(_LAST_SIGNS):
        last = last[-_TAIL:]
        suspects.append(last)
    return bool(suspects) and _hold_a_mark(suspects, last, pieces)


def _hold_a_mark(suspects: Sequence[str], last: str, pieces: Sequence[str]) -> bool:
    if any(_COUNTED.search(window) for window in suspects):
        return True
    is_bare = any(_BETWEEN_DOTS.search(window) for window in suspects) or _AT_END.search(last)
    return bool(is_bare) and sum(len(_MARK.findall(piece)) for piece in pieces) <= 1


def _around_traces(text: str) -> Iterator[str]:
    for trace in _TRACES:
        position = text.find(trace)
        for _ in range(_MOST_TRACES):
            if position < 0:
                break
            yield text[max(0, position - _AROUND) : position + _AROUND]
            position = text.find(trace, position + len(trace))
