"""Servers that go away and come back, workers that are killed: every event arrives once, and it is said once."""

import json
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from kb_pipeline.adapters.embedded import EmbeddedPostgres
from kb_pipeline.adapters.postgres.connection import Database
from kb_pipeline.adapters.postgres.migrations import migrate
from kb_pipeline.retrieval.events import job_of
from kb_pipeline_tests.cli.command import clean_environment
from kb_pipeline_tests.queue_servers import QueueServer, eventually
from kb_pipeline_tests.recorder.events import retrieval
from kb_pipeline_tests.worker.workers import Site, WorkerProcess, count, on, put_events

pytestmark = [pytest.mark.postgres, pytest.mark.slow]

Start = Callable[..., WorkerProcess]
WRITTEN = 'kb_pipeline_worker_events_total{result="written",type="retrieval"}'


def fault(worker: WorkerProcess, kind: str) -> bool:
    return worker.metric(f'kb_pipeline_worker_fault{{kind="{kind}"}}') == 1


def said(worker: WorkerProcess, words: str) -> int:
    return sum(words in line for line in worker.log.splitlines())


def test_a_database_that_restarts_costs_no_event_and_no_attempt(
    own_postgres: EmbeddedPostgres, queue_server: QueueServer, queue: str, tmp_path: Path
) -> None:
    own_postgres.create_database("kb")
    config = tmp_path / "worker.yaml"
    retrieval_section = {"enabled": True, "queue": queue, "redis_url": queue_server.url, "worker_port": 0}
    config.write_text(json.dumps({"retrieval": retrieval_section, "database": {"url": own_postgres.url("kb")}}))
    database = Database(own_postgres.url("kb"))
    migrate(database)
    worker = WorkerProcess(config)
    try:
        put_events(on(queue_server.url), queue, [retrieval() for _ in range(50)])
        eventually(lambda: worker.metric(WRITTEN) == 50)
        database.dispose()
        own_postgres.stop()
        put_events(on(queue_server.url), queue, [retrieval() for _ in range(300)])
        eventually(lambda: fault(worker, "database"))
        assert worker.health()[0] == 503
        time.sleep(2)
        own_postgres.start()
        eventually(lambda: count(database) == 350)
        eventually(lambda: worker.health()[0] == 200)
        assert said(worker, "the database at") == said(worker, "the database keeps events again") == 1
        assert worker.metric("kb_pipeline_worker_stalled_jobs_total") == 0
        with queue_server.client() as client:
            assert client.zcard(f"bull:{queue}:failed") == 0
    finally:
        worker.kill()
        database.dispose()


def test_a_worker_that_is_stopped_while_the_database_is_away_hands_its_jobs_back_unharmed(
    site: Site, new_worker: Start
) -> None:
    worker = new_worker(site.server.url)
    with site.database.connect() as connection:
        connection.execute("ALTER TABLE kb_retrieval_event RENAME TO kb_elsewhere")
    site.put_events([retrieval() for _ in range(20)])
    eventually(lambda: fault(worker, "database"))
    worker.signal(signal.SIGTERM)
    assert worker.wait() == 0
    with site.database.connect() as connection:
        connection.execute("ALTER TABLE kb_elsewhere RENAME TO kb_retrieval_event")
    with site.server.client() as client:
        assert client.llen(f"bull:{site.queue}:active") == 0
    following = new_worker(site.server.url)
    eventually(lambda: site.rows() == 20)
    assert following.metric("kb_pipeline_worker_stalled_jobs_total") == 0


@pytest.mark.parametrize("way", ["killed", "hung"])
def test_a_queue_server_that_goes_and_comes_back_is_waited_for_and_said_once(
    own_server: QueueServer, queue: str, database: Database, new_worker: Start, way: str
) -> None:
    own_server.start()
    worker = new_worker(own_server.url)
    put_events(on(own_server.url), queue, [retrieval() for _ in range(200)])
    eventually(lambda: worker.metric(WRITTEN) > 0)
    if way == "killed":
        own_server.stop()
    else:
        own_server.hang()
    eventually(lambda: fault(worker, "queue"))
    assert worker.health()[0] == 503
    time.sleep(3)
    if way == "killed":
        own_server.start()
    else:
        own_server.go_on()
    put_events(on(own_server.url), queue, [retrieval() for _ in range(50)])
    eventually(lambda: count(database) == 250)
    eventually(lambda: worker.health()[0] == 200)
    assert said(worker, "the queue server at") == said(worker, "the queue server answers again") == 1


def test_a_worker_that_is_killed_loses_nothing_and_another_takes_its_jobs_up(site: Site, new_worker: Start) -> None:
    killed = new_worker(site.server.url)
    with site.database.connect() as blocking:
        blocking.execute("LOCK TABLE kb_retrieval_event IN ACCESS EXCLUSIVE MODE")
        site.put_events([retrieval() for _ in range(20)])
        eventually(lambda: killed.health()[1]["jobs_in_hand"] == 20)
        killed.kill()
    following = new_worker(site.server.url)
    # The rows may be those of the killed worker: its last statement may have been on its way.
    eventually(lambda: following.metric("kb_pipeline_worker_stalled_jobs_total") == 20)
    eventually(lambda: site.rows() == 20)


# Puts half of a file's jobs on a queue, from its own number on, so that each job comes from two of four producers.
PRODUCER = """
import asyncio, json, sys, bullmq
url, queue, file, first = sys.argv[1:]
jobs = json.load(open(file))
jobs = (jobs[int(first):] + jobs[:int(first)])[:len(jobs) // 2]
options = {"attempts": 8, "removeOnComplete": {"count": 100}}
async def produce():
    producer = bullmq.Queue(queue, {"connection": url})
    for start in range(0, len(jobs), 50):
        await producer.addBulk([
            {"name": "event", "data": data, "opts": {"jobId": job_id, **options}}
            for job_id, data in jobs[start:start + 50]])
    await producer.close()
asyncio.run(produce())
"""


def test_ten_thousand_events_of_four_producers_are_ten_thousand_rows_although_two_of_three_workers_are_killed(
    own_server: QueueServer, queue: str, database: Database, new_worker: Start, tmp_path: Path
) -> None:
    site = Site(own_server.start(), queue, database)
    own_server.configure("appendfsync", "no")
    jobs = [(f"m-{number}", job_of(retrieval())) for number in range(10_000)]
    file = tmp_path / "jobs.json"
    file.write_text(json.dumps(jobs))
    workers = [new_worker(site.server.url) for _ in range(3)]
    producers = [
        subprocess.Popen(
            [sys.executable, "-c", PRODUCER, site.server.url, site.queue, str(file), str(first)],
            env=clean_environment({}),
        )
        for first in (0, 2_500, 5_000, 7_500)
    ]
    replacing = threading.Thread(target=lambda: _kill_two(site, workers, new_worker))
    replacing.start()
    assert [producer.wait(300) for producer in producers] == [0, 0, 0, 0]
    replacing.join()
    eventually(lambda: site.rows() == 10_000)

    def is_over() -> bool:
        with site.server.client() as client:
            return not client.llen(f"bull:{site.queue}:wait") and not client.llen(f"bull:{site.queue}:active")

    eventually(is_over)
    assert site.rows() == 10_000
    assert site.rows("kb_retrieval_event_conflict") == 0
    assert site.finished("failed") == {}


def _kill_two(site: Site, workers: list[WorkerProcess], new_worker: Start) -> None:
    for share, worker in ((1_500, workers[0]), (4_000, workers[1])):
        eventually(lambda share=share: site.rows() >= share)  # type: ignore[misc]
        worker.kill()
        new_worker(site.server.url)
