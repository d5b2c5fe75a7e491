"""Text files of one folder that only their owner can read, with their rows counted.

Belongs here: opening, encoding, flushing. Does not: what a row is.
"""

import os
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import IO, Self

FOLDER_MODE, FILE_MODE = 0o700, 0o600
BUFFER = 1 << 18


class RowFiles:
    """Files by their names below a folder; `rows` counts what was written to each, without headings."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._stack = ExitStack()
        self._streams: dict[str, IO[str]] = {}
        self.rows: dict[str, int] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        with self._stack:
            for stream in self._streams.values() if error is None else ():
                stream.flush()
                os.fsync(stream.fileno())

    def open(self, name: str, heading: str | None = None) -> None:
        """Make a file that is not there yet; it may stay empty."""
        path = self._folder / name
        path.parent.mkdir(mode=FOLDER_MODE, parents=True, exist_ok=True)
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, FILE_MODE)
        # Half a surrogate pair, which UTF-8 has no form for, becomes an escape, which is JSON's own form of it.
        stream = os.fdopen(descriptor, "w", BUFFER, encoding="utf-8", errors="backslashreplace", newline="\n")
        self._streams[name] = self._stack.enter_context(stream)
        self.rows[name] = 0
        if heading is not None:
            stream.write(f"{heading}\n")

    def write(self, name: str, row: str) -> None:
        """Add a row, which has no line feed, to an open file."""
        self._streams[name].write(f"{row}\n")
        self.rows[name] += 1
