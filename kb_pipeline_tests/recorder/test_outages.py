"""Whatever happens to the queue's server: recording goes on, and what was not dropped arrives once."""

import logging
import random
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from prometheus_client import CollectorRegistry

from kb_pipeline.recorder import RetrievalRecorder
from kb_pipeline.records.retrieval import RetrievalEvent
from kb_pipeline_tests.queue_servers import QueuedJob, QueueServer, eventually, slowed, stranger
from kb_pipeline_tests.recorder.events import QUERY, counted, drops, retrieval

Make = Callable[..., RetrievalRecorder]


def job_ids(jobs: list[QueuedJob]) -> list[str]:
    return sorted(job.job_id for job in jobs)


def ids_of(events: list[RetrievalEvent]) -> list[str]:
    return sorted(f"m-{event.message_id}" for event in events)


def some(number: int = 30) -> list[RetrievalEvent]:
    return [retrieval() for _ in range(number)]


def record(recorder: RetrievalRecorder, events: list[RetrievalEvent]) -> None:
    assert [recorder.record(event) for event in events] == [True] * len(events)


def has_failed(caplog: pytest.LogCaptureFixture) -> bool:
    return "does not take them" in caplog.text


@pytest.fixture
def log(caplog: pytest.LogCaptureFixture) -> Iterator[pytest.LogCaptureFixture]:
    """The recorder's log, in which no word of a query ever stands."""
    caplog.set_level(logging.DEBUG, "kb_pipeline.recorder")
    yield caplog
    assert QUERY not in caplog.text


def test_events_wait_for_a_server_that_is_down(
    own_server: QueueServer, new_recorder: Make, queue: str, registry: CollectorRegistry, log: pytest.LogCaptureFixture
) -> None:
    recorder = new_recorder(own_server.url)
    events = some()
    record(recorder, events)
    eventually(lambda: has_failed(log))
    assert recorder.waiting == len(events)
    own_server.start()
    eventually(lambda: not recorder.waiting)
    assert job_ids(own_server.jobs(queue)) == ids_of(events)
    assert drops(registry) == {}
    assert counted(registry, "kb_retrieval_events_enqueued_total") == len(events)
    eventually(lambda: "takes them again" in log.text)


def test_events_wait_for_a_server_that_hangs_and_none_is_there_twice(
    own_server: QueueServer, new_recorder: Make, queue: str, registry: CollectorRegistry, log: pytest.LogCaptureFixture
) -> None:
    own_server.start()
    recorder = new_recorder(own_server.url)
    before, during = some(), some()
    record(recorder, before)
    eventually(lambda: not recorder.waiting)
    own_server.hang()
    record(recorder, during)
    eventually(lambda: has_failed(log))
    own_server.go_on()
    eventually(lambda: not recorder.waiting)
    assert job_ids(own_server.jobs(queue)) == ids_of(before + during)
    assert drops(registry) == {}


def test_events_wait_for_a_server_that_is_full(
    own_server: QueueServer, new_recorder: Make, queue: str, registry: CollectorRegistry, log: pytest.LogCaptureFixture
) -> None:
    own_server.start()
    own_server.configure("maxmemory", 1)
    recorder = new_recorder(own_server.url)
    events = some()
    record(recorder, events)
    eventually(lambda: has_failed(log))
    assert "OutOfMemoryError" in log.text
    assert recorder.waiting == len(events)
    own_server.configure("maxmemory", 0)
    eventually(lambda: not recorder.waiting)
    assert job_ids(own_server.jobs(queue)) == ids_of(events)
    assert drops(registry) == {}


def test_events_survive_a_server_that_is_killed_and_started_again(
    own_server: QueueServer, new_recorder: Make, queue: str, registry: CollectorRegistry, log: pytest.LogCaptureFixture
) -> None:
    own_server.start()
    recorder = new_recorder(own_server.url)
    before, during, after = some(), some(), some()
    record(recorder, before)
    own_server.stop()
    record(recorder, during)
    eventually(lambda: has_failed(log))
    own_server.start()
    record(recorder, after)
    eventually(lambda: not recorder.waiting)
    assert job_ids(own_server.jobs(queue)) == ids_of(before + during + after)
    assert drops(registry) == {}


def test_events_wait_for_the_right_password(
    tmp_path: Path, new_recorder: Make, queue: str, log: pytest.LogCaptureFixture
) -> None:
    with QueueServer(tmp_path, password="lama") as server:
        recorder = new_recorder(server.url.replace("lama", "baru"))
        events = some()
        record(recorder, events)
        eventually(lambda: has_failed(log))
        assert "lama" not in log.text
        assert "baru" not in log.text
        server.change_password("baru")
        eventually(lambda: not recorder.waiting)
        assert job_ids(server.jobs(queue)) == ids_of(events)


@pytest.mark.parametrize(
    "answer",
    [None, b"", b"HTTP/1.1 400 Bad Request\r\n\r\n", b"-LOADING it takes a while\r\n" * 99, b"\x00\xff" * 999],
    ids=["silence", "hangs up", "http", "loading", "noise"],
)
def test_whatever_answers_at_the_address_nothing_is_raised_and_what_is_lost_is_counted(
    new_recorder: Make, registry: CollectorRegistry, answer: bytes | None, log: pytest.LogCaptureFixture
) -> None:
    with stranger(answer) as url:
        recorder = new_recorder(url)
        record(recorder, some())
        eventually(lambda: has_failed(log))
        recorder.close(0.1)
    assert drops(registry) == {"closed": 30}


