"""From a job on the queue to an event that is kept: BullMQ's worker, and what is done with each job.

Belongs here: how BullMQ is used, and kept going whatever comes. Does not: batches, the rules of reading a job.
"""

import asyncio
from collections.abc import Collection, Mapping
from datetime import UTC, datetime
from typing import Any

import bullmq  # type: ignore[import-untyped]
from bullmq.custom_errors import DelayedError, UnrecoverableError  # type: ignore[import-untyped]
from redis.exceptions import ResponseError

from kb_pipeline.adapters.postgres.retrieval.events import EventsRefused, Kept
from kb_pipeline.ports import Clock
from kb_pipeline.retrieval.events import Rejected, read_job
from kb_pipeline.retrieval.events.wire import KEEP_COMPLETED, KEEP_FAILED_S
from kb_pipeline.worker.batching import Batcher, HandedBack
from kb_pipeline.worker.faults import FaultKind, Faults
from kb_pipeline.worker.metrics import UNSTORABLE, WorkerMetrics
from kb_pipeline.worker.raw_jobs import readable, usable_options

CONCURRENCY = 64
FETCHES = 16
"""Jobs asked for at once: enough to fill a batch, few enough to leave a server alone whose queue is empty."""
ERROR_PAUSE_S = 1.0
IDLE_S = 0.01
LONGEST_REFUSAL = 120
EARLIEST = datetime(2020, 1, 1, tzinfo=UTC)
OPTIONS: Mapping[str, Any] = {
    "autorun": False,
    "concurrency": CONCURRENCY,
    # A killed worker's jobs are taken up again ten to fifteen seconds later.
    "lockDuration": 10_000,
    "stalledInterval": 5_000,
    # What brings down its worker six times is failed, and kept for a person.
    "maxStalledCount": 5,
    "runRetryDelay": 1_000,
    # Where the producer gave none: by default they would stay for ever.
    "removeOnComplete": {"count": KEEP_COMPLETED},
    "removeOnFail": {"age": KEEP_FAILED_S},
}


class Consumer:
    """What is done with each job. `in_flight` and `finished_at` (monotonic) tell whether it gets on."""

    def __init__(self, *, engines: Collection[str], batcher: Batcher, metrics: WorkerMetrics, clock: Clock) -> None:
        self._engines = frozenset(engines)
        self._batcher = batcher
        self._metrics = metrics
        self._clock = clock
        self.in_flight = 0
        self.finished_at = clock.monotonic()

    async def process(self, job: bullmq.Job, token: str) -> str:
        """Keep the event of one job; the answer, BullMQ's return value, is what became of it.

        Raises UnrecoverableError, which fails the job for good, with the reason; DelayedError where the job was put
        back.
        """
        self.in_flight += 1
        try:
            return await self._kept(job)
        except HandedBack:
            await job.moveToDelayed(_milliseconds(self._clock.now()), token)
            raise DelayedError from None
        finally:
            self.in_flight -= 1
            self.finished_at = self._clock.monotonic()

    async def _kept(self, job: bullmq.Job) -> str:
        read = read_job(job.data, received_at=self._received_at(job), engines=self._engines)
        if isinstance(read, Rejected):
            raise self._rejection(read.reason, read.detail)
        try:
            kept = await self._batcher.keep(read.event)
        except EventsRefused as refused:
            raise self._rejection(UNSTORABLE, str(refused)) from None
        for note in read.notes:
            self._metrics.cleaned.labels(note).inc()
        if kept is Kept.ID_TAKEN:
            # Counted where the others are.
            raise UnrecoverableError(f"{kept}: a different event is kept under this id; give every event its own")
        return str(kept)

    def _rejection(self, reason: str, detail: str) -> UnrecoverableError:
        self._metrics.rejected.labels(reason).inc()
        return UnrecoverableError(f"{reason}: {detail}")

    def _received_at(self, job: bullmq.Job) -> datetime:
        """When the job was put on the queue, by its producer's clock; now where that cannot be."""
        now = self._clock.now()
        try:
            queued = datetime.fromtimestamp(job.timestamp / 1000, UTC)
        except (ValueError, OverflowError, OSError):
            return now
        return queued if EARLIEST <= queued <= now else now


