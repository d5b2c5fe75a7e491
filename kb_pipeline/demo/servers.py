"""The programs that serve after the demo: Dagster's UI and its daemon.

Belongs here: starting them, waiting until they answer, stopping them and all that they started.
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

from kb_pipeline.errors import KbPipelineError

HOST = "127.0.0.1"
UI_PORT = 3000
READY_SECONDS = 90
STOP_SECONDS = 10


@contextmanager
def serving(environment: Mapping[str, str], folder: Path, log: Path) -> Iterator[str]:
    """Dagster's UI and daemon as child processes; gives the UI's address once it answers.

    At the end of the block both are stopped, with every process that they started.
    """
    port = free_port(UI_PORT)
    module = ("-m", "kb_pipeline.definitions")
    with ExitStack() as stack, log.open("ab") as output:
        for arguments in (
            ("dagster_webserver", "-h", HOST, "-p", str(port), *module),
            ("dagster._daemon.cli", "run", *module),
        ):
            command = [sys.executable, "-m", *arguments]
            stack.enter_context(_child(command, environment, folder, output.fileno()))
        wait_until_open(port, log)
        yield f"http://{HOST}:{port}"


@contextmanager
def _child(command: Sequence[str], environment: Mapping[str, str], folder: Path, output: int) -> Iterator[None]:
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
        yield
    finally:
        stop_group(process)


def stop_group(process: subprocess.Popen[bytes]) -> None:
    """Stop a process that leads a group, and the group: politely, then for good."""
    # The leader handles an interrupt by stopping its own children in order.
    process.send_signal(signal.SIGINT)
    try:
        process.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.terminate()
        with suppress(subprocess.TimeoutExpired):
            process.wait(STOP_SECONDS)
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def free_port(wanted: int) -> int:
    """The wanted port of the loopback address if it is free, else any free one."""
    for port in (wanted, 0):
        with socket.socket() as listener:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            with suppress(OSError):
                listener.bind((HOST, port))
                return int(listener.getsockname()[1])
    raise KbPipelineError(f"no free port on {HOST}; stop a program that listens there")


def wait_until_open(port: int, log: Path) -> None:
    """Wait until somebody listens; raises KbPipelineError after a while."""
    deadline = time.monotonic() + READY_SECONDS
    while time.monotonic() < deadline:
        with suppress(OSError), socket.create_connection((HOST, port), timeout=1):
            return
        time.sleep(0.2)
    raise KbPipelineError(
        f"the Dagster UI did not answer on port {port} within {READY_SECONDS} s; its output is in {log}"
    )
