"""Recording: what is recorded is on the queue, once, and whatever is not is counted by its reason."""

import logging
import threading
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from prometheus_client import CollectorRegistry

from kb_pipeline.errors import SettingsError
from kb_pipeline.recorder import RetrievalRecorder
from kb_pipeline.records.retrieval import RetrievedDocument, Tenant
from kb_pipeline.retrieval.events import Note, Read, job_of, read_job
from kb_pipeline_tests.queue_servers import QueueServer, eventually
from kb_pipeline_tests.recorder.events import QUERY, click, counted, drops, retrieval

Make = Callable[..., RetrievalRecorder]


def read(data: object) -> Read:
    got = read_job(data, received_at=datetime.now(UTC), engines=["hybrid", "keyword"])
    assert isinstance(got, Read)
    return got


def test_what_is_recorded_is_a_job_that_reads_as_the_event(
    server: QueueServer, new_recorder: Make, queue: str, registry: CollectorRegistry
) -> None:
    event, step = retrieval(), click()
    with new_recorder(server.url) as recorder:
        assert recorder.record(event)
        assert recorder.record(step)
    first, second = server.jobs(queue)
    assert (read(first.data), read(second.data)) == (Read(event), Read(step))
    assert (first.name, second.name) == ("retrieval", "search")
    assert (first.job_id, second.job_id) == (f"m-{event.message_id}", f"s-{step.id}")
    assert counted(registry, "kb_retrieval_events_enqueued_total") == 2
    assert drops(registry) == {}


def test_a_job_is_tried_eight_times_and_kept_for_a_while(server: QueueServer, new_recorder: Make, queue: str) -> None:
    with new_recorder(server.url) as recorder:
        recorder.record(retrieval())
    [job] = server.jobs(queue)
    assert (job.options["attempts"], job.options["backoff"]["type"]) == (8, "exponential")
    assert (job.options["removeOnComplete"], job.options["removeOnFail"]) == ({"count": 1000}, {"age": 604800})


def test_a_second_dispatch_of_a_draft_is_the_same_job(server: QueueServer, new_recorder: Make, queue: str) -> None:
    event = retrieval()
    with new_recorder(server.url) as recorder, new_recorder(server.url) as other_process:
        for each in (recorder, other_process):
            assert each.record(event)
            assert each.record(event)
    assert len(server.jobs(queue)) == 1


def test_what_is_wrong_with_an_event_is_cleaned_before_it_is_queued(
    server: QueueServer, new_recorder: Make, queue: str
) -> None:
    hits = tuple(
        RetrievedDocument(doc_id=f"d{n}", rank=n, score=float("nan") if n else float("inf")) for n in range(5000)
    )
    event = retrieval(
        query="a\x00\ud800" + "b" * 1_000_000, retrieved=hits, result_count=1, engine="semantic", latency_ms=-4,
        occurred_at=datetime(1970, 1, 1, tzinfo=UTC),
    )  # fmt: skip
    with new_recorder(server.url) as recorder:
        assert recorder.record(event)
    [job] = server.jobs(queue)
    got = read(job.data)
    assert set(got.notes) <= {Note.QUERY_EMPTY}
    assert (got.event.query or "").startswith("a\ufffd\ufffdbbb")
    assert (job.data["engine"], job.data["result_count"], len(job.data["retrieved"])) == ("other", 5000, 50)
    assert "latency_ms" not in job.data
    assert datetime.now(UTC) - got.event.occurred_at < timedelta(minutes=5)


def test_a_text_of_any_alphabet_arrives_as_it_was(server: QueueServer, new_recorder: Make, queue: str) -> None:
    event = retrieval(query='é 記 \U0001f600 " \\ \n \u2028 </script>')
    with new_recorder(server.url) as recorder:
        recorder.record(event)
    [job] = server.jobs(queue)
    assert job.data["query"] == event.query


def test_events_of_many_threads_all_arrive_once(
    server: QueueServer, new_recorder: Make, queue: str, registry: CollectorRegistry
) -> None:
    events = [[retrieval() for _ in range(50)] for _ in range(8)]
    with new_recorder(server.url) as recorder:
        threads = [threading.Thread(target=lambda some=some: list(map(recorder.record, some))) for some in events]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        eventually(lambda: not recorder.waiting)
    expected = {f"m-{event.message_id}" for some in events for event in some}
    jobs = server.jobs(queue)
    assert (len(jobs), {job.job_id for job in jobs}) == (400, expected)
    assert counted(registry, "kb_retrieval_total", engine="hybrid") == 400


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"tenant": Tenant(org_id=None, specialist_id=UUID(int=2))}, "rejected:org_id"),  # type: ignore[arg-type]
        ({"tenant": Tenant(org_id=UUID(int=1), specialist_id="acme")}, "rejected:specialist_id"),  # type: ignore[arg-type]
        ({"conversation_id": None}, "rejected:conversation_id"),
        ({"message_id": "17"}, "rejected:message_id"),
        ({"id": "latest"}, "rejected:id"),
        ({"query": None}, "rejected:query"),
        ({"query": b"bytes"}, "rejected:query"),
        ({"tenant": None}, "unreadable"),
        ({"occurred_at": "yesterday"}, "unreadable"),
        ({"retrieved": None}, "unreadable"),
    ],
)
def test_an_event_that_nobody_could_keep_is_dropped_under_its_reason(
    server: QueueServer, new_recorder: Make, registry: CollectorRegistry, changes: dict[str, Any], reason: str
) -> None:
    with new_recorder(server.url) as recorder:
        assert not recorder.record(retrieval(**changes))
        assert recorder.record(retrieval())
    assert drops(registry) == {reason: 1}
    assert counted(registry, "kb_retrieval_events_enqueued_total") == 1
    assert counted(registry, "kb_retrieval_total", engine="hybrid") == 1


