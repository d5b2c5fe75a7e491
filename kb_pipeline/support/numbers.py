"""The numbers of a text by value: 1.000,5 and 1,000.5, Rp10.000.000 and 10 juta, tujuh and 7.

Belongs here: reading numbers. Does not: deciding what a number proves.
"""

import re
from collections.abc import Iterator
from decimal import Decimal

from kb_pipeline.support.language import fold

# Markers of lists and citations are no claims.
_NOT_A_CLAIM = re.compile(r"\[[^\]\n]{0,12}\d+(?:\s*,\s*\d+)*\]|^[^\S\n]*\(?\d{1,3}[.)](?=\s)", re.MULTILINE)
_NUMBER = re.compile(r"(?<![\w.,])(?:rp\.?\s?|idr\s?|usd\s?|\$\s?)?(\d+(?:[.,]\d+)*)(?:\s?([a-z]+))?")
_SCALES = {
    "ribu": 1_000, "rb": 1_000, "thousand": 1_000, "k": 1_000,
    "juta": 1_000_000, "jt": 1_000_000, "million": 1_000_000,
    "miliar": 1_000_000_000, "milyar": 1_000_000_000, "billion": 1_000_000_000,
    "triliun": 1_000_000_000_000, "trillion": 1_000_000_000_000,
}  # fmt: skip
_CURRENCIES = frozenset({"rp", "rupiah", "idr", "usd", "dollar", "dollars"})
_UNITS = {
    "nol": 0, "satu": 1, "dua": 2, "tiga": 3, "empat": 4, "lima": 5, "enam": 6, "tujuh": 7, "delapan": 8, "sembilan": 9,
    "sepuluh": 10, "sebelas": 11, "seratus": 100, "seribu": 1_000, "sejuta": 1_000_000,
    "zero": 0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9,
    "ten": 10, "eleven": 11, "twelve": 12,
     "thirteen": 13, "fourteen": 14, "fifteen": 15, "sixteen": 16, "seventeen": 17,
    "eighteen": 18, "nineteen": 19, "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70,
    "eighty": 80, "ninety": 90,
}  # fmt: skip
_MULTIPLIERS = {"belas": None, "puluh": 10, "ratus": 100, "hundred": 100}
_DIGITS = re.compile(r"(?:rp|idr|usd)?\d+")
# Words, and what ends a run of them; a hyphen does not.
_SPELLED = re.compile(r"[a-z]+|[^a-z\s]")
_LONGEST_DIGITS = 40
_GROUPED = re.compile(r"\d{1,3}(?:([.,])\d{3})(?:\1\d{3})*")


def is_number_word(word: str) -> bool:
    """Whether the folded `word` is part of a written number ("000", "rp5", "juta"), so that only its value counts."""
    return word in _SCALES or word in _CURRENCIES or _DIGITS.fullmatch(word) is not None


def readings(digits: str) -> frozenset[Decimal]:
    """The values that a written number may have: "1.000" is a thousand or one, "1.000,5" only 1000.5.

    A string of digits with several separators of no known form (a version, a date) has one value: its digits.
    """
    values: set[Decimal] = set()
    separators = [character for character in digits if character in ".,"]
    if not separators:
        values.add(Decimal(digits))
    elif len(separators) == 1:
        values.add(Decimal(digits.replace(",", ".")))
    if _GROUPED.fullmatch(digits):
        values.add(Decimal(re.sub("[.,]", "", digits)))
    elif len(separators) > 1:
        whole, _, fraction = digits.rpartition(separators[-1])
        is_grouped = separators[-1] not in whole and _GROUPED.fullmatch(whole)
        joined = re.sub("[.,]", "", whole)
        values.add(Decimal(f"{joined}.{fraction}") if is_grouped else Decimal(joined + fraction))
    return frozenset(values)


def numbers_in(text: str, *, spelled: bool = False) -> list[frozenset[Decimal]]:
    """The possible values of each number of `text`, in order; numbers in words too when `spelled`."""
    folded = fold(_NOT_A_CLAIM.sub(" ", text))
    found = [_scaled(match[1][:_LONGEST_DIGITS].rstrip(".,"), match[2]) for match in _NUMBER.finditer(folded)]
    if spelled:
        found.extend(frozenset({Decimal(value)}) for value in _spelled(folded))
    return found


def _scaled(digits: str, unit: str | None) -> frozenset[Decimal]:
    scale = _SCALES.get(unit or "")
    values = readings(digits)
    return frozenset(value * scale for value in values) if scale else values


def spelled_as_digits(folded: str) -> str:
    """The folded text with each run of number words as digits ("dua puluh lima hari" gives "25 hari").

    A lone "satu" or "one" stays: it is an article as often as a number.
    """
    pieces: list[str] = []
    last = 0
    for start, end, values in _runs(folded):
        if values != [1]:
            pieces += [folded[last:start], str(values[-1])]
            last = end
    return "".join((*pieces, folded[last:]))


def _spelled(folded: str) -> Iterator[int]:
    """The values of runs of number words; each part of a run counts as well ("dua puluh lima" gives 2, 20 and 25)."""
    for _, _, values in _runs(folded):
        yield from values


def _runs(folded: str) -> Iterator[tuple[int, int, list[int]]]:
    """Where each run of number words begins and ends, and its value so far after each of its words."""
    total = current = start = end = 0
    values: list[int] = []
    for match in _SPELLED.finditer(folded):
        word = match.group()
        if word == "-":
            continue
        if word in _UNITS:
            current += _UNITS[word]
        elif values and word in _MULTIPLIERS:
            factor = _MULTIPLIERS[word]
            last = current % 10 or 1
            current += 10 if factor is None else last * factor - last
        elif values and word in _SCALES:
            total, current = total + (current or 1) * _SCALES[word], 0
        else:
            if values:
                yield start, end, values
            total, current, values = 0, 0, []
            continue
        start, end = start if values else match.start(), match.end()
        values.append(total + current)
    if values:
        yield start, end, values
