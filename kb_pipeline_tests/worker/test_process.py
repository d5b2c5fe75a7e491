"""`kb-pipeline worker` as a process: what it says, where it listens, how it ends, what it refuses to start with."""

import re
import signal
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml

from kb_pipeline.adapters.postgres.connection import Database
from kb_pipeline.cli import failures, working
from kb_pipeline.cli.root import kb_pipeline as group
from kb_pipeline_tests.cli.command import assert_one_sentence
from kb_pipeline_tests.http_servers import PLAIN
from kb_pipeline_tests.queue_servers import QueueServer, eventually, free_port
from kb_pipeline_tests.recorder.events import click, retrieval
from kb_pipeline_tests.worker.workers import Site, WorkerProcess

pytestmark = pytest.mark.postgres

Start = Callable[..., WorkerProcess]
WRITTEN = 'kb_pipeline_worker_events_total{result="written",type="retrieval"}'
LINE = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ (INFO|WARNING) .+")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_worker_consumes_tells_how_it_is_and_ends_in_order_when_told(
    site: Site, new_worker: Start, number: signal.Signals
) -> None:
    worker = new_worker(site.server.url)
    assert worker.announcement.startswith(f"consuming {site.queue} at redis://127.0.0.1:{site.server.port}/0; ")
    site.put_events([retrieval() for _ in range(30)])
    eventually(lambda: worker.metric(WRITTEN) == 30)
    status, facts = worker.health()
    assert (status, facts["status"], facts["reasons"], facts["queue"]) == (200, "ok", [], site.queue)
    worker.signal(number)
    assert worker.wait() == 0
    assert site.rows() == 30
    assert all(LINE.fullmatch(line) for line in worker.log.splitlines())
    assert worker.log.splitlines()[-1].endswith("INFO stopped")
    assert "left" not in worker.log


def test_what_was_in_hand_is_finished_before_the_end_and_the_rest_waits(site: Site, new_worker: Start) -> None:
    worker = new_worker(site.server.url)
    site.put_events([retrieval() for _ in range(200)])
    worker.signal(signal.SIGTERM)
    assert worker.wait() == 0
    with site.server.client() as client:
        waiting: Any = client.llen(f"bull:{site.queue}:wait")
        assert client.llen(f"bull:{site.queue}:active") == 0
    assert site.rows() + waiting == 200
    assert "left" not in worker.log


def test_a_second_signal_ends_it_at_once(site: Site, new_worker: Start) -> None:
    worker = new_worker(site.server.url, worker_host="localhost")
    with site.database.connect() as blocking:
        # The insert waits for this lock, and so does a worker that was told to stop once.
        blocking.execute("LOCK TABLE kb_retrieval_event IN ACCESS EXCLUSIVE MODE")
        site.put_events([retrieval()])
        eventually(lambda: worker.health()[1]["jobs_in_hand"] == 1)
        worker.signal(signal.SIGTERM)
        eventually(lambda: "stopping, with 1 job in hand" in worker.log)
        worker.signal(signal.SIGTERM)
        assert worker.wait() == 128 + signal.SIGTERM


@pytest.mark.slow
def test_a_worker_whose_database_hangs_still_ends_when_told(site: Site, new_worker: Start) -> None:
    worker = new_worker(site.server.url)
    with site.database.connect() as blocking:
        blocking.execute("LOCK TABLE kb_retrieval_event IN ACCESS EXCLUSIVE MODE")
        site.put_events([retrieval()])
        eventually(lambda: worker.health()[1]["jobs_in_hand"] == 1)
        worker.signal(signal.SIGTERM)
        assert worker.wait() == 0
        assert "left 1 job in hand to the next worker" in worker.log


def test_no_text_of_a_query_is_in_the_log_or_on_the_pages(site: Site, new_worker: Start) -> None:
    worker = new_worker(site.server.url)
    rahasia = "rahasia-negara"
    site.put_events([retrieval(query=rahasia), click(doc_id=rahasia)])
    site.put([({"query": rahasia}, {"jobId": rahasia}), ({"id": rahasia, "org_id": rahasia}, {}), (rahasia, {})])
    eventually(lambda: len(site.finished("failed")) == 3)
    metrics = httpx.get(f"{worker.address}/metrics", verify=PLAIN).text
    assert rahasia not in worker.log + metrics + str(worker.health())


@pytest.fixture
def refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Callable[[dict[str, Any], str | None], str]:
    """Runs a worker that cannot start, in this process; its sentence."""
    monkeypatch.setattr(working, "log_to_stderr", lambda: None)

    def run(section: dict[str, Any], database: str | None) -> str:
        config = tmp_path / "kb.yaml"
        config.write_text(yaml.safe_dump({"retrieval": section, "database": {"url": database}}))
        assert failures.run(group, ["--config", str(config), "worker"]) in {1, 2}
        out, err = capsys.readouterr()
        assert out == ""
        assert_one_sentence(err)
        return err

    return run


def test_what_it_cannot_start_with_is_one_sentence_each(
    queue_server: QueueServer,
    database: Database,
    empty_database: Database,
    refused: Callable[[dict[str, Any], str | None], str],
) -> None:
    url, empty = (each.url.render_as_string(hide_password=False) for each in (database, empty_database))
    section = {"enabled": True, "redis_url": queue_server.url, "worker_port": 0}
    nobody = f"redis://:geheim@127.0.0.1:{free_port()}/0"
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        sentences = {
            "retrieval.enabled is false": refused({"enabled": False}, url),
            "retrieval.redis_url and the server": refused(section | {"redis_url": nobody}, url),
            "check database.url": refused(section, "postgresql://kb@127.0.0.1:1/kb"),
            "database.url is not set": refused(section, None),
            "run kb-pipeline migrate": refused(section, empty),
            "Address already in use": refused(section | {"worker_port": port}, url),
            "cannot listen on 192.0.2.1": refused(section | {"worker_host": "192.0.2.1"}, url),
            "options that the client does not know": refused(section | {"redis_url": queue_server.url + "?db=x"}, url),
        }
    for said, sentence in sentences.items():
        assert said in sentence
        assert "geheim" not in sentence
