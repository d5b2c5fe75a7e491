"""The amounts of a sentence with what they count: 7 (tujuh) hari kerja, Rp10.000.000 = 10 juta, 1.000,5 = 1,000.5, 5 %.

Belongs here: numbers and units by value. Does not: dates, times, telephone numbers, which are cut out before.
"""

import re
from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import NamedTuple

from kb_pipeline.support import numbers_in, readings
from kb_pipeline.support.cutting import BAR
from kb_pipeline.support.numbers import spelled_as_digits

_LONGEST_DIGITS = 40
_UNIT_WORDS = {
    "second": "detik second seconds sec secs",
    "minute": "menit minute minutes mins",
    "hour": "jam hour hours hr hrs",
    "day": "hari day days",
    "week": "minggu pekan week weeks",
    "month": "bulan month months bln",
    "year": "tahun year years thn yr yrs",
    "%": "% persen percent pct",
    "IDR": "rp idr rupiah",
    "USD": "usd us$ $ dollar dollars dolar",
    "EUR": "eur € euro euros",
    "GBP": "gbp £ pound pounds",
    "SGD": "sgd s$",
    "MYR": "myr rm ringgit",
    "JPY": "jpy ¥ yen",
    "kg": "kg kilogram kilograms kilo",
    "g": "g gr gram grams",
    "ton": "ton tons tonne tonnes",
    "km": "km kilometer kilometers kilometre kilometres",
    "m": "m meter meters metre metres",
    "cm": "cm centimeter centimeters sentimeter",
    "mm": "mm milimeter millimeter millimeters",
    "m2": "m2 sqm",
    "ha": "ha hektar hektare hectare hectares",
    "l": "l liter liters litre litres",
    "kB": "kb kilobyte kilobytes",
    "MB": "mb megabyte megabytes",
    "GB": "gb gigabyte gigabytes",
    "TB": "tb terabyte terabytes",
    "person": "orang people person persons",
    "times": "kali times x",
}
_UNITS = {word: unit for unit, words in _UNIT_WORDS.items() for word in words.split()}
_CURRENCIES = frozenset({"IDR", "USD", "EUR", "GBP", "SGD", "MYR", "JPY"})
_WRITTEN_WITH = _CURRENCIES | {"%"}
_WORTH = re.compile(
    rf"\s?(?:per cent|(?:{'|'.join(re.escape(word) for word, unit in _UNITS.items() if unit in _WRITTEN_WITH)})(?!\w))"
)
_PHRASES = (
    ("workday", re.compile(r"\s*(?:hari\s+kerja|(?:working|business)\s+days?|workdays?)\b")),
    ("day", re.compile(r"\s*(?:hari\s+kalender|calendar\s+days?)\b")),
    ("m2", re.compile(r"\s*(?:meter\s+persegi|square\s+met(?:er|re)s?)\b")),
    ("%", re.compile(r"\s*per\s+cent\b")),
    # UU Nomor 40 Tahun 2007 lasts no forty years.
    (None, re.compile(r"\s*(?:tahun|year)\s+\d{4}\b")),
)
_NUMBER = re.compile(
    r"(?<![\w.,])(?P<currency>rp\.?|idr|usd|us\$|s\$|\$|€|£|¥|eur|gbp|sgd|rm)?\s?(?P<digits>\d+(?:[.,]\d+)*)"
)
_NEXT_WORD = re.compile(r"[\s-]?([a-z]{1,20}2?(?!\w)|%)")
_IDENTIFIER = re.compile(r"(?:\bno\.?|\bnomor|\bnumber|\bpasal|\bayat|\barticle|\bsection|\w/)\s*\(?$")
_RANGE = re.compile(r"\s*(?:-|sampai|sampai dengan|hingga|s/d|s\.d\.?|to|until|through|atau|or|dan|and)\s*")
_LONGEST_RANGE = 20
# Seven (tujuh) is one number.
_REPEATED = re.compile(r"(\d[\d.,]{0,30})\s*\(\s*(\d{1,30})(?:\s+[a-z]{1,12})?\s*\)")
_ONE_OF = {
    "sedetik": "second", "semenit": "minute", "sejam": "hour", "sehari": "day", "seminggu": "week", "sebulan": "month",
    "setahun": "year", "sekali": "times", "once": "times",
}  # fmt: skip
_LONE_ONE = re.compile(r"\b(?:satu|one|an?)\s+([a-z]{1,20})\b|\b([a-z]{4,9})\b")
_ONE = frozenset({Decimal(1)})


