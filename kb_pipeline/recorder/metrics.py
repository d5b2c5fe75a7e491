"""What a producer shows to Prometheus: the health of its retrievals, and what became of their events.

Belongs here: names, labels and buckets. Does not: serving them; that is the application's own /metrics.
"""

import os
import threading
from collections.abc import Collection
from dataclasses import dataclass
from weakref import WeakKeyDictionary

from prometheus_client import REGISTRY, CollectorRegistry, Counter, Histogram

from kb_pipeline.recorder.drops import LABELS
from kb_pipeline.records.retrieval import RetrievalEvent
from kb_pipeline.retrieval.events import OTHER_ENGINE

# Twentieths of [0, 1], where similarities and re-rankers score, then room for full-text scores.
SCORE_BUCKETS = (0.0, *(step / 20 for step in range(1, 21)), 2.0, 5.0, 10.0, 20.0, 50.0)
LATENCY_BUCKETS_MS = (5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10000)


# The locks of the client library are not mended after a fork: no other thread may hold one just then.
_counting = threading.RLock()
os.register_at_fork(before=_counting.acquire, after_in_parent=_counting.release, after_in_child=_counting.release)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Collectors:
    retrievals: Counter
    empty: Counter
    top_score: Histogram
    latency: Histogram
    dropped: Counter
    enqueued: Counter


class RetrievalMetrics:
    """The four metrics of retrieval health, counted where retrieval happens; the only label is `engine`.

    `kb_retrieval_total`, `kb_retrieval_empty_total` (nothing was found), `kb_retrieval_top_score` (the first result's
    score) and `kb_retrieval_latency_ms`. For an application that puts its jobs on the queue itself; the recorder counts
    by itself. `registry` may be used by several of these; with None nothing is exposed.
    """

    def __init__(self, *, engines: Collection[str], registry: CollectorRegistry | None = REGISTRY) -> None:
        collectors = _collectors_of(registry)
        # Made now, so that an engine that never found anything shows zeros instead of no series.
        self._by_engine = {
            engine: (
                collectors.retrievals.labels(engine),
                collectors.empty.labels(engine),
                collectors.top_score.labels(engine),
                collectors.latency.labels(engine),
            )
            for engine in (*engines, OTHER_ENGINE)
        }

    def observe(self, event: RetrievalEvent) -> None:
        """Count one retrieval, unless it was a shadow run; an engine that is not configured counts as "other"."""
        if event.shadow:
            return
        retrievals, empty, top_score, latency = self._by_engine.get(event.engine, self._by_engine[OTHER_ENGINE])
        score = event.retrieved[0].score if event.retrieved else None
        with _counting:
            retrievals.inc()
            if event.result_count == 0:
                empty.inc()
            if score is not None:
                top_score.observe(score)
            if event.latency_ms is not None:
                latency.observe(event.latency_ms)


class DeliveryMetrics:
    """`kb_retrieval_events_enqueued_total` and `kb_retrieval_events_dropped_total` by `reason`."""

    def __init__(self, registry: CollectorRegistry | None = REGISTRY) -> None:
        collectors = _collectors_of(registry)
        self._enqueued = collectors.enqueued
        self._dropped = {label: collectors.dropped.labels(label) for label in LABELS}

    def enqueued(self, events: int) -> None:
        """Count events that the queue has taken."""
        with _counting:
            self._enqueued.inc(events)

    def dropped(self, label: str, events: int = 1) -> None:
        """Count events that are gone; `label` is one of `LABELS`."""
        with _counting:
            self._dropped[label].inc(events)


# A registry takes each name once; a second recorder in the same process counts on.
_known: WeakKeyDictionary[CollectorRegistry, _Collectors] = WeakKeyDictionary()


def _collectors_of(registry: CollectorRegistry | None) -> _Collectors:
    if registry is None:
        return _new_collectors(None)
    if registry not in _known:
        _known[registry] = _new_collectors(registry)
    return _known[registry]


def _new_collectors(registry: CollectorRegistry | None) -> _Collectors:
    by_engine = ("engine",)
    return _Collectors(
        retrievals=Counter("kb_retrieval", "Retrievals.", by_engine, registry=registry),
        empty=Counter("kb_retrieval_empty", "Retrievals that found nothing.", by_engine, registry=registry),
        top_score=Histogram(
            "kb_retrieval_top_score",
            "Score of a retrieval's first result, on the engine's own scale.",
            by_engine,
            buckets=SCORE_BUCKETS,
            registry=registry,
        ),
        latency=Histogram(
            "kb_retrieval_latency_ms",
            "Duration of a retrieval in milliseconds.",
            by_engine,
            buckets=LATENCY_BUCKETS_MS,
            registry=registry,
        ),
        dropped=Counter(
            "kb_retrieval_events_dropped", "Events that did not reach the queue.", ("reason",), registry=registry
        ),
        enqueued=Counter("kb_retrieval_events_enqueued", "Events that the queue has taken.", registry=registry),
    )
