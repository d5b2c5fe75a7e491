"""The numbers and money amounts of a text by value, each with the words around it.

Belongs here: reading quantities from tokens, and how doubtful one is that the context has not. Does not: dates, article
and law numbers, which are taken out before.
"""

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property, lru_cache

from kb_pipeline.grading.opinion.reading import DIGITS, Sentence, telling, tokens_of
from kb_pipeline.support.numbers import numbers_in, readings

_SCALES = frozenset("ribu rb thousand k juta jt million miliar milyar billion triliun trillion".split())
_SHORT_SCALES = {"mil": "million", "mn": "million", "mln": "million", "bn": "billion", "tn": "trillion"}
_MULTIPLIERS = frozenset("belas puluh ratus hundred".split()) | _SCALES
_CURRENCY_WORDS = {
    "IDR": "rp idr rupiah",
    "USD": "usd $ dollar dollars dolar",
    "EUR": "eur € euro euros",
    "GBP": "gbp £ pound pounds",
    "SGD": "sgd",
    "MYR": "myr rm ringgit",
    "JPY": "jpy ¥ yen",
}
_CURRENCIES = {word: currency for currency, words in _CURRENCY_WORDS.items() for word in words.split()}
# "5 pounds" may be a weight, "RM 5" is money.
_ONLY_BEFORE = frozenset("rm".split())
_ONLY_AFTER = frozenset("rupiah dollar dollars dolar euro euros pound pounds ringgit yen".split())
_PERCENT = frozenset("% persen percent pct".split())
_NUMBER = re.compile(r"([0-9]+(?:[.,][0-9]+)*)([a-z]*)")
_YEAR = re.compile(r"(?:1[0-9]|20)[0-9]{2}")
_PARTS = re.compile(r"[/:-]")
_ABOUT = frozenset(
    "sekitar kira kurang lebih hampir mencapai atas bawah dari about around approximately roughly nearly almost over "
    "under above below than some".split()
)
_COUNTERS = frozenset("langkah step poin point tahap opsi option cara bagian part phase fase".split())
_YEARS = frozenset("tahun thn year years".split())
_CENTURY = frozenset("abad century".split())
# A number may be said by a word that is no number, or by a Roman one.
_SAID_OTHERWISE = {
    2: "kedua second both twice double couple pair ganda berdua ii",
    3: "ketiga third thrice triple iii",
    4: "keempat fourth quarter iv",
    5: "kelima fifth",
    6: "keenam sixth vi",
    7: "ketujuh seventh vii",
    8: "kedelapan eighth viii",
    9: "kesembilan ninth ix",
    10: "kesepuluh tenth",
    12: "dozen lusin xii",
    50: "half setengah separuh separo",
}
_WORDS_OF = {Decimal(value): frozenset(words.split()) for value, words in _SAID_OTHERWISE.items()}
_MOST_YEARS = 6
_AROUND = 4
_LONGEST_DIGITS = 40
_MOST_COMPARED = 300
_PREFIX = 6
_SMALL = Decimal(12)
_HUNDRED = Decimal(100)
_LARGE = Decimal(1000)
_ONE = frozenset({Decimal(1)})
_ROUND_DIGITS = 3
_NEAR = Decimal("0.05")

_ALIKE = 0.5
_ELSEWHERE = 0.7
_EXPLAINED = 0.3
_COUNTED = 0.3
_DERIVED = 0.4
_FOREIGN = 0.65


