"""The running server of a data folder, as its file postmaster.pid tells, and whether to believe it.

Belongs here: reading the file, telling a living postmaster from a dead, zombie or foreign process. Does not: starting
one.
"""

import os
import signal
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Self

PID_FILE = "postmaster.pid"
PROC = Path("/proc")


@dataclass(frozen=True, kw_only=True, slots=True)
class Postmaster:
    """What postmaster.pid says; `socket_folder` or `host` is empty when the server does not listen there."""

    pid: int
    data_folder: Path
    port: int
    socket_folder: str
    host: str

    @classmethod
    def read(cls, data_folder: Path) -> Self | None:
        """The postmaster of the file; None where there is no file or it is not complete yet."""
        try:
            lines = (data_folder / PID_FILE).read_text(encoding="utf-8", errors="surrogateescape").splitlines()
            pid, port, socket_folder, host = int(lines[0]), int(lines[3]), lines[4], lines[5].strip()
        except (OSError, ValueError, IndexError):
            return None
        return cls(pid=pid, data_folder=data_folder, port=port, socket_folder=socket_folder, host=host)

    def is_running(self) -> bool:
        """Whether this process lives and works in the data folder; a zombie or a reused process id does not."""
        return is_postmaster(self.pid, self.data_folder)

    def send(self, number: signal.Signals) -> None:
        """Signal the postmaster; no error when it has just gone."""
        if self.is_running():
            try:
                os.kill(self.pid, number)
            except ProcessLookupError:
                return


def is_postmaster(pid: int, data_folder: Path) -> bool:
    """Whether the process lives and is a postgres started for this folder.

    By its command line: a zombie has none, and unlike its working folder it may be read in any container.
    """
    return b"postgres -D " + os.fsencode(data_folder) + b" " in command_line(pid).replace(b"\0", b" ")


def remove_stale_locks(data_folder: Path) -> None:
    """Remove lock files whose process is none of ours, or postgres would take that process for a running server.

    Callers hold the server's lock, so no process of a server uses the data.
    """
    for lock in (data_folder / PID_FILE, *data_folder.glob(".s.PGSQL.*.lock")):
        first = lock.read_bytes().split(b"\n", 1)[0].strip() if lock.exists() else b""
        if not (first.isdigit() and is_postmaster(int(first), data_folder)):
            lock.unlink(missing_ok=True)


def command_line(pid: int) -> bytes:
    """What the process was started with, its arguments parted by NUL where the system tells; empty for a zombie."""
    if (PROC / "self" / "cmdline").exists():
        try:
            return (PROC / str(pid) / "cmdline").read_bytes()
        except OSError:
            return b""
    command = ["/bin/ps", "-ww", "-o", "command=", "-p", str(pid)]
    return subprocess.run(command, capture_output=True, check=False).stdout  # noqa: S603