def test_a_name_that_nobody_resolves_is_an_outage_like_others(
    new_recorder: Make, registry: CollectorRegistry, log: pytest.LogCaptureFixture
) -> None:
    recorder = new_recorder("redis://tidak-ada.invalid:6379/0")
    record(recorder, some())
    eventually(lambda: has_failed(log))
    recorder.close(0)
    assert drops(registry) == {"closed": 30}


def test_no_more_events_wait_than_are_allowed_and_the_oldest_stay(
    own_server: QueueServer, new_recorder: Make, queue: str, registry: CollectorRegistry
) -> None:
    recorder = new_recorder(own_server.url, max_events=20)
    events = some(50)
    assert [recorder.record(event) for event in events] == [True] * 20 + [False] * 30
    assert drops(registry) == {"buffer_full": 30}
    assert counted(registry, "kb_retrieval_total", engine="hybrid") == 50
    own_server.start()
    eventually(lambda: not recorder.waiting)
    assert job_ids(own_server.jobs(queue)) == ids_of(events[:20])
    assert recorder.record(events[20])


def test_no_more_bytes_wait_than_are_allowed(new_recorder: Make, registry: CollectorRegistry) -> None:
    recorder = new_recorder("redis://127.0.0.1:1/0", max_bytes=10_000)
    kept = sum(recorder.record(retrieval(query="q" * 1000)) for _ in range(30))
    assert 5 <= kept <= 7
    assert recorder.waiting == kept
    assert drops(registry) == {"buffer_full": 30 - kept}


def test_closing_sends_what_waits_as_soon_as_the_server_is_back(
    own_server: QueueServer, new_recorder: Make, queue: str, registry: CollectorRegistry, log: pytest.LogCaptureFixture
) -> None:
    own_server.start()
    recorder = new_recorder(own_server.url)
    own_server.hang()
    events = some()
    record(recorder, events)
    eventually(lambda: has_failed(log))
    own_server.go_on()
    recorder.close(60)
    assert job_ids(own_server.jobs(queue)) == ids_of(events)
    assert drops(registry) == {}


def test_a_slow_and_steady_server_gets_everything(
    own_server: QueueServer, new_recorder: Make, queue: str, registry: CollectorRegistry
) -> None:
    own_server.start()
    with slowed(own_server.port, 0.1) as url:
        recorder = new_recorder(url)
        events = some()
        record(recorder, events)
        eventually(lambda: not recorder.waiting)
    assert job_ids(own_server.jobs(queue)) == ids_of(events)
    assert counted(registry, "kb_retrieval_events_enqueued_total") == len(events)


def test_an_event_that_the_server_refuses_does_not_hold_up_the_others(
    own_server: QueueServer, new_recorder: Make, queue: str, registry: CollectorRegistry
) -> None:
    own_server.start()
    # Without a message its job id begins otherwise.
    refused, events = retrieval(message_id=None), some()
    with own_server.client() as client:
        allowed = [f"~bull:{queue}:{name}" for name in ("wait", "paused", "meta", "id", "events", "marker", "m-*")]
        allowed += [f"~bull:{queue}:{name}" for name in ("completed", "delayed", "active")]
        client.execute_command("ACL", "SETUSER", "app", "on", ">pw", "+@all", *allowed)
        recorder = new_recorder(own_server.url.replace("redis://", "redis://app:pw@"))
        record(recorder, [*events[:12], refused, *events[12:]])
        eventually(lambda: not recorder.waiting)
    assert job_ids(own_server.jobs(queue)) == ids_of(events)
    assert drops(registry) == {"refused": 1}


@pytest.mark.slow
def test_through_any_weather_every_event_is_on_the_queue_once_or_counted(
    own_server: QueueServer, new_recorder: Make, queue: str, registry: CollectorRegistry
) -> None:
    own_server.start()
    recorder = new_recorder(own_server.url, max_events=400)
    weather = random.Random(7)
    kept = []
    for _ in range(60):
        match weather.choice(["fine", "hang", "restart", "full"]):
            case "hang":
                own_server.hang()
                kept += [event for event in some(20) if recorder.record(event)]
                time.sleep(weather.random() / 10)
                own_server.go_on()
            case "restart":
                own_server.stop()
                kept += [event for event in some(20) if recorder.record(event)]
                own_server.start()
            case "full":
                own_server.configure("maxmemory", 1)
                kept += [event for event in some(20) if recorder.record(event)]
                time.sleep(weather.random() / 10)
                own_server.configure("maxmemory", 0)
            case _:
                kept += [event for event in some(20) if recorder.record(event)]
                time.sleep(weather.random() / 10)
    eventually(lambda: not recorder.waiting)
    assert job_ids(own_server.jobs(queue)) == ids_of(kept)
    assert len(kept) + sum(drops(registry).values()) == 1200
