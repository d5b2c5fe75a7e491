"""The one read service behind pages, API and metrics: what a period says, computed once.

Belongs here: which numbers belong together. Does not: HTTP, SQL, arithmetic.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from kb_pipeline.adapters.clock import SystemClock
from kb_pipeline.adapters.postgres.connection import Database
from kb_pipeline.adapters.postgres.dashboard.pipeline import PostgresPipeline
from kb_pipeline.adapters.postgres.dashboard.quality import PostgresQuality
from kb_pipeline.dashboard.filters import QualityFilter
from kb_pipeline.dashboard.periods import DAY, Period
from kb_pipeline.dashboard.quality_words import (
    AlertStand,
    Emptiness,
    Level,
    Limits,
    Progress,
    Standing,
    Verdict,
    emptiness,
    quality_verdict,
    waited,
)
from kb_pipeline.dashboard.sums import Moments, Tally, total
from kb_pipeline.dashboard.trend import Point, Rolling, Version, points
from kb_pipeline.dashboard.trust_words import Agreement, Measurement, trust, worse
from kb_pipeline.grading.aggregates import CallCounts
from kb_pipeline.grading.canary import CanaryReport
from kb_pipeline.records import AlertStatus, JudgeVersion
from kb_pipeline.service.remembering import Memory
from kb_pipeline.settings import Settings
from kb_pipeline.windows import HOUR, Window, floor_hour

_BASELINE = timedelta(days=14)
_RULE = "rag_low_faithfulness"
_MOST_STATES = 500
GRAVE = {"critical", "high"}


@dataclass(frozen=True, kw_only=True, slots=True)
class QualitySummary:
    """What a period adds up to, beside the period before it and by judge version."""

    period: Period
    chosen: QualityFilter
    tally: Tally
    before: Tally
    versions: Mapping[Version, Tally]
    calls: CallCounts
    newest_call_at: datetime | None

    @property
    def seen(self) -> int:
        """Turns that were recognised: published ones, and those left out by the sample rate."""
        return self.tally.turns + self.calls.sampled_out


@dataclass(frozen=True, kw_only=True, slots=True)
class AlertCounts:
    """How many alerts stand where, every status named; `grave` are those that fire as critical or high."""

    by_status: Mapping[str, int]
    grave: int

    @property
    def firing(self) -> int:
        """Those that fire for whoever was told of them: recovering ones too."""
        return sum(count for status, count in self.by_status.items() if AlertStatus(status).is_active)

    @property
    def pending(self) -> int:
        """Those in breach that do not fire yet."""
        return self.by_status[AlertStatus.PENDING]

    @property
    def total(self) -> int:
        """All of them."""
        return sum(self.by_status.values())


@dataclass(frozen=True, kw_only=True, slots=True)
class QualityNow:
    """How the chatbot is, and whether that can be trusted."""

    verdict: Verdict
    trust: Verdict
    last: Point
    week: Mapping[str, Moments]
    waiting: int
    oldest_waiting: datetime | None
    canary: CanaryReport | None
    agreement: Agreement | None
    last_run_at: datetime | None
    emptiness: Emptiness | None
    progress: Progress


class QualityReading:
    """Reads the grading street for people."""

    def __init__(self, database: Database, settings: Settings, memory: Memory | None = None) -> None:
        limits = settings.rag_quality.thresholds
        self._settings = settings
        self._memory = memory or Memory(SystemClock().monotonic, kept_s=-1)
        self._sums = PostgresQuality(database, grounded_from=limits.faithfulness_warn, floor=limits.ungrounded_floor)
        self._pipeline = PostgresPipeline(database)
        self.limits = Limits(
            warn=limits.faithfulness_warn,
            crit=limits.faithfulness_crit,
            min_graded=limits.min_graded,
            z=limits.confidence_z,
        )

    def summary(self, period: Period, chosen: QualityFilter) -> QualitySummary:
        """Exact sums of the period: the same as of the rows themselves."""
        return self._memory.recall(("summary", period, chosen), lambda: self._summary(period, chosen))

    def _summary(self, period: Period, chosen: QualityFilter) -> QualitySummary:
        versions = self._sums.tallies(period.window, chosen)
        calls, newest = self._sums.calls(period.window, chosen)
        return QualitySummary(
            period=period,
            chosen=chosen,
            tally=total(versions.values()),
            before=total(self._sums.tallies(period.before, chosen).values()),
            versions=versions,
            calls=calls,
            newest_call_at=newest,
        )

    def trend(self, period: Period, chosen: QualityFilter, step: timedelta | None = None) -> list[Point]:
        """Points of the period, each over the 24 hours before it; the last is that of the verdict."""
        return self._memory.recall(("trend", period, chosen, step), lambda: self._trend(period, chosen, step))

    def _trend(self, period: Period, chosen: QualityFilter, step: timedelta | None) -> list[Point]:
        if period.is_read_hourly:
            window = Window(period.window.start - DAY, period.window.end)
            return points(period.window, step or period.step, Rolling(window, HOUR, self._sums.hours(window, chosen)))
        first = period.window.start.replace(hour=0)
        last = period.window.end.replace(hour=0)
        window = Window(first, last)
        trend = points(window, max(step or DAY, DAY), Rolling(window, DAY, self._sums.days(window, chosen)))
        newest = self.last_day(period.window.end, chosen)
        return [*trend[1:], newest] if newest.at > last else trend[1:]

    def last_day(self, end: datetime, chosen: QualityFilter) -> Point:
        """The 24 hours before an instant."""
        window = Window(end - DAY, end)
        return Rolling(window, HOUR, self._sums.hours(window, chosen)).point(end)

    def now(self, found: QualitySummary, *, now: datetime) -> QualityNow:
        """The verdict over the 24 hours before the period's end, and how far the measurement can be trusted."""
        return self._memory.recall(("now", found.period, found.chosen), lambda: self._now(found, now))

    def _now(self, found: QualitySummary, now: datetime) -> QualityNow:
        end, chosen = found.period.window.end, found.chosen
        last = self.last_day(end, chosen)
        week = self._sums.tallies(Window(end - 8 * DAY, end - DAY), chosen).get(last.version, Tally())
        last_day = Window(end - DAY, end)
        day = self._sums.tallies(last_day, chosen)
        standing = Standing(
            day=day.get(last.version, Tally()) if last.version[0] else total(day.values()),
            week=week,
            coverage=last.coverage,
        )
        waiting, oldest = self._sums.waiting(now)
        version = self._judge(last.version)
        canary, agreement = self.canary(version), self.agreement(version)
        measured = Measurement(
            tally=found.tally,
            calls=found.calls,
            usual=self._usual(found),
            canary=canary,
            agreement=agreement,
            waiting=waiting,
            waits=waited(oldest, now),
        )
        progress = self._progress(found)
        alert = self._alert(chosen)
        when = f"{alert.since:%d %b %H:%M} UTC" if alert and alert.since and alert.level is not Level.GOOD else ""
        return QualityNow(
            verdict=quality_verdict(standing, self.limits, alert, when=when),
            # A longer period must not hide that the numbers of the verdict cannot be trusted.
            trust=worse(
                trust(replace(measured, tally=total(day.values()), calls=self._sums.calls(last_day, chosen)[0])),
                trust(measured),
            ),
            last=last,
            week={
                aspect: getattr(week, aspect) for aspect in ("faithfulness", "answer_relevance", "context_relevance")
            },
            waiting=waiting,
            oldest_waiting=oldest,
            canary=canary,
            agreement=agreement,
            last_run_at=next((row["read_at"] for row in self._pipeline.readings(now, limit=1)), None),
            emptiness=None if found.tally.graded else emptiness(progress),
            progress=progress,
        )

    def canary(self, version: JudgeVersion | None) -> CanaryReport | None:
        """The newest canary of a judge version, None before the first."""
        rows = self._pipeline.canaries(limit=20) if version else []
        mine = [r for r in rows if version == JudgeVersion(model=r["judge_model"], prompt_version=r["prompt_version"])]
        if not mine or version is None:
            return None
        row = mine[0]
        return CanaryReport(
            version=version,
            asked_at=row["asked_at"],
            healthy=row["healthy"],
            asked=row["asked"],
            right_verdicts=row["right_verdicts"],
            failures=tuple(row["failures"]),
        )

    def agreement(self, version: JudgeVersion | None) -> Agreement | None:
        """How far a judge version agrees with experts, None before the first calibration."""
        if version is None:
            return None
        rows = self._pipeline.calibration(version.model, version.prompt_version)
        row = next((row for row in rows if row["label_kind"] == "expert_outcome"), None)
        if row is None:
            return None
        kappa: Mapping[str, Any] = row["statistics"].get("kappa") or {}
        return Agreement(kappa=kappa.get("value"), n=row["n"], day=str(row["day"]), reason=kappa.get("reason"))

    def filter_values(self, now: datetime) -> dict[str, list[str]]:
        """What the filters offer: values of the last 90 days."""
        since = (now - timedelta(days=90)).date()
        return self._memory.recall(("filters", since), lambda: self._sums.filter_values(since))

    def waiting(self, now: datetime) -> tuple[int, datetime | None]:
        """Turns that wait for a score, and the hour of the oldest."""
        return self._sums.waiting(now)

    def newest_graded_hour(self, before: datetime) -> datetime | None:
        """The newest hour with graded turns."""
        return self._sums.newest_graded_hour(before)

    def alert_states(self) -> Sequence[Mapping[str, Any]]:
        """The states of the first 500 alerts, those that fire first; `alert_counts` tells of all."""
        return self._memory.recall("alerts", lambda: self._pipeline.alert_states(limit=_MOST_STATES))

    def alert_counts(self) -> AlertCounts:
        """How many alerts there are, however many are listed."""
        return self._memory.recall("alert_counts", lambda: counts_of(self._pipeline.alert_counts()))

    @property
    def pipeline(self) -> PostgresPipeline:
        """What the pipeline keeps of itself."""
        return self._pipeline

    def _judge(self, version: Version) -> JudgeVersion | None:
        if version[0]:
            return JudgeVersion(model=version[0], prompt_version=version[1])
        newest = self._pipeline.canaries(limit=1)
        return next(
            (JudgeVersion(model=row["judge_model"], prompt_version=row["prompt_version"]) for row in newest), None
        )

    def _usual(self, found: QualitySummary) -> CallCounts:
        start = found.period.window.start
        return self._sums.calls(Window(start - _BASELINE, start), found.chosen)[0]

    def _alert(self, chosen: QualityFilter) -> AlertStand | None:
        """The worst state of the rule on low faithfulness among the subjects that are looked at."""
        # No limit: what is cut off may be the subjects that are looked at.
        of_rule = self._memory.recall(("alerts", _RULE), lambda: self._pipeline.alert_states(rule=_RULE))
        states = [row for row in of_rule if self._is_meant(row, chosen)]
        if not states:
            return None
        active = [row for row in states if row["status"] in {"firing", "recovering"}]
        critical = [row for row in active if row["severity"] == "critical"]
        worst = next(iter(critical or active), None)
        if worst is None:
            return AlertStand(level=Level.GOOD)
        return AlertStand(
            level=Level.CRITICAL if critical else Level.WARNING, since=worst["since"], sentence=worst["sentence"]
        )

    def _is_meant(self, row: Mapping[str, Any], chosen: QualityFilter) -> bool:
        environment, *subject = row["subject"]
        wanted = (chosen.tenant, chosen.surface, chosen.engine)
        parts = zip(wanted, subject, strict=False)
        return environment == self._settings.alerts.environment and all(
            want is None or want == part for want, part in parts
        )

    def _progress(self, found: QualitySummary) -> Progress:
        quality, tally, calls = self._settings.rag_quality, found.tally, found.calls
        everything = QualityFilter()
        elsewhere = (
            total(self._sums.tallies(found.period.window, everything).values()).graded
            if found.chosen.is_set and not tally.graded
            else 0
        )
        return Progress(
            is_enabled=quality.enabled,
            has_judge=quality.judge_model is not None,
            examined=calls.read,
            recognised=calls.synthesis + calls.sampled_out,
            parsed=calls.parsed,
            attempted=calls.parse_attempted,
            waiting=tally.pending,
            failures=tally.failures,
            skipped=tally.skipped,
            newest_call_at=found.newest_call_at,
            is_filtered=found.chosen.is_set,
            elsewhere=elsewhere,
        )


def counts_of(rows: Iterable[Mapping[str, Any]]) -> AlertCounts:
    """Adds up rows of status, severity and count."""
    by_status = {str(status): 0 for status in AlertStatus}
    grave = 0
    for row in rows:
        by_status[row["status"]] += row["count"]
        grave += row["count"] if row["severity"] in GRAVE else 0
    return AlertCounts(by_status=by_status, grave=grave)


def until(period: Period, now: datetime) -> datetime:
    """The instant up to which numbers of the period can say anything."""
    return min(period.window.end, max(now, floor_hour(now)))
