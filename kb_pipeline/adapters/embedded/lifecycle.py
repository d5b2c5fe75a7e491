"""Bringing the server of a data folder up, and down: the loop that tells running, starting, dead and stale apart.

Belongs here: one server process. Does not: making its data, counting its users.
Callers hold the folder's start lock.
"""

import os
import signal
import socket
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote, urlencode

import psycopg

from kb_pipeline.adapters.clock import PAUSE_S, SystemClock, wait_until
from kb_pipeline.adapters.embedded.accounts import CLUSTER, Place
from kb_pipeline.adapters.embedded.binaries import Binaries
from kb_pipeline.adapters.embedded.cluster import ENVIRONMENT, USER, cannot_run, password_in
from kb_pipeline.adapters.embedded.locks import hold_or_none
from kb_pipeline.adapters.embedded.postmaster import Postmaster, remove_stale_locks
from kb_pipeline.errors import DatabaseError

LOOPBACK = "127.0.0.1"
SOCKET_PORT = 5432
# The address of a Unix socket holds 103 bytes on macOS and 107 on Linux; "/.s.PGSQL.5432" takes 14 of them.
LONGEST_SOCKET_FOLDER = 88
START_SECONDS = 120.0
STOP_SECONDS = 30.0
LOG = "server.log"
SERVER_LOCK = "server.lock"
LAST_LINES = 3
# What a start may fail of that passes by itself: a port or a lock taken meanwhile.
PASSING = ("is still in use", "already in use", "already exists")
SETTINGS = {
    "max_connections": "200",
    "timezone": "UTC",
    "log_timezone": "UTC",
    # Sums of floating-point numbers come out alike on every run, and a container's small /dev/shm is enough.
    "max_parallel_workers_per_gather": "0",
    "jit": "off",
    # Statements and DETAIL hold text of turns.
    "log_error_verbosity": "terse",
    "log_min_error_statement": "panic",
}
# A killed server loses nothing committed all the same; a crash of the machine may.
WITHOUT_FSYNC = {"fsync": "off", "full_page_writes": "off"}
_clock = SystemClock()


@dataclass(frozen=True, kw_only=True, slots=True)
class Server:
    """A running server; `process` when this process is its parent."""

    postmaster: Postmaster
    process: subprocess.Popen[bytes] | None


def bring_up(place: Place, binaries: Binaries, *, fsync: bool) -> Server:
    """Adopt the server that runs in the folder, or start one; returns when it answers.

    Raises DatabaseError with the server's own last words when it does not start within START_SECONDS.
    """
    process: subprocess.Popen[bytes] | None = None
    try:
        deadline = _clock.monotonic() + START_SECONDS
        while _clock.monotonic() < deadline:
            postmaster = Postmaster.read(place.folder / CLUSTER)
            if postmaster is not None and postmaster.is_running():
                if answers(place, postmaster):
                    return Server(postmaster=postmaster, process=process)
            elif process is None or process.poll() is not None:
                if process is not None:
                    _consider_retry(place)
                process = _launch(place, binaries, fsync=fsync)
            time.sleep(PAUSE_S)
        held = "processes of an earlier server, perhaps in another container, still hold its data"
        reason = held if process is None else "it does not answer"
        raise _did_not_start(place, f"{reason} after {START_SECONDS:.0f} s")  # noqa: TRY301
    except BaseException:
        if process is not None:
            process.send_signal(signal.SIGQUIT)
            process.wait()
        raise


def shut_down(place: Place, server: Server) -> None:
    """Stop the server: sessions are ended, what was committed is kept. Raises DatabaseError when it does not stop."""
    # Read again: another process may have started a new one since.
    current = Postmaster.read(place.folder / CLUSTER) or server.postmaster
    # First ends sessions, second crashes; the next start recovers from that without loss.
    for number in (signal.SIGINT, signal.SIGQUIT):
        current.send(number)
        if wait_until(lambda: not current.is_running(), STOP_SECONDS):
            if server.process is not None:
                server.process.wait()
            return
    raise DatabaseError(f"the embedded database in {place.folder} does not stop; end process {current.pid} by hand")


