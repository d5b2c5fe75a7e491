"""How one surface writes its synthesis prompt: the configured markers, ready for searching.

Belongs here: the template record and the search for one marker. Does not: cutting a message into sections.
"""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, field

# Spaces of every width, and signs that are not seen.
_SPACES = r" \t\x0b\x0c\xa0\u1680\u2000-\u200d\u202f\u205f\u2060\u3000\ufeff"
# What may stand before a marker on its line: indentation, markdown, quotes, an emoji, a list number or letter.
_BEFORE = (
    rf"(?:^|(?<=\r))[{_SPACES}>#*_\-=•`~|\[(<\u2190-\u2bff\ufe0f\U0001f000-\U0001faff]{{0,40}}"
    rf"(?:(?:\d{{1,2}}|[a-zA-Z]|[ivxIVX]{{1,4}})[.)][{_SPACES}]{{0,4}})?[*_]{{0,4}}"
)
_UP_TO_RANK = re.compile(r".*?\(\?P<rank>[^()]*\)(?:\\?[\])}>])?")
_COLONS = ":\uff1a\ufe55\u2236\ua789"
_TAG = re.compile(r"<([\w:.-]+)[^<>]{0,200}>")
_TAG_START = re.compile(r"<([\w:.-]+)")


@dataclass(frozen=True, slots=True)
class Span:
    """Where a marker stands: from `start` (of its line) to `end` (behind it)."""

    start: int
    end: int


class Marker:
    """One configured marker, for example `PERTANYAAN:`.

    As written it is `literal`. At the start of a line it is also recognised in another case, in the other Unicode
    normal form, with other spaces, behind or between markdown signs, and without its colon when alone on the line or in
    brackets. A marker that is a tag ends with its closing tag.
    """

    __slots__ = ("_closing", "_loose", "first_on_line", "literal")

    def __init__(self, configured: str) -> None:
        self.literal = configured.strip()
        self.first_on_line = "\n" + self.literal
        name = self.literal.rstrip(_COLONS).rstrip()
        forms = {unicodedata.normalize(form, name) for form in ("NFC", "NFD")}
        words = "|".join(rf"[{_SPACES}]+".join(map(re.escape, form.split())) for form in sorted(forms))
        end = (
            rf"[{_SPACES}]{{0,9}}[*_`\])>=#~\-]{{0,9}}"
            rf"(?:[{_SPACES}]{{0,9}}[{_COLONS}][*_`]{{0,9}}|(?<=[\])>])|(?=[{_SPACES}]*$))"
        )
        end = end if name != self.literal else ""
        self._loose = re.compile(f"{_BEFORE}(?:{words}){end}", re.MULTILINE | re.IGNORECASE)
        tag = _TAG.fullmatch(self.literal)
        # A marker that is a word may be written as a tag all the same: <PERTANYAAN> … </PERTANYAAN>.
        # Only the template's own tag may end the section anywhere: a passage may hold the other.
        ending = "" if tag else r"\s*\Z"
        self._closing = re.compile(rf"</\s{{0,9}}{re.escape(tag[1] if tag else name)}\s{{0,9}}>{ending}", re.IGNORECASE)

    def before_closing_tag(self, text: str) -> str:
        """`text` up to the last closing tag of the marker; all of it where there is none."""
        if "</" not in text:
            return text
        ends = [match.start() for match in self._closing.finditer(text)]
        return text[: ends[-1]] if ends else text

    def on_lines(self, text: str) -> list[Span]:
        """Every place where the marker opens a line."""
        return [Span(match.start(), match.end()) for match in self._loose.finditer(text)]

    def anywhere(self, text: str) -> Iterator[Span]:
        """Every place where the marker stands as written."""
        start = text.find(self.literal)
        while start >= 0:
            yield Span(start, start + len(self.literal))
            start = text.find(self.literal, start + 1)


class Headers:
    """The header pattern of a surface's passages, made to find headers without their score too."""

    __slots__ = ("closing", "lenient", "rank", "score", "step")

    def __init__(self, pattern: re.Pattern[str]) -> None:
        self.lenient = _lenient(pattern)
        # Numbers of the groups (0 where there is none), and from a header to the next one in what split() gives.
        self.rank = pattern.groupindex.get("rank", 0)
        self.score = pattern.groupindex.get("score", 0)
        self.step = pattern.groups + 1
        # A header that is a tag has a closing one behind the text; "" where it is none.
        tag = _TAG_START.match(pattern.pattern)
        self.closing = f"</{tag[1]}>" if tag else ""


@dataclass(frozen=True, kw_only=True, slots=True)
class SurfaceTemplate:
    """The markers of one surface.

    `passage_pattern` matches the header of a passage; its groups `rank` and `score` are read where they exist.
    """

    surface: str
    synthesis_markers: tuple[str, ...]
    question_marker: str
    context_marker: str
    passage_pattern: re.Pattern[str]
    refusal_phrases: tuple[str, ...]
    question: Marker = field(init=False, repr=False, compare=False)
    context: Marker = field(init=False, repr=False, compare=False)
    headers: Headers = field(init=False, repr=False, compare=False)
    reminder: re.Pattern[str] | None = field(init=False, repr=False, compare=False)
    """The opening of a paragraph that is a synthesis marker: the instruction said again behind the context."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "question", Marker(self.question_marker))
        object.__setattr__(self, "context", Marker(self.context_marker))
        object.__setattr__(self, "headers", Headers(self.passage_pattern))
        object.__setattr__(self, "reminder", _reminder(self))


def _lenient(pattern: re.Pattern[str]) -> re.Pattern[str]:
    """The pattern with all that follows the rank and its bracket made optional; unchanged where that is impossible."""
    head = _UP_TO_RANK.match(pattern.pattern)
    rest = pattern.pattern[head.end() :] if head else ""
    if head is None or "(?P<score>" not in rest or "|" in pattern.pattern:
        return pattern
    try:
        return re.compile(f"{head.group()}(?:{rest})?", pattern.flags)
    except re.error:
        return pattern


def _reminder(template: SurfaceTemplate) -> re.Pattern[str] | None:
    markers = [marker for marker in template.synthesis_markers if marker.strip() not in template.context_marker]
    if not any(marker.strip() for marker in markers):
        return None
    words = "|".join(r"\s+".join(map(re.escape, marker.split())) for marker in markers if marker.strip())
    return re.compile(rf"[#*_>]*+(?:{words})\b", re.IGNORECASE)
