"""Real queue servers that tests start, hang, fill, restart and kill, and a look at what is queued in them.

Belongs here: those servers, and a port where nobody speaks Redis. Does not: assertions.
"""

import json
import os
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import redis

from kb_pipeline.adapters.embedded_queue.programs import find_program

PATIENCE_S = 60.0
# Ends the server when the test run ends, however it ends: the kernel then closes the pipe that the shell reads.
WATCHED = '"$@" & server=$!; cat > /dev/null; kill -9 $server; wait $server'


def eventually(condition: Callable[[], object]) -> None:
    """Wait until the condition holds; fail the test when it never does."""
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < deadline, "it never came about"
        time.sleep(0.01)


def free_port() -> int:
    """A port that nobody listens on just now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@dataclass(frozen=True, kw_only=True, slots=True)
class QueuedJob:
    """One job as BullMQ keeps it."""

    job_id: str
    name: str
    data: Any
    options: dict[str, Any]


class QueueServer:
    """A server in a folder, on a port of its own, that keeps its jobs over a restart; a context manager."""

    def __init__(self, folder: Path, *, password: str = "") -> None:
        self._folder = folder
        self._password = password
        self._shell: subprocess.Popen[bytes] | None = None
        self.port = free_port()

    @property
    def url(self) -> str:
        """The address, with the password where there is one."""
        return f"redis://{':' + self._password + '@' if self._password else ''}127.0.0.1:{self.port}/0"

    def client(self) -> "redis.Redis":
        """A client of the test's own."""
        return redis.Redis(
            port=self.port, password=self._password or None, decode_responses=True, socket_timeout=PATIENCE_S
        )

    def start(self) -> Self:
        """Start it, and wait until it answers."""
        options = {"port": self.port, "bind": "127.0.0.1", "dir": self._folder, "save": "", "appendonly": "yes"}
        options |= {"appendfsync": "always", "maxmemory-policy": "noeviction", "requirepass": self._password}
        arguments = [str(part) for name, value in options.items() for part in (f"--{name}", value)]
        command = ["/bin/sh", "-c", WATCHED, "sh", str(find_program()), *arguments]
        self._shell = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
        eventually(self._answers)
        self._pid = int(self._info("server")["process_id"])
        return self

    def stop(self) -> None:
        """End it at once, whatever it is doing; what was queued is on disk."""
        if self._shell is not None:
            self._shell.communicate()
            self._shell = None

    def hang(self) -> None:
        """Let it accept connections and answer nothing."""
        os.kill(self._pid, signal.SIGSTOP)

    def go_on(self) -> None:
        """Let it answer again, also what was asked meanwhile."""
        os.kill(self._pid, signal.SIGCONT)

    def configure(self, name: str, value: object) -> None:
        """Change one of its settings while it runs."""
        with self.client() as client:
            client.config_set(name, str(value))

    def change_password(self, password: str) -> None:
        """Ask for another one from now on."""
        self.configure("requirepass", password)
        self._password = password

    def jobs(self, queue: str) -> list[QueuedJob]:
        """What waits in a queue, oldest first."""
        with self.client() as client:
            ids: Any = client.lrange(f"bull:{queue}:wait", 0, -1)
            return [_job(client, f"bull:{queue}:{job_id}") for job_id in reversed(ids)]

    def _info(self, section: str) -> dict[str, Any]:
        with self.client() as client:
            info: Any = client.info(section)
            return dict(info)

    def _answers(self) -> bool:
        try:
            return not self._info("persistence")["loading"]
        except redis.RedisError:
            return False

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.stop()


def _job(client: "redis.Redis", key: str) -> QueuedJob:
    fields: Any = client.hgetall(key)
    return QueuedJob(
        job_id=key.rpartition(":")[2],
        name=fields["name"],
        data=json.loads(fields["data"]),
        options=json.loads(fields["opts"]),
    )


@contextmanager
def serving(handle: Callable[[socket.socket], None]) -> Iterator[str]:
    """The address of a port where `handle` gets each connection, in a thread of its own."""
    kept: list[socket.socket] = []

    def accept() -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            kept.append(connection)
            threading.Thread(target=handle, args=[connection], daemon=True).start()

    with socket.create_server(("127.0.0.1", 0)) as listener:
        acceptor = threading.Thread(target=accept, daemon=True)
        acceptor.start()
        try:
            yield f"redis://127.0.0.1:{listener.getsockname()[1]}/0"
        finally:
            listener.shutdown(socket.SHUT_RDWR)
            acceptor.join()
            for connection in kept:
                connection.close()


def stranger(answer: bytes | None) -> AbstractContextManager[str]:
    """Something that takes connections and says `answer`, or nothing for ever; with b"" it hangs up."""

    def handle(connection: socket.socket) -> None:
        with suppress(OSError):
            if answer:
                connection.sendall(answer)
            elif answer is not None:
                connection.shutdown(socket.SHUT_RDWR)

    return serving(handle)


def slowed(port: int, seconds: float) -> AbstractContextManager[str]:
    """The server behind `port`, each of whose answers takes so much longer."""

    def carry(source: socket.socket, target: socket.socket, delay: float) -> None:
        with suppress(OSError):
            while data := source.recv(65536):
                time.sleep(delay)
                target.sendall(data)
            target.shutdown(socket.SHUT_RDWR)

    def handle(connection: socket.socket) -> None:
        with socket.create_connection(("127.0.0.1", port)) as server:
            questions = threading.Thread(target=carry, args=[connection, server, 0.0], daemon=True)
            questions.start()
            carry(server, connection, seconds)
            questions.join()

    return serving(handle)
