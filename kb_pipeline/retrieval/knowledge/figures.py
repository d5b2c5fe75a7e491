"""The figures of a text that its source must have: amounts with their units, dates, times, addresses.

Belongs here: which figures two texts have in common. Does not: reading them (retrieval/outcomes), what one that is
missing costs.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from kb_pipeline.support.addresses import addresses
from kb_pipeline.support.amounts import Amount, amounts
from kb_pipeline.support.dates import Day, dates
from kb_pipeline.support.levelling import level, plain


@dataclass(frozen=True, slots=True)
class Figures:
    """What a text says in figures; `ones` are amounts of one ("sebulan") that a text may mean or not."""

    amounts: tuple[Amount, ...] = ()
    ones: tuple[Amount, ...] = ()
    days: tuple[frozenset[Day], ...] = ()
    marks: frozenset[str] = frozenset()

    @classmethod
    def read(cls, text: str) -> "Figures":
        """The figures of a text."""
        links, rest = addresses(level(plain(text)))
        calendar, rest = dates(rest)
        found, _ = amounts(rest)
        return cls(found.required, found.optional, calendar.days, frozenset((*links, *calendar.marks)))

    @classmethod
    def of_all(cls, parts: Iterable["Figures"]) -> "Figures":
        """The figures of several texts together."""
        known = list(parts)
        return cls(
            tuple(amount for each in known for amount in each.amounts),
            tuple(amount for each in known for amount in each.ones),
            tuple(day for each in known for day in each.days),
            frozenset(mark for each in known for mark in each.marks),
        )

    def __len__(self) -> int:
        """How many there are, ones aside."""
        return len(self.amounts) + len(self.days) + len(self.marks)

    def found_in(self, other: "Figures") -> int:
        """How many of them the other text has too, in whatever notation.

        A number that counts nothing known agrees with the same number of anything; 60 hari is not 60 bulan.
        """
        known = (*other.amounts, *other.ones)
        found = sum(any(_agree(amount, each) for each in known) for amount in self.amounts)
        found += sum(any(day & each for each in other.days) for day in self.days)
        return found + len(self.marks & other.marks)


def _agree(amount: Amount, other: Amount) -> bool:
    return not amount.values.isdisjoint(other.values) and (
        amount.unit == other.unit or amount.unit is None or other.unit is None
    )
