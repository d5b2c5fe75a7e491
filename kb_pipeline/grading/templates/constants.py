"""Texts that open lines in many prompts, and so may be markers.

Belongs here: which pieces of a line could be a marker, and counting them. Does not: what a marker stands before.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache

from kb_pipeline.grading.templates.prompts import Prompt

LONGEST_MARKER = 48
_MOST = 40
_MOST_LINES = 3000
_FEW_LINES = 3
# The pieces of a line that could be a marker: up to its first colon, a tag, a bracket, a label in capitals.
_OPENINGS = (
    re.compile(r"[^:\uff1a\n]{1,46}[:\uff1a]"),
    re.compile(r"<[^<>\n]{1,44}>"),
    re.compile(r"\[[^\[\]\n]{1,44}\]"),
    re.compile(r"[*_]{1,3}[^*_\n]{1,40}[*_]{1,3}:?"),
    re.compile(r"[#=\-~ ]{0,6}[A-Z][A-Z_-]{2,20}(?: [A-Z][A-Z_-]{1,20}){0,3}(?= [^A-Z ]| [A-Z][a-z]|$)"),
)
_DELIMITED = 3
_FEW_WORDS = 3
_OPENING_SIGNS = "#=<[*_~"
_CLOSING_SIGNS = ":\uff1a>)]}=#*_~-`{[(|"
# The same within a line, for prompts that are a line or two: up to three words before a colon, or a tag.
_WITHIN = re.compile(r"(?<![^\s({,])(?:\"?\w{1,20}\"? ){0,2}\"?\w{1,20}\"? ?[:\uff1a]|<\w[^<>\n]{0,40}>")
_DIGITS = re.compile(r"\d+")
_BULLETS = re.compile(r"(?:[-*\u2022>] ?){1,3}(?=\S)")


def openings(text: str) -> set[str]:
    """What could be a marker in one text."""
    lines = text.split("\n", _MOST_LINES)[:_MOST_LINES]
    found: set[str] = set()
    for raw in lines:
        line = raw.strip()
        if line:
            found.update(_of_line(line))
    if len(lines) <= _FEW_LINES:
        found.update(match.group().strip() for line in lines for match in _WITHIN.finditer(line))
    return {piece for piece in found if _may_be_marker(piece)}


def constants(prompts: Sequence[Prompt], *, support: int) -> dict[str, int]:
    """What could be a marker, with the number of prompts, at least `support`, that hold it; the most frequent first.

    Pieces that differ by their numbers alone are headers of passages.
    """
    counts = Counter(piece for prompt in prompts for piece in openings(prompt.text))
    kinds = Counter(_DIGITS.sub("0", piece) for piece in counts)
    found = [(n, piece) for piece, n in counts.items() if n >= support and kinds[_DIGITS.sub("0", piece)] == 1]
    return {piece: n for n, piece in sorted(found, key=lambda each: (-each[0], -len(each[1]), each[1]))[:_MOST]}


def line_start(text: str, piece: str, start: int = 0) -> int:
    """Where `piece` first opens a line of `text` from `start` on, indentation and list signs aside; -1 if nowhere.

    In a text of a line or two it may stand anywhere.
    """
    if text.count("\n") < _FEW_LINES:
        return text.find(piece, start)
    found = _opening_a_line(piece).search(text, start)
    return found.end() - len(piece) if found else -1


@lru_cache(maxsize=1024)
def _opening_a_line(piece: str) -> re.Pattern[str]:
    return re.compile(rf"^[ >#*_\-\u2022`(\[<|]{{0,40}}{re.escape(piece)}", re.MULTILINE)


def stands_in(text: str, piece: str) -> bool:
    """Whether the piece opens a line of the text."""
    return line_start(text, piece) >= 0


def occurrences(text: str, pieces: Iterable[str]) -> int:
    """How many of the pieces open a line of the text."""
    return sum(stands_in(text, piece) for piece in pieces)


def _of_line(line: str) -> Iterable[str]:
    bare = _BULLETS.sub("", line, count=1) if line[0] in "-*\u2022>" else line
    for form in {line, bare}:
        for opening in _OPENINGS:
            if match := opening.match(form):
                yield match.group().strip()
        if len(form) <= LONGEST_MARKER and _is_label(form):
            yield form


def _is_label(line: str) -> bool:
    """Whether a whole line looks like a label: what stands behind a colon, a tag or a bracket is somebody's words."""
    for opening in _OPENINGS[:_DELIMITED]:
        match = opening.match(line)
        if match and any(map(str.isalpha, line[match.end() :])):
            return False
    few = len(line.split()) <= _FEW_WORDS and line[-1] not in ".?!"
    return few or line[0] in _OPENING_SIGNS or line[-1] in _CLOSING_SIGNS


def _may_be_marker(piece: str) -> bool:
    return len(piece) <= LONGEST_MARKER and piece.isprintable() and any(map(str.isalpha, piece))
