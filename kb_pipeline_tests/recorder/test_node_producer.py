"""The NestJS example of the how-to, run as it stands there with the real npm packages against a real server."""

import asyncio
import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from bullmq import Job, Worker  # type: ignore[import-untyped]
from jsonschema import Draft202012Validator

from kb_pipeline.recorder import DEFAULT_QUEUE
from kb_pipeline.recorder.metrics import LATENCY_BUCKETS_MS
from kb_pipeline.retrieval.events import Read, job_options, job_schema, read_job
from kb_pipeline_tests.docs_pages import page
from kb_pipeline_tests.queue_servers import QueuedJob, QueueServer, eventually

pytestmark = pytest.mark.slow

PAGE = "docs/how-to/record-retrievals.md"
# Saves a draft for each line of its input, and says so when nothing keeps it from doing so.
APPLICATION = """
import { createInterface } from 'node:readline';
import { register } from 'prom-client';
import { RetrievalEvents } from './retrieval-events.mjs';
import { retrievalEventOf } from './retrieval-event-of.mjs';
import { countRetrieval } from './retrieval-metrics.mjs';

let outcome;
const events = new RetrievalEvents(process.argv[2], (error) => { outcome = error.message; });
console.log('started');
for await (const line of createInterface({ input: process.stdin })) {
  if (line === 'status') console.log(events.redis.status);
  else if (line === 'metrics') console.log(JSON.stringify(await register.metrics()));
  else {
    const { draft, retrieval } = JSON.parse(line);
    const event = retrievalEventOf(draft, { ...retrieval, finishedAt: new Date() });
    countRetrieval(event);
    outcome = 'recorded';
    const recorded = events.record(event);
    console.log('sent');
    await recorded;
    console.log(outcome);
  }
}
process.exit(0);
"""