def _fails() -> Any:
    raise ZeroDivisionError(QUERY)


@pytest.mark.parametrize(
    "nonsense",
    [None, 3, "event", {"query": "a"}, object(), _fails, lambda: None],
    ids=["none", "number", "text", "mapping", "object", "failing", "empty-handed"],
)
def test_whatever_is_recorded_nothing_is_raised(new_recorder: Make, registry: CollectorRegistry, nonsense: Any) -> None:
    assert not new_recorder("redis://127.0.0.1:1/0").record(nonsense)
    assert drops(registry) == {"unreadable": 1}


def test_a_job_in_place_of_an_event_and_every_other_failure_are_logged_by_their_own_names(
    new_recorder: Make, caplog: pytest.LogCaptureFixture
) -> None:
    recorder = new_recorder("redis://127.0.0.1:1/0")
    wrong: list[Any] = [_fails, job_of(retrieval()), lambda: job_of(retrieval()), retrieval(tenant=None)]
    for each in wrong:
        recorder.record(each)
    recorder.close()
    dropped: Counter[str] = Counter()
    for message in (each.getMessage() for each in caplog.records if each.name == "kb_pipeline.recorder"):
        count, _, detail = message.removeprefix("retrieval events dropped: ").partition(", unreadable: ")
        dropped[detail] += int(count)
    assert dropped == {
        "ZeroDivisionError while it was made or read": 1,
        "AttributeError while it was made or read": 1,
        "an event object is expected: RetrievalEvent or SearchEvent, or a callable that makes one": 2,
    }


def test_the_log_names_what_is_wrong_also_where_no_event_was_ever_good(
    new_recorder: Make, caplog: pytest.LogCaptureFixture
) -> None:
    recorder: Any = new_recorder("redis://127.0.0.1:1/0")
    recorder.record(job_of(retrieval()))
    eventually(lambda: "an event object is expected" in caplog.text)


def test_an_event_may_be_made_by_a_function(server: QueueServer, new_recorder: Make, queue: str) -> None:
    with new_recorder(server.url) as recorder:
        assert recorder.record(retrieval)
    assert len(server.jobs(queue)) == 1


def test_an_event_that_is_too_large_is_dropped_and_its_retrieval_still_counts(
    server: QueueServer, new_recorder: Make, queue: str, registry: CollectorRegistry
) -> None:
    with new_recorder(server.url, max_event_bytes=2000) as recorder:
        assert not recorder.record(retrieval(query="q" * 2000))
        assert recorder.record(retrieval())
    assert drops(registry) == {"too_large": 1}
    assert len(server.jobs(queue)) == 1
    assert counted(registry, "kb_retrieval_total", engine="hybrid") == 2


def test_after_closing_events_are_dropped_and_their_retrievals_still_count(
    server: QueueServer, new_recorder: Make, queue: str, registry: CollectorRegistry
) -> None:
    recorder = new_recorder(server.url)
    assert recorder.record(retrieval())
    recorder.close()
    recorder.close()
    assert not recorder.record(retrieval())
    assert len(server.jobs(queue)) == 1
    assert drops(registry) == {"closed": 1}
    assert counted(registry, "kb_retrieval_total", engine="hybrid") == 2


def test_a_recorder_that_recorded_nothing_closes(new_recorder: Make) -> None:
    new_recorder("redis://127.0.0.1:1/0").close()


@pytest.mark.parametrize("url", ["localhost:6379", "http://:geheim@localhost", "redis://:geheim@localhost:port/0", ""])
def test_a_url_that_cannot_be_read_is_refused_without_its_password(url: str) -> None:
    with pytest.raises(SettingsError) as refused:
        RetrievalRecorder(url, registry=None)
    assert "redis://" in str(refused.value)
    assert "geheim" not in str(refused.value)


def test_the_log_says_what_was_dropped_and_how_to_mend_it_without_a_word_of_the_query(
    server: QueueServer, new_recorder: Make, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, "kb_pipeline.recorder")
    with new_recorder(server.url) as recorder:
        recorder.record(retrieval(conversation_id="percakapan"))
        recorder.record(_fails)
    assert "conversation_id is a text that is no UUID; send 32 hexadecimal digits" in caplog.text
    assert "ZeroDivisionError" in caplog.text
    assert QUERY not in caplog.text
    assert "percakapan" not in caplog.text


def test_another_prefix_of_bullmq_is_respected(server: QueueServer, new_recorder: Make, queue: str) -> None:
    with new_recorder(server.url, prefix="{apps}") as recorder:
        recorder.record(retrieval())
    with server.client() as client:
        assert client.llen(f"{{apps}}:{queue}:wait") == 1
