"""The numbers and money amounts of a text by value, each with the words around it.

Belongs here: reading quantities from tokens, finding one in the context, how doubtful a foreign one is. Does not: dates,
article and law numbers, which are taken out before.
"""

import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache

from kb_pipeline.grading.opinion.reading import telling
from kb_pipeline.support.numbers import numbers_in, readings

_DIGITS = frozenset("0123456789")
_SCALES = frozenset(
    "ribu rb thousand k juta jt million miliar milyar billion triliun trillion ratus puluh hundred".split()
)
_CURRENCY_BEFORE = frozenset("rp idr usd $ € £ ¥ eur gbp sgd rm myr jpy".split())
_CURRENCY_AFTER = frozenset(
    "rupiah idr dollar dollars dolar usd euro euros eur pound pounds sterling yen ringgit cents sen".split()
)
_PERCENT = frozenset("% persen percent pct".split())
_NUMBER = re.compile(r"(\d+(?:[.,]\d+)*)([^\W\d_]*)")
_PARTS = re.compile(r"[/:-]")
_ABOUT = frozenset(
    "sekitar kira kurang lebih hampir mencapai about around approximately roughly nearly almost over under some".split()
)
_COUNTERS = frozenset("langkah step poin point tahap opsi option cara bagian part phase fase nomor no number".split())
_AROUND = 4
_LONGEST_DIGITS = 40
_MOST_COMPARED = 300
_PREFIX = 6
_SMALL = Decimal(12)
_HUNDRED = Decimal(100)
_ONE = frozenset({Decimal(1)})
_SIGNIFICANT = 3


@dataclass(frozen=True, slots=True)
class Quantity:
    """What a number may be worth, whether it is money, and the telling words near it. `place` is its token."""

    values: frozenset[Decimal]
    is_money: bool
    is_spelled: bool
    near: frozenset[str]
    next_to: frozenset[str]
    place: int


def quantities(tokens: Sequence[str], *, taken: Collection[int] = ()) -> list[Quantity]:
    """The quantities among the tokens, in order, but for those in `taken` places; a lone "one" is none."""
    found: list[Quantity] = []
    last = -1
    for place, token in enumerate(tokens):
        if place <= last or place in taken:
            continue
        if token[0] in _DIGITS:
            found.extend(_written(tokens, place))
        elif spelled(token):
            last = _end_of_run(tokens, place)
            values = _spelled_values(" ".join(tokens[place : last + 1]))
            if values != _ONE:
                found.append(_quantity(tokens, place, last, values, is_spelled=True))
    return found


@lru_cache(maxsize=16_384)
def spelled(token: str) -> bool:
    """Whether the token is the word of a number."""
    return token.isalpha() and bool(numbers_in(token, spelled=True))


@lru_cache(maxsize=4_096)
def _spelled_values(run: str) -> frozenset[Decimal]:
    values = [value for each in numbers_in(run, spelled=True) for value in each]
    return frozenset(values[-1:])


def _end_of_run(tokens: Sequence[str], place: int) -> int:
    end = place
    while end + 1 < len(tokens) and (spelled(tokens[end + 1]) or tokens[end + 1] in {*_SCALES, "belas"}):
        end += 1
    return end


def _written(tokens: Sequence[str], place: int) -> Iterator[Quantity]:
    for part in _PARTS.split(tokens[place]):
        match = _NUMBER.match(part)
        if match:
            digits, suffix = match[1][:_LONGEST_DIGITS].rstrip(".,"), match[2]
            scale = suffix if suffix in _SCALES else tokens[place + 1] if place + 1 < len(tokens) else ""
            last = place + (scale in _SCALES and scale is not suffix)
            yield _quantity(tokens, place, last, _values(digits, scale if scale in _SCALES else ""), is_spelled=False)


@lru_cache(maxsize=16_384)
def _values(digits: str, scale: str) -> frozenset[Decimal]:
    return numbers_in(f"{digits} {scale}")[0] if scale else readings(digits)


