"""The events that wait in memory for the queue: bounded, first in first out, one reader.

Belongs here: waiting and its bounds. Does not: sending, counting what is gone.
"""

import threading
from collections import deque
from collections.abc import Collection
from dataclasses import dataclass
from itertools import islice

from kb_pipeline.recorder.drops import DropReason


@dataclass(frozen=True, slots=True, eq=False)
class Entry:
    """One event's job: its id, and its data as JSON."""

    job_id: str
    data: bytes


class Buffer:
    """At most `max_events` events of `max_bytes` of JSON. Any thread may offer; one thread reads."""

    def __init__(self, *, max_events: int, max_bytes: int) -> None:
        self._max_events = max_events
        self._max_bytes = max_bytes
        self._entries: deque[Entry] = deque()
        self._bytes = 0
        self.arrived = 0
        """How many entries were ever taken."""
        self._arrival = threading.Condition()
        self._is_awaited = False
        self._closing = threading.Event()

    def __len__(self) -> int:
        return len(self._entries)

    @property
    def is_closing(self) -> bool:
        """Whether nothing is taken any more."""
        return self._closing.is_set()

    @property
    def is_half_full(self) -> bool:
        """Whether half of one of the bounds is reached."""
        return 2 * len(self._entries) >= self._max_events or 2 * self._bytes >= self._max_bytes

    def offer(self, entry: Entry) -> DropReason | None:
        """Take the entry, or say why not."""
        with self._arrival:
            if self._closing.is_set():
                return DropReason.CLOSED
            if len(self._entries) >= self._max_events or self._bytes + len(entry.data) > self._max_bytes:
                return DropReason.BUFFER_FULL
            self._entries.append(entry)
            self._bytes += len(entry.data)
            self.arrived += 1
            # Waking a thread costs more than all the rest; one that is busy looks again by itself.
            if self._is_awaited:
                self._is_awaited = False
                self._arrival.notify()
            return None

    def first(self, limit: int, *, within_s: float) -> list[Entry]:
        """The oldest entries, which stay; waits for one, not longer than given, and not while closing."""
        with self._arrival:
            if not self._entries and not self._closing.is_set():
                self._is_awaited = True
                self._arrival.wait(within_s)
                self._is_awaited = False
            return list(islice(self._entries, limit))

    def remove(self, entries: Collection[Entry]) -> None:
        """Forget entries, wherever they are; those that are gone already are no fault."""
        gone = set(entries)
        with self._arrival:
            while self._entries and self._entries[0] in gone:
                self._bytes -= len(self._entries.popleft().data)
            if not gone.isdisjoint(self._entries):
                self._entries = deque(entry for entry in self._entries if entry not in gone)
                self._bytes = sum(len(entry.data) for entry in self._entries)

    def pause(self, seconds: float) -> None:
        """Wait, unless closing."""
        self._closing.wait(seconds)

    def close(self) -> None:
        """Take nothing any more."""
        with self._arrival:
            self._closing.set()
            self._arrival.notify()

    def abandon(self) -> int:
        """Give up whatever still waits; returns how many."""
        with self._arrival:
            abandoned = len(self._entries)
            self._entries.clear()
            self._bytes = 0
            return abandoned
