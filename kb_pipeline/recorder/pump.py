"""The thread that carries events from the buffer to the queue, whatever state the queue's server is in.

Belongs here: batches, time-outs, what to do after a failure. Does not: cleaning events, the client itself (sender.py).
"""

import asyncio
import logging
import threading
import time
from collections.abc import Callable, Sequence

from redis.exceptions import OutOfMemoryError, ResponseError

from kb_pipeline.ports import Clock
from kb_pipeline.recorder.breaker import Breaker
from kb_pipeline.recorder.buffer import Buffer, Entry
from kb_pipeline.recorder.drops import DropReason
from kb_pipeline.recorder.pace import Pace
from kb_pipeline.recorder.sender import LONGEST_WAIT_S, ResolvingLoop, Sender

# Small: encoding one keeps the interpreter busy.
BATCH = 10
IDLE_S = 10.0
# There is no time for the breaker's pauses while closing.
CLOSING_PAUSE_S = 0.05
# A server that is slow and steady gets several times as long as it took.
SLOWNESS_ALLOWED = 4

_log = logging.getLogger("kb_pipeline.recorder")


class Pump(threading.Thread):
    """Sends until the buffer is closed and empty.

    `on_sent` hears how many events the queue has taken, `on_dropped` how many it never will, and `on_turn` is called
    every ten seconds and after every batch.
    """

    def __init__(
        self,
        buffer: Buffer,
        sender: Sender,
        clock: Clock,
        *,
        timeout_s: float,
        on_sent: Callable[[int], None],
        on_dropped: Callable[[DropReason, int], None],
        on_turn: Callable[[], None],
    ) -> None:
        super().__init__(name="kb-retrieval-recorder", daemon=True)
        self._buffer = buffer
        self._sender = sender
        self._clock = clock
        self._shortest_s = timeout_s
        self._timeout_s = timeout_s
        self._on_sent = on_sent
        self._on_dropped = on_dropped
        self._on_turn = on_turn
        self._breaker = Breaker()
        self._pace = Pace(clock)

    def run(self) -> None:
        with asyncio.Runner(loop_factory=ResolvingLoop) as runner:
            while self._buffer or not self._buffer.is_closing:
                entries = self._buffer.first(BATCH, within_s=IDLE_S)
                if entries:
                    self._turn(runner, entries)
                self._on_turn()
            runner.run(self._sender.close())

    def _turn(self, runner: asyncio.Runner, entries: Sequence[Entry]) -> None:
        started = self._clock.monotonic()
        if not runner.run(self._deliver(entries)):
            self._wait_for_server()
        elif not self._buffer.is_half_full:
            took_s = self._clock.monotonic() - started
            self._buffer.pause(self._pace.rest_s(arrived=self._buffer.arrived, took_s=took_s))

    def _wait_for_server(self) -> None:
        if self._buffer.is_closing:
            time.sleep(CLOSING_PAUSE_S)
        else:
            self._buffer.pause(self._breaker.pause_s())

    async def _deliver(self, entries: Sequence[Entry]) -> bool:
        """Whether the server is there; what it took is gone from the buffer, all else stays."""
        try:
            await self._send(entries)
        except Exception as error:  # noqa: BLE001 whatever a client raises, the events wait
            self._failed(error)
            return False
        self._succeeded()
        return True

    async def _send(self, entries: Sequence[Entry]) -> None:
        try:
            await self._send_within_time(entries)
        except OutOfMemoryError:
            raise
        except ResponseError:
            # The server is there. Perhaps it minds one of them only; alone in the batch, that cannot be told.
            if len(entries) == 1 or not await self._send_singly(entries):
                raise

    async def _send_singly(self, entries: Sequence[Entry]) -> bool:
        """Whether any of them was taken; then those that were not are dropped, or they would be in the way for ever."""
        refused = []
        for entry in entries:
            try:
                await self._send_within_time([entry])
            except OutOfMemoryError:
                raise
            except ResponseError:
                refused.append(entry)
        if len(refused) == len(entries):
            return False
        self._buffer.remove(refused)
        self._on_dropped(DropReason.REFUSED, len(refused))
        return True

    async def _send_within_time(self, entries: Sequence[Entry]) -> None:
        started = self._clock.monotonic()
        try:
            await self._sender.send(entries, within_s=self._timeout_s)
        except TimeoutError:
            self._timeout_s = min(2 * self._timeout_s, LONGEST_WAIT_S)
            raise
        took = SLOWNESS_ALLOWED * (self._clock.monotonic() - started)
        self._timeout_s = min(max(self._shortest_s, took), LONGEST_WAIT_S)
        self._buffer.remove(entries)
        self._on_sent(len(entries))

    def _failed(self, error: Exception) -> None:
        was_open = self._breaker.is_open
        self._breaker.failed()
        if self._breaker.is_open and not was_open:
            # The class only: a server's own words may repeat the command, and with it a query.
            _log.warning(
                "the queue of retrieval events does not take them (%s); they wait in memory", type(error).__name__
            )

    def _succeeded(self) -> None:
        if self._breaker.is_open:
            _log.info("the queue of retrieval events takes them again; %d wait", len(self._buffer))
        self._breaker.succeeded()
