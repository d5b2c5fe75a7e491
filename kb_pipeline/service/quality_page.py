"""What the page RAG Quality shows.

Belongs here: which numbers stand where. Does not: their formats (templates), their arithmetic.
"""

from typing import Any

from kb_pipeline.adapters.postgres.dashboard.turns import worst_turns
from kb_pipeline.dashboard import numbers
from kb_pipeline.dashboard.charts import scale, segments, sparkline, tone_of, trend_chart
from kb_pipeline.dashboard.filters import QualityFilter
from kb_pipeline.dashboard.periods import Period
from kb_pipeline.dashboard.quality_words import Limits, is_clearly_different
from kb_pipeline.dashboard.sums import ASPECTS, Rate
from kb_pipeline.dashboard.trend import Point
from kb_pipeline.dashboard.trust_words import oldest_words
from kb_pipeline.service.access import Visitor
from kb_pipeline.service.forms import turn_filters
from kb_pipeline.service.links import address, turns_query
from kb_pipeline.service.list_pages import turn_row
from kb_pipeline.service.reading import QualityNow, QualitySummary
from kb_pipeline.service.viewing import Desk

WORST = 5
NAMES = {
    "faithfulness": ("Faithfulness", "claims backed by passages"),
    "answer_relevance": ("Answer relevance", "meets the question"),
    "context_relevance": ("Context relevance", "passages on topic"),
}


def quality_page(desk: Desk, visitor: Visitor, period: Period, chosen: QualityFilter) -> dict[str, Any]:
    """The values of quality.html."""
    found = desk.quality.summary(period, chosen)
    now = desk.quality.now(found, now=desk.now())
    trend = desk.quality.trend(period, chosen)
    limits = desk.quality.limits
    worst = worst_turns(desk.database, period.window, chosen, limit=WORST)
    query = turns_query(period, chosen)
    return {
        "title": "RAG Quality",
        "span": numbers.span(period.window.start, period.window.end, period.zone, desk.now()),
        "filters": turn_filters(desk, period, chosen),
        "found": found,
        "state": now,
        "limits": limits,
        "floor": desk.settings.rag_quality.thresholds.ungrounded_floor,
        "panels": _panels(trend, now, period, limits),
        "trend": trend,
        "tiles": _tiles(found, trend),
        "coverage": _coverage(found),
        "rail": _rail(desk, found, now),
        "worst": [turn_row(row, period, limits, visitor) for row in worst],
        "progress_rows": _progress(found, now, desk) if now.emptiness else (),
        "all_turns": address("/turns", query),
        "csv": address("/api/quality/recent.csv", query),
        "trend_csv": address("/api/quality/trend.csv", query),
    }


def _panels(trend: list[Point], now: QualityNow, period: Period, limits: Limits) -> list[dict[str, Any]]:
    axis = scale([trend], ASPECTS)
    panels = []
    for aspect in ASPECTS:
        is_first = aspect == "faithfulness"
        warn, crit = (limits.warn, limits.crit) if is_first else (None, None)
        day, week = now.last.scores[aspect], now.week[aspect]
        mean = None if now.last.is_withheld else day.mean
        is_clear = is_clearly_different(day, week)
        falls = is_clear and (day.mean or 0.0) < (week.mean or 0.0)
        panels.append(
            {
                "id": aspect,
                "name": NAMES[aspect][0],
                "meaning": NAMES[aspect][1],
                "mean": mean,
                "interval": None if mean is None else day.interval(),
                "change": numbers.change(mean, week.mean, "week before", is_clear=is_clear),
                "change_tone": ("crit" if tone_of(mean, warn, crit) == "crit" else "warn") if falls else "calm",
                "chart": trend_chart(trend, aspect, period, limits=axis, warn=warn, crit=crit),
            }
        )
    return panels


def _tiles(found: QualitySummary, trend: list[Point]) -> list[dict[str, Any]]:
    tally, before = found.tally, found.before
    rows = (
        ("Grounded rate", "grounded_rate", "answer", Rate(tally.grounded, tally.faithfulness.n),
         Rate(before.grounded, before.faithfulness.n)),
        ("Refusal rate", "refusal_rate", "turn", Rate(tally.refused, tally.turns), Rate(before.refused, before.turns)),
        ("Had context", "had_context_rate", "turn", Rate(tally.had_context, tally.turns),
         Rate(before.had_context, before.turns)),
    )  # fmt: skip
    return [
        {
            "name": name,
            "of": of,
            "rate": rate,
            "before": earlier.value,
            "spark": sparkline([point.rates[key].value for point in trend], base=earlier.value),
        }
        for name, key, of, rate, earlier in rows
    ]


