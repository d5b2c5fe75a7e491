"""The parts of the recorder: buffer, breaker, pace, report, metrics."""

import asyncio
import logging
import threading
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from prometheus_client import CollectorRegistry, generate_latest

from kb_pipeline.recorder import DropReason, RetrievalMetrics
from kb_pipeline.recorder.breaker import Breaker
from kb_pipeline.recorder.buffer import Buffer, Entry
from kb_pipeline.recorder.metrics import DeliveryMetrics
from kb_pipeline.recorder.pace import Pace
from kb_pipeline.recorder.report import DropReport
from kb_pipeline.recorder.sender import Sender
from kb_pipeline.records.retrieval import RetrievedDocument
from kb_pipeline_tests.queue_servers import stranger
from kb_pipeline_tests.recorder.events import counted, retrieval


class HandClock:
    """A clock that a test moves."""

    def __init__(self) -> None:
        self.seconds = 100.0

    def now(self) -> datetime:
        return datetime.fromtimestamp(self.seconds, UTC)

    def monotonic(self) -> float:
        return self.seconds


def entry(size: int = 1) -> Entry:
    return Entry("e", b"x" * size)


@given(st.lists(st.integers(1, 5) | st.lists(st.integers(0, 9), max_size=4), max_size=60))
def test_a_buffer_keeps_its_bounds_and_its_order_whatever_is_offered_and_removed(
    steps: list[int | list[int]],
) -> None:
    buffer, model = Buffer(max_events=6, max_bytes=12), list[Entry]()
    for step in steps:
        if isinstance(step, int):
            offered = entry(step)
            fits = len(model) < 6 and sum(len(each.data) for each in model) + step <= 12
            assert buffer.offer(offered) is (None if fits else DropReason.BUFFER_FULL)
            model += [offered] if fits else []
        else:
            gone = [model[place] for place in step if place < len(model)]
            buffer.remove(gone)
            model = [each for each in model if each not in gone]
        assert buffer.first(99, within_s=0) == model
        assert len(buffer) == len(model)
    assert buffer.abandon() == len(model)
    assert buffer.offer(entry(12)) is None


def test_whoever_reads_a_buffer_is_woken_by_the_first_entry_and_by_the_end() -> None:
    buffer, seen = Buffer(max_events=9, max_bytes=99), list[int]()
    arrived = threading.Semaphore(0)

    def read() -> None:
        while not buffer.is_closing:
            entries = buffer.first(5, within_s=60)
            seen.append(len(entries))
            buffer.remove(entries)
            arrived.release()

    reader = threading.Thread(target=read)
    reader.start()
    for _ in range(3):
        assert buffer.offer(entry()) is None
        assert arrived.acquire(timeout=30)
    buffer.close()
    reader.join(30)
    assert not reader.is_alive()
    assert seen == [1, 1, 1, 0]
    assert buffer.offer(entry()) is DropReason.CLOSED


def test_a_buffer_says_when_half_of_a_bound_is_reached() -> None:
    buffer = Buffer(max_events=4, max_bytes=100)
    buffer.offer(entry())
    assert not buffer.is_half_full
    buffer.offer(entry())
    assert buffer.is_half_full
    heavy = Buffer(max_events=4, max_bytes=100)
    heavy.offer(entry(50))
    assert heavy.is_half_full


def test_a_breaker_opens_after_three_failures_pauses_ever_longer_and_closes_at_the_first_success() -> None:
    breaker = Breaker(jitter=lambda: 1.0)
    pauses = []
    for _ in range(12):
        pauses.append(breaker.pause_s())
        breaker.failed()
    assert pauses == [0, 0, 0, 0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 5, 5, 5]
    assert breaker.is_open
    breaker.succeeded()
    assert (breaker.is_open, breaker.pause_s()) == (False, 0)


def test_a_breakers_pauses_differ_between_processes_and_do_not_end() -> None:
    breaker = Breaker()
    for _ in range(5000):
        breaker.failed()
    pauses = {breaker.pause_s() for _ in range(20)}
    assert len(pauses) > 1
    assert all(2.5 <= pause <= 5 for pause in pauses)


def test_the_pump_rests_as_long_as_it_works_and_longer_in_a_flood() -> None:
    clock = HandClock()
    pace = Pace(clock)
    clock.seconds += 1
    assert pace.rest_s(arrived=1000, took_s=0.002) == 0.002
    clock.seconds += 1
    assert pace.rest_s(arrived=9000, took_s=0.002) == pytest.approx(0.018)
    clock.seconds += 1
    assert pace.rest_s(arrived=9000, took_s=0.002) == 0.002
    clock.seconds += 1
    assert pace.rest_s(arrived=90_000, took_s=3) == 0.05


def test_a_sender_does_not_wait_longer_than_it_is_told() -> None:
    with stranger(None) as url, asyncio.Runner() as runner:
        sender = Sender(url, queue="events", prefix="bull")
        # The client's own time is longer, and its error another one.
        with pytest.raises(TimeoutError):
            runner.run(sender.send([Entry("e", b'{"type":"search"}')], within_s=0.05))
        runner.run(sender.close())


