"""The worker beside a bare loop in the same run: both empty a queue of events into PostgreSQL with BullMQ.

Belongs here: events a second and CPU an event, runs taken in turn. Run it as `python benchmarks/recording.py`; exit
code 1 when the limit is missed.

The bare loop is BullMQ's own worker with the same concurrency, the same queue server and the same INSERT, as little
else as possible: it reads no job with care, watches nothing and counts nothing. `--singly` inserts each job's event by
itself, as a first version of such a loop would.
"""

import argparse
import asyncio
import json
import logging
import statistics
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import bullmq
import psycopg

from kb_pipeline.adapters.embedded import EmbeddedPostgres
from kb_pipeline.adapters.embedded_queue import EmbeddedQueue
from kb_pipeline.adapters.postgres.connection import Database
from kb_pipeline.adapters.postgres.migrations import migrate
from kb_pipeline.adapters.postgres.retrieval.events import PostgresEventStore
from kb_pipeline.adapters.postgres.retrieval.queries import load
from kb_pipeline.adapters.postgres.retrieval.recorder import recorder_database
from kb_pipeline.records.retrieval import RetrievalEvent, RetrievedDocument, Tenant
from kb_pipeline.retrieval.events import job_id, job_of, job_options
from kb_pipeline.settings import RetrievalSettings
from kb_pipeline.worker.batching import LINGER_S, MOST_EVENTS
from kb_pipeline.worker.consuming import CONCURRENCY
from kb_pipeline.worker.queue_server import QueueServer
from kb_pipeline.worker.running import QueueWorker

LOWEST_RATIO = 0.8
QUEUE = "benchmark"
ENGINES = ("hybrid",)
TENANT = Tenant(org_id=UUID(int=1), specialist_id=UUID(int=2))
QUESTION = "Berapa lama barang yang sudah dibeli di toko boleh dikembalikan, dan siapa yang menanggung ongkos kirimnya?"


@dataclass(frozen=True, kw_only=True, slots=True)
class Measured:
    """One run: seconds and CPU seconds of this process."""

    name: str
    seconds: float
    cpu: float


@dataclass(frozen=True, kw_only=True, slots=True)
class Place:
    """Where the runs take place."""

    server: QueueServer
    database: Database
    events: int

    def rows(self) -> int:
        with self.database.connect() as connection:
            row = connection.execute("SELECT count(*) FROM kb_retrieval_event").fetchone()
        return int(row[0]) if row else 0


def event_of(number: int) -> RetrievalEvent:
    """An event of ten results with their sub-scores: about 2 kB as a job."""
    results = [
        RetrievedDocument(
            doc_id=f"pasal-{number % 500}-{rank}", chunk_id=f"b-{rank}", rank=rank, score=1 / rank,
            bm25_score=12.5 / rank, vector_similarity=0.9 - rank / 50, pre_rerank_rank=rank, rerank_score=0.8 / rank,
            used_in_final=rank < 3,
        )
        for rank in range(1, 11)
    ]  # fmt: skip
    return RetrievalEvent(
        id=uuid4(), tenant=TENANT, conversation_id=uuid4(), message_id=uuid4(), engine="hybrid", query=QUESTION,
        top_k=10, result_count=10, latency_ms=42, retrieved=tuple(results), occurred_at=datetime.now(UTC),
    )  # fmt: skip


async def fill(place: Place) -> None:
    """Empty the table, and put the events on the queue."""
    with place.database.connect() as connection:
        connection.execute("TRUNCATE kb_retrieval_event")
    queue = bullmq.Queue(QUEUE, place.server.patient())
    jobs = [
        {"name": "event", "data": job_of(event), "opts": job_options(job_id(event))}
        for event in map(event_of, range(place.events))
    ]
    for start in range(0, len(jobs), 250):
        await queue.addBulk(jobs[start : start + 250])
    await queue.close()


async def worker_run(place: Place) -> Measured:
    """Our worker, as `kb-pipeline worker` runs it."""
    await fill(place)
    with recorder_database(place.database.url.render_as_string(hide_password=False)) as database:
        worker = QueueWorker(place.server, PostgresEventStore(database), engines=ENGINES)
        stop = asyncio.Event()
        labels = {"type": "retrieval", "result": "written"}
        written = partial(worker.metrics.registry.get_sample_value, "kb_pipeline_worker_events_total", labels)
        ready = asyncio.Event()
        running = asyncio.ensure_future(worker.consume(stop, ready=ready.set))
        await ready.wait()
        measured = await until("worker", lambda: written() == place.events)
        stop.set()
        await running
    assert place.rows() == place.events  # noqa: S101
    return measured