def _coverage(found: QualitySummary) -> dict[str, Any]:
    tally = found.tally
    parts = [
        ("graded", "Graded", tally.graded),
        ("ungraded", "Ungraded, judge failed", tally.errors + tally.failed),
        ("disabled", "Ungraded, judge is off", tally.disabled),
        ("skipped", "Skipped, not judgeable", tally.skipped),
        ("sampled", "Sampled out", found.calls.sampled_out),
        ("pending", "Pending", tally.pending),
    ]
    kept = [part for part in parts if part[2] or part[0] != "disabled"]
    missing = found.calls.synthesis - tally.turns
    return {
        "seen": found.seen,
        "parts": [(name, label, size, size / found.seen if found.seen else None) for name, label, size in kept],
        "bar": segments([(name, size) for name, _, size in kept]),
        "missing": max(0, missing),
    }


def _rail(desk: Desk, found: QualitySummary, now: QualityNow) -> list[tuple[str, str]]:
    calls, tally, words = found.calls, found.tally, found.period.words
    parse = f"{numbers.rate(calls.parse_success_rate)}, {calls.parse_attempted - calls.parsed:,} misread"
    model, prompt = now.last.version
    agreement = now.agreement
    kappa = (
        numbers.MISSING
        if agreement is None or agreement.kappa is None
        else f"κ {agreement.kappa:.2f}, n = {agreement.n:,}"
    )
    each = numbers.short(tally.tokens / tally.graded if tally.graded else None)
    cost = f"{numbers.short(tally.tokens)}, {each} a turn"
    rows = [
        (f"Parsed, {words}", parse if calls.parse_attempted else numbers.MISSING),
        ("Backlog", oldest_words(now.waiting, now.oldest_waiting, desk.now())),
        (
            "Last run",
            numbers.moment(now.last_run_at, found.period.zone, desk.now()) if now.last_run_at else "none in a week",
        ),
        ("Judge", f"{model}, prompt {prompt.partition('-')[0]}" if model else numbers.MISSING),
        ("Agrees with experts", kappa),
        ("Alerts", _alerts(desk)),
        (f"Judge tokens, {words}", cost if tally.judge_calls else numbers.MISSING),
    ]
    if found.period.is_rounded:
        rows.append(("Time zone", "off the full hour: days are rounded to it"))
    return rows


def _alerts(desk: Desk) -> str:
    counts = desk.quality.alert_counts()
    return f"{_some(counts.firing)} firing, {_some(counts.pending)} pending"


def _some(count: int) -> str:
    return f"{count:,}" if count else "none"


def _progress(found: QualitySummary, now: QualityNow, desk: Desk) -> list[dict[str, Any]]:
    """How far the turns came, place by place; the one where they stop is critical."""
    progress, empty = now.progress, now.emptiness
    newest = progress.newest_call_at
    last = f"last call in the hour of {numbers.moment(newest, found.period.zone, desk.now())}" if newest else "no call"
    asked = progress.waiting + progress.failures + found.tally.graded
    rows = [
        ("read", "Audited calls read", last, progress.examined),
        ("recognised", "Recognised as an answer", "by synthesis_markers", progress.recognised),
        ("parsed", "Question, passages, answer read",
         f"parse success {numbers.rate(found.calls.parse_success_rate)}", progress.parsed),
        ("judged", "Judge asked", f"{numbers.count(progress.failures)} failed, {numbers.count(progress.waiting)} wait",
         asked),
        ("graded", "Graded", "", found.tally.graded),
    ]  # fmt: skip
    stops = empty.stops_at if empty else ""
    reached = True
    shown = []
    for key, name, detail, count in rows:
        is_stop = key == stops
        mark = "critical" if is_stop else "good" if reached and count else "none"
        reached = reached and not is_stop
        shown.append({"name": name, "detail": detail, "count": count, "mark": mark, "is_stop": is_stop})
    return shown
