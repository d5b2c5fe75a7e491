"""What the hours of one subject add up to, and the bounds that means and shares are judged by.

Belongs here: sums over hours, means, shares, the adaptive window. Does not: rules, where hours come from.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import accumulate

from kb_pipeline.verdicts import MIN_CASES, wilson
from kb_pipeline.windows import HOUR, Window, floor_hour

DAY_H = 24
SHORT_H = 6
# The shortest of these that reaches the least number of cases is a rule's window.
SPANS_H = (DAY_H, 3 * DAY_H, 7 * DAY_H, 28 * DAY_H)
BASELINE_H = 14 * DAY_H
# A shorter window has a say from so many cases on.
SAYS_SOMETHING = 5
# Without a bound a share says nothing before so many.
SHARE_CASES = 20
# Sums of scores are compared with thresholds, so what adding up leaves behind the ninth digit is dropped.
DIGITS = 9


@dataclass(frozen=True, slots=True)
class Mean:
    """The mean of `n` scores in [0, 1]; 0 where there is none."""

    n: int
    value: float

    def upper(self, z: float) -> float:
        """The upper end of the Wilson interval, as if each score were a share of its own; z = 0 is the mean."""
        return self.value if not z and self.n else wilson(self.value * self.n, self.n, z=z)[1]


@dataclass(frozen=True, slots=True)
class Share:
    """`k` of `n`."""

    k: int
    n: int

    @property
    def value(self) -> float:
        """k / n; 0 where there is nothing."""
        return self.k / self.n if self.n else 0.0

    def lower(self, z: float) -> float:
        """The lower end of the Wilson interval; 0 on one case alone and, with z = 0, on fewer than 20."""
        if self.k < MIN_CASES or (not z and self.n < SHARE_CASES):
            return 0.0
        return wilson(self.k, self.n, z=z)[0] if z else self.value

    def upper(self, z: float) -> float:
        """The upper end of the Wilson interval; 1 where there is nothing and, with z = 0, below 20 cases."""
        if not self.n or (not z and self.n < SHARE_CASES):
            return 1.0
        return wilson(self.k, self.n, z=z)[1] if z else self.value


class Hours:
    """Named counts and sums of one subject, hour by hour, ready to be added up over any of them.

    `columns` hold one value per hour from `first` on; an hour before or after them counts nothing.
    """

    def __init__(self, first: datetime, columns: Mapping[str, Sequence[float]]) -> None:
        self.first = first
        self._sums = {name: [0.0, *accumulate(values)] for name, values in columns.items()}

    @classmethod
    def of(cls, window: Window, rows: Iterable[tuple[datetime, Mapping[str, float]]]) -> "Hours":
        """From the rows of single hours of the window, in any order, several of one hour added up."""
        first = floor_hour(window.start)
        length = _begun(first, window.end)
        columns: dict[str, list[float]] = {}
        for hour, counts in rows:
            for name, count in counts.items():
                columns.setdefault(name, [0.0] * length)[_begun(first, hour)] += count
        return cls(first, columns)

    def total(self, column: str, start: datetime, end: datetime) -> float:
        """The sum of a column over the hours that begin in [start, end)."""
        sums = self._sums.get(column)
        if sums is None:
            return 0.0
        last = len(sums) - 1
        low = min(max(_begun(self.first, start), 0), last)
        high = min(max(_begun(self.first, end), 0), last)
        return round(sums[high] - sums[low], DIGITS)


class Past:
    """The hours of one subject before an instant, which is the end of a window."""

    def __init__(self, hours: Hours, end: datetime) -> None:
        self.hours = hours
        self.end = end

    def total(self, column: str, hours: int, *, before: int = 0) -> float:
        """The sum over the last `hours` hours, or over as many that end `before` hours earlier."""
        end = self.end - HOUR * before
        return self.hours.total(column, end - HOUR * hours, end)

    def count(self, column: str, hours: int, *, before: int = 0) -> int:
        """The same for a column of counts."""
        return int(self.total(column, hours, before=before))

    def share(self, part: str, whole: str, hours: int, *, before: int = 0) -> Share:
        """How many of the whole, over the last hours."""
        return Share(self.count(part, hours, before=before), self.count(whole, hours, before=before))

    def mean(self, hours: int) -> Mean:
        """The mean faithfulness over the last hours."""
        n = self.count("scored", hours)
        return Mean(n, self.total("score_sum", hours) / n if n else 0.0)

    def shortest(self, column: str, least: int, spans: Sequence[int] = SPANS_H) -> int | None:
        """The shortest span in hours that holds at least `least` of the column; None where none does."""
        return next((span for span in spans if self.count(column, span) >= least), None)

    def runs(self, part: str, whole: str, *, least: int = SAYS_SOMETHING, within: int = DAY_H) -> Iterator[Share]:
        """The newest runs, the last one first: hours taken together until they hold at least `least`."""
        k = n = 0
        for back in range(within):
            found = self.share(part, whole, 1, before=back)
            k, n = k + found.k, n + found.n
            if n >= least:
                yield Share(k, n)
                k = n = 0


def _begun(first: datetime, instant: datetime) -> int:
    """How many hours from `first` on begin before the instant."""
    return -((first - instant) // HOUR)