@pytest.fixture(scope="module", params=["5", "6"], ids=["bullmq5", "bullmq6"])
def application(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of an application that uses the example, with its packages from npm."""
    blocks = re.findall(r"```js\n(.*?)```", page(PAGE), re.DOTALL)
    npm, node = shutil.which("npm"), shutil.which("node")
    if npm is None or node is None:
        pytest.skip("node and npm are not installed")
    folder = tmp_path_factory.mktemp("node")
    names = ("retrieval-events.mjs", "retrieval-event-of.mjs", "retrieval-metrics.mjs")
    for name, code in zip(names, blocks, strict=True):
        (folder / name).write_text(code)
    (folder / "application.mjs").write_text(APPLICATION)
    (folder / "package.json").write_text('{"private": true}')
    packages = [f"bullmq@{request.param}", "ioredis@5", "prom-client@15"]
    command = [npm, "install", "--no-audit", "--no-fund", "--ignore-scripts", "--fetch-retries=0", *packages]
    try:
        installed = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=180)
    except subprocess.TimeoutExpired:
        pytest.skip("the npm registry does not answer")
    if installed.returncode != 0:
        pytest.skip(f"the npm registry does not give the packages: {installed.stderr.strip()[-200:]}")
    return folder


@dataclass
class Running:
    """The application while it runs."""

    process: "subprocess.Popen[str]"

    def ask(self, line: str) -> str:
        """Say a line, and read what is answered to it."""
        assert self.process.stdin is not None
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        return self.answer()

    def answer(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline().strip()

    def save(self, saved: dict[str, Any]) -> str:
        """Save a draft, which is sent whatever happens; what became of its event."""
        assert self.ask(json.dumps(saved)) == "sent"
        return self.answer()


@contextmanager
def run(folder: Path, url: str) -> Iterator[Running]:
    command = ["node", "application.mjs", url]
    with subprocess.Popen(command, cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        running = Running(process)
        assert running.answer() == "started"
        yield running
        assert process.stdin is not None
        process.stdin.close()
        assert process.wait(60) == 0


def saved_draft(**draft: Any) -> dict[str, Any]:
    """A draft that the application saves, and the retrieval that served it."""
    results: list[dict[str, Any]] = [
        {"docId": "akun", "score": 0.6, "subScores": {"bm25": 9.25, "vector": 0.7, "preRerankRank": 2, "rerank": 0.6}},
        {"docId": "alamat", "chunkId": "3", "score": 0.5},
    ]
    return {
        "draft": {
            "id": str(uuid4()),
            "orgId": str(uuid4()),
            "specialistId": str(uuid4()),
            "conversationId": str(uuid4()),
            "content": "Alamat diganti di menu pesanan [RAG-2].",
            **draft,
        },
        "retrieval": {
            "engine": "hybrid",
            "query": "Ganti alamat, bisa?",
            "topK": 5,
            "latencyMs": 41,
            "results": results,
        },
    }


def job_of(server: QueueServer, saved: dict[str, Any]) -> QueuedJob:
    [job] = [job for job in server.jobs(DEFAULT_QUEUE) if job.data["query"] == saved["retrieval"]["query"]]
    return job


async def taken(url: str) -> Any:
    """The data of the job that a worker of the same library for Python takes off the queue."""
    data: asyncio.Future[Any] = asyncio.get_running_loop().create_future()

    async def process(job: Job, token: str) -> None:  # noqa: ARG001 the signature that the library calls
        data.set_result(job.data)

    worker = Worker(DEFAULT_QUEUE, process, {"connection": url})
    try:
        return await asyncio.wait_for(data, 60)
    finally:
        await worker.close()


@pytest.fixture
def own(own_server: QueueServer) -> QueueServer:
    return own_server.start()


def test_a_saved_draft_is_a_job_as_the_schema_has_it_and_as_our_own(application: Path, own: QueueServer) -> None:
    saved = saved_draft()
    with run(application, own.url) as running:
        eventually(lambda: running.ask("status") == "ready")
        assert running.save(saved) == "recorded"
        assert running.save(saved) == "recorded"
    job = job_of(own, saved)
    assert list(Draft202012Validator(job_schema()).iter_errors(job.data)) == []
    got = read_job(job.data, received_at=datetime.now(UTC), engines=["hybrid"])
    assert isinstance(got, Read)
    assert got.notes == ()
    assert [(hit["doc_id"], hit["used_in_final"]) for hit in job.data["retrieved"]] == [
        ("akun", False),
        ("alamat", True),
    ]
    assert job.options == job_options(f"m-{saved['draft']['id']}") | {"jobId": job.job_id}
    assert asyncio.run(taken(own.url)) == job.data


def test_a_retrieval_without_a_draft_is_a_job_of_its_own(application: Path, own: QueueServer) -> None:
    with run(application, own.url) as running:
        eventually(lambda: running.ask("status") == "ready")
        assert running.save(saved_draft(id=None)) == "recorded"
    [job] = own.jobs(DEFAULT_QUEUE)
    assert job.job_id == f"e-{job.data['id']}"
    assert isinstance(read_job(job.data, received_at=datetime.now(UTC), engines=["hybrid"]), Read)


def test_the_draft_is_sent_while_the_queue_is_down_hung_or_full_and_recording_goes_on_afterwards(
    application: Path, own_server: QueueServer
) -> None:
    with run(application, own_server.url) as running:
        assert running.save(saved_draft()) == "the queue is away"
        own_server.start()
        eventually(lambda: running.ask("status") == "ready")
        assert running.save(saved_draft()) == "recorded"
        own_server.hang()
        assert running.save(saved_draft()) == "Command timed out"
        own_server.go_on()
        own_server.configure("maxmemory", 1)
        assert running.save(saved_draft()).startswith("OOM command not allowed")
        own_server.configure("maxmemory", 0)
        assert running.save(saved_draft()) == "recorded"
        own_server.stop()
        eventually(lambda: running.ask("status") != "ready")
        assert running.save(saved_draft()) == "the queue is away"
        own_server.start()
        eventually(lambda: running.ask("status") == "ready")
        assert running.save(saved_draft()) == "recorded"
    # What was asked while it hung was answered in the end.
    assert len(own_server.jobs(DEFAULT_QUEUE)) == 4


def test_health_is_counted_under_the_same_names_as_in_python(application: Path) -> None:
    empty = saved_draft()
    empty["retrieval"]["results"] = []
    with run(application, "redis://127.0.0.1:1/0") as running:
        running.save(saved_draft())
        running.save(empty)
        exposed = json.loads(running.ask("metrics"))
    assert 'kb_retrieval_total{engine="hybrid"} 2' in exposed
    assert 'kb_retrieval_empty_total{engine="hybrid"} 1' in exposed
    assert 'kb_retrieval_top_score_sum{engine="hybrid"} 0.6' in exposed
    assert 'kb_retrieval_latency_ms_count{engine="hybrid"} 2' in exposed
    bounds = re.findall(r'kb_retrieval_latency_ms_bucket{le="(\d+)"', exposed)
    assert tuple(map(int, bounds)) == LATENCY_BUCKETS_MS
