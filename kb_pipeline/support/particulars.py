"""The guard: what two sentences must have in common to be one statement, however alike they look.

Belongs here: putting numbers, dates, names, references, codes and polarity together. Does not: similarity.
"""

import re
from functools import cached_property

from kb_pipeline.support import words
from kb_pipeline.support.addresses import addresses
from kb_pipeline.support.amounts import amounts
from kb_pipeline.support.cutting import cut
from kb_pipeline.support.dates import Dates, dates
from kb_pipeline.support.levelling import level
from kb_pipeline.support.names import Names
from kb_pipeline.support.polarity import Polarity, denies, in_one_word

_REFERENCE = re.compile(
    r"\b(pasal|ayat|huruf|angka|butir|poin|bab|lampiran|article|art|section|sec|paragraph|clause|chapter|annex|schedule)"
    r"\.?\s*\(?(\d{1,4}[a-z]?|[ivxlc]{1,6}|[a-z])\)?(?!\w)"
)
_NUMERO = re.compile(r"\bno\.?\s*(?=\d)")
_ABBREVIATED = {"art": "article", "sec": "section"}
# F-1.01, AHU-0012.AH.01.01, 5A; not Rp5 and not 5g.
_CODE = re.compile(
    r"(?<![\w.])(?!(?:rp|idr|usd|rm)\.?\d)[a-z][a-z./-]{0,20}\d[\w./-]{0,60}|(?<![\w.,])\d{1,6}[abcdefijnopqrstuvwyz](?!\w)"
)


class Particulars:
    """What a `plain` sentence says that a small change can turn wrong, and in `rest` its words without the numbers."""

    def __init__(self, text: str) -> None:
        self._text = text
        links, rest = addresses(level(text))
        self.dates, rest = dates(rest)
        references, _ = cut(_REFERENCE, rest, _reference)
        codes = [match.group().rstrip("./-") for match in _CODE.finditer(rest)]
        # In order: Pasal 5 ayat 2 is not Pasal 2 ayat 5.
        self.marks = tuple(dict.fromkeys((*links, *references, *codes, *self.dates.marks)))
        self._said = in_one_word(_NUMERO.sub("nomor ", rest))
        self.amounts, rest = amounts(self._said)
        self.rest = " ".join(rest.split())
        self.asks = text.rstrip(" \"')]").endswith("?")

    @cached_property
    def polarity(self) -> Polarity:
        """Negations and opposites."""
        return Polarity(self._said)

    @cached_property
    def names(self) -> Names:
        """Names, those of months and currencies left out."""
        return Names(self._text, among=words(self.rest))

    def agree(self, other: "Particulars") -> bool:
        """Whether both hold the same numbers, units, dates, addresses, references, codes and names, in the same order.

        Negations must be the same too. A duty that became a permission, a word that became its opposite and a statement
        that became a question differ.
        """
        return (
            self.asks == other.asks
            and self.marks == other.marks
            and self.amounts.agree(other.amounts)
            and _same_days(self.dates, other.dates)
            and self.polarity.agrees(other.polarity)
            and self.names.agree(other.names)
            and not _denied(self.names.words - other.names.words, other.names.words - self.names.words)
        )


def _reference(match: re.Match[str]) -> str:
    return f"{_ABBREVIATED.get(match[1], match[1])} {match[2]}"


def _same_days(dates: Dates, other: Dates) -> bool:
    return len(dates.days) == len(other.days) and all(
        day & known for day, known in zip(dates.days, other.days, strict=True)
    )


def _denied(gone: frozenset[str], come: frozenset[str]) -> bool:
    return any(denies(word, other) for word in gone for other in come)
