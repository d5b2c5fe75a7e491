"""The round that the worker makes beside its work: how the queue is, whether it gets on, what stands in its way.

Belongs here: what is looked at and when, and what is said of it. Does not: moving jobs aside (rescue.py), HTTP.
"""

import asyncio
import logging
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field

import bullmq  # type: ignore[import-untyped]

from kb_pipeline.counting import counted
from kb_pipeline.ports import Clock
from kb_pipeline.worker.consuming import Consumer, EventWorker
from kb_pipeline.worker.faults import FaultKind, Faults
from kb_pipeline.worker.metrics import STATES, WorkerMetrics
from kb_pipeline.worker.queue_server import FAILURES, QueueServer, close_connections
from kb_pipeline.worker.rescue import Collisions, rescue, rescue_passed_over

log = logging.getLogger("kb_pipeline.worker")

ROUND_S = 1.0
ROUND_OF_A_DATABASE_S = 5.0
"""Where counting jobs reads them all."""
LOOK_SECONDS = 5.0
STUCK_S = 30.0
REFUSAL_OVER_S = 10.0
"""An idle worker asks for jobs every five seconds, so a refusal that lasts is heard again by then."""
SEARCH_EVERY_S = 3600.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Sight:
    """What one look at the queue saw; `oldest_s` is the age of the job that is next."""

    jobs: Mapping[str, int] = field(default_factory=dict)
    oldest_s: float = 0.0
    is_paused: bool = False
    collisions: Collisions = field(default_factory=Collisions)


class Patrol:
    """Looks at the queue every second. `looked_at` (monotonic) tells whether it, and so the event loop, still runs."""

    def __init__(
        self,
        server: QueueServer,
        worker: EventWorker,
        consumer: Consumer,
        *,
        faults: Faults,
        metrics: WorkerMetrics,
        clock: Clock,
    ) -> None:
        self._server = server
        self._worker = worker
        self._consumer = consumer
        self._faults = faults
        self._metrics = metrics
        self._clock = clock
        self._was_paused = False
        self.looked_at = clock.monotonic()

    async def run(self) -> None:
        """Make rounds until cancelled."""
        options = self._server.impatient()
        queue = bullmq.Queue(self._server.queue, options)
        search = asyncio.ensure_future(self._search(queue))
        try:
            while True:
                await self.round(queue)
                self.looked_at = self._clock.monotonic()
                await asyncio.sleep(ROUND_S if self._server.is_redis else ROUND_OF_A_DATABASE_S)
        finally:
            search.cancel()
            await queue.close()
            await close_connections(options)

    async def round(self, queue: bullmq.Queue) -> None:
        """One look, and what follows from it."""
        self._tell_of_jobs()
        try:
            async with asyncio.timeout(LOOK_SECONDS):
                sight = await self._look(queue)
        except FAILURES as error:
            self._faults.begin(FaultKind.QUEUE, f"{self._server.unusable(error)}; the worker waits for it")
            return
        self._faults.end(FaultKind.QUEUE, "the queue server answers again")
        self._measure(sight)
        self._judge(sight)

    async def _look(self, queue: bullmq.Queue) -> Sight:
        collisions = Collisions()
        if self._server.is_redis:
            collisions = await self._rescue(queue)
        if collisions.foreign:
            # Whoever counts jobs runs into those keys too.
            return Sight(collisions=collisions)
        counts: list[int] = await queue.backend.getCounts(list(STATES))
        return Sight(
            jobs={state: int(count or 0) for state, count in zip(STATES, counts, strict=True)},
            oldest_s=await self._oldest_s(queue),
            is_paused=await queue.isPaused(),
            collisions=collisions,
        )

    async def _rescue(self, queue: bullmq.Queue) -> Collisions:
        collisions = await rescue(queue.client, queue.toKey(""))
        self._tell_of_moved(collisions.moved)
        return collisions

    async def _search(self, queue: bullmq.Queue) -> None:
        """Beside the rounds, since it takes long where the server holds much else."""
        while self._server.is_redis:
            with suppress(*FAILURES):
                self._tell_of_moved(await rescue_passed_over(queue.client, queue.toKey("")))
            await asyncio.sleep(SEARCH_EVERY_S)

    def _tell_of_moved(self, moved: int) -> None:
        if moved:
            self._metrics.rescued.inc(moved)
            log.warning(
                "moved %s aside that had an id which the queue needs for itself, to be done under another: "
                "give jobs ids such as m-<message id>",
                counted(moved, "job"),
            )

    async def _oldest_s(self, queue: bullmq.Queue) -> float:
        ids: list[str] = await queue.backend.getRanges(["wait"], 0, 0, True)
        fields = await queue.backend.getJobData(ids[0]) if ids else None
        try:
            queued = float((fields or {})["timestamp"]) / 1000
        except (KeyError, ValueError):
            return 0.0
        return max(0.0, self._clock.now().timestamp() - queued)

    def _measure(self, sight: Sight) -> None:
        for state, count in sight.jobs.items():
            self._metrics.jobs.labels(state).set(count)
        self._metrics.oldest.set(sight.oldest_s)
        if sight.is_paused != self._was_paused:
            self._was_paused = sight.is_paused
            log.info("somebody paused the queue" if sight.is_paused else "somebody resumed the queue")

    def _judge(self, sight: Sight) -> None:
        if asyncio.get_running_loop().time() - self._worker.refused_at > REFUSAL_OVER_S:
            self._faults.end(FaultKind.REFUSED, "the queue accepts commands again")
        foreign = ", ".join(sight.collisions.foreign)
        if foreign:
            self._faults.begin(
                FaultKind.STUCK,
                f"the queue {self._server.queue} cannot work: somebody wrote over its keys {foreign}; delete or rename "
                "them on the queue server",
            )
        elif self._is_stuck(sight):
            waiting = sight.jobs["wait"]
            self._faults.begin(
                FaultKind.STUCK,
                f"the queue {self._server.queue} is stuck: {counted(waiting, 'job waits', 'jobs wait')} and none was "
                f"taken for {STUCK_S:.0f} s; restart the worker, and if that does not help look at the queue's keys",
            )
        else:
            self._faults.end(FaultKind.STUCK, "the queue gets on again")

    def _is_stuck(self, sight: Sight) -> bool:
        """Jobs wait that nobody has in hand; a queue may also be held back by a limit on the jobs in hand."""
        idle_s = self._clock.monotonic() - self._consumer.finished_at
        in_hand = self._consumer.in_flight or sight.jobs["active"]
        return (
            bool(sight.jobs["wait"]) and not sight.is_paused and not in_hand and min(idle_s, sight.oldest_s) > STUCK_S
        )

    def _tell_of_jobs(self) -> None:
        stalled, self._worker.stalled = self._worker.stalled, 0
        unfinished, self._worker.unfinished = self._worker.unfinished, 0
        if stalled:
            self._metrics.stalled.inc(stalled)
            log.info("took up %s again that a worker had left", counted(stalled, "job"))
        if unfinished:
            log.info(
                "the queue did not note the end of %s; events are kept once, whoever does them again",
                counted(unfinished, "job"),
            )
