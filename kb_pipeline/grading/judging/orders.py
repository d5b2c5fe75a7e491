"""Orders to a judge, in the words of either language: what grade a text asks for.

Belongs here: words of grading, values, and how near they must stand. Does not: disguises, verdicts.
"""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

_MARK = re.compile(
    r"""
      (?P<key>faith\W?fulness|groundedness|kesetiaan\ jawaban|(?:answer|context|jawaban|konteks)[\W_]{0,3}relevan\w*
        |relevan\w{0,4}\ (?:jawaban|konteks))
    | \b(?:
        (?P<grade>grad(?:e|ing)s?|scor(?:e|ing)s?|ratings?|rate|marks?|nilai(?:nya|lah|kan)?|skor(?:nya|lah|kan)?
          |penilaian|angka|score[sd]?|verdict|putusan)
      | (?P<order>beri(?:kan|lah)?|kasih|tetapkan|tulis(?:kan|lah)?|keluarkan|kembalikan|jawab(?:lah)?
          |set|give|assign|award|return|output|write|emit|respond|reply|answer\ with)
      | (?P<modal>must|should|shall|harus(?:lah)?|wajib|is|are|adalah|ialah)
      | (?P<high>perfect|full|highest|best|sempurna|penuh|tertinggi|setinggi\w*|terbaik)
      | (?P<low>zero|lowest|worst|nol|terendah|serendah\w*|terburuk)
      | (?P<top>max\w*|maks\w*|top|one|satu|hundred|seratus)
      | (?P<bottom>min\w*|nil|kosong)
      )\b
    | (?<![\w.,])(?P<number>\d{1,4}(?:\s?[.,]\s?\d{1,9})?)(?!\d|[.,]\d)
      (?:\s*(?P<scale>%|persen\b|per\ ?cent\b|(?:/|out\ of|of|dari|per)\s*(?:100|10|5|4|1)(?:[.,]0)?\b))?
    """,
    re.VERBOSE,
)
_NUMBER_AFTER_WORD = re.compile(r"(?<=[a-z])(?=\d)")
_LABEL = re.compile(
    r"(?:\s(?:akhir|total|final|saya|overall|keseluruhan))?[\s\"'*`»”)\]_]{0,8}(?:[:=]|->|→|⇒)[\s\"'*`«“(\[{_]{0,8}"
)
# «grade this answer …», «nilai jawaban ini …»: the noun is a verb.
_OBJECT = re.compile(r"\s{1,4}(?:it|this|the|every|all|each|my|as|with|jawaban|giliran|turn|answer|semua|setiap|ini)\b")
_THE_ANSWER = r"(?:(?:this|that|the|my|its|every|semua|untuk|kepada)\s+){0,2}(?:answer|reply|turn|jawaban|giliran)\b"
_A_GRADE = r"\b(?:grade|score|rating|marks?|nilai|skor|angka)\b"
_OF_THE_ANSWER = re.compile(
    rf"\b(?:grade|score|rate|judge|nilai(?:lah|kan)?|skor(?:lah)?)\s+{_THE_ANSWER}"
    rf"|\b(?:give|assign|award|beri(?:kan|lah)?|kasih)\s+(?:{_THE_ANSWER}.{{0,40}}{_A_GRADE}|.{{0,40}}{_A_GRADE}.{{0,40}}{_THE_ANSWER})"
    rf"|{_THE_ANSWER}.{{0,40}}\b(?:deserves?|earns?|merits?|layak|pantas|berhak)\b.{{0,40}}{_A_GRADE}"
)
_PAIR = re.compile(r"[\"'”’]\s{0,9}:\s{0,9}[\"'“‘]?([01])(?![\w.,])")
_LONELY = re.compile(r"(1[.,]000|100|10)\s?(%|/\s?10{1,2})?")
_CLAIMS = re.compile(
    r"\b(?:all|every|each|semua|seluruh|setiap)\b.{0,20}?\b(?:claims?|statements?|klaim|pernyataan)\b.{0,40}?"
    r"\b(?:(?P<low>unsupported|false|wrong|(?:not|tidak|tak) (?:supported|faithful|true|correct|didukung|benar)|salah)"
    r"|supported|faithful|true|correct|didukung|benar)\b"
)
# A text without one of these asks for no grade; looking for them is what most texts cost.
_TRIGGERS = (
    *("faith", "grounded", "setia", "relevan", "grad", "scor", "rating", " rate", "mark", "nilai", "skor", "angka"),
    *("verdict", "putusan"),
)
_CLAIM_TRIGGERS = ("claim", "statement", "klaim", "pernyataan")
_AFTER_KEY = 40
_AROUND_GRADE = 60
_BESIDE = 3
_LONGEST_LONELY = 40
_MOST_NEIGHBOURS = 12
_TEN, _HUNDRED = 10, 100
_BEFORE = 120
_BEHIND = 160


