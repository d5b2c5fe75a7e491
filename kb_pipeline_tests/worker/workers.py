"""Workers that tests start, ask, stop and kill, and producers that put jobs before them.

Belongs here: those. Does not: assertions about events.
"""

import asyncio
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import bullmq  # type: ignore[import-untyped]
import httpx

from kb_pipeline.adapters.postgres.connection import Database
from kb_pipeline.adapters.postgres.retrieval.events import Event, PostgresEventStore
from kb_pipeline.retrieval.events import job_id, job_of, job_options
from kb_pipeline.settings import RetrievalSettings
from kb_pipeline.worker.queue_server import QueueServer as Configured
from kb_pipeline.worker.running import QueueWorker
from kb_pipeline_tests.cli.command import clean_environment
from kb_pipeline_tests.http_servers import PLAIN
from kb_pipeline_tests.queue_servers import QueueServer

Jobs = Iterable[tuple[object, Mapping[str, Any]]]
"""Data and options of jobs."""
PATIENCE_S = 60


class WorkerProcess:
    """A `kb-pipeline worker` of this configuration, once it says that it consumes."""

    def __init__(self, config: Path) -> None:
        self._log = config.with_suffix(".log")
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "kb_pipeline.cli", "--config", str(config), "worker"],
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                env=clean_environment({}),
                cwd=config.parent,
            )
        assert self._process.stdout is not None
        self.announcement = self._process.stdout.readline()
        found = re.search(r"http://\S+", self.announcement)
        if found is None:
            self.kill()
        assert found, self.log
        self.address = found.group()

    @property
    def log(self) -> str:
        """What it has written to stderr so far."""
        return self._log.read_text(encoding="utf-8")

    def health(self) -> tuple[int, dict[str, Any]]:
        """Status and body of /healthz."""
        answer = httpx.get(f"{self.address}/healthz", timeout=PATIENCE_S, verify=PLAIN)
        return answer.status_code, answer.json()

    def metric(self, series: str) -> float:
        """The value of a series as /metrics writes it, for example name{label="x"}."""
        text = httpx.get(f"{self.address}/metrics", timeout=PATIENCE_S, verify=PLAIN).text
        found = re.search(rf"^{re.escape(series)} (\S+)$", text, re.MULTILINE)
        assert found, series
        return float(found.group(1))

    def signal(self, number: signal.Signals) -> None:
        """Send it a signal."""
        self._process.send_signal(number)

    def wait(self) -> int:
        """Its exit code, once it has ended."""
        return self._process.wait(PATIENCE_S)

    def kill(self) -> None:
        """End it without a word, if it has not ended."""
        self._process.kill()
        self._process.wait()
        assert self._process.stdout is not None
        self._process.stdout.close()


class WorkerThread:
    """A worker in a thread of this process, once it consumes."""

    def __init__(self, retrieval: RetrievalSettings, database: Database) -> None:
        self.worker = QueueWorker(Configured.configured(retrieval), PostgresEventStore(database), engines=("hybrid",))
        self._is_ready = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._consume()))
        self._thread.start()
        assert self._is_ready.wait(PATIENCE_S)

    def value(self, name: str, **labels: str) -> float:
        """The value of one of its metrics."""
        return self.worker.metrics.registry.get_sample_value(name, labels) or 0.0

    def stop(self) -> None:
        """Tell it to stop, and wait until it has."""
        self._loop.call_soon_threadsafe(self._told.set)
        self._thread.join(PATIENCE_S)

    async def _consume(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._told = asyncio.Event()
        try:
            await self.worker.consume(self._told, ready=self._is_ready.set)
        finally:
            self._is_ready.set()


def put(options: Mapping[str, Any], queue: str, jobs: Jobs) -> None:
    """Put jobs on a queue, one by one, with BullMQ as `options` tell it where."""

    async def adding() -> None:
        producer = bullmq.Queue(queue, dict(options))
        try:
            for data, each in jobs:
                await producer.add("event", data, dict(each))
        finally:
            await producer.close()

    asyncio.run(adding())


def put_events(options: Mapping[str, Any], queue: str, events: Sequence[Event]) -> None:
    """Put events on a queue as our own producers do."""
    put(options, queue, [(job_of(event), job_options(job_id(event))) for event in events])


@dataclass(frozen=True, slots=True)
class Site:
    """A queue of its own on a server, and the database that its events belong in."""

    server: QueueServer
    queue: str
    database: Database

    def put(self, jobs: Jobs) -> None:
        """Put jobs on the queue, whatever they hold."""
        put(on(self.server.url), self.queue, jobs)

    def put_events(self, events: Sequence[Event]) -> None:
        """Put events on the queue as our own producers do."""
        put_events(on(self.server.url), self.queue, events)

    def finished(self, state: str) -> dict[str, dict[str, str]]:
        """The jobs of a state by id, with what is said of their end."""
        said = ["failedReason", "returnvalue", "stacktrace", "atm"]
        with self.server.client() as client:
            ids: Any = client.zrange(f"bull:{self.queue}:{state}", 0, -1)
            found: dict[str, Any] = {each: client.hmget(f"bull:{self.queue}:{each}", said) for each in ids}
        return {each: dict(zip(said, fields, strict=True)) for each, fields in found.items()}

    def rows(self, table: str = "kb_retrieval_event") -> int:
        """How many rows a table has."""
        return count(self.database, table)


def on(url: str) -> dict[str, Any]:
    """BullMQ's options for a Redis server."""
    return {"connection": url}


def count(database: Database, table: str = "kb_retrieval_event") -> int:
    """How many rows a table has."""
    with database.connect() as connection:
        row = connection.execute(f"SELECT count(*) FROM {table}").fetchone()
    return int(row[0]) if row else 0
