"""A queue server of our own in a folder: started, found again, shared and stopped.

Belongs here: what callers see. Does not: the process and its files (the modules beside this one).

Several processes may use one folder. Each holds a shared lock while it does, and the last one to stop stops the server.
The kernel takes the lock of a killed process back; a server that outlived its users is adopted by the next one.
"""

from pathlib import Path
from types import TracebackType
from typing import Self

from kb_pipeline.adapters.embedded.locks import SharedLock, exclusive
from kb_pipeline.adapters.embedded_queue import server as servers
from kb_pipeline.adapters.embedded_queue.programs import find_program
from kb_pipeline.adapters.embedded_queue.server import LOOPBACK, Server, password_in
from kb_pipeline.errors import QueueError

START_LOCK = "start.lock"
USERS_LOCK = "users.lock"


class EmbeddedQueue:
    """A Valkey server whose data live in `folder`; a context manager, or `start()` and `stop()`.

    It listens on a free port of 127.0.0.1, with a password that only this user can read, evicts nothing, and keeps its
    jobs over a restart. `program` is that of another server, for example Debian's redis-server. Raises QueueError, in
    one sentence, for whatever keeps the server from running.
    """

    def __init__(self, folder: Path, *, program: Path | None = None) -> None:
        self._folder = folder.resolve()
        self._program = program
        self._server: Server | None = None
        self._users: SharedLock | None = None

    def start(self) -> Self:
        """Make the folder if need be, then start its server or adopt the one that runs. Safe to repeat."""
        if self._users is None:
            try:
                self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
                self._start()
            except OSError as error:
                raise QueueError(
                    f"the folder {self._folder} of the embedded queue cannot be used: {error}; give another folder, or "
                    "retrieval.redis_url of a running server"
                ) from None
        return self

    def stop(self) -> None:
        """Stop the server unless another process uses it. Safe to repeat."""
        if self._users is None:
            return
        with exclusive(self._folder / START_LOCK):
            users, self._users = self._users, None
            server, self._server = self._server, None
            if server is None:
                return
            if users.let_go():
                servers.shut_down(self._folder, server)
            else:
                servers.leave_running(server)

    @property
    def url(self) -> str:
        """The address with the password, for this process and for others of the same user."""
        return f"redis://:{password_in(self._folder)}@{LOOPBACK}:{self._running().port}/0"

    @property
    def pid(self) -> int:
        """The process id of the running server."""
        return self._running().pid

    def _start(self) -> None:
        with exclusive(self._folder / START_LOCK):
            self._server = servers.bring_up(self._folder, self._program or find_program())
            self._users = SharedLock.take(self._folder / USERS_LOCK)

    def _running(self) -> Server:
        if self._server is None:
            raise QueueError("the embedded queue is not running; start it first")
        return self._server

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()
