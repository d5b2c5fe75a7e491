"""The dates of a text by value, in whatever form they are written; a bare year is one too.

Belongs here: finding the tokens that may hold a date, comparing dates. Does not: reading a date (support does), times.
"""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from kb_pipeline.grading.opinion.reading import DIGITS, Sentence
from kb_pipeline.support.dates import Day, dates

_NAMES = (
    "januari january jan pebruari februari february feb maret march mar april apr mei may juni june jun juli july "
    "jul agustus august agu aug ags september sept sep oktober october okt oct november nopember nov desember december "
    "des dec"
)
_MONTHS: Mapping[str, int] = {
    name: month for name in _NAMES.split() for day in dates(f"{name} 2000")[0].days for _, month, _ in day
}
# As words by themselves, "mar", "des", "march" and "may" are no months.
_ALONE = frozenset("mei juni june juli july maret april".split()) | {
    name for name in _MONTHS if len(name) > len("march")
}
_WEEKDAYS = frozenset(
    "senin monday selasa tuesday rabu wednesday kamis thursday jumat friday sabtu saturday sunday".split()
)
_SAID = _WEEKDAYS.union(_MONTHS)
_SHORTEST = len("1/1/24")
_IN_DIGITS = re.compile(r"[0-9]{1,2}[/.-][0-9]{1,2}[/.-][0-9]{2,4}|[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}")
_YEAR = re.compile(r"(?:1[0-9]|20)[0-9]{2}(?=s?$)")
_BEFORE, _AFTER = 2, 2
_UNSAID = 0.1


@dataclass(frozen=True, slots=True)
class Calendar:
    """Each date as the set of days it may be; the months that stand without day and year; weekdays."""

    days: tuple[frozenset[Day], ...] = ()
    months: frozenset[int] = frozenset()
    weekdays: frozenset[str] = frozenset()

    @property
    def all_months(self) -> frozenset[int]:
        """The months by themselves and those of the dates."""
        return self.months | {day[1] for days in self.days for day in days}


def calendar(sentences: Iterable[Sentence], *, of: Collection[int] | None = None) -> Calendar:
    """The dates of some sentences; only those of the months in `of`, when given."""
    days: dict[frozenset[Day], None] = {}
    months: set[int] = set()
    weekdays: set[str] = set()
    for sentence in sentences:
        tokens = sentence.tokens
        for place in [
            place
            for place, token in enumerate(tokens)
            if token in _SAID or (token[0] in DIGITS and len(token) >= _SHORTEST)
        ]:
            token = tokens[place]
            if token in _MONTHS:
                if of is None or _MONTHS[token] in of:
                    found = _near(tokens, place)
                    days.update(dict.fromkeys(found))
                    if not found and token in _ALONE:
                        months.add(_MONTHS[token])
            elif token in _WEEKDAYS:
                weekdays.update(_weekday(token))
            elif _IN_DIGITS.fullmatch(token):
                days.update(dict.fromkeys(dates(token)[0].days))
    return Calendar(tuple(days), frozenset(months), frozenset(weekdays))


def _near(tokens: Sequence[str], place: int) -> Sequence[frozenset[Day]]:
    """The dates that the month at this place is part of."""
    window = " ".join(tokens[max(0, place - _BEFORE) : place + _AFTER + 1])
    month = _MONTHS[tokens[place]]
    return [days for days in dates(window)[0].days if any(day[1] == month for day in days)]


@lru_cache(maxsize=64)
def _weekday(token: str) -> Sequence[str]:
    return dates(token)[0].marks


def date_places(tokens: Sequence[str], numbers: Iterable[int]) -> set[int]:
    """Those of the `numbers` (places in ascending order) that are part of a date: beside a month, or one in digits."""
    found: set[int] = set()
    for place in numbers:
        token, beside = tokens[place], (*tokens[max(0, place - 1) : place], *tokens[place + 1 : place + 2])
        is_beside = any(near in _MONTHS for near in beside)
        ends_date = place - 1 in found and is_year(token) and tokens[max(0, place - 2)] in _MONTHS
        if is_beside or ends_date or _IN_DIGITS.fullmatch(token):
            found.add(place)
    return found


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