@pytest.fixture
def log(caplog: pytest.LogCaptureFixture) -> pytest.LogCaptureFixture:
    caplog.set_level(logging.DEBUG, "kb_pipeline.recorder")
    return caplog


def test_a_report_speaks_at_once_then_a_minute_apart_and_forgets_nothing(log: pytest.LogCaptureFixture) -> None:
    clock = HandClock()
    report = DropReport(clock)
    report.say()
    report.note("buffer_full")
    report.say()
    report.note("buffer_full")
    report.note("rejected:org_id", 3, detail="org_id is missing; send a UUID.")
    clock.seconds += 59
    report.say()
    assert log.messages == ["retrieval events dropped: 1, buffer_full"]
    clock.seconds += 1
    report.say()
    assert log.messages[1:] == [
        "retrieval events dropped: 1, buffer_full",
        "retrieval events dropped: 3, rejected:org_id: org_id is missing; send a UUID.",
    ]
    report.note("closed", 2)
    report.say(at_once=True)
    report.say(at_once=True)
    assert log.messages[3:] == ["retrieval events dropped: 2, closed"]


def test_a_retrieval_is_counted_by_its_engine_with_its_first_score_and_its_latency(
    registry: CollectorRegistry,
) -> None:
    metrics = RetrievalMetrics(engines=["hybrid", "keyword"], registry=registry)
    worse_on_top = (RetrievedDocument(doc_id="a", rank=1, score=0.4), RetrievedDocument(doc_id="b", rank=2, score=0.9))
    metrics.observe(retrieval(retrieved=worse_on_top))
    metrics.observe(retrieval(engine="keyword", retrieved=(), result_count=0, latency_ms=None))
    assert counted(registry, "kb_retrieval_total", engine="hybrid") == 1
    assert counted(registry, "kb_retrieval_empty_total", engine="hybrid") == 0
    assert counted(registry, "kb_retrieval_total", engine="keyword") == 1
    assert counted(registry, "kb_retrieval_empty_total", engine="keyword") == 1
    assert counted(registry, "kb_retrieval_top_score_sum", engine="hybrid") == 0.4
    assert counted(registry, "kb_retrieval_top_score_bucket", engine="hybrid", le="0.35") == 0
    assert counted(registry, "kb_retrieval_top_score_bucket", engine="hybrid", le="0.4") == 1
    assert counted(registry, "kb_retrieval_top_score_count", engine="keyword") == 0
    assert counted(registry, "kb_retrieval_latency_ms_sum", engine="hybrid") == 35
    assert counted(registry, "kb_retrieval_latency_ms_bucket", engine="hybrid", le="50.0") == 1
    assert counted(registry, "kb_retrieval_latency_ms_count", engine="keyword") == 0


def test_a_shadow_run_is_no_sign_of_health(registry: CollectorRegistry) -> None:
    RetrievalMetrics(engines=["hybrid"], registry=registry).observe(replace(retrieval(), shadow=True, message_id=None))
    assert counted(registry, "kb_retrieval_total", engine="hybrid") == 0
    assert counted(registry, "kb_retrieval_latency_ms_count", engine="hybrid") == 0


def test_no_producer_can_make_a_label_of_its_own(registry: CollectorRegistry) -> None:
    metrics = RetrievalMetrics(engines=["hybrid"], registry=registry)
    for number in range(50):
        metrics.observe(retrieval(engine=f"engine-{number}"))
    assert counted(registry, "kb_retrieval_total", engine="other") == 50
    labels = {
        tuple(sample.labels) for metric in registry.collect() for sample in metric.samples
        if metric.name.startswith("kb_retrieval") and "events" not in metric.name
    }  # fmt: skip
    assert labels == {("engine",), ("engine", "le")}


def test_every_engine_and_reason_shows_before_anything_happened(registry: CollectorRegistry) -> None:
    RetrievalMetrics(engines=["hybrid", "keyword"], registry=registry)
    DeliveryMetrics(registry)
    exposed = generate_latest(registry).decode()
    for engine in ("hybrid", "keyword", "other"):
        assert f'kb_retrieval_empty_total{{engine="{engine}"}} 0.0' in exposed
    for reason in ("buffer_full", "too_large", "closed", "refused", "unreadable", "rejected:org_id"):
        assert f'kb_retrieval_events_dropped_total{{reason="{reason}"}} 0.0' in exposed


def test_two_of_them_share_a_registry_and_without_one_nothing_is_exposed(registry: CollectorRegistry) -> None:
    for metrics in [RetrievalMetrics(engines=["hybrid"], registry=registry) for _ in range(2)]:
        metrics.observe(retrieval())
    assert counted(registry, "kb_retrieval_total", engine="hybrid") == 2
    RetrievalMetrics(engines=["hybrid"], registry=None).observe(retrieval())
    assert counted(registry, "kb_retrieval_total", engine="hybrid") == 2