@dataclass(frozen=True, eq=False)
class Quantity:
    """What a number may be worth, and where it stands: the tokens from `first` to `last` of its text."""

    values: frozenset[Decimal]
    is_spelled: bool
    tokens: Sequence[str]
    first: int
    last: int

    @property
    def before(self) -> Sequence[str]:
        """The tokens before it, the nearest last."""
        return self.tokens[max(0, self.first - _AROUND) : self.first]

    @property
    def after(self) -> Sequence[str]:
        """The tokens behind it."""
        return self.tokens[self.last + 1 : self.last + 1 + _AROUND]

    @cached_property
    def near(self) -> frozenset[str]:
        """The beginnings of the telling words around it."""
        return frozenset(word[:_PREFIX] for word in telling((*self.before, *self.after)))

    @cached_property
    def next_to(self) -> frozenset[str]:
        """Of these, the words right beside it."""
        return frozenset(word[:_PREFIX] for word in telling((*self.before[-1:], *self.after[:1])))

    @cached_property
    def currency(self) -> str | None:
        """The code of its currency; None where it is no money."""
        before = self.tokens[self.first - 1] if self.first else ""
        after = self.tokens[self.last + 1] if self.last + 1 < len(self.tokens) else ""
        if before in _CURRENCIES and before not in _ONLY_AFTER:
            return _CURRENCIES[before]
        return _CURRENCIES.get(after) if after not in _ONLY_BEFORE else None

    @property
    def is_share(self) -> bool:
        """Whether it is a percentage or a fraction."""
        return not _PERCENT.isdisjoint(self.after[:1]) or max(self.values) < 1


def quantities(sentences: Iterable[Sentence], *, taken: Collection[int] = ()) -> list[Quantity]:
    """The quantities of the sentences, in order, but for those in `taken` places; a lone "one" is none.

    Places count through all tokens of all sentences.
    """
    found: list[Quantity] = []
    start = 0
    for sentence in sentences:
        found.extend(_of_sentence(sentence.tokens, start, taken))
        start += len(sentence.tokens)
    return found


def _of_sentence(tokens: Sequence[str], start: int, taken: Collection[int]) -> Iterator[Quantity]:
    last = -1
    for place in [place for place, token in enumerate(tokens) if token[0] in DIGITS or _is_spelled(token)]:
        if tokens[place][0] in DIGITS:
            if start + place not in taken:
                yield from _written(tokens, place)
        elif place > last:
            last = _end_of_run(tokens, place)
            values = _spelled_values(" ".join(tokens[place : last + 1]))
            if values != _ONE:
                yield Quantity(values, True, tokens, place, last)


@lru_cache(maxsize=16_384)
def _is_spelled(token: str) -> bool:
    return token.isalpha() and bool(numbers_in(token, spelled=True))


@lru_cache(maxsize=4_096)
def _spelled_values(run: str) -> frozenset[Decimal]:
    """The value of the whole run of words, which comes last."""
    return frozenset([value for each in numbers_in(run, spelled=True) for value in each][-1:])


def _end_of_run(tokens: Sequence[str], place: int) -> int:
    end = place
    while end + 1 < len(tokens) and (tokens[end + 1] in _MULTIPLIERS or _is_spelled(tokens[end + 1])):
        end += 1
    return end


def _written(tokens: Sequence[str], place: int) -> Iterator[Quantity]:
    following = tokens[place + 1] if place + 1 < len(tokens) else ""
    for part in _PARTS.split(tokens[place]):
        match = _NUMBER.match(part)
        if match:
            digits, suffix = match[1][:_LONGEST_DIGITS].rstrip(".,"), match[2]
            is_money = place > 0 and tokens[place - 1] in _CURRENCIES
            scale = _scale(suffix, is_money=is_money)
            next_scale = "" if scale else _scale(following, is_money=is_money)
            yield Quantity(_values(digits, scale or next_scale), False, tokens, place, place + bool(next_scale))


def _scale(word: str, *, is_money: bool) -> str:
    """The scale that a word behind a number stands for: $5m are millions, 5 m are not."""
    if word == "m" and is_money:
        return "million"
    return word if word in _SCALES else _SHORT_SCALES.get(word, "")


@lru_cache(maxsize=16_384)
def _values(digits: str, scale: str) -> frozenset[Decimal]:
    return numbers_in(f"{digits} {scale}")[0] if scale else readings(digits)


