"""What a Python application calls after it saved a draft: clean, count, keep in memory, return.

Belongs here: the recorder and its life, forks and the end of the process included. Does not: the thread that sends.
"""

import atexit
import os
import threading
from collections.abc import Callable, Collection
from contextlib import suppress
from functools import partial
from types import TracebackType
from typing import Self
from weakref import WeakSet

import msgspec
from prometheus_client import REGISTRY, CollectorRegistry

from kb_pipeline.adapters.clock import SystemClock
from kb_pipeline.ports import Clock
from kb_pipeline.recorder.buffer import Buffer, Entry
from kb_pipeline.recorder.drops import DropReason, rejected
from kb_pipeline.recorder.metrics import DeliveryMetrics, RetrievalMetrics
from kb_pipeline.recorder.pump import Pump
from kb_pipeline.recorder.report import DropReport
from kb_pipeline.recorder.sender import Sender
from kb_pipeline.records.retrieval import RetrievalEvent, SearchEvent
from kb_pipeline.retrieval.events import Rejected, job_id, job_of, read_job

DEFAULT_QUEUE = "kb-retrieval-event"
DEFAULT_ENGINES = ("hybrid", "keyword")
MAX_EVENTS = 10_000
MAX_BYTES = 32 * 1024 * 1024
MAX_EVENT_BYTES = 256 * 1024
CLOSING_S = 2.0

Event = RetrievalEvent | SearchEvent
EXPECTED = "an event object is expected: RetrievalEvent or SearchEvent, or a callable that makes one"


class RetrievalRecorder:
    """Puts events on the queue from a thread of its own. One per process; any thread may record.

    Events wait in memory, at most `max_events` of them and `max_bytes` of JSON, while the server at `redis_url` is
    away; the newest are dropped when no more fit, and every event that is dropped is counted by its reason. What the
    server did not answer within `timeout_s` (seconds; longer where it is slow and steady) is sent again; its job id
    keeps it from being there twice. The end of the process waits up to `closing_s` seconds for what is still here.
    Raises SettingsError for a URL that cannot be read, and nothing afterwards.
    """

    _pump: Pump | None
    _starting: threading.Lock

    def __init__(
        self,
        redis_url: str,
        *,
        queue: str = DEFAULT_QUEUE,
        engines: Collection[str] = DEFAULT_ENGINES,
        prefix: str = "bull",
        registry: CollectorRegistry | None = REGISTRY,
        max_events: int = MAX_EVENTS,
        max_bytes: int = MAX_BYTES,
        max_event_bytes: int = MAX_EVENT_BYTES,
        timeout_s: float = 0.05,
        closing_s: float = CLOSING_S,
        clock: Clock | None = None,
    ) -> None:
        self._clock = clock or SystemClock()
        self._engines = tuple(engines)
        self._retrievals = RetrievalMetrics(engines=self._engines, registry=registry)
        self._deliveries = DeliveryMetrics(registry)
        self._max_event_bytes = max_event_bytes
        self._timeout_s = timeout_s
        self._closing_s = closing_s
        self._new_sender = partial(Sender, redis_url, queue=queue, prefix=prefix)
        self._new_buffer = partial(Buffer, max_events=max_events, max_bytes=max_bytes)
        # Only to refuse a wrong URL here and now.
        self._new_sender()
        self._begin()
        _recorders.add(self)
        atexit.register(self.close)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    @property
    def waiting(self) -> int:
        """How many events wait for the queue."""
        return len(self._buffer)

    def record(self, event: Event | Callable[[], Event]) -> bool:
        """Count a retrieval and keep its event for the queue; False when it was dropped. Never raises, never waits.

        Given a function, the event is what it returns: then making it cannot fail the caller either.
        """
        try:
            given = event() if callable(event) else event
            if isinstance(given, Event):
                return self._take(given)
            detail = EXPECTED
        except Exception as error:  # noqa: BLE001 the application's answer matters more than its event
            detail = f"{type(error).__name__} while it was made or read"
        self._drop(DropReason.UNREADABLE, detail=detail)
        # The pump writes the log, also where no event has ever been good.
        with suppress(Exception):
            self._keep_pumping()
        return False

    def close(self, timeout: float | None = None) -> None:
        """Take nothing any more, and give what waits `timeout` seconds to reach the queue; the rest is dropped.

        Called at the end of the process. Without a `timeout` it is `closing_s`. An event that was on its way when the
        time was over counts as dropped and may still arrive.
        """
        atexit.unregister(self.close)
        self._buffer.close()
        if self._pump is not None:
            self._pump.join(self._closing_s if timeout is None else timeout)
        if abandoned := self._buffer.abandon():
            self._drop(DropReason.CLOSED, abandoned)
        self._report.say(at_once=True)

    def _take(self, event: Event) -> bool:
        got = read_job(job_of(event), received_at=self._clock.now(), engines=self._engines)
        drop = rejected(got.reason) if isinstance(got, Rejected) else self._keep(got.event)
        if drop is not None:
            self._drop(drop, detail=got.detail if isinstance(got, Rejected) else "")
        self._keep_pumping()
        return drop is None

    def _keep(self, event: Event) -> DropReason | None:
        if isinstance(event, RetrievalEvent):
            self._retrievals.observe(event)
        entry = Entry(job_id(event), msgspec.json.encode(job_of(event)))
        return DropReason.TOO_LARGE if len(entry.data) > self._max_event_bytes else self._buffer.offer(entry)

    def _drop(self, label: str, events: int = 1, *, detail: str = "") -> None:
        self._deliveries.dropped(label, events)
        self._report.note(label, events, detail=detail)

    def _keep_pumping(self) -> None:
        if self._buffer.is_closing or (self._pump is not None and self._pump.is_alive()):
            return
        # Without room for another thread the events wait, and the next one tries again.
        with self._starting, suppress(RuntimeError):
            if self._pump is None or not self._pump.is_alive():
                pump = self._new_pump()
                pump.start()
                self._pump = pump

    def _new_pump(self) -> Pump:
        return Pump(
            self._buffer,
            self._new_sender(),
            self._clock,
            timeout_s=self._timeout_s,
            on_sent=self._deliveries.enqueued,
            on_dropped=self._drop,
            on_turn=self._report.say,
        )

    def _begin(self) -> None:
        """Also after a fork: no thread came along, locks are as others held them, and what waits is the parent's."""
        self._buffer = self._new_buffer()
        self._report = DropReport(self._clock)
        self._pump = None
        self._starting = threading.Lock()


_recorders: WeakSet[RetrievalRecorder] = WeakSet()


def _begin_all_in_child() -> None:
    for recorder in _recorders:
        recorder._begin()  # noqa: SLF001 the same module


os.register_at_fork(after_in_child=_begin_all_in_child)
