"""What the pages Pipeline and Alerts show.

Belongs here: which facts stand where. Does not: their formats (templates), verdicts.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from kb_pipeline.counting import counted
from kb_pipeline.dashboard import numbers
from kb_pipeline.dashboard.filters import QualityFilter
from kb_pipeline.dashboard.periods import Period
from kb_pipeline.dashboard.quality_words import Level, Verdict
from kb_pipeline.dashboard.trust_words import oldest_words
from kb_pipeline.grading import health
from kb_pipeline.service.list_pages import paging
from kb_pipeline.service.listing import listed_changes
from kb_pipeline.service.reading import GRAVE, AlertCounts, counts_of
from kb_pipeline.service.viewing import Desk

_RUNS = 10
_CANARIES = 8
_STATES = 200
_CHANGES = 50
_SHOWN_UUID = 8
_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_FIGURES = {
    "kappa": "Cohen’s κ", "balanced_accuracy": "balanced accuracy", "precision": "precision", "recall": "recall",
    "auc": "AUC", "spearman": "Spearman’s ρ", "corrected_mean": "corrected mean",
}  # fmt: skip


def pipeline_page(desk: Desk, period: Period, chosen: QualityFilter) -> dict[str, Any]:
    """The values of pipeline.html."""
    found = desk.quality.summary(period, chosen)
    now = desk.quality.now(found, now=desk.now())
    canaries = desk.quality.pipeline.canaries(limit=_CANARIES)
    version = now.canary.version if now.canary else None
    calibration = (
        desk.quality.pipeline.calibration(version.model, version.prompt_version) if version is not None else []
    )
    return {
        "title": "Pipeline",
        "span": numbers.span(period.window.start, period.window.end, period.zone, desk.now()),
        "found": found,
        "state": now,
        "backlog": oldest_words(now.waiting, now.oldest_waiting, desk.now()),
        "checks": [
            ("Turns can be read", health.parse_success(found.calls)),
            ("The judge tells good from bad", health.canary(now.canary)),
            ("The judge gives scores", health.judge_answers(found.tally.graded, found.tally.failures)),
        ],
        "readings": desk.quality.pipeline.readings(desk.now(), limit=_RUNS),
        "canaries": canaries,
        "calibration": calibration,
        "figures": _FIGURES,
        "dagster_url": desk.settings.service.dagster_url,
    }


def alerts_page(desk: Desk, fingerprint: str | None, cursor: str | None) -> dict[str, Any]:
    """The values of alerts.html; with a fingerprint, as alerts carry it, of that one alone."""
    if fingerprint:
        states: Sequence[Mapping[str, Any]] = desk.quality.pipeline.alert_states(fingerprint=fingerprint)
        counts = counts_of(dict(row, count=1) for row in states)
    else:
        states, counts = desk.quality.alert_states(), desk.quality.alert_counts()
    history = listed_changes(desk, fingerprint=fingerprint, limit=_CHANGES, cursor=cursor)
    return {
        "title": "Alerts",
        "states": [_state(row) for row in states[:_STATES]],
        "more_states": max(0, counts.total - _STATES),
        "history": history.rows,
        "paging": paging("/alerts", {"fingerprint": fingerprint} if fingerprint else {}, history, cursor),
        "fingerprint": fingerprint,
        "verdict": _verdict(counts, fingerprint),
    }


def _state(row: Mapping[str, Any]) -> dict[str, Any]:
    is_active = row["status"] in {"firing", "recovering"}
    marks = {"pending": Level.WATCH, "ok": Level.GOOD}
    more = (row["severity"], row["is_silenced"] and "silenced", row["inhibited_by"] and "held")
    return {
        "row": row,
        "mark": (Level.CRITICAL if row["severity"] in GRAVE else Level.WARNING)
        if is_active
        else marks.get(row["status"], Level.NONE),
        "state": ", ".join([row["status"], *filter(None, more)]),
        "subject": " : ".join(map(_shortened, row["subject"])),
    }


def _shortened(name: str) -> str:
    """A name as it is, of an id the beginning; the page of the alert and the API have it whole."""
    return f"{name[:_SHOWN_UUID]}…" if _UUID.fullmatch(name) else name


def _verdict(counts: AlertCounts, fingerprint: str | None) -> Verdict:
    if fingerprint and not counts.total:
        detail = "A fingerprint is as alerts carry it: rule|metric|subject."
        return Verdict(level=Level.NONE, sentence="No alert has this fingerprint now.", detail=detail)
    if not counts.total:
        detail = "States appear once the rules were evaluated for the first time."
        return Verdict(level=Level.NONE, sentence="No alerts yet, because no rule was evaluated.", detail=detail)
    detail = f"{counts.firing:,} firing, {counts.pending:,} pending, {counted(counts.total, 'state')} in all."
    if counts.firing:
        level = Level.CRITICAL if counts.grave else Level.WARNING
        return Verdict(level=level, sentence=f"{counted(counts.firing, 'alert fires', 'alerts fire')}.", detail=detail)
    return Verdict(level=Level.GOOD, sentence="No alert fires.", detail=detail)
