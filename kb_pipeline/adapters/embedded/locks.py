"""Locks between processes that the kernel takes back however their holder ends.

Belongs here: flock on a file. Does not: what the lock is for.
"""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Self


@contextmanager
def exclusive(path: Path) -> Iterator[None]:
    """Hold the lock alone inside the block; waits for whoever holds it."""
    descriptor = _opened(path)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def hold_or_none(path: Path) -> int | None:
    """A descriptor that holds the lock alone, for a child to inherit; None where somebody holds it."""
    descriptor = _opened(path)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        return None
    return descriptor


class SharedLock:
    """A lock that many hold; whoever lets go learns whether he was the last."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    @classmethod
    def take(cls, path: Path) -> Self:
        """Hold the lock with others; waits only for an exclusive holder."""
        descriptor = _opened(path)
        fcntl.flock(descriptor, fcntl.LOCK_SH)
        return cls(descriptor)

    def let_go(self) -> bool:
        """True when nobody else holds the lock any more."""
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            # A process forked from this one may still hold the same open file: unlock for both.
            fcntl.flock(self._descriptor, fcntl.LOCK_UN)
            return False
        finally:
            os.close(self._descriptor)
        return True


def _opened(path: Path) -> int:
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
