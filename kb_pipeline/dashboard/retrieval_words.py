"""Retrieval health of a period: engines side by side, and the sentence that sums them up.

Belongs here: shares, quantiles, words, what kinds of gaps mean. Does not: SQL, drawing.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from kb_pipeline.counting import counted
from kb_pipeline.dashboard import numbers
from kb_pipeline.dashboard.periods import Period
from kb_pipeline.dashboard.quality_words import Level, Verdict
from kb_pipeline.dashboard.sums import Rate, quantile
from kb_pipeline.verdicts import Z, wilson

ALL = "All"
SCORE_EDGES = [0.0, *(place / 20 for place in range(21)), 1.0]
LATENCY_EDGES = [0.0, 5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10_000, 10_000]
SCORE_BINS, LATENCY_BINS = len(SCORE_EDGES) - 1, len(LATENCY_EDGES) - 1
LEAST_RETRIEVALS = 50
MOST_ENGINES = 8
MOST_BARS = 92
_NAMED = 2
KINDS = {
    "kb_gap": ("Knowledge missing", "no document supports the correction"),
    "generation_gap": ("Source used, answer wrong", "the right passage was in the prompt"),
    "ranking_gap": ("Ranked too low", "retrieved, but not used"),
    "recall_gap": ("Not found by search", "in the knowledge base, not retrieved"),
    "undetermined": ("Undetermined", "support between the two thresholds"),
    "none": ("No gap", "the edit added nothing that needs a source"),
}
TASKS = {
    "kb_gap": "Write",
    "generation_gap": "Check prompt",
    "ranking_gap": "Tune ranking",
    "recall_gap": "Index again",
}
STATUSES = {"judged": "judged", "insufficient": "kept out, thin evidence", "conflict": "conflict to settle"}
GRADES = {3: "3, cited", 2: "2, supports", 1: "1, weak", 0: "0, not relevant"}


@dataclass(frozen=True, slots=True)
class Served:
    """What one engine did on a day, or in an hour of it."""

    day: date
    engine: str
    retrievals: int
    empty: int


@dataclass(frozen=True, kw_only=True, slots=True)
class EngineHealth:
    """One engine over a period and by its days; quantiles are read off histograms, on straight lines in a bin."""

    name: str
    found_nothing: Rate
    per_day: tuple[Rate, ...]
    score_counts: tuple[int, ...]
    median_score: float | None
    latency_n: int
    p50: float | None
    p95: float | None
    p99: float | None


def engines(
    period: Period, served: Sequence[Served], histograms: Mapping[str, Mapping[str, Sequence[int]]]
) -> list[EngineHealth]:
    """All engines together, then each, the busiest first."""
    names = sorted({each.engine for each in served}, key=lambda name: (-_retrievals(served, name), name))
    together = {
        kind: [sum(column) for column in zip(*(found[kind] for found in histograms.values()), strict=True)]
        for kind in ("score", "latency")
        if histograms
    }
    everything = _health(ALL, period, served, together)
    return [
        everything,
        *(
            _health(name, period, [each for each in served if each.engine == name], histograms.get(name, {}))
            for name in names
        ),
    ]


def shown_engines(health: Sequence[EngineHealth]) -> tuple[Sequence[EngineHealth], int]:
    """The engines that a page shows, the busiest, and how many more there are."""
    return health[: MOST_ENGINES + 1], max(0, len(health) - MOST_ENGINES - 1)


def bars(days: Sequence[Rate]) -> tuple[int, list[Rate]]:
    """Days added up so that a chart holds them: how many make a bar (1, 7 or 30), and the bars."""
    length = next((each for each in (1, 7) if len(days) <= each * MOST_BARS), 30)
    slices = [days[start : start + length] for start in range(0, len(days), length)]
    return length, [Rate(sum(day.part for day in each), sum(day.whole for day in each)) for each in slices]


def _retrievals(served: Iterable[Served], name: str) -> int:
    return sum(each.retrievals for each in served if each.engine == name)


def _health(
    name: str, period: Period, served: Sequence[Served], histogram: Mapping[str, Sequence[int]]
) -> EngineHealth:
    days = _by_day(period, served)
    scores, latencies = list(histogram.get("score", ())), list(histogram.get("latency", ()))
    p50, p95, p99 = (quantile(LATENCY_EDGES, latencies, q) for q in (0.5, 0.95, 0.99))
    return EngineHealth(
        name=name,
        found_nothing=Rate(sum(each.empty for each in served), sum(each.retrievals for each in served)),
        per_day=tuple(Rate(empty, retrievals) for retrievals, empty in days),
        score_counts=tuple(scores),
        median_score=quantile(SCORE_EDGES, scores, 0.5),
        latency_n=sum(latencies),
        p50=p50,
        p95=p95,
        p99=p99,
    )


def _by_day(period: Period, served: Iterable[Served]) -> list[tuple[int, int]]:
    found: dict[date, tuple[int, int]] = {}
    for each in served:
        retrievals, empty = found.get(each.day, (0, 0))
        found[each.day] = retrievals + each.retrievals, empty + each.empty
    return [found.get(day, (0, 0)) for day in period.days]


def misses(rate: Rate, limit: float) -> bool:
    """Whether the lower Wilson bound of the empty share is above the limit, from fifty retrievals on."""
    return rate.whole >= LEAST_RETRIEVALS and wilson(rate.part, rate.whole, z=Z)[0] > limit


def retrieval_verdict(
    health: Sequence[EngineHealth], limit: float, gaps: Mapping[str, int], *, is_filtered: bool = False
) -> Verdict:
    """Whether search finds something, and why drafts were wrong."""
    everything, *each = health
    searches, found_nothing = everything.found_nothing.whole, everything.found_nothing
    if not searches:
        detail = "No retrieval was recorded; the worker writes them from the queue (kb-pipeline worker)."
        if is_filtered:
            detail = "None passes these filters; choose others, or all."
        return Verdict(level=Level.NONE, sentence="No retrievals in this period.", detail=detail)
    base = f"Of {counted(searches, 'search', 'searches')}, {numbers.count(found_nothing.part)} came back empty"
    detail = f"{base} ({numbers.rate(found_nothing.value)}).{_why(gaps)}"
    if misses(found_nothing, limit):
        return Verdict(level=Level.WARNING, sentence="Search misses too often.", detail=detail)
    worst = [engine for engine in each if misses(engine.found_nothing, limit)]
    if worst:
        named = worst[:_NAMED]
        others = f" and {len(worst) - _NAMED} others" if len(worst) > _NAMED else ""
        names = (", " if others else " and ").join(engine.name for engine in named)
        sentence = f"Search usually finds something; {names}{others} search misses too often."
        return Verdict(level=Level.WARNING, sentence=sentence, detail=f"{base}. {_shares(named, limit)}{_why(gaps)}")
    if searches < LEAST_RETRIEVALS:
        return Verdict(level=Level.NONE, sentence="Too few retrievals for a verdict.", detail=detail)
    return Verdict(level=Level.GOOD, sentence="Search usually finds something.", detail=detail)


def _shares(worst: Sequence[EngineHealth], limit: float) -> str:
    parts = [
        f"{engine.name} alone: {numbers.rate(engine.found_nothing.value)} "
        f"({numbers.count(engine.found_nothing.part)} of {numbers.count(engine.found_nothing.whole)})"
        for engine in worst
    ]
    return f"{'; '.join(parts)}, above the limit of {numbers.rate(limit)}."


def _why(gaps: Mapping[str, int]) -> str:
    known = {kind: count for kind, count in gaps.items() if kind not in {"none", "undetermined"} and count}
    if not known:
        return ""
    most = max(known, key=lambda kind: known[kind])
    return f" Where drafts had to be corrected, the most frequent cause is: {KINDS[most][0].lower()}."
