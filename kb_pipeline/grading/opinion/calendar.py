"""The dates of a text by value, in whatever form they are written; a bare year is one too.

Belongs here: finding the places that may hold a date, comparing dates. Does not: reading a date (support does), times.
"""

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from kb_pipeline.support.dates import Day, dates

_MONTH = (
    "januari|january|jan|pebruari|februari|february|feb|maret|march|mar|april|apr|mei|may|juni|june|jun|juli|july|jul"
    "|agustus|august|agu|aug|ags|september|sept|sep|oktober|october|okt|oct|november|nopember|nov|desember|december|des|dec"
)
_WEEKDAY = "senin|monday|selasa|tuesday|rabu|wednesday|kamis|thursday|jumat|friday|sabtu|saturday|sunday"
_MONTHS = frozenset(_MONTH.split("|"))
# "mar", "des" and "may" alone are words.
_ALONE = frozenset(month for month in _MONTHS if len(month) > len("sept")) - {"march"} | {"mei", "juni", "juli", "june", "july"}
_WEEKDAYS = frozenset(_WEEKDAY.split("|"))
_HIT = re.compile(rf"\b(?:{_MONTH}|{_WEEKDAY})\b|\d{{1,4}}[/.-]\d{{1,2}}[/.-]\d{{2,4}}")
_SLASHED = re.compile(r"\d{1,2}[/.-]\d{1,2}[/.-]\d{2,4}|\d{4}-\d{1,2}-\d{1,2}")
_ONE_YEAR = re.compile(r"(?:1[0-9]|20)\d\d(?=s?$)")
_AROUND = 16
_YEAR_WORDS = frozenset("tahun thn year in pada sejak since until hingga sampai during dari from by".split())


@dataclass(frozen=True, slots=True)
class Calendar:
    """Each date as the set of days it may be, in order; months that stand alone; weekdays."""

    days: tuple[frozenset[Day], ...]
    months: frozenset[int]
    weekdays: frozenset[str]


def calendar(folded: str) -> Calendar:
    """The dates of a folded text; only the surroundings of a month, a weekday or a date in digits are read."""
    days: list[frozenset[Day]] = []
    months: set[int] = set()
    weekdays: set[str] = set()
    for window, hits in _windows(folded):
        found, _ = dates(window)
        days += found.days
        weekdays.update(mark for mark in found.marks if mark.startswith("weekday"))
        dated = {day[1] for each in found.days for day in each}
        months.update(number for hit in hits if hit in _ALONE and (number := month_number(hit)) not in dated)
    return Calendar(tuple(days), frozenset(months), frozenset(weekdays))


def _windows(folded: str) -> Iterable[tuple[str, list[str]]]:
    start = end = -1
    hits: list[str] = []
    for match in _HIT.finditer(folded):
        if hits and match.start() - _AROUND > end:
            yield folded[start:end], hits
            hits = []
        start = start if hits else _word_start(folded, match.start() - _AROUND)
        end = match.end() + _AROUND
        hits.append(match.group())
    if hits:
        yield folded[start:end], hits


def _word_start(text: str, place: int) -> int:
    """The first place from here on that does not cut a number in two."""
    place = max(0, place)
    while 0 < place < len(text) and text[place - 1].isalnum() and text[place].isalnum():
        place += 1
    return place


@lru_cache(maxsize=64)
def month_number(name: str) -> int:
    """The number of a month by its name, Indonesian or English."""
    return next(iter(dates(f"{name} 2000")[0].days[0]))[1]


def date_places(tokens: Sequence[str]) -> set[int]:
    """The places of tokens that are part of a date: beside a month, or a date in digits."""
    found: set[int] = set()
    for place, token in enumerate(tokens):
        if token in _MONTHS:
            for near in (place - 1, place + 1, place + 2):
                if 0 <= near < len(tokens) and tokens[near][:1].isdigit() and (near < place + 2 or near - 1 in found):
                    found.add(near)
        elif token[0].isdigit() and _SLASHED.fullmatch(token):
            found.add(place)
    return found


def is_year(token: str) -> bool:
    """Whether a token is a bare year."""
    return _ONE_YEAR.match(token) is not None


def day_doubt(claim: frozenset[Day], known: Sequence[frozenset[Day]], numbers: Collection[int]) -> float:
    """How doubtful a date is: 0 where a known one agrees in all that both say, and the rest of it is a known number."""
    options = [(mine, theirs) for other in known for theirs in other for mine in claim]
    return min((_disagreement(mine, theirs, numbers) for mine, theirs in options), default=1.0)


def _disagreement(claim: Day, known: Day, numbers: Collection[int]) -> float:
    if any(mine is not None and theirs is not None and mine != theirs for mine, theirs in zip(claim, known, strict=True)):
        return 1.0
    missing = [mine for mine, theirs in zip(claim, known, strict=True) if theirs is None and mine is not None]
    return 0.1 * len(missing) if all(part in numbers for part in missing) else 1.0
