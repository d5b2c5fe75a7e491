"""The programs of the demo: the worker beside it, then the dashboard, Dagster's UI and its daemon.

Belongs here: starting them, waiting until they answer, stopping them and all that they started. Does not: what they
are configured with.
"""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import NoReturn

from kb_pipeline.errors import KbPipelineError

HOST = "127.0.0.1"
UI_PORT = 3000
DASHBOARD_PORT = 8000
READY_SECONDS = 90
STOP_SECONDS = 10
GONE_SECONDS = 3
POLL_SECONDS = 0.5


class Served:
    """Dagster's UI at `address`, and the child processes behind it."""

    def __init__(self, address: str, children: Sequence[subprocess.Popen[bytes]], log: Path) -> None:
        self.address = address
        self._children = children
        self._log = log

    def wait(self) -> NoReturn:
        """Wait until somebody interrupts; raises KbPipelineError when a child ends before that."""
        while all(child.poll() is None for child in self._children):
            time.sleep(POLL_SECONDS)
        raise KbPipelineError(f"a program that was served ended by itself; its output is in {self._log}")


@contextmanager
def serving(environment: Mapping[str, str], folder: Path, *, port: int | None = None) -> Iterator[Served]:
    """Dagster's UI (on `port`) and daemon as child processes, with the workspace file of `folder`, once the UI answers.

    At the end of the block both are stopped, with every process that they started.
    """
    port = port or free_port(UI_PORT)
    log = folder / "dagster.log"
    workspace = ("-w", str(folder / "workspace.yaml"))
    programs = (
        ("dagster_webserver", "-h", HOST, "-p", str(port), *workspace),
        ("dagster._daemon", "run", *workspace),
    )
    with ExitStack() as stack, log.open("wb") as output:
        commands = [[sys.executable, "-m", *arguments] for arguments in programs]
        children = [stack.enter_context(_child(each, environment, folder, output.fileno())) for each in commands]
        wait_until_open(port, children, log)
        yield Served(f"http://{HOST}:{port}", children, log)


@contextmanager
def showing(environment: Mapping[str, str], folder: Path, *, port: int) -> Iterator[Served]:
    """`kb-pipeline serve` without tokens as a child process, once it listens on the port that its settings name."""
    log = folder / "dashboard.log"
    with log.open("wb") as output:
        command = [sys.executable, "-m", "kb_pipeline.cli", "serve", "--no-auth"]
        with _child(command, environment, folder, output.fileno()) as child:
            wait_until_open(port, [child], log)
            yield Served(f"http://{HOST}:{port}", [child], log)


@contextmanager
def working(environment: Mapping[str, str], folder: Path) -> Iterator[subprocess.Popen[bytes]]:
    """`kb-pipeline worker` as a child process until the end of the block; its output is in worker.log of the folder."""
    with (folder / "worker.log").open("wb") as output:
        command = [sys.executable, "-m", "kb_pipeline.cli", "worker"]
        with _child(command, environment, folder, output.fileno()) as worker:
            yield worker


@contextmanager
def _child(
    command: Sequence[str], environment: Mapping[str, str], folder: Path, output: int
) -> Iterator[subprocess.Popen[bytes]]:
    # A session of its own: Ctrl-C reaches the demo alone, which then stops the whole group.
    process = subprocess.Popen(  # noqa: S603 our own interpreter and modules
        command,
        env=dict(environment),
        cwd=folder,
        stdout=output,
        stderr=output,
        stdin=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        yield process
    finally:
        stop_group(process)


def stop_group(process: subprocess.Popen[bytes]) -> None:
    """Stop a process that leads a group, and the group: politely, then for good."""
    # The leader handles an interrupt by stopping its own children in order.
    process.send_signal(signal.SIGINT)
    try:
        process.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
    process.wait()
    # What is left of the group dies at once, but not in no time; one that nobody reaps stays listed for ever.
    deadline = time.monotonic() + GONE_SECONDS
    with suppress(ProcessLookupError):
        while time.monotonic() < deadline:
            os.killpg(process.pid, signal.SIGKILL)
            time.sleep(0.05)


def free_port(wanted: int) -> int:
    """The wanted port of the loopback address if it is free, else any free one."""
    for port in (wanted, 0):
        with socket.socket() as listener:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            with suppress(OSError):
                listener.bind((HOST, port))
                return int(listener.getsockname()[1])
    raise KbPipelineError(f"no free port on {HOST}; stop a program that listens there")


def wait_until_open(port: int, children: Sequence[subprocess.Popen[bytes]], log: Path) -> None:
    """Wait until somebody listens; raises KbPipelineError when a child ends first, or after a while."""
    deadline = time.monotonic() + READY_SECONDS
    while time.monotonic() < deadline and all(child.poll() is None for child in children):
        with suppress(OSError), socket.create_connection((HOST, port), timeout=1):
            return
        time.sleep(0.2)
    raise KbPipelineError(f"nothing came up on port {port}; its output is in {log}")