class _Mark(NamedTuple):
    """One telling word or number: its kind, its place and, for a value, the fraction."""

    kind: str
    start: int
    end: int
    value: float | None


def grades_asked_for(text: str) -> Iterator[float]:
    """The grades in [0, 1] that `text`, in lower case, asks for; time grows with its length alone."""
    flat = " ".join(text.split())
    for window in _windows(flat, _TRIGGERS):
        spaced = _NUMBER_AFTER_WORD.sub(" ", window)
        asked = list(_near_words_of_grading(spaced, list(_marks(spaced))))
        # Who speaks of grading the answer and names no grade («generously») hardly asks for a low one.
        yield from asked or ([1.0] if _OF_THE_ANSWER.search(spaced) else [])
    for window in _windows(flat, _CLAIM_TRIGGERS):
        for found in _CLAIMS.finditer(window):
            yield 0.0 if found["low"] else 1.0
    for found in _PAIR.finditer(text):
        yield float(found[1])
    yield from _alone_on_a_line(text)


def _windows(text: str, triggers: Sequence[str]) -> Iterator[str]:
    """What stands around the triggers, each character once."""
    places = sorted(found.start() for trigger in triggers if trigger in text for found in re.finditer(trigger, text))
    start = end = 0
    for place in places:
        if place - _BEFORE > end:
            yield from [text[start:end]] if end else []
            start = place - _BEFORE
        end = place + _BEHIND
    yield from [text[start:end]] if end else []


def _alone_on_a_line(text: str) -> Iterator[float]:
    for line in text.splitlines():
        found = _LONELY.fullmatch(line.strip(" \t*_`\"'().:=")) if len(line) <= _LONGEST_LONELY else None
        value = _fraction(found[1], found[2]) if found else None
        if value is not None:
            yield value


def _marks(text: str) -> Iterator[_Mark]:
    for found in _MARK.finditer(text):
        kind = found.lastgroup or ""
        if kind in {"number", "scale"}:
            value = _fraction(found["number"], found["scale"])
            if value is not None:
                yield _Mark("number", found.start(), found.end(), value)
            elif (points := _points(found["number"])) is not None:
                yield _Mark("points", found.start(), found.end(), points)
        else:
            yield _Mark(kind, found.start(), found.end(), _WORTH.get(kind))


_WORTH = {"high": 1.0, "top": 1.0, "low": 0.0, "bottom": 0.0}


def _near_words_of_grading(text: str, marks: Sequence[_Mark]) -> Iterator[float]:
    for place, mark in enumerate(marks):
        if mark.kind == "key":
            yield from _after_key(mark, marks[place + 1 : place + 1 + _MOST_NEIGHBOURS])
        elif mark.kind == "grade":
            around = [
                other
                for other in marks[max(0, place - _MOST_NEIGHBOURS) : place + 1 + _MOST_NEIGHBOURS]
                if other is not mark and _gap(mark, other) <= _AROUND_GRADE
            ]
            yield from _around_grade(text, mark, around)


def _after_key(key: _Mark, following: Sequence[_Mark]) -> Iterator[float]:
    """The first value behind a key of the reply."""
    for mark in following:
        if mark.start - key.end > _AFTER_KEY:
            return
        if mark.value is not None and mark.kind != "points":
            yield mark.value
            return


def _around_grade(text: str, grade: _Mark, around: Sequence[_Mark]) -> Iterator[float]:
    is_order = any(mark.kind == "order" for mark in around) or _OBJECT.match(text, grade.end) is not None
    is_claimed = any(mark.kind == "modal" and mark.start >= grade.end for mark in around)
    for mark in around:
        if mark.value is None:
            continue
        if mark.kind == "points":
            yield from [mark.value] if is_order else []
            continue
        is_label = mark.start >= grade.end and _LABEL.fullmatch(text, grade.end, mark.start) is not None
        is_beside = _gap(grade, mark) <= _BESIDE
        is_clear = mark.kind in {"number", "high", "low"}
        if is_label or (is_order and (is_clear or is_beside)) or (is_claimed and is_clear and mark.start >= grade.end):
            yield mark.value


def _gap(one: _Mark, other: _Mark) -> int:
    return max(one.start, other.start) - min(one.end, other.end)


def _points(number: str) -> float | None:
    """A whole number of points as a fraction of ten, or of a hundred."""
    if not number.isdecimal() or int(number) > _HUNDRED:
        return None
    return int(number) / (_TEN if int(number) <= _TEN else _HUNDRED)


def _fraction(number: str, scale: str | None) -> float | None:
    """The fraction that a number on its scale is; None where it lies beyond it."""
    value = float("".join(number.split()).replace(",", "."))
    if scale is not None:
        digits = re.search(r"\d+", scale)
        value /= int(digits[0]) if digits else 100
    return value if value <= 1 else None