class Amount(NamedTuple):
    """What a number may be worth, and what it counts: a unit, a currency, or None where neither stands there."""

    values: frozenset[Decimal]
    unit: str | None

    def agrees(self, other: "Amount") -> bool:
        """Whether both may be one amount; "10 juta" leaves out the Rp of Rp10.000.000."""
        if self.values.isdisjoint(other.values):
            return False
        return self.unit == other.unit or (
            (self.unit is None or other.unit is None) and (self.unit or other.unit) in _CURRENCIES
        )


class Amounts(NamedTuple):
    """The amounts that must be said, and those of one ("sebulan", "one month") that may be."""

    required: tuple[Amount, ...]
    optional: tuple[Amount, ...]

    def agree(self, other: "Amounts") -> bool:
        """Whether each amount of the one is an amount of the other, and they come in the same order."""
        return _covered(self.required, other) and _covered(other.required, self) and self._in_order_of(other)

    def _in_order_of(self, other: "Amounts") -> bool:
        places = [
            next((place for place, known in enumerate(other.required) if amount.agrees(known)), -1)
            for amount in self.required
        ]
        found = [place for place in places if place >= 0]
        return found == sorted(found)


def _covered(amounts: Sequence[Amount], by: Amounts) -> bool:
    known = (*by.required, *by.optional)
    return all(any(amount.agrees(each) for each in known) for amount in amounts)


class _Number(NamedTuple):
    digits: str
    values: frozenset[Decimal]
    unit: str | None
    scale: str | None
    start: int
    end: int


def amounts(folded: str) -> tuple[Amounts, str]:
    """The amounts of a levelled sentence, and the sentence with a bar in place of each number.

    Numbers in words count like digits, but for a lone "one". Scale, currency and percent go with the number; what else
    it counts stays.
    """
    text = _REPEATED.sub(_once, spelled_as_digits(folded))
    numbers = [_number(text, match) for match in _NUMBER.finditer(text)]
    found = Amounts(
        tuple(dict.fromkeys(_in_ranges(text, numbers))),
        tuple(Amount(_ONE, unit) for unit in dict.fromkeys(_ones(text))),
    )
    return found, _without(text, numbers)


def _without(text: str, numbers: Sequence[_Number]) -> str:
    pieces: list[str] = []
    last = 0
    for number in numbers:
        pieces += [text[last : number.start], BAR]
        last = number.end
        worth = _WORTH.match(text, last) if number.unit in _WRITTEN_WITH else None
        last = worth.end() if worth else last
    return "".join((*pieces, text[last:]))


def _once(match: re.Match[str]) -> str:
    first, second = match.groups()
    return match.group() if readings(first.rstrip(".,")).isdisjoint(readings(second)) else first


def _number(text: str, match: re.Match[str]) -> _Number:
    digits = match["digits"][:_LONGEST_DIGITS].rstrip(".,")
    values, scale, end = readings(digits), None, match.end()
    following = _NEXT_WORD.match(text, end)
    if following:
        scaled = numbers_in(f"{digits} {following[1]}")[0]
        if scaled != values:
            values, scale, end = scaled, following[1], following.end()
    currency = _UNITS.get((match["currency"] or "").rstrip("."))
    unit = currency or _unit_at(text, match.start(), end)
    return _Number(digits, values, unit, scale, match.start(), end)


def _unit_at(text: str, start: int, end: int) -> str | None:
    for unit, phrase in _PHRASES:
        if phrase.match(text, end):
            return unit
    following = _NEXT_WORD.match(text, end)
    if following is None or _IDENTIFIER.search(text[max(0, start - 12) : start]):
        return None
    return _UNITS.get(following[1])


def _in_ranges(text: str, numbers: Sequence[_Number]) -> Iterator[Amount]:
    """Each number as an amount; in "3-5 hari" and "Rp5-10 juta" both ends count the same."""
    for position, number in enumerate(numbers):
        values, unit = number.values, number.unit
        before, after = numbers[max(0, position - 1)], numbers[min(position + 1, len(numbers) - 1)]
        if unit in {None, *_CURRENCIES} and after is not number and _is_range(text, number, after):
            unit = unit or after.unit
            if after.scale and not number.scale:
                values |= numbers_in(f"{number.digits} {after.scale}")[0]
        if unit is None and before is not number and before.unit in _CURRENCIES and _is_range(text, before, number):
            unit = before.unit
        yield Amount(values, unit)


def _is_range(text: str, first: _Number, second: _Number) -> bool:
    gap = second.start - first.end
    return gap <= _LONGEST_RANGE and _RANGE.fullmatch(text, first.end, second.start) is not None


def _ones(text: str) -> Iterator[str]:
    for match in _LONE_ONE.finditer(text):
        unit = _UNITS.get(match[1]) if match[1] else _ONE_OF.get(match[2])
        if unit:
            yield unit
