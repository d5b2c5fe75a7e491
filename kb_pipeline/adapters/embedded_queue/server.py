"""The queue server of a folder: told running, starting, hanging and dead apart, brought up and shut down.

Belongs here: one server process and its files. Does not: counting its users.
Callers hold the folder's start lock. The server inherits a lock of its own, so whoever cannot take that knows that a
process lives, in whatever state; who answers to the folder's password is the folder's server.
"""

import os
import secrets
import signal
import socket
import subprocess
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from kb_pipeline.adapters.clock import PAUSE_S, SystemClock, wait_until
from kb_pipeline.adapters.embedded.locks import hold_or_none
from kb_pipeline.adapters.embedded.postmaster import command_line
from kb_pipeline.errors import QueueError

LOOPBACK = "127.0.0.1"
SERVER_LOCK = "server.lock"
PID_FILE = "server.pid"
PASSWORD_FILE = "password"  # noqa: S105
SETTINGS_FILE = "server.conf"
LOG = "server.log"
LAST_LINES = 3
START_SECONDS = 30.0
HANGING_SECONDS = 10.0
"""A living server that says nothing for so long is replaced; one that still loads its data says so."""
STOP_SECONDS = 10.0
ANSWER_SECONDS = 1.0
HIGHEST_PORT = 65_535
PASSING = "Address already in use"
SETTINGS = {
    "bind": LOOPBACK,
    "dir": ".",
    "logfile": LOG,
    "daemonize": "no",
    # The command line tells whose process it is.
    "set-proc-title": "no",
    # A queue that forgets jobs to make room loses events; one that is full refuses them, which producers count.
    "maxmemory-policy": "noeviction",
    # Jobs outlive the server, but for the last second of one that is killed.
    "save": '""',
    "appendonly": "yes",
    "appendfsync": "everysec",
}
_clock = SystemClock()


@dataclass(frozen=True, kw_only=True, slots=True)
class Server:
    """A server by its process id and port; `process` when this process is its parent."""

    pid: int
    port: int
    process: subprocess.Popen[bytes] | None = None

    @classmethod
    def read(cls, folder: Path) -> Self | None:
        """The server that the folder's pid file names; None where there is no such file, or a damaged one."""
        try:
            pid, port = map(int, (folder / PID_FILE).read_text(encoding="ascii").split())
        except (OSError, ValueError):
            return None
        return cls(pid=pid, port=port) if pid > 0 and 0 < port <= HIGHEST_PORT else None


def bring_up(folder: Path, program: Path) -> Server:
    """Adopt the server that runs in the folder, replace one that hangs, or start one; returns when it answers.

    Raises QueueError with the server's own last words when it does not start.
    """
    process: subprocess.Popen[bytes] | None = None
    silent_since = _clock.monotonic()
    try:
        while (silence := _clock.monotonic() - silent_since) < START_SECONDS:
            server = Server.read(folder)
            answer = _answer(folder, server) if server is not None else None
            if server is not None and answer:
                return Server(pid=server.pid, port=server.port, process=process)
            if answer is not None:
                silent_since = _clock.monotonic()
            if process is not None and process.poll() is not None:
                _consider_retry(folder)
                process = None
            process = process or _launch(folder, program)
            if process is None and server is not None and silence > HANGING_SECONDS:
                _send(folder, server, signal.SIGKILL)
            time.sleep(PAUSE_S)
        held = "processes of an earlier server, perhaps in another container, still hold its data"
        raise _did_not_start(folder, held if process is None else "it does not answer")  # noqa: TRY301
    except BaseException:
        if process is not None:
            process.kill()
            process.wait()
        raise


def shut_down(folder: Path, server: Server) -> None:
    """Stop the server with what it holds written to disk. Raises QueueError when it does not stop."""
    # Read again: another process may have replaced it since.
    current = Server.read(folder) or server
    for number in (signal.SIGTERM, signal.SIGKILL):
        _send(folder, current, number)
        if wait_until(lambda: _is_gone(folder, server), STOP_SECONDS):
            # The lock may be free a moment before the process has ended.
            if server.process is not None:
                server.process.wait()
            return
    raise QueueError(f"the queue server in {folder} does not stop; end process {current.pid} by hand")


def leave_running(server: Server) -> None:
    """Let go of a server that others use, without waiting for it as for a child."""
    if server.process is not None:
        server.process.returncode = 0


