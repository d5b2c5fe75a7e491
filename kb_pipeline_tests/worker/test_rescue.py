"""Jobs whose ids are names that the queue needs for itself: the queue goes on, and so do they."""

import logging
from collections.abc import Callable
from typing import Any

import pytest
import redis

from kb_pipeline.retrieval.events import job_of
from kb_pipeline.worker.rescue import TYPES
from kb_pipeline_tests.queue_servers import eventually
from kb_pipeline_tests.recorder.events import retrieval
from kb_pipeline_tests.worker.workers import Site, WorkerThread

pytestmark = pytest.mark.postgres

Start = Callable[[str], WorkerThread]

# The queue itself makes this key before it looks for the job: the producer is told of an error, nothing else happens.
MADE_FIRST = {"id"}
# Whose producer is told of an error too, although the job is there.
REFUSED = {"wait", "events", "marker"}
# Which the queue deletes when it has handed the job out.
FLEETING = {"pc"}


def add(site: Site, job_id: str) -> None:
    """Add the job of an event under an id, in a queue where nothing else was done yet."""
    site.put([(job_of(retrieval()), {"jobId": job_id})])


def left_over(site: Site) -> dict[str, Any]:
    """What still waits or is in hand, and keys that hold another type than they should."""
    with site.server.client() as client:
        found: dict[str, Any] = {}
        for name, expected in TYPES.items():
            kind: Any = client.type(f"bull:{site.queue}:{name}")
            if kind not in {"none", expected}:
                found[name] = kind
            elif expected == "list" and kind == "list":
                found[name] = client.lrange(f"bull:{site.queue}:{name}", 0, -1)
        return found


@pytest.mark.parametrize("name", sorted(set(TYPES) - MADE_FIRST))
def test_an_id_that_the_queue_needs_for_itself_loses_neither_its_event_nor_others(
    site: Site, new_thread: Start, name: str
) -> None:
    if name in REFUSED:
        with pytest.raises(redis.ResponseError, match="WRONGTYPE"):
            add(site, name)
    else:
        add(site, name)
    worker = new_thread(site.server.url)
    eventually(lambda: name in FLEETING or worker.value("kb_pipeline_worker_rescued_jobs_total") >= 1)
    site.put_events([retrieval(), retrieval()])
    eventually(lambda: site.rows() == 3)
    eventually(lambda: worker.worker.health()[0])
    eventually(lambda: name in FLEETING or left_over(site) == {})


def test_a_job_that_takes_the_place_of_active_jobs_in_the_middle_of_work_is_moved_and_said(
    site: Site,
    new_thread: Start,
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO)
    worker = new_thread(site.server.url)
    site.put_events([retrieval() for _ in range(5)])
    eventually(lambda: site.rows() == 5)
    add(site, "active")
    site.put_events([retrieval() for _ in range(5)])
    eventually(lambda: site.rows() == 11)
    assert any(record.message.startswith("moved 1 job aside") for record in caplog.records)
    assert worker.value("kb_pipeline_worker_rescued_jobs_total") == 1


@pytest.mark.parametrize("job_id", ["0:1", "0:active", "0:"])
def test_a_job_that_the_queue_would_pass_over_for_its_id_is_put_back(
    site: Site, new_thread: Start, job_id: str
) -> None:
    add(site, job_id)
    new_thread(site.server.url)
    eventually(lambda: site.rows() == 1)
    assert left_over(site) == {}


@pytest.mark.parametrize("job_id", ["5", "0", "a:b", "waiting", "de", "metrics:completed", "Ünïcode id", "x" * 500])
def test_other_odd_ids_are_ids_like_any(site: Site, new_thread: Start, job_id: str) -> None:
    add(site, job_id)
    new_thread(site.server.url)
    site.put_events([retrieval()])
    eventually(lambda: site.rows() == 2)


def test_an_id_meta_is_taken_for_a_repetition_by_the_queue_itself_and_harms_nobody(
    site: Site, new_thread: Start
) -> None:
    add(site, "meta")
    worker = new_thread(site.server.url)
    site.put_events([retrieval()])
    eventually(lambda: site.rows() == 1)
    assert worker.worker.health()[0]


def test_a_key_that_somebody_wrote_over_is_named_and_left_alone_until_he_mends_it(
    site: Site, new_thread: Start
) -> None:
    site.put_events([retrieval()])
    with site.server.client() as client:
        client.set(f"bull:{site.queue}:active", "mine")
        worker = new_thread(site.server.url)
        eventually(lambda: worker.value("kb_pipeline_worker_fault", kind="stuck") == 1)
        is_well, facts = worker.worker.health()
        [said] = [reason["sentence"] for reason in facts["reasons"] if reason["kind"] == "stuck"]
        assert "active (string)" in said
        assert not is_well
        assert client.get(f"bull:{site.queue}:active") == "mine"
        client.delete(f"bull:{site.queue}:active")
    eventually(lambda: site.rows() == 1)
    eventually(lambda: worker.value("kb_pipeline_worker_fault", kind="stuck") == 0)
