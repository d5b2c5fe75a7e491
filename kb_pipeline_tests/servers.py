"""Real PostgreSQL servers for the tests, which end with the test run however it ends."""

import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
from psycopg import sql
from sqlalchemy.engine import make_url

from kb_pipeline.adapters.embedded import EmbeddedPostgres
from kb_pipeline.adapters.embedded.postmaster import Postmaster

# Goes on when its standard input ends, which the kernel closes when the test run goes, also by kill -9.
WATCHER = """
cat > /dev/null
for file in "$1"/*/cluster/postmaster.pid; do
  [ -f "$file" ] && kill -QUIT "$(head -n 1 "$file")"
done
for file in "$1"/*/server.pid; do
  [ -f "$file" ] && kill -KILL "$(head -n 1 "$file")"
done
sleep 1
rm -rf -- "$1"
"""


class GivenServer:
    """The server of KB_PIPELINE_TEST_POSTGRES_URL, whose user may create databases and roles."""

    def __init__(self, url: str) -> None:
        self._url = make_url(url).set(drivername="postgresql+psycopg")

    def url(self, database: str = "postgres") -> str:
        return self._url.set(database=database).render_as_string(hide_password=False)


PostgresServer = EmbeddedPostgres | GivenServer


# A run makes and drops a thousand databases, which most disks are slow at. Memory must be plenty, and run programs.
MEMORY = Path("/dev/shm")  # noqa: S108 a file system, and folders in it are made with mkdtemp
PLENTY_BYTES = 6 * 2**30


def use_memory_for_files() -> None:
    """Let temporary files of this process and its children lie in memory, unless TMPDIR says where."""
    if os.environ.get("TMPDIR") or not MEMORY.is_dir():
        return
    memory = os.statvfs(MEMORY)
    if memory.f_bavail * memory.f_frsize >= PLENTY_BYTES and not memory.f_flag & os.ST_NOEXEC:
        os.environ["TMPDIR"] = str(MEMORY)
        tempfile.tempdir = None


@contextmanager
def folder_of_servers() -> Iterator[Path]:
    """A folder whose subfolders are data folders of embedded servers: what runs in them ends with the block."""
    folder = Path(tempfile.gettempdir()).resolve() / f"kb_pipeline-tests-{os.getpid()}"
    folder.mkdir()
    # The server's account passes through it.
    folder.chmod(0o711)
    watcher = subprocess.Popen(
        ["/bin/sh", "-c", WATCHER, "sh", str(folder)], stdin=subprocess.PIPE, start_new_session=True
    )
    try:
        yield folder
    finally:
        watcher.kill()
        watcher.communicate()
        for data_dir in folder.iterdir():
            end_server(data_dir)
        shutil.rmtree(folder)


def end_server(data_dir: Path) -> None:
    """End whatever server still runs in a data folder, and wait until it has."""
    postmaster = Postmaster.read(data_dir / "cluster")
    if postmaster is not None:
        postmaster.send(signal.SIGQUIT)
        while postmaster.is_running():
            time.sleep(0.02)


@contextmanager
def embedded_server() -> Iterator[EmbeddedPostgres]:
    """A server without fsync for one test run; its data are removed afterwards."""
    with folder_of_servers() as folder, EmbeddedPostgres(folder / "main", fsync=False) as server:
        yield server


def administer(server: PostgresServer, statement: str, *names: str) -> None:
    """Run CREATE or DROP DATABASE, whose names stand as {} in the statement."""
    with psycopg.connect(libpq_url(server.url()), autocommit=True) as connection:
        connection.execute(sql.SQL(statement).format(*map(sql.Identifier, names)))


def libpq_url(url: str) -> str:
    """The same address for psycopg itself and for PostgreSQL's own programs."""
    return "postgresql://" + url.partition("://")[2]
