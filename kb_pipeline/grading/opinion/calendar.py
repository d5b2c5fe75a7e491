"""The dates of a text by value, in whatever form they are written; a bare year is one too.

Belongs here: finding the places that may hold a date, comparing dates. Does not: reading a date (support does), times.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from kb_pipeline.support.dates import Day, dates

_MONTH = (
    "januari|january|jan|pebruari|februari|february|feb|maret|march|mar|april|apr|mei|may|juni|june|jun|juli|july|jul"
    "|agustus|august|agu|aug|ags|september|sept|sep|oktober|october|okt|oct|november|nopember|nov|desember|december|des|dec"
)
_WEEKDAY = "senin|monday|selasa|tuesday|rabu|wednesday|kamis|thursday|jumat|friday|sabtu|saturday|sunday"
_MONTHS = frozenset(_MONTH.split("|"))
# As words by themselves, "mar", "des", "march" and "may" are no months.
_ALONE = frozenset("mei juni june juli july maret april".split()) | {
    month for month in _MONTHS if len(month) > len("march")
}
_HIT = re.compile(rf"(?<!\w)(?:{_MONTH}|{_WEEKDAY})(?!\w)|\d{{1,4}}[/.-]\d{{1,2}}[/.-]\d{{2,4}}")
_IN_DIGITS = re.compile(r"\d{1,2}[/.-]\d{1,2}[/.-]\d{2,4}|\d{4}-\d{1,2}-\d{1,2}")
_YEAR = re.compile(r"(?:1\d|20)\d\d(?=s?$)")
_AROUND = 16
_UNSAID = 0.1


@dataclass(frozen=True, slots=True)
class Calendar:
    """Each date as the set of days it may be, in order; the months that stand without day and year; weekdays."""

    days: tuple[frozenset[Day], ...] = ()
    months: frozenset[int] = frozenset()
    weekdays: frozenset[str] = frozenset()

    def __add__(self, other: "Calendar") -> "Calendar":
        return Calendar(self.days + other.days, self.months | other.months, self.weekdays | other.weekdays)

    @property
    def all_months(self) -> frozenset[int]:
        """The months by themselves and those of the dates."""
        return self.months | {day[1] for days in self.days for day in days}


def calendar(folded: str) -> Calendar:
    """The dates of a folded text; only what surrounds a month, a weekday or a date in digits is read."""
    days: list[frozenset[Day]] = []
    months: set[int] = set()
    weekdays: set[str] = set()
    for window, hits in _windows(folded):
        found, _ = dates(window)
        days += found.days
        weekdays.update(mark for mark in found.marks if mark.startswith("weekday"))
        dated = {day[1] for each in found.days for day in each}
        months.update(number for hit in hits if hit in _ALONE and (number := _month_number(hit)) not in dated)
    return Calendar(tuple(days), frozenset(months), frozenset(weekdays))


def _windows(folded: str) -> Iterator[tuple[str, list[str]]]:
    """The parts of the text that may hold a date, and the months and weekdays in each."""
    start = end = 0
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
    """The first place from here on that does not cut a word in two."""
    place = max(0, place)
    while 0 < place < len(text) and text[place - 1].isalnum() and text[place].isalnum():
        place += 1
    return place


@lru_cache(maxsize=64)
def _month_number(name: str) -> int:
    return next(iter(dates(f"{name} 2000")[0].days[0]))[1]


def date_places(tokens: Sequence[str]) -> set[int]:
    """The places of tokens that are part of a date: numbers beside a month, and dates in digits."""
    found: set[int] = set()
    for place, token in enumerate(tokens):
        if token in _MONTHS:
            found.update(near for near in (place - 1, place + 1) if _is_number(tokens, near))
            if place + 1 in found and is_year("".join(tokens[place + 2 : place + 3])):
                found.add(place + 2)
        elif token[0].isdigit() and _IN_DIGITS.fullmatch(token):
            found.add(place)
    return found


def _is_number(tokens: Sequence[str], place: int) -> bool:
    return 0 <= place < len(tokens) and tokens[place][0].isdigit()


def is_year(token: str) -> bool:
    """Whether a token is a bare year from 1000 to 2099, or a decade ("1980s")."""
    return _YEAR.match(token) is not None


def day_doubt(claim: frozenset[Day], known: Sequence[frozenset[Day]], numbers: Collection[int]) -> float:
    """How doubtful a date is: little where a known one agrees in all that both say and the rest is a known number."""
    options = ((mine, theirs) for other in known for theirs in other for mine in claim)
    return min((_disagreement(mine, theirs, numbers) for mine, theirs in options), default=1.0)


def _disagreement(claim: Day, known: Day, numbers: Collection[int]) -> float:
    parts = list(zip(claim, known, strict=True))
    if any(mine is not None and theirs is not None and mine != theirs for mine, theirs in parts):
        return 1.0
    unsaid = [mine for mine, theirs in parts if theirs is None and mine is not None]
    return _UNSAID * len(unsaid) if all(part in numbers for part in unsaid) else 1.0