class EventWorker(bullmq.Worker):  # type: ignore[misc] # bullmq is untyped
    """BullMQ's worker, which asks for few jobs at a time and reads whatever lies in the queue.

    `in_hand` are the jobs it has taken and not done. `refused_at` (of the event loop's clock) is when the queue last
    refused a command, `unfinished` the number of jobs since it was last reset whose end the queue would not note,
    `stalled` that of jobs taken up again.
    """

    def __init__(self, queue: str, consumer: Consumer, options: Mapping[str, Any], faults: Faults) -> None:
        super().__init__(queue, consumer.process, {**OPTIONS, **options})
        self.in_hand = 0
        self.refused_at = float("-inf")
        self.unfinished = 0
        self.stalled = 0
        self._fetching = asyncio.Semaphore(FETCHES)
        self._fetches = 0
        self._is_finishing = False
        # BullMQ's worker notes the end of a job and asks for the next one in two calls, where one would do.
        self._complete = self.backend.moveToCompleted
        self.backend.moveToCompleted = self._complete_and_fetch
        self._following: dict[str, Any] = {}
        self._faults = faults
        self.on("error", self._hear_error)
        self.on("stalled", self._hear_stalled)

    async def finish(self) -> None:
        """Take no more jobs; returns when those in hand are done.

        BullMQ's own `close` leaves a job that arrives in this moment to whoever finds it stalled.
        """
        self._is_finishing = True
        while self._fetches or self.in_hand:
            if self.waiting:
                self.waiting.cancel()
            await asyncio.sleep(IDLE_S)

    async def getNextJob(self, token: str) -> bullmq.Job | None:  # noqa: N802 bullmq's name
        """The next job; None while one that waits for work tells that there is none."""
        async with self._fetching:
            pause = self.refused_at + ERROR_PAUSE_S - asyncio.get_running_loop().time()
            if pause > 0:
                await asyncio.sleep(pause)
            if self._is_finishing:
                # Asked again at once until it is closed.
                await asyncio.sleep(IDLE_S)
            elif not self.closing and not self.waiting:
                return await self._fetched(token)
            return None

    async def processJob(self, job: bullmq.Job | None, token: str) -> None:  # noqa: N802 bullmq's name
        """Do a job that `getNextJob` gave, and those that follow it while there are any."""
        while job is not None:
            try:
                await super().processJob(job, token)
            finally:
                self.in_hand -= 1
            job = await self._next_of(token)

    async def nextJobFromJobData(self, job_data: dict[str, str] | None = None, *place: Any) -> bullmq.Job | None:  # noqa: N802
        """The job of these fields, as `job_data` and `place` (its id, …) came from the queue."""
        try:
            job = await super().nextJobFromJobData(job_data, *place)
        except (ValueError, TypeError, AttributeError, RecursionError):
            if not job_data:
                raise
            # The job is active already, and would stay so for ever.
            job = await super().nextJobFromJobData(readable(job_data), *place)
        if job is not None:
            job.opts = usable_options(job.opts)
        return job

    async def _fetched(self, token: str) -> bullmq.Job | None:
        self._fetches += 1
        try:
            job = await super().getNextJob(token)
        except asyncio.CancelledError:
            if self._is_finishing:
                return None
            raise
        finally:
            self._fetches -= 1
        self.in_hand += job is not None
        return job

    async def _complete_and_fetch(self, job: bullmq.Job, value: Any, keep: Any, token: str, **_options: Any) -> Any:
        is_going_on = not self._is_finishing and not self.closing
        moved = await self._complete(job, value, keep, token, fetch_next=is_going_on)
        self._following[token] = moved["result"]
        return moved

    async def _next_of(self, token: str) -> bullmq.Job | None:
        """The job that came with the end of the last one under this token."""
        fields, *place = self._following.pop(token, None) or (None,)
        if not fields:
            return None
        try:
            job = await self.nextJobFromJobData(fields, *place, token)
        except Exception as error:  # noqa: BLE001 BullMQ would print it line by line
            self.emit("error", error)
            return None
        self.in_hand += job is not None
        return job

    def _hear_error(self, error: BaseException, *_about: object) -> None:
        """What the queue refuses is asked for more slowly; messages of other kinds may hold a foreign job's id."""
        if self.isConnectionError(error):
            return
        if isinstance(error, ResponseError):
            self.refused_at = asyncio.get_running_loop().time()
            self._faults.begin(FaultKind.REFUSED, f"the queue refuses a command: {str(error)[:LONGEST_REFUSAL]}")
        else:
            self.unfinished += 1

    def _hear_stalled(self, _job_id: str) -> None:
        self.stalled += 1


def _milliseconds(instant: datetime) -> int:
    return int(instant.timestamp() * 1000)
