"""What the page Retrieval, and that of conflicts to settle, show.

Belongs here: which numbers stand where. Does not: their formats (templates), their arithmetic.
"""

from collections.abc import Sequence
from datetime import date
from typing import Any

from kb_pipeline.counting import counted
from kb_pipeline.dashboard import numbers
from kb_pipeline.dashboard.charts import columns, sparkline
from kb_pipeline.dashboard.filters import RetrievalFilter
from kb_pipeline.dashboard.periods import Period
from kb_pipeline.dashboard.retrieval_words import GRADES, KINDS, TASKS, EngineHealth, bars, misses, shown_engines
from kb_pipeline.service.forms import retrieval_filters
from kb_pipeline.service.links import address, judgments_query, retrievals_query
from kb_pipeline.service.list_pages import paging
from kb_pipeline.service.listing import listed_judgments
from kb_pipeline.service.retrieval_reading import RetrievalSummary
from kb_pipeline.service.viewing import Desk

_HEIGHT = 52
_CONFLICTS = 50
_FEW_DAYS, _YEAR = 8, 366
_SCALES = (200, 400, 800, 2_000, 4_000, 10_000)


def retrieval_page(desk: Desk, period: Period, chosen: RetrievalFilter) -> dict[str, Any]:
    """The values of retrieval.html."""
    found = desk.retrieval.summary(period, chosen)
    drafts = {kind: count for kind, (count, _) in found.gaps.items()}
    wrong = sum(count for kind, count in drafts.items() if kind != "none")
    counts = found.judgments.counts
    most_judged = max((count for (status, _), count in counts.items() if status == "judged"), default=1)
    conflicts = sum(count for (status, _), count in counts.items() if status == "conflict")
    shown, more = shown_engines(found.engines)
    length, _ = bars(found.engines[0].per_day)
    days = "day" if length == 1 else counted(length, "day")
    return {
        "title": "Retrieval",
        "span": numbers.span(period.window.start, period.window.end, period.zone, desk.now()),
        "filters": retrieval_filters(desk, period, chosen),
        "found": found,
        "engines": _engines(found, shown),
        "more_engines": more,
        "latency_top": _latency_top(shown),
        "day_labels": _bar_labels(period.days, length),
        "day_words": f"per {days}" if period.is_read_hourly else f"per {days} of UTC",
        "wrong": wrong,
        "gaps": _gaps(found, drafts, period, chosen),
        "tasks": [
            {
                "what": TASKS.get(task["kind"], task["kind"]),
                "subject": task["query_preview"] or task["subject"],
                "row": task,
            }
            for task in found.tasks
        ],
        "grades": [
            (label, counts.get(("judged", grade), 0), counts.get(("judged", grade), 0) / most_judged)
            for grade, label in GRADES.items()
        ],
        "judged": sum(count for (status, _), count in counts.items() if status == "judged"),
        "conflicts": conflicts,
        "thin": counts.get(("insufficient", None), 0),
        "links": {
            "api": address("/api/retrieval/summary", retrievals_query(period, chosen)),
            "tasks_csv": address("/api/retrieval/tasks.csv", judgments_query(chosen)),
            "gaps": address("/gaps", retrievals_query(period, chosen)),
            "gaps_csv": address("/api/retrieval/gaps.csv", retrievals_query(period, chosen)),
            "judgments": address("/judgments", judgments_query(chosen)),
            "judgments_csv": address("/api/ground-truth.csv", judgments_query(chosen)),
            "conflicts": address("/retrieval/conflicts", judgments_query(chosen)),
            "thin": address("/judgments", judgments_query(chosen, status="insufficient")),
        },
    }


def conflicts_page(desk: Desk, chosen: RetrievalFilter, cursor: str | None, *, is_noted: bool) -> dict[str, Any]:
    """The values of conflicts.html."""
    found = listed_judgments(desk, chosen, status="conflict", grade=None, limit=_CONFLICTS, cursor=cursor)
    return {
        "title": "Conflicts to settle",
        "rows": found.rows,
        "paging": paging("/retrieval/conflicts", judgments_query(chosen), found, cursor),
        "is_noted": is_noted,
    }


def _engines(found: RetrievalSummary, shown: Sequence[EngineHealth]) -> list[dict[str, Any]]:
    charts = [bars(each.per_day)[1] for each in shown]
    tallest = max((bar.whole for chart in charts for bar in chart), default=0)
    top_share = max((bar.value or 0.0 for chart in charts for bar in chart), default=0.0)
    latency = _latency_top(shown)
    return [
        {
            "health": health,
            "is_high": misses(health.found_nothing, found.limit),
            "counts": [bar.whole for bar in chart],
            "volume": columns([bar.whole for bar in chart], top=tallest, height=_HEIGHT),
            "empty": sparkline([bar.value for bar in chart], base=found.limit, span=max(top_share, 2 * found.limit)),
            "scores": columns(health.score_counts[1:-1], top=max(health.score_counts[1:-1], default=0), height=_HEIGHT),
            "outside": sum(health.score_counts[:1]) + sum(health.score_counts[-1:]),
            "latency": [None if q is None else min(1.0, q / latency) for q in (health.p50, health.p95, health.p99)],
        }
        for health, chart in zip(shown, charts, strict=True)
    ]


def _latency_top(engines: Sequence[EngineHealth]) -> float:
    slowest = max((each.p99 or 0.0 for each in engines), default=0.0)
    return float(next((top for top in _SCALES if slowest <= top), _SCALES[-1]))


def _bar_labels(days: Sequence[date], length: int) -> list[tuple[float, str]]:
    """Where a chart names the first day of a bar, of all bars or of about four: (place of a thousand, words)."""
    firsts = days[::length]
    stride = 1 if len(days) <= _FEW_DAYS else -(-len(firsts) // 4)
    each = 1000 / len(firsts)
    return [
        (round((place + 0.5) * each, 1), _day_words(day, len(days)))
        for place, day in enumerate(firsts)
        if not place % stride
    ]


def _day_words(day: date, among: int) -> str:
    if among <= _FEW_DAYS:
        return numbers.DAYS[day.weekday()][:2]
    if among <= _YEAR:
        return f"{day.day}/{day.month}"
    return f"{numbers.MONTHS[day.month - 1][:3]} {day:%y}"


def _gaps(
    found: RetrievalSummary, drafts: dict[str, int], period: Period, chosen: RetrievalFilter
) -> list[dict[str, Any]]:
    most = max((count for kind, count in drafts.items() if kind != "none"), default=0)
    kinds = sorted(
        (kind for kind in KINDS if kind != "none"), key=lambda kind: (kind == "undetermined", -drafts.get(kind, 0))
    )
    return [
        {
            "kind": kind,
            "name": KINDS[kind][0],
            "meaning": KINDS[kind][1],
            "link": address("/gaps", retrievals_query(period, chosen, kind=kind)),
            "count": drafts.get(kind, 0),
            "share": drafts.get(kind, 0) / most if most else 0.0,
            "example": found.gaps.get(kind, (0, None))[1],
        }
        for kind in kinds
    ]