def password_in(folder: Path) -> str:
    """The password of the folder's server, made when first asked for."""
    path = folder / PASSWORD_FILE
    if not path.exists():
        _write_privately(path, secrets.token_urlsafe(24))
    return path.read_text(encoding="ascii")


def _answer(folder: Path, server: Server) -> bool | None:
    """Whether the server is ready: false while it loads its data, None where nobody knows the folder's password."""
    client = redis.Redis(
        host=LOOPBACK,
        port=server.port,
        password=password_in(folder),
        socket_timeout=ANSWER_SECONDS,
        socket_connect_timeout=ANSWER_SECONDS,
        retry=Retry(NoBackoff(), 0),
    )
    try:
        return bool(client.ping())
    except redis.BusyLoadingError:
        return False
    except redis.RedisError:
        return None
    finally:
        client.close()


def _launch(folder: Path, program: Path) -> subprocess.Popen[bytes] | None:
    """Start a server; None where a process of an earlier one still lives."""
    held = hold_or_none(folder / SERVER_LOCK)
    if held is None:
        return None
    try:
        port = _port(folder)
        settings = {**SETTINGS, "port": str(port), "requirepass": password_in(folder)}
        text = "".join(f"{name} {value}\n" for name, value in settings.items())
        _write_privately(folder / SETTINGS_FILE, text)
        (folder / LOG).unlink(missing_ok=True)
        process = _popen(folder, program, held)
        _write_privately(folder / PID_FILE, f"{process.pid}\n{port}\n")
        return process
    finally:
        os.close(held)


def _popen(folder: Path, program: Path, held: int) -> subprocess.Popen[bytes]:
    try:
        # A session of its own: Ctrl-C in the terminal is for this process, which stops the server when it is done.
        return subprocess.Popen(  # noqa: S603
            [program, folder / SETTINGS_FILE],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd=folder,
            umask=0o077,
            start_new_session=True,
            pass_fds=[held],
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise QueueError(
            f"{program.name} of the embedded queue cannot be run: {error}; give retrieval.redis_url of a running server"
        ) from None


def _port(folder: Path) -> int:
    """That of the folder's last server, for whoever still knows its address, or a free one."""
    last = Server.read(folder)
    for wanted in ([last.port] if last else []) + [0]:
        with socket.socket(socket.AF_INET) as probe, suppress(OSError):
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind((LOOPBACK, wanted))
            port: int = probe.getsockname()[1]
            return port
    raise QueueError("no port of 127.0.0.1 is free for the embedded queue; end programs that hold too many")


def _write_privately(path: Path, text: str) -> None:
    """The whole text or the file as it was, for this user alone."""
    unfinished = path.with_name(f"{path.name}.{os.getpid()}")
    descriptor = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
    with os.fdopen(descriptor, "w", encoding="ascii") as file:
        file.write(text)
    unfinished.replace(path)


def _is_gone(folder: Path, server: Server) -> bool:
    # A child that ended stays a zombie, with its pid, until it is waited for.
    if server.process is not None:
        server.process.poll()
    held = hold_or_none(folder / SERVER_LOCK)
    if held is not None:
        os.close(held)
    return held is not None


def _send(folder: Path, server: Server, number: signal.Signals) -> None:
    """Signal the server; no error when it has just gone, and nothing for another process with its number."""
    if b" " + os.fsencode(folder / SETTINGS_FILE) in command_line(server.pid).replace(b"\0", b" "):
        try:
            os.kill(server.pid, number)
        except ProcessLookupError:
            return


def _consider_retry(folder: Path) -> None:
    """A port that was taken meanwhile is no reason to give up."""
    last_words = _last_words(folder)
    if PASSING not in last_words:
        raise _did_not_start(folder, last_words)


def _last_words(folder: Path) -> str:
    try:
        lines = (folder / LOG).read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        lines = []
    # Without process id, role and time, which end in a sign of the level.
    said = [line.split(" ", 6)[-1].lstrip("*#-. ").strip() for line in lines[-LAST_LINES:]]
    return "; ".join(said) or "no reason given"


def _did_not_start(folder: Path, reason: str) -> QueueError:
    return QueueError(
        f"the embedded queue in {folder} did not start: {reason}; see {folder / LOG}, or give retrieval.redis_url of a "
        "running server"
    )
