"""A PostgreSQL server of our own in a folder: started, found again, shared and stopped.

Belongs here: what callers see. Does not: processes, accounts, files (the modules beside this one).

Several processes may use one folder. Each holds a shared lock while it does, and the last one to stop stops the server.
The kernel takes the lock of a killed process back; a server that outlived its users is adopted by the next one.
"""

from contextlib import closing, suppress
from pathlib import Path
from types import TracebackType
from typing import Self

import psycopg
from psycopg import sql

from kb_pipeline.adapters.embedded import lifecycle
from kb_pipeline.adapters.embedded.accounts import Place, choose_place
from kb_pipeline.adapters.embedded.binaries import find_binaries
from kb_pipeline.adapters.embedded.cluster import prepare
from kb_pipeline.adapters.embedded.lifecycle import Server
from kb_pipeline.adapters.embedded.locks import SharedLock, exclusive
from kb_pipeline.errors import DatabaseError

START_LOCK = "start.lock"
USERS_LOCK = "users.lock"


class EmbeddedPostgres:
    """A server whose data live in `data_dir`; a context manager, or `start()` and `stop()`.

    It listens on a Unix socket that only its account and root can open; where the path is too long for one, on
    127.0.0.1 with a password. Without `fsync` it is faster and a crash of the machine may cost the data: for tests.
    Raises DatabaseError, in one sentence, for whatever keeps the server from running.
    """

    def __init__(self, data_dir: Path, *, fsync: bool = True) -> None:
        self._wanted = data_dir
        self._fsync = fsync
        self._place: Place | None = None
        self._server: Server | None = None
        self._users: SharedLock | None = None

    def start(self) -> Self:
        """Make the data folder if need be, then start its server or adopt the one that runs. Safe to repeat."""
        if self._users is None:
            place = self._place = choose_place(self._wanted)
            try:
                self._start_in(place)
            except OSError as error:
                raise DatabaseError(
                    f"the folder {place.folder} of the embedded database cannot be used: {error}; give another folder, "
                    "or database.url of a running server"
                ) from None
        return self

    def stop(self) -> None:
        """Stop the server unless another process uses it. Safe to repeat."""
        if self._place is None or self._users is None:
            return
        with exclusive(self._place.folder / START_LOCK):
            users, self._users = self._users, None
            server, self._server = self._server, None
            if server is None:
                return
            if users.let_go():
                lifecycle.shut_down(self._place, server)
            else:
                lifecycle.leave_running(server)

    def url(self, database: str = "postgres", *, driver: str = "postgresql+psycopg") -> str:
        """The SQLAlchemy URL of a database, for this process and for others of the same user."""
        place, server = self._running()
        return lifecycle.server_url(place, server.postmaster, database, driver)

    def create_database(self, name: str) -> None:
        """Make a database unless there is one of this name."""
        statement = sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name))
        already = suppress(psycopg.errors.DuplicateDatabase, psycopg.errors.UniqueViolation)
        address = self.url(driver="postgresql")
        with closing(psycopg.connect(address, autocommit=True)) as connection, already:
            connection.execute(statement)

    def drop_database(self, name: str) -> None:
        """Drop a database with all that is in it, if there is one of this name; who is connected is thrown out."""
        with closing(psycopg.connect(self.url(driver="postgresql"), autocommit=True)) as connection:
            connection.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(name)))

    @property
    def data_dir(self) -> Path:
        """Where the data are: the folder asked for, or for root another one; then `notice` says so."""
        return self._place.folder if self._place else self._wanted

    @property
    def notice(self) -> str | None:
        """A sentence for the user when the data do not lie where they were asked for."""
        return self._place.notice if self._place else None

    @property
    def pid(self) -> int:
        """The process id of the running server."""
        return self._running()[1].postmaster.pid

    def _start_in(self, place: Place) -> None:
        with exclusive(place.folder / START_LOCK):
            binaries = prepare(place, find_binaries(), fsync=self._fsync)
            self._server = lifecycle.bring_up(place, binaries, fsync=self._fsync)
            self._users = SharedLock.take(place.folder / USERS_LOCK)

    def _running(self) -> tuple[Place, Server]:
        if self._place is None or self._server is None:
            raise DatabaseError("the embedded database is not running; start it first")
        return self._place, self._server

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()
