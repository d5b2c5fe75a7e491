"""A trend: points that are each the mean of the 24 hours before them, one line per judge version, gaps where withheld.

Belongs here: rolling sums. Does not: coordinates (charts.py), SQL.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import accumulate

from kb_pipeline.dashboard.sums import ASPECTS, Moments, Rate
from kb_pipeline.windows import Window

LEAST_COVERAGE = 0.80
"""With less of the judgeable turns graded, a mean is withheld."""
SPAN = timedelta(hours=24)
# Sums of scores are differences of running sums; what that leaves behind the ninth digit is dropped.
_DIGITS = 9
Version = tuple[str, str]
RATES = {
    "grounded_rate": ("grounded", "faithfulness_n"),
    "refusal_rate": ("refused", "turns"),
    "had_context_rate": ("had_context", "turns"),
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Bucket:
    """Counts and sums of one hour, or one UTC day, under one judge version ("", "" for turns that no judge saw)."""

    start: datetime
    version: Version
    counts: Mapping[str, float]


@dataclass(frozen=True, kw_only=True, slots=True)
class Point:
    """What the 24 hours before `at` say: scores by aspect under one version, coverage and rates over all of them."""

    at: datetime
    version: Version
    scores: Mapping[str, Moments]
    rates: Mapping[str, Rate]
    coverage: float | None
    turns: int

    @property
    def is_withheld(self) -> bool:
        """Whether too few of the turns were graded for their mean to be shown."""
        return self.coverage is not None and self.coverage < LEAST_COVERAGE


class Rolling:
    """Buckets of one length, ready to be added up over any 24 hours."""

    def __init__(self, window: Window, length: timedelta, buckets: Iterable[Bucket]) -> None:
        self._start, self._length = window.start, length
        size = -((window.start - window.end) // length)
        raw: dict[Version, dict[str, list[float]]] = {}
        for bucket in buckets:
            place = (bucket.start - window.start) // length
            columns = raw.setdefault(bucket.version, {})
            for name, count in bucket.counts.items():
                columns.setdefault(name, [0.0] * size)[place] += count
        self.versions = [version for version in raw if version != ("", "")]
        self._sums = {
            version: {name: [0.0, *accumulate(column)] for name, column in columns.items()}
            for version, columns in raw.items()
        }

    def point(self, at: datetime) -> Point:
        """The 24 hours before; of several judge versions in them the newest that has scores then."""
        version = self._version(at)
        scores = {aspect: self._moments(version, aspect, at) for aspect in ASPECTS}
        judgeable = self._all("judgeable", at)
        return Point(
            at=at,
            version=version,
            scores=scores,
            rates={name: Rate(self._all(part, at), self._all(whole, at)) for name, (part, whole) in RATES.items()},
            coverage=self._all("graded", at) / judgeable if judgeable else None,
            turns=self._all("turns", at),
        )

    def _version(self, at: datetime) -> Version:
        seen = [(self._newest(version, at), version) for version in self.versions]
        return max(((place, version) for place, version in seen if place is not None), default=(0, ("", "")))[1]

    def _newest(self, version: Version, at: datetime) -> int | None:
        sums = self._sums[version].get("graded")
        if sums is None:
            return None
        low, high = self._places(at, len(sums) - 1)
        return next((place for place in range(high, low, -1) if sums[place] > sums[place - 1]), None)

    def _moments(self, version: Version, aspect: str, at: datetime) -> Moments:
        n, mean, squares = (self._sum(version, f"{aspect}_{what}", at) for what in ("n", "sum", "sum_sq"))
        return Moments(int(n), mean, squares) if n else Moments()

    def _all(self, column: str, at: datetime) -> int:
        return int(sum(self._sum(version, column, at) for version in self._sums))

    def _sum(self, version: Version, column: str, at: datetime) -> float:
        sums = self._sums.get(version, {}).get(column)
        if sums is None:
            return 0.0
        low, high = self._places(at, len(sums) - 1)
        return round(sums[high] - sums[low], _DIGITS)

    def _places(self, at: datetime, last: int) -> tuple[int, int]:
        high = (at - self._start) // self._length
        low = high - SPAN // self._length
        return min(max(low, 0), last), min(max(high, 0), last)


def points(window: Window, step: timedelta, rolling: Rolling) -> list[Point]:
    """Points from the window's start to its end, which is the last one, oldest first."""
    count = (window.end - window.start) // step
    return [rolling.point(window.end - step * back) for back in reversed(range(count + 1))]


def lines(trend: Sequence[Point], aspect: str) -> list[list[Point]]:
    """Runs of points with a mean of one version: a gap ends a run, and so does a new version."""
    runs: list[list[Point]] = []
    before: Point | None = None
    for point in trend:
        if not point.is_withheld and point.scores[aspect].n:
            if before is None or before.version != point.version:
                runs.append([])
            runs[-1].append(point)
            before = point
        else:
            before = None
    return runs
