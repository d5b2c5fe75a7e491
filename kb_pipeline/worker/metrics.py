"""What the worker counts, for Prometheus; every series exists from the start, so that a rate knows its zero.

Belongs here: names, labels, buckets. Does not: when something is counted.
No label has more values than are listed here.
"""

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

from kb_pipeline.adapters.postgres.retrieval.events import Event, Kept
from kb_pipeline.records.retrieval import RetrievalEvent
from kb_pipeline.retrieval.events import Note, Reason
from kb_pipeline.worker.faults import FaultKind

UNSTORABLE = "unstorable"
"""The reason of a job whose event the database refuses."""
ID_TAKEN = str(Kept.ID_TAKEN)
"""The reason of a job whose event has the id of a different one."""
STATES = ("wait", "active", "delayed", "prioritized", "paused", "completed", "failed")
"""BullMQ's names for where a job may be."""
_RETRIEVAL = "retrieval"
_BATCHES = (1, 2, 4, 8, 16, 32, 64)
_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)


class WorkerMetrics:
    """The worker's metrics in a registry of their own."""

    def __init__(self) -> None:
        self.registry = registry = CollectorRegistry()
        self._events = Counter(
            "kb_pipeline_worker_events", "Events that are kept.", ("type", "result"), registry=registry
        )
        self._conflicts = Counter(
            "kb_event_conflict", "Second, different events of a message; kept apart.", registry=registry
        )
        self.rejected = Counter(
            "kb_pipeline_worker_rejected", "Jobs that hold no event that can be kept.", ("reason",), registry=registry
        )
        self.cleaned = Counter(
            "kb_pipeline_worker_cleaned", "Events that were cleaned, by what was.", ("note",), registry=registry
        )
        self.stalled = Counter(
            "kb_pipeline_worker_stalled_jobs", "Jobs taken up again that a worker had left.", registry=registry
        )
        self.rescued = Counter(
            "kb_pipeline_worker_rescued_jobs",
            "Jobs moved aside whose id the queue needs for itself.",
            registry=registry,
        )
        self.batch = Histogram(
            "kb_pipeline_worker_batch_events", "Events in one insert.", buckets=_BATCHES, registry=registry
        )
        self.insert = Histogram(
            "kb_pipeline_worker_insert_seconds", "Duration of one insert.", buckets=_SECONDS, registry=registry
        )
        self.jobs = Gauge("kb_pipeline_worker_queue_jobs", "Jobs in the queue by state.", ("state",), registry=registry)
        self.oldest = Gauge(
            "kb_pipeline_worker_oldest_waiting_seconds", "Age of the job that is next; 0 for none.", registry=registry
        )
        self.last_success = Gauge(
            "kb_pipeline_worker_last_success_timestamp_seconds", "When an event was last kept.", registry=registry
        )
        self.fault = Gauge(
            "kb_pipeline_worker_fault",
            "1 while something keeps the worker from its work.",
            ("kind",),
            registry=registry,
        )
        self._name_all_series()

    def count_kept(self, event: Event, kept: Kept) -> None:
        """Count one event by what became of it; an id that is taken counts among the rejected."""
        if kept is Kept.ID_TAKEN:
            self.rejected.labels(ID_TAKEN).inc()
            return
        # Looking a series up by its labels costs more than counting.
        self._kept[isinstance(event, RetrievalEvent), kept].inc()
        if kept is Kept.CONFLICT:
            self._conflicts.inc()

    def _name_all_series(self) -> None:
        self._kept = {
            (kind == _RETRIEVAL, result): self._events.labels(kind, result)
            for kind in (_RETRIEVAL, "search")
            for result in (Kept.WRITTEN, Kept.DUPLICATE, Kept.CONFLICT)
        }
        for reason in (*Reason, UNSTORABLE, ID_TAKEN):
            self.rejected.labels(reason)
        for note in Note:
            self.cleaned.labels(note)
        for state in STATES:
            self.jobs.labels(state)
        for fault in FaultKind:
            self.fault.labels(fault)
