"""/metrics: the pipeline's own numbers, computed when they are asked for.

Belongs here: names, labels and meanings of gauges. Does not: the seed metrics of retrieval, which the producer counts;
the worker's. What is not known has no sample: it is never 0.
"""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime

from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from kb_pipeline.adapters.notify import delivery_families
from kb_pipeline.dashboard.filters import QualityFilter, RetrievalFilter
from kb_pipeline.dashboard.periods import Period, period_of, zone_of
from kb_pipeline.dashboard.quality_words import Level
from kb_pipeline.dashboard.retrieval_words import ALL
from kb_pipeline.dashboard.sums import ASPECTS, Tally
from kb_pipeline.records import JudgeVersion, OutboxHealth
from kb_pipeline.service.reading import QualityNow, QualityReading
from kb_pipeline.service.retrieval_reading import RetrievalReading
from kb_pipeline.settings import Settings

_STATES = ("graded", "pending", "errors", "failed", "skipped", "disabled")


class PipelineMetrics(Collector):
    """Gauges over the last 24 hours as of an instant, and the state of backlog, judge and alerts."""

    def __init__(
        self,
        quality: QualityReading,
        retrieval: RetrievalReading,
        settings: Settings,
        now: datetime,
        delivery: Sequence[OutboxHealth] = (),
    ) -> None:
        self._quality, self._retrieval, self._now, self._delivery = quality, retrieval, now, delivery
        self._surfaces = sorted(settings.rag_quality.surfaces)

    def collect(self) -> Iterator[Metric]:
        """Every family."""
        now = self._now
        day = period_of("24h", now=now, zone=zone_of("UTC"))
        found = {name: self._quality.summary(day, QualityFilter(surface=name)) for name in self._surfaces}
        yield from _quality({name: summary.tally for name, summary in found.items()})
        yield _family("parse_success_ratio", "Turns that could be read by the markers, of those that could be tried.", (
            (name, summary.calls.parse_success_rate) for name, summary in found.items()), "surface")  # fmt: skip
        everything = self._quality.summary(day, QualityFilter())
        yield from self._health(self._quality.now(everything, now=now), now)
        yield from self._searches(day)
        yield from self._alerts()
        yield from delivery_families(self._delivery)

    def _health(self, now: QualityNow, instant: datetime) -> Iterator[Metric]:
        oldest = (instant - now.oldest_waiting).total_seconds() if now.oldest_waiting else 0.0
        yield _one("backlog_turns", "Turns of the last four weeks that wait for a score.", now.waiting)
        yield _one("backlog_oldest_seconds", "Age of the hour of the oldest of them.", max(0.0, oldest))
        last_run = now.last_run_at.timestamp() if now.last_run_at else None
        yield _one("last_reading_timestamp_seconds", "When a run last read stored bodies.", last_run)
        healthy = now.canary.healthy if now.canary else None
        yield _one("judge_canary_healthy", "1 while the judge tells its canaries apart.", healthy)
        kappa = now.agreement.kappa if now.agreement else None
        yield _one("judge_agreement_kappa", "Cohen's kappa of judge and experts.", kappa)
        version: JudgeVersion | None = now.canary.version if now.canary else None
        yield _family(
            "judge_info", "The judge version that is asked.", [(version.model, 1)] if version else [], "model"
        )
        yield _one("quality_verdict", "0 good, 1 watch, 2 warning, 3 critical; absent without a verdict.", _rank(now))

    def _searches(self, day: Period) -> Iterator[Metric]:
        engines = [each for each in self._retrieval.summary(day, RetrievalFilter()).engines if each.name != ALL]
        served = [(each.name, each.found_nothing.whole) for each in engines]
        yield _family("retrievals", "Recorded retrievals of the last 24 hours.", served, "engine")
        empty = [(each.name, each.found_nothing.value) for each in engines]
        yield _family("retrieval_empty_ratio", "Those of them without a result.", empty, "engine")

    def _alerts(self) -> Iterator[Metric]:
        counts = self._quality.alert_counts().by_status
        yield _family("alerts", "Rules by state, over all subjects.", counts.items(), "state")


def _quality(tallies: dict[str, Tally]) -> Iterator[Metric]:
    turns = GaugeMetricFamily("kb_pipeline_turns", "Turns of the last 24 hours by state.", labels=("surface", "state"))
    means = GaugeMetricFamily(
        "kb_pipeline_score_mean", "Mean score of the last 24 hours.", labels=("surface", "aspect")
    )
    bounds = GaugeMetricFamily(
        "kb_pipeline_score_bound", "95 % interval of that mean.", labels=("surface", "aspect", "bound")
    )
    for surface, tally in tallies.items():
        for state in _STATES:
            turns.add_metric((surface, state), getattr(tally, state))
        for aspect in ASPECTS:
            moments = getattr(tally, aspect)
            interval = moments.interval()
            if moments.mean is not None and interval:
                means.add_metric((surface, aspect), moments.mean)
                bounds.add_metric((surface, aspect, "low"), interval[0])
                bounds.add_metric((surface, aspect, "high"), interval[1])
    yield from (turns, means, bounds)
    grounded = [
        (name, each.grounded / each.faithfulness.n if each.faithfulness.n else None) for name, each in tallies.items()
    ]
    yield _family("grounded_ratio", "Scored turns at or above the warning threshold.", grounded, "surface")
    refused = [(name, each.refused / each.turns if each.turns else None) for name, each in tallies.items()]
    yield _family("refusal_ratio", "Turns that were refused honestly.", refused, "surface")
    calls = [(name, each.judge_calls) for name, each in tallies.items()]
    yield _family("judge_calls", "Judge calls for turns of the last 24 hours.", calls, "surface")
    tokens = [(name, each.tokens) for name, each in tallies.items()]
    yield _family("judge_tokens", "Tokens of those calls.", tokens, "surface")


def _rank(now: QualityNow) -> int | None:
    order = [Level.GOOD, Level.WATCH, Level.WARNING, Level.CRITICAL]
    return order.index(now.verdict.level) if now.verdict.level in order else None


def _one(name: str, meaning: str, value: float | None) -> GaugeMetricFamily:
    family = GaugeMetricFamily(f"kb_pipeline_{name}", meaning)
    if value is not None:
        family.add_metric((), float(value))
    return family


def _family(name: str, meaning: str, values: Iterable[tuple[str, float | None]], label: str) -> GaugeMetricFamily:
    family = GaugeMetricFamily(f"kb_pipeline_{name}", meaning, labels=(label,))
    for labelled, value in values:
        if value is not None:
            family.add_metric((labelled,), float(value))
    return family