class Known:
    """The quantities of context and question, to look others up in."""

    def __init__(self, sentences: Sequence[Sentence], asked: Sequence[Sentence]) -> None:
        context = quantities(sentences)
        self._context = context[:_MOST_COMPARED]
        self._asked = frozenset(value for quantity in quantities(asked) for value in quantity.values)
        self._by_value: Mapping[Decimal, Sequence[Quantity]] = _by_value(context)
        self._values = list(self._by_value)[:_MOST_COMPARED]
        self._tokens = frozenset(tokens_of(sentences))

    @cached_property
    def _years(self) -> Sequence[int]:
        return [int(token) for token in self._tokens if _YEAR.fullmatch(token)]

    def doubt(self, claim: Quantity) -> float:
        """How doubtful a claim is, in [0, 1]: 0 where the context has its value in a like place."""
        same = [known for value in claim.values for known in self._by_value.get(value, ())][:_MOST_COMPARED]
        if same and claim.currency and all(known.currency not in {None, claim.currency} for known in same):
            return _FOREIGN
        alike = max((_likeness(claim, known) for known in same), default=0.0)
        if alike >= _ALIKE:
            return 0.0
        other = max(
            (_likeness(claim, known) for known in self._context if claim.values.isdisjoint(known.values)), default=0.0
        )
        if same or not claim.values.isdisjoint(self._asked):
            return _ELSEWHERE * max(0.0, other - alike)
        return self._foreign(claim, other)

    def _foreign(self, claim: Quantity, other: float) -> float:
        """The doubt of a value that stands nowhere: more where another one has its place."""
        if self._is_explained(claim):
            return _EXPLAINED
        if claim.is_spelled:
            least = _COUNTED
        elif max(claim.values) <= _SMALL and claim.currency is None:
            least = _DERIVED
        else:
            least = _FOREIGN
        return least + (1 - least) * other

    def _is_explained(self, claim: Quantity) -> bool:
        """Whether the context says the number in another way, or it counts parts of the answer."""
        if claim.currency is None:
            if claim.values == _ONE or not _COUNTERS.isdisjoint(claim.before[-1:]):
                return True
            words = frozenset[str]().union(*(_WORDS_OF.get(value, ()) for value in claim.values))
            if not words.isdisjoint(self._tokens):
                return True
        return self._is_rounded(claim) or self._is_fraction(claim) or self._is_span(claim)

    def _is_span(self, claim: Quantity) -> bool:
        """Whether it is the years between two of the context's few years, or the century of one."""
        if not _CENTURY.isdisjoint((*claim.before[-2:], *claim.after[:1])):
            return any(year // 100 + 1 in claim.values for year in self._years)
        if _YEARS.isdisjoint(claim.after[:1]) or len(self._years) > _MOST_YEARS:
            return False
        return any(abs(first - second) in claim.values for first in self._years for second in self._years)

    def _is_rounded(self, claim: Quantity) -> bool:
        """Whether the context has a longer number that the claim gives roughly."""
        about = not _ABOUT.isdisjoint(claim.before[-2:])
        return any(
            (about or value >= _LARGE) and _digits(value) <= _ROUND_DIGITS and _rounds_to(known, value)
            for value in claim.values
            for known in self._values
        )

    def _is_fraction(self, claim: Quantity) -> bool:
        """Whether it is 50 % for .5, or the other way round."""
        return claim.is_share and any(
            value * _HUNDRED in self._by_value or value / _HUNDRED in self._by_value for value in claim.values
        )


def _by_value(found: Sequence[Quantity]) -> Mapping[Decimal, Sequence[Quantity]]:
    by_value: dict[Decimal, list[Quantity]] = defaultdict(list)
    for quantity in found:
        for value in quantity.values:
            by_value[value].append(quantity)
    return dict(by_value)


def _likeness(claim: Quantity, known: Quantity) -> float:
    """How alike the words around two quantities are, in [0, 1]; those next to them count double."""
    if not claim.near:
        return 0.0
    weight = len(claim.near) + len(claim.next_to)
    return (len(claim.near & known.near) + len(claim.next_to & known.next_to)) / weight


def _digits(value: Decimal) -> int:
    return len(value.normalize().as_tuple().digits)


def _rounds_to(known: Decimal, value: Decimal) -> bool:
    return _digits(known) > _digits(value) and 0 < abs(known - value) <= value * _NEAR
