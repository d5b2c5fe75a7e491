"""The text behind the context marker: its passages, what they scored, and where it ends.

Belongs here: headers, ranks, scores, the end of the section. Does not: finding the marker.
"""

import math
import re
from functools import lru_cache
from itertools import repeat
from typing import cast

from kb_pipeline.grading.extraction.absence import states_nothing
from kb_pipeline.grading.extraction.template import SurfaceTemplate
from kb_pipeline.records import Passage

_NEWLINE = r"(?:\r?\n|\r)"
# What may stand before a header on its line.
_LINE_LEAD = re.compile(r"[ \t>#*_\-•]{0,40}(?:\d{1,3}[.)][ \t]{0,9})?[*_]{0,9}")
_LONGEST_LEAD = 60
# A paragraph that speaks to the model again: a bare cue for the answer at the very end, or a labelled instruction.
_CUE = r"(?i:JAWABAN|ANSWER|OUTPUT|KELUARAN|RESPONSE?)(?:[ \t]++\w[\w ]{0,29})?[ \t]*+[:\uff1a]?[*_]*+\s*+\Z"
# Documents have headings of their own, such as TUGAS POKOK: and INSTRUKSI PRESIDEN:, so the words behind are few.
_LABEL = (
    r"(?:INSTRUKSI|INSTRUCTIONS?|PERINTAH|TUGAS|TASK|RIWAYAT|HISTORY)"
    r"(?:[ \t]+(?:JAWABAN|MENJAWAB|PENTING|TAMBAHAN|KHUSUS|AKHIR|ANDA|MODEL|OUTPUT|FORMAT|PERCAKAPAN|OBROLAN|CHAT"
    r"|DIALOG|FOR|THE|ANSWER|YOUR|CONVERSATION)){0,3}[ \t]*[:\uff1a]"
)
_PROMPT_AGAIN = re.compile(rf"[#*_]*+(?:{_CUE}|{_LABEL})")
_BLANK_LINE = re.compile(rf"{_NEWLINE}[ \t]*+{_NEWLINE}")
_SPACE = re.compile(r"\s*+")
_LINE_END = re.compile(_NEWLINE)
_RULER = re.compile(r"[ \t]*+[-=_*~]{3,}+[ \t]*+")
# Sums of scores stay finite, and ranks fit into every database.
_LARGEST_SCORE = 1e12
_LONGEST_RANK = 9
_LONGEST_NUMBER = 40

_Headers = list[re.Match[str]]


def read_section(section: str, template: SurfaceTemplate) -> tuple[str, tuple[Passage, ...]]:
    """The context and its passages, in the order of the prompt and each exactly as it stands between its headers.

    `section` is what follows the context marker. A repeated instruction or a cue for the answer behind the last passage
    is left out, and so is the closing tag of a marker that is a tag. The context is "" when the section is empty or
    only states that nothing was found.
    """
    section = template.context.before_closing_tag(section).strip()
    parts = _parts(section, template)
    if len(parts) == 1:
        section = without_prompt(section, 0, template)
        return ("" if states_nothing(section) else section), ()
    last = len(section) - len(parts[-1] or "")
    section = without_prompt(section, last, template)
    parts[-1] = section[last:]
    groups = template.headers
    ranks = parts[groups.rank :: groups.step] if groups.rank else repeat(None)
    scores = parts[groups.score :: groups.step] if groups.score else repeat(None)
    texts = parts[groups.step :: groups.step]
    if groups.closing:
        texts = [(text or "").rstrip().removesuffix(groups.closing) for text in texts]
    passages = [
        Passage(
            rank=parse_rank(rank[:_LONGEST_NUMBER]) if rank else None,
            score=parse_score(score[:_LONGEST_NUMBER]) if score else None,
            text=text.strip() if text else "",
        )
        for rank, score, text in zip(ranks, scores, texts, strict=False)
    ]
    return section, tuple(passages)


def _parts(section: str, template: SurfaceTemplate) -> list[str | None]:
    """What stands before the first header, then of each header its groups and the text below it."""
    parts: list[str | None] = template.headers.lenient.split(section)
    for text in parts[: -1 : template.headers.step]:
        if text and text[-1] != "\n":  # a header within a line: the rule of headers_of decides
            break
    else:
        return parts
    headers = headers_of(section, template)
    starts = [_line_start(header, section) if _opens_line(header, section) else header.start() for header in headers]
    parts = [section[: starts[0]]] if headers else [section]
    for header, end in zip(headers, [*starts[1:], len(section)], strict=True):
        parts += [*header.groups(), section[header.end() : end]]
    return parts


