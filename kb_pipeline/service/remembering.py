"""Answers that are kept for a few seconds: windows change every few minutes, and many look at the same page.

Belongs here: keeping, and making an answer once where several ask for it at the same time. Does not: what is kept.
"""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import Lock
from typing import Any, TypeVar, cast

KEPT_S = 5.0
_MOST = 256
Answer = TypeVar("Answer")


class _Slot:
    """One answer, and when it was made."""

    __slots__ = ("answer", "lock", "made_at")

    def __init__(self) -> None:
        self.lock = Lock()
        self.made_at: float | None = None
        self.answer: Any = None


class Memory:
    """Remembers answers by what was asked; an answer that could not be made is not remembered."""

    def __init__(self, monotonic: Callable[[], float], *, kept_s: float = KEPT_S) -> None:
        self._monotonic, self._kept_s = monotonic, kept_s
        self._slots: OrderedDict[Hashable, _Slot] = OrderedDict()
        self._lock = Lock()

    def recall(self, asked: Hashable, make: Callable[[], Answer]) -> Answer:
        """The answer, at most so many seconds old; whoever asks while it is being made waits for it."""
        slot = self._slot(asked)
        with slot.lock:
            if slot.made_at is None or self._monotonic() - slot.made_at > self._kept_s:
                slot.answer = make()
                slot.made_at = self._monotonic()
            return cast(Answer, slot.answer)

    def _forget(self) -> None:
        """Drop what was asked for longest ago, while it is too old to be given again, or too much is kept."""
        while len(self._slots) > 1:
            oldest = next(iter(self._slots.values()))
            is_old = oldest.made_at is not None and self._monotonic() - oldest.made_at > self._kept_s
            if not is_old and len(self._slots) <= _MOST:
                return
            self._slots.popitem(last=False)

    def _slot(self, asked: Hashable) -> _Slot:
        with self._lock:
            slot = self._slots.setdefault(asked, _Slot())
            self._slots.move_to_end(asked)
            self._forget()
            return slot