async def bare_run(place: Place, *, singly: bool) -> Measured:
    """BullMQ's worker and one INSERT, and nothing else."""
    await fill(place)
    done = 0
    with psycopg.connect(libpq_url(place.database)) as connection:
        keep = batched(partial(insert, connection), most=1 if singly else MOST_EVENTS)

        async def process(job: bullmq.Job, _token: str) -> None:
            nonlocal done
            await keep(job.data)
            done += 1

        options = {**place.server.patient(), "concurrency": CONCURRENCY, "autorun": False}
        worker = bullmq.Worker(QUEUE, process, options)
        running = asyncio.ensure_future(worker.run())
        measured = await until("bare, singly" if singly else "bare", lambda: done == place.events)
        await worker.close()
        await running
    assert place.rows() == place.events  # noqa: S101
    return measured


def insert(connection: psycopg.Connection, jobs: Sequence[dict[str, Any]]) -> None:
    """The worker's own statement over the jobs as they came."""
    rows = [{"candidate_pool": [], "degraded": False, "shadow": False} | job for job in jobs]
    connection.execute(load("save_retrieval_events"), {"events": json.dumps(rows)})
    connection.commit()


def batched(save: Callable[[Sequence[Any]], None], *, most: int) -> Callable[[Any], Awaitable[None]]:
    """Gathers what is kept at the same time into one `save` in another thread."""
    waiting: list[tuple[Any, asyncio.Future[None]]] = []
    saving: asyncio.Task[None] | None = None

    async def save_all() -> None:
        while waiting:
            await asyncio.sleep(LINGER_S)
            batch, waiting[:most] = waiting[:most], []
            await asyncio.to_thread(save, [each for each, _ in batch])
            for _, answer in batch:
                answer.set_result(None)

    async def keep(each: Any) -> None:
        nonlocal saving
        answer: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        waiting.append((each, answer))
        if saving is None or saving.done():
            saving = asyncio.ensure_future(save_all())
        await answer

    return keep


def libpq_url(database: Database) -> str:
    """The address for psycopg itself."""
    return "postgresql" + database.url.render_as_string(hide_password=False).removeprefix("postgresql+psycopg")


async def until(name: str, condition: Callable[[], bool]) -> Measured:
    """Measure from now until the condition holds."""
    seconds, cpu = time.perf_counter(), time.process_time()
    while not condition():  # noqa: ASYNC110 nobody sets an event
        await asyncio.sleep(0.002)
    return Measured(name=name, seconds=time.perf_counter() - seconds, cpu=time.process_time() - cpu)


def median_of(runs: Sequence[Measured]) -> Measured:
    """The run of the median duration."""
    return sorted(runs, key=lambda run: run.seconds)[len(runs) // 2]


def main() -> int:
    """Measure, print the table, say by the exit code whether the limit holds."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=int, default=4000)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--singly", action="store_true", help="also a bare loop that inserts one event at a time")
    parser.add_argument("--postgres-queue", action="store_true", help="the queue in PostgreSQL instead of Valkey")
    arguments = parser.parse_args()
    logging.disable(logging.INFO)
    with (
        tempfile.TemporaryDirectory(prefix="kb_pipeline-benchmark-") as folder,
        EmbeddedPostgres(Path(folder, "postgres")) as postgres,
        EmbeddedQueue(Path(folder, "queue")) as queue,
    ):
        postgres.create_database("benchmark")
        database = Database(postgres.url("benchmark"))
        migrate(database)
        if arguments.postgres_queue:
            postgres.create_database("queue")
            settings = RetrievalSettings(enabled=True, queue=QUEUE, queue_database_url=postgres.url("queue"))
        else:
            settings = RetrievalSettings(enabled=True, queue=QUEUE, redis_url=queue.url)
        place = Place(server=QueueServer.configured(settings), database=database, events=arguments.events)
        try:
            return compare(place, arguments)
        finally:
            database.dispose()


def compare(place: Place, arguments: argparse.Namespace) -> int:
    """The runs in turn; 0 when the limit holds."""
    runs: list[Callable[[Place], Awaitable[Measured]]] = [partial(bare_run, singly=False), worker_run]
    if arguments.singly:
        runs.append(partial(bare_run, singly=True))
    measured: list[list[Measured]] = [[] for _ in runs]
    for turn in range(arguments.repeats):
        # Whoever goes first finds other caches than whoever goes last.
        for number in range(len(runs)) if turn % 2 else reversed(range(len(runs))):
            measured[number].append(asyncio.run(runs[number](place)))
    print(f"{'':<14} {'seconds':>8} {'events/s':>9} {'CPU ms':>7}")
    for run in map(median_of, measured):
        print(
            f"{run.name:<14} {run.seconds:>8.2f} {place.events / run.seconds:>9.0f}"
            f" {run.cpu / place.events * 1000:>7.2f}"
        )
    bare, ours = median_of(measured[0]), median_of(measured[1])
    ratios = [first.seconds / second.seconds for first, second in zip(*measured[:2], strict=True)]
    print(f"throughput of the worker over the bare loop: {bare.seconds / ours.seconds:.2f} (at least {LOWEST_RATIO})")
    print(f"turn by turn: {', '.join(f'{ratio:.2f}' for ratio in ratios)}; median {statistics.median(ratios):.2f}")
    return 0 if bare.seconds / ours.seconds >= LOWEST_RATIO else 1


if __name__ == "__main__":
    sys.exit(main())