def headers_of(text: str, template: SurfaceTemplate) -> _Headers:
    """The headers of passages in `text`: those that open a line; in a text of one line, all of them.

    A header that lacks its score counts where it opens a line. Where none opens a line, those within lines count.
    """
    headers = list(template.headers.lenient.finditer(text))
    for header in headers:
        start = header.start()
        if start and text[start - 1] != "\n":
            break
    else:
        return headers
    opening = [header for header in headers if _opens_line(header, text)]
    if opening and ("\n" in text or "\r" in text):
        return opening
    return list(template.passage_pattern.finditer(text)) or opening


def header_follows(text: str, position: int, template: SurfaceTemplate) -> bool:
    """Whether the next thing after `position`, white space and markdown aside, is the header of a passage."""
    while text[position : position + 1].isspace():
        position += 1
    lenient = template.headers.lenient
    if lenient.match(text, position):
        return True
    lead = _LINE_LEAD.match(text, position)
    return lead is not None and lenient.match(text, lead.end()) is not None


def without_prompt(text: str, start: int, template: SurfaceTemplate) -> str:
    """`text` up to where, after `start`, the template speaks to the model again; rulers at the end are dropped."""
    if not start or text.find("\n", start) >= 0 or text.find("\r", start) >= 0:
        padded = text if start else "\n\n" + text  # a section that holds nothing but a cue
        shift = len(padded) - len(text)
        for pattern in (_PROMPT_AGAIN, template.reminder):
            again = _paragraph(pattern, padded, start) if pattern else -1
            if again >= 0:
                padded = padded[:again]
        text = padded[shift:]
    if text[-1:] in {"-", "=", "_", "*", "~"}:
        text = _without_rulers(text)
    return text.rstrip()


def _paragraph(opening: re.Pattern[str], text: str, start: int) -> int:
    """Where the blank line before the first paragraph that begins as `opening` is, after `start`; -1 for nowhere.

    All white space in front of a paragraph is passed at once: a text may hold nothing else.
    """
    blank = _BLANK_LINE.search(text, start)
    while blank:
        behind = cast(re.Match[str], _SPACE.match(text, blank.end())).end()
        if opening.match(text, behind):
            return blank.start()
        blank = _BLANK_LINE.search(text, behind)
    return -1


def _without_rulers(text: str) -> str:
    """`text` without the lines at its end that are rulers; its first line stays."""
    end = len(text)
    for line_end in reversed([*_LINE_END.finditer(text)]):
        if not _RULER.fullmatch(text, line_end.end(), end):
            break
        end = line_end.start()
    return text[:end]


# A prompt's ranks and scores are few: looking them up is quicker than reading them again.
@lru_cache(maxsize=1024)
def parse_rank(text: str) -> int | None:
    """The rank as a number; None for anything else, and for what is too large to be a rank."""
    return int(text) if len(text) <= _LONGEST_RANK and text.isdecimal() else None


@lru_cache(maxsize=4096)
def parse_score(text: str) -> float | None:
    """The score as a number; None for anything else, and beyond a trillion.

    A point or a comma that stands once is the decimal sign; of both, the last one is (1.000,5 and 1,000.5); one that
    stands several times groups thousands. A percentage is read as a fraction.
    """
    written = text.strip().replace("\u2212", "-")
    number = written.removesuffix("%")
    try:
        value = math.nan if "_" in number else float(number)
    except ValueError:
        value = _grouped(number)
    if number is not written:
        value /= 100
    return value if -_LARGEST_SCORE <= value <= _LARGEST_SCORE else None


def _grouped(text: str) -> float:
    digits = text.strip().rstrip(".,")
    last = max(digits.rfind("."), digits.rfind(","))
    if last < 0:
        whole, fraction = digits, ""
    else:
        whole, fraction = digits[:last], digits[last + 1 :]
        if digits[last] in whole:  # the sign repeats, so it groups
            whole, fraction = digits, ""
    groups = re.split(r"[.,]", whole)
    if any(len(group) != 3 for group in groups[1:]):  # noqa: PLR2004
        return math.nan
    try:
        return float(f"{''.join(groups)}.{fraction}")
    except ValueError:
        return math.nan


def _opens_line(header: re.Match[str], text: str) -> bool:
    start = _line_start(header, text)
    return start >= 0 and _LINE_LEAD.fullmatch(text, start, header.start()) is not None


def _line_start(header: re.Match[str], text: str) -> int:
    """Where the line of a header starts; -1 where that is too far away for the header to open it."""
    start = header.start()
    near = max(0, start - _LONGEST_LEAD)
    found = max(text.rfind("\n", near, start), text.rfind("\r", near, start))
    return -1 if found < 0 < near else found + 1