def _quantity(
    tokens: Sequence[str], first: int, last: int, values: frozenset[Decimal], *, is_spelled: bool
) -> Quantity:
    before, after = tokens[max(0, first - _AROUND) : first], tokens[last + 1 : last + 1 + _AROUND]
    is_money = bool((before and before[-1] in _CURRENCY_BEFORE) or (after and after[0] in _CURRENCY_AFTER))
    return Quantity(
        values=values,
        is_money=is_money,
        is_spelled=is_spelled,
        near=frozenset(word[:_PREFIX] for word in telling((*before, *after))),
        next_to=frozenset(word[:_PREFIX] for word in telling((*before[-1:], *after[:1]))),
        place=first,
    )


class Known:
    """The quantities of context and question, to look others up in."""

    def __init__(self, context: Sequence[Quantity], asked: Sequence[Quantity]) -> None:
        self._context = context[:_MOST_COMPARED]
        self._asked = frozenset(value for quantity in asked for value in quantity.values)
        self._by_value: Mapping[Decimal, list[Quantity]] = _by_value(context)

    def doubt(self, claim: Quantity, tokens: Sequence[str]) -> float:
        """How doubtful the claim is, in [0, 1]: 0 where the context has its value in a place like it."""
        same = [known for value in claim.values for known in self._by_value.get(value, ())][:_MOST_COMPARED]
        other = max(
            (_likeness(claim, known) for known in self._context if claim.values.isdisjoint(known.values)), default=0.0
        )
        if same:
            return 0.5 * max(0.0, other - max(_likeness(claim, known) for known in same))
        if not claim.values.isdisjoint(self._asked):
            return 0.5 * other
        return self._foreign(claim, tokens, other)

    def _foreign(self, claim: Quantity, tokens: Sequence[str], other: float) -> float:
        before = tokens[max(0, claim.place - 2) : claim.place]
        if before and before[-1] in _COUNTERS and not claim.is_money:
            return 0.4
        if self._is_rounded(claim, before) or self._is_fraction(claim):
            return 0.3
        if claim.is_spelled or (max(claim.values) <= _SMALL and not claim.is_money):
            return 0.6 + 0.4 * other
        return 0.8 + 0.2 * other

    def _is_rounded(self, claim: Quantity, before: Sequence[str]) -> bool:
        """Whether the context has a longer number that the claim gives roughly."""
        about = not _ABOUT.isdisjoint(before)
        return any(
            _significant(value) <= _SIGNIFICANT and (about or value >= 1000) and _rounds_to(known, value)
            for value in claim.values
            for known in list(self._by_value)[:_MOST_COMPARED]
        )

    def _is_fraction(self, claim: Quantity) -> bool:
        return any(value * _HUNDRED in self._by_value or value / _HUNDRED in self._by_value for value in claim.values)


def _by_value(quantities: Sequence[Quantity]) -> Mapping[Decimal, list[Quantity]]:
    found: dict[Decimal, list[Quantity]] = defaultdict(list)
    for quantity in quantities:
        for value in quantity.values:
            found[value].append(quantity)
    return dict(found)


def _likeness(claim: Quantity, known: Quantity) -> float:
    """How alike the words around two quantities are, in [0, 1]; those next to them count double."""
    if not claim.near:
        return 0.0
    weight = len(claim.near) + len(claim.next_to)
    return (len(claim.near & known.near) + len(claim.next_to & known.next_to)) / weight


def _significant(value: Decimal) -> int:
    return len(value.normalize().as_tuple().digits)


def _rounds_to(known: Decimal, value: Decimal) -> bool:
    if known == value or _significant(known) <= _significant(value):
        return False
    unit = Decimal(1).scaleb(value.normalize().as_tuple().exponent)  # type: ignore[arg-type]
    return abs(known - value) < unit
