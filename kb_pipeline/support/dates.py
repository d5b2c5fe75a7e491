"""Dates, times of the day and days of the week by value: 5 Januari 2024, 05/01/2024, pukul 08.00, 8 pagi, Senin.

Belongs here: reading them. Does not: durations, which are amounts.
"""

import re
from typing import NamedTuple

from kb_pipeline.support.cutting import cut

Day = tuple[int | None, int, int | None]

_MONTH_NAMES = (
    "januari january jan",
    "februari february feb pebruari",
    "maret march mar",
    "april apr",
    "mei may",
    "juni june jun",
    "juli july jul",
    "agustus august agu aug ags",
    "september sept sep",
    "oktober october okt oct",
    "november nopember nov",
    "desember december des dec",
)
_MONTHS = {name: number for number, names in enumerate(_MONTH_NAMES, start=1) for name in names.split()}
_MONTH = "|".join(sorted(_MONTHS, key=len, reverse=True))
_ISO = re.compile(r"(?<![\w/-])(?P<year>\d{4})-(?P<month>\d{1,2})-(?P<day>\d{1,2})(?![\w/-])")
_SLASHED = re.compile(r"(?<![\w/.-])(\d{1,2})([/.-])(\d{1,2})\2(\d{4}|\d{2})(?!\w|[/.-]\d)")
_NAMED = (
    re.compile(
        rf"(?<![\w.,/-])(?P<day>\d{{1,2}})(?:st|nd|rd|th)?\s+(?:of\s+)?(?P<month>{_MONTH})\b\.?(?:,?\s+(?P<year>\d{{4}})\b)?"
    ),
    re.compile(
        rf"\b(?P<month>{_MONTH})\b\.?\s+(?P<day>\d{{1,2}})(?:st|nd|rd|th)?(?![\w.,]?\d)\b(?:,?\s+(?P<year>\d{{4}})\b)?"
    ),
    re.compile(rf"\b(?P<month>{_MONTH})\b\.?,?\s+(?P<day>)(?P<year>\d{{4}})\b"),
)
_CENTURY = 2000
_LAST_DAY, _LAST_MONTH = 31, 12

_WEEKDAY_NAMES = (
    "senin monday",
    "selasa tuesday",
    "rabu wednesday",
    "kamis thursday",
    "jumat jum'at friday",
    "sabtu saturday",
    "minggu ahad sunday",
)
_WEEKDAYS = {name: f"weekday {number}" for number, names in enumerate(_WEEKDAY_NAMES) for name in names.split()}
# A bare "minggu" is a week.
_WEEKDAY = re.compile(rf"\b(?:{'|'.join(name for name in _WEEKDAYS if name != 'minggu')}|(?<=hari )minggu)\b")

_CUE = re.compile(r"\b(?:pukul|jam|wib|wita|wit|a\.?m|p\.?m|o'clock)\b")
_PART = r"(?:\s*(?P<part>am|pm|a\.m|p\.m|pagi|siang|sore|malam)\b\.?)?"
_COLON_TIME = re.compile(rf"(?<![\w.,:])(?P<hour>\d{{1,2}}):(?P<minute>\d\d)(?::\d\d)?(?![:\d]){_PART}")
_CUED_TIMES = (
    re.compile(rf"(?<![\w.,:])(?P<hour>\d{{1,2}})\.(?P<minute>\d\d)(?!\d|[.,]\d|\s?%){_PART}"),
    re.compile(rf"\b(?:pukul|jam)\s+(?P<hour>\d{{1,2}})(?P<minute>)(?!\d|[.,:]\d){_PART}"),
    re.compile(r"(?<![\w.,:])(?P<hour>\d{1,2})(?P<minute>)\s?(?P<part>am|pm|a\.m|p\.m)\b\.?"),
)
_DIGIT = re.compile(r"\d")
_NOON, _HOURS, _MINUTES = 12, 24, 60
_EARLY_AFTERNOON = 4
_AFTERNOON = frozenset({"pm", "sore", "malam"})


class Dates(NamedTuple):
    """Each date as the set of days it may be ((year, month, day), what is not said is None); times and weekdays."""

    days: tuple[frozenset[Day], ...]
    marks: tuple[str, ...]


def dates(folded: str) -> tuple[Dates, str]:
    """What a levelled sentence says of the calendar and the clock, and the sentence without it."""
    if not _DIGIT.search(folded):
        weekdays, rest = _weekdays(folded)
        return Dates((), tuple(weekdays)), rest
    days, rest = cut(_ISO, folded, _named)
    slashed, rest = cut(_SLASHED, rest, _slashed)
    for pattern in _NAMED:
        more, rest = cut(pattern, rest, _named)
        days += more
    weekdays, rest = _weekdays(rest)
    times, rest = cut(_COLON_TIME, rest, _time)
    for pattern in _CUED_TIMES if _CUE.search(rest) else ():
        more_times, rest = cut(pattern, rest, _time)
        times += more_times
    return Dates(tuple(days + slashed), tuple(weekdays + times)), rest


def _weekdays(text: str) -> tuple[list[str], str]:
    return cut(_WEEKDAY, text, lambda match: _WEEKDAYS[match.group()])


def _named(match: re.Match[str]) -> frozenset[Day] | None:
    month = _MONTHS.get(match["month"]) or int(match["month"])
    day = int(match["day"]) if match["day"] else None
    year = int(match["year"]) if match["year"] else None
    # "You may 5 …" is no date.
    if match.group().startswith("may") and year is None:
        return None
    return _valid({(year, month, day)})


def _slashed(match: re.Match[str]) -> frozenset[Day] | None:
    first, _, second, written = match.groups()
    year = int(written) if len(written) > len("99") else _CENTURY + int(written)
    return _valid({(year, int(second), int(first)), (year, int(first), int(second))})


def _valid(days: set[Day]) -> frozenset[Day] | None:
    return frozenset(each for each in days if 0 < each[1] <= _LAST_MONTH and 0 < (each[2] or 1) <= _LAST_DAY) or None


def _time(match: re.Match[str]) -> str | None:
    hour, minute = int(match["hour"]), int(match["minute"] or 0)
    part = (match["part"] or "").replace(".", "")
    if (part in _AFTERNOON and hour < _NOON) or (part == "siang" and hour <= _EARLY_AFTERNOON):
        hour += _NOON
    elif part == "am" and hour == _NOON:
        hour = 0
    return f"time {hour % _HOURS}:{minute}" if hour <= _HOURS and minute < _MINUTES else None
