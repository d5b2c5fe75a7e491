"""The worker put together, started and stopped.

Belongs here: what runs beside what, in which order it starts and ends, signals. Does not: the work.
"""

import asyncio
import logging
import os
import signal
import threading
from collections.abc import Callable, Collection, Mapping
from dataclasses import asdict
from typing import Any

from kb_pipeline.adapters.clock import SystemClock
from kb_pipeline.adapters.postgres.retrieval.events import PostgresEventStore
from kb_pipeline.adapters.postgres.retrieval.recorder import recorder_database
from kb_pipeline.counting import counted
from kb_pipeline.errors import QueueError
from kb_pipeline.settings import Settings
from kb_pipeline.worker.batching import Batcher, SavingThread
from kb_pipeline.worker.consuming import Consumer, EventWorker
from kb_pipeline.worker.faults import Faults
from kb_pipeline.worker.metrics import WorkerMetrics
from kb_pipeline.worker.patrol import Patrol
from kb_pipeline.worker.queue_server import FAILURES, QueueServer, close_connections, probe
from kb_pipeline.worker.serving import StatusServer

log = logging.getLogger("kb_pipeline.worker")

GRACE_S = 5.0
"""How long a stopping worker waits for the jobs in hand, before it leaves them to the next."""
FORCE_S = 2.0
SILENT_S = 30.0
SIGNALS = (signal.SIGTERM, signal.SIGINT)


def run_worker(settings: Settings, *, announce: Callable[[str], None] | None = None) -> None:
    """Consume the queue until SIGTERM or SIGINT; returns when the jobs in hand are done.

    `announce` hears in one sentence what is consumed, and where health and metrics are. A second signal ends the
    process at once. Raises KbPipelineError when the queue, the database or the port cannot be used at the start,
    SettingsError where retrieval is switched off; whatever fails later is waited for.
    """
    retrieval = settings.retrieval
    server = QueueServer.configured(retrieval)
    with recorder_database(settings.database_url) as database:
        store = PostgresEventStore(database)
        store.check()
        worker = QueueWorker(server, store, engines=retrieval.engines)
        with StatusServer(
            retrieval.worker_host, retrieval.worker_port, registry=worker.metrics.registry, health=worker.health
        ) as status:
            place = f"consuming {server.queue} at {server.address}; /metrics and /healthz at {status.address}"
            asyncio.run(_until_told(worker, lambda: announce(place) if announce else None))


async def _until_told(worker: "QueueWorker", ready: Callable[[], None]) -> None:
    stop = asyncio.Event()
    if threading.current_thread() is threading.main_thread():
        for number in SIGNALS:
            asyncio.get_running_loop().add_signal_handler(number, _stop, stop)
    await worker.consume(stop, ready=ready)
    if not worker.is_closed:
        # What BullMQ still waits for holds out against the end of the event loop too.
        os._exit(0)


def _stop(stop: asyncio.Event) -> None:
    """Stop, and let a second signal end the process at once, whatever the event loop is doing then."""
    stop.set()
    for number in SIGNALS:
        asyncio.get_running_loop().remove_signal_handler(number)
        signal.signal(number, lambda again, _frame: os._exit(128 + again))


class QueueWorker:
    """One worker of one queue, in the event loop that runs it. `health` may be asked from any thread.

    `is_closed` is false where it was told to stop and something of it still waits.
    """

    def __init__(self, server: QueueServer, store: PostgresEventStore, *, engines: Collection[str]) -> None:
        self._server = server
        self._clock = SystemClock()
        self.metrics = WorkerMetrics()
        self.faults = Faults(self._clock, lambda kind, is_there: self.metrics.fault.labels(kind).set(is_there))
        self._batcher = Batcher(SavingThread(store.save), faults=self.faults, metrics=self.metrics, clock=self._clock)
        self._consumer = Consumer(engines=engines, batcher=self._batcher, metrics=self.metrics, clock=self._clock)
        self._patrol: Patrol | None = None
        self._is_stopping = False
        self.is_closed = True

    async def consume(self, stop: asyncio.Event, *, ready: Callable[[], None]) -> None:
        """Consume until `stop`; `ready` is called once the queue answers. Raises QueueError when it does not."""
        await self._greet()
        options = self._server.patient()
        worker = EventWorker(self._server.queue, self._consumer, options, self.faults)
        try:
            await self._open(worker)
            ready()
            await self._work(worker, stop)
        finally:
            await close_connections(options)

    def health(self) -> tuple[bool, Mapping[str, Any]]:
        """Whether all is well, and the facts of /healthz."""
        reasons = [asdict(fault) | {"since": fault.since.isoformat()} for fault in self.faults.present()]
        silent_s = self._clock.monotonic() - self._patrol.looked_at if self._patrol else 0.0
        if silent_s > SILENT_S:
            reasons.append({"kind": "silent", "sentence": f"the worker has not looked round for {silent_s:.0f} s"})
        if self._is_stopping:
            reasons.append({"kind": "stopping", "sentence": "the worker was told to stop"})
        facts = {
            "status": "failing" if reasons else "ok",
            "reasons": reasons,
            "queue": self._server.queue,
            "jobs_in_hand": self._consumer.in_flight,
        }
        return not reasons, facts

    async def _greet(self) -> None:
        answer = await probe(self._server)
        log.info("%s", answer.description)
        if answer.objection:
            log.warning("%s", answer.objection)

    async def _open(self, worker: EventWorker) -> None:
        """BullMQ makes its tables now, where it needs any."""
        try:
            await worker.backend.waitUntilReady()
        except FAILURES as error:
            raise self._server.unusable(error) from None

    async def _work(self, worker: EventWorker, stop: asyncio.Event) -> None:
        self._patrol = Patrol(
            self._server, worker, self._consumer, faults=self.faults, metrics=self.metrics, clock=self._clock
        )
        told = asyncio.ensure_future(stop.wait())
        working = [asyncio.ensure_future(each) for each in (worker.run(), self._batcher.run(), self._patrol.run())]
        try:
            await asyncio.wait([told, *working], return_when=asyncio.FIRST_COMPLETED)
            ended = [task for task in working if task.done()]
            await self._stop(worker)
        finally:
            await _end([told, *working])
        for task in ended:
            # Neither ends by itself: a supervisor starts the process again, and what it had in hand is not lost.
            raise QueueError("the worker ended by itself; start it again") from task.exception()

    async def _stop(self, worker: EventWorker) -> None:
        self._is_stopping = True
        log.info("stopping, with %s in hand", counted(worker.in_hand, "job"))
        self._batcher.stop_waiting()
        finishing = asyncio.ensure_future(worker.finish())
        await asyncio.wait([finishing], timeout=GRACE_S)
        is_late = not finishing.done()
        if is_late:
            finishing.cancel()
            left = counted(worker.in_hand, "job")
            log.warning("left %s in hand to the next worker, since not everything could be finished", left)
        # Waited for, and not in a timeout: BullMQ's close holds out against being cancelled.
        closing = asyncio.ensure_future(worker.close(force=is_late))
        await asyncio.wait([closing], timeout=FORCE_S)
        self.is_closed = closing.done()
        log.info("stopped")


async def _end(tasks: Collection["asyncio.Future[Any]"]) -> None:
    """Cancel the tasks until they have ended: a library may swallow a cancellation on its way."""
    pending = set(tasks)
    while pending:
        for task in pending:
            task.cancel()
        _, pending = await asyncio.wait(pending, timeout=FORCE_S)