def leave_running(server: Server) -> None:
    """Let go of a server that others use, without waiting for it as for a child."""
    if server.process is not None:
        server.process.returncode = 0


def server_url(place: Place, postmaster: Postmaster, database: str, driver: str = "postgresql") -> str:
    """The address of a database for the server's user, on the socket or, with the password, on loopback.

    SQLAlchemy and libpq both read it: libpq takes no plus sign for a space.
    """
    if postmaster.socket_folder:
        authority = f"{USER}@"
        query = {"host": postmaster.socket_folder, "port": str(postmaster.port)}
    else:
        authority = f"{USER}:{quote(password_in(place.folder), safe='')}@{LOOPBACK}:{postmaster.port}"
        query = {"sslmode": "disable"}
    return f"{driver}://{authority}/{quote(database, safe='')}?{urlencode(query, quote_via=quote)}"


def answers(place: Place, postmaster: Postmaster) -> bool:
    """Whether the server lets us in."""
    try:
        psycopg.connect(server_url(place, postmaster, "postgres"), connect_timeout=5).close()
    except psycopg.OperationalError:
        return False
    return True


def _launch(place: Place, binaries: Binaries, *, fsync: bool) -> subprocess.Popen[bytes] | None:
    # Every process of the server inherits this lock, so it is held while any of them lives, in whatever container.
    held = hold_or_none(place.folder / SERVER_LOCK)
    if held is None:
        return None
    try:
        remove_stale_locks(place.folder / CLUSTER)
        return _popen(place, binaries, held, fsync=fsync)
    finally:
        os.close(held)


def _popen(place: Place, binaries: Binaries, held: int, *, fsync: bool) -> subprocess.Popen[bytes]:
    settings = SETTINGS | ({} if fsync else WITHOUT_FSYNC) | _listening(place.folder / CLUSTER)
    arguments = [argument for name, value in settings.items() for argument in ("-c", f"{name}={value}")]
    command = [binaries.program("postgres"), "-D", str(place.folder / CLUSTER), *arguments]
    log = os.open(place.folder / LOG, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
    try:
        # A session of its own: Ctrl-C in the terminal is for this process, which stops the server when it is done.
        return subprocess.Popen(  # noqa: S603
            command,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            cwd="/",
            env=ENVIRONMENT,
            umask=0o077,
            start_new_session=True,
            pass_fds=[held],
            **place.account.popen_arguments(),
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise cannot_run(place, command[0], error) from None
    finally:
        os.close(log)


def _listening(cluster: Path) -> dict[str, str]:
    """On a socket inside the cluster's private folder, or on loopback where a path cannot be a socket's address."""
    path = os.fsencode(cluster)
    if len(path) <= LONGEST_SOCKET_FOLDER and not set(path) & set(b',"\n'):
        return {"listen_addresses": "", "unix_socket_directories": f'"{cluster}"', "port": str(SOCKET_PORT)}
    with socket.socket(socket.AF_INET) as probe:
        probe.bind((LOOPBACK, 0))
        free = probe.getsockname()[1]
    return {"listen_addresses": LOOPBACK, "unix_socket_directories": "", "port": str(free)}


def _consider_retry(place: Place) -> None:
    last_words = _last_words(place)
    if not any(passing in last_words for passing in PASSING):
        raise _did_not_start(place, last_words)
    time.sleep(10 * PAUSE_S)


def _last_words(place: Place) -> str:
    lines = (place.folder / LOG).read_text(encoding="utf-8", errors="replace").splitlines()
    # Without the time and the process id that begin a line.
    said = [line.rpartition("] ")[2].strip() for line in lines[-LAST_LINES:]]
    return "; ".join(said) or "no reason given"


def _did_not_start(place: Place, reason: str) -> DatabaseError:
    return DatabaseError(
        f"the embedded database in {place.folder} did not start: {reason}; see {place.folder / LOG}, or give "
        "database.url of a running server"
    )
