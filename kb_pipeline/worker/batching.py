"""From single jobs to inserts of many: events that arrive together are kept together, and each job hears of its own.

Belongs here: batches, what spoils one, waiting for a database that is away. Does not: jobs, SQL.
"""

import asyncio
import queue
import threading
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import NamedTuple

from kb_pipeline.adapters.postgres.retrieval.events import Event, EventsRefused, Kept, Stored
from kb_pipeline.errors import DatabaseError
from kb_pipeline.ports import Clock
from kb_pipeline.worker.faults import FaultKind, Faults
from kb_pipeline.worker.metrics import WorkerMetrics

MOST_EVENTS = 64
LINGER_S = 0.004
"""How long the first event of a batch waits for others: about as long as its insert takes."""
FIRST_PAUSE_S = 0.2
LONGEST_PAUSE_S = 5.0

Save = Callable[[Sequence[Event]], Stored]


class HandedBack(Exception):
    """The worker stops while the database is away: the event was not kept, and its job goes back to the queue."""


class _Waiting(NamedTuple):
    event: Event
    answer: "asyncio.Future[Kept]"


class Batcher:
    """Keeps events in batches with `save`. `keep` may be awaited many times at once while `run` runs.

    An outage of the database is waited out, however long: no event is given up, and no attempt of its job used.
    """

    def __init__(
        self,
        save: Callable[[Sequence[Event]], Awaitable[Stored]],
        *,
        faults: Faults,
        metrics: WorkerMetrics,
        clock: Clock,
    ) -> None:
        self._save = save
        self._faults = faults
        self._metrics = metrics
        self._clock = clock
        self._arriving: asyncio.Queue[_Waiting] = asyncio.Queue()
        self._stopping = asyncio.Event()

    async def keep(self, event: Event) -> Kept:
        """What became of the event, once that is committed.

        Raises EventsRefused where the database refuses this event, HandedBack where the worker stops during an outage.
        """
        answer: asyncio.Future[Kept] = asyncio.get_running_loop().create_future()
        self._arriving.put_nowait(_Waiting(event, answer))
        return await answer

    async def run(self) -> None:
        """Keep what arrives, until cancelled."""
        while True:
            await self._settle(await self._next())

    def stop_waiting(self) -> None:
        """From now on an outage is not waited out: the events in hand are handed back."""
        self._stopping.set()

    async def _next(self) -> list[_Waiting]:
        batch = [await self._arriving.get()]
        await asyncio.sleep(LINGER_S)
        while len(batch) < MOST_EVENTS and not self._arriving.empty():
            batch.append(self._arriving.get_nowait())
        return batch

    async def _settle(self, batch: Sequence[_Waiting]) -> None:
        """Keep the batch; of one that is refused each half by itself, down to the event that spoils it."""
        try:
            stored = await self._saved([waiting.event for waiting in batch])
        except HandedBack as back:
            _fail(batch, back)
        except Exception as error:  # noqa: BLE001 whatever spoils a batch must not take the others with it
            if len(batch) == 1:
                _fail(batch, error)
                return
            middle = len(batch) // 2
            await self._settle(batch[:middle])
            await self._settle(batch[middle:])
        else:
            self._answer(batch, stored)

    async def _saved(self, events: Sequence[Event]) -> Stored:
        pause = FIRST_PAUSE_S
        while True:
            started = self._clock.monotonic()
            try:
                stored = await self._save(events)
            except EventsRefused:
                self._faults.end(FaultKind.DATABASE, "the database answers again")
                raise
            except DatabaseError as error:
                self._faults.begin(FaultKind.DATABASE, str(error))
                await self._pause(pause)
                pause = min(2 * pause, LONGEST_PAUSE_S)
            else:
                self._faults.end(FaultKind.DATABASE, "the database keeps events again")
                self._metrics.insert.observe(self._clock.monotonic() - started)
                self._metrics.batch.observe(len(events))
                return stored

    async def _pause(self, seconds: float) -> None:
        try:
            async with asyncio.timeout(seconds):
                await self._stopping.wait()
        except TimeoutError:
            return
        raise HandedBack

    def _answer(self, batch: Sequence[_Waiting], stored: Stored) -> None:
        self._metrics.last_success.set(self._clock.now().timestamp())
        for waiting, kept in zip(batch, stored.kept, strict=True):
            self._metrics.count_kept(waiting.event, kept)
            if not waiting.answer.done():
                waiting.answer.set_result(kept)


def _fail(batch: Sequence[_Waiting], error: Exception) -> None:
    for waiting in batch:
        if not waiting.answer.done():
            waiting.answer.set_exception(error)


class SavingThread:
    """Calls a blocking `save` in one thread of its own, which ends with the process, whatever it waits for then."""

    def __init__(self, save: Save) -> None:
        self._save = save
        self._orders: queue.SimpleQueue[tuple[Sequence[Event], asyncio.Future[Stored]]] = queue.SimpleQueue()
        threading.Thread(target=self._work, name="event-store", daemon=True).start()

    async def __call__(self, events: Sequence[Event]) -> Stored:
        """What became of the events; raises what keeping them raised."""
        answer: asyncio.Future[Stored] = asyncio.get_running_loop().create_future()
        self._orders.put((events, answer))
        return await answer

    def _work(self) -> None:
        while True:
            events, answer = self._orders.get()
            outcome = _outcome(self._save, events)
            with suppress(RuntimeError):  # the event loop is closed: nobody waits for it any more
                answer.get_loop().call_soon_threadsafe(_tell, answer, outcome)


def _outcome(save: Save, events: Sequence[Event]) -> Stored | Exception:
    try:
        return save(events)
    except Exception as error:  # noqa: BLE001 it is raised where the events came from
        return error


def _tell(answer: "asyncio.Future[Stored]", outcome: Stored | Exception) -> None:
    if answer.done():
        return
    if isinstance(outcome, Exception):
        answer.set_exception(outcome)
    else:
        answer.set_result(outcome)
