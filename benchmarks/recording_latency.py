"""What record() costs the application that calls it, whatever state the queue's server is in.

Belongs here: the time of each call, beside the floor of encoding the same event and appending it to a deque. Run it as
`python benchmarks/recording_latency.py`; exit code 1 when a limit is missed.
"""

import argparse
import json
import logging
import os
import signal
import socket
import statistics
import sys
import tempfile
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Self
from uuid import uuid4

import redis
from prometheus_client import CollectorRegistry

from kb_pipeline.adapters.embedded_queue import EmbeddedQueue
from kb_pipeline.recorder import RetrievalRecorder
from kb_pipeline.records.retrieval import RetrievalEvent, Tenant
from kb_pipeline.retrieval.events import build_retrieval_event, job_of

HIGHEST_P99_MS = 5.0
HITS = 10
TENANT = Tenant(org_id=uuid4(), specialist_id=uuid4())


def events_of(count: int) -> list[RetrievalEvent]:
    """Events of ten results with all their scores, about 2 kB of JSON each."""
    results = [
        {
            "doc_id": f"artikel-{n}", "chunk_id": f"{n}-2", "rank": n, "score": 0.9 / n, "bm25_score": 12.25 / n,
            "vector_similarity": 0.8 / n, "pre_rerank_rank": n, "rerank_score": 0.9 / n,
        }
        for n in range(1, HITS + 1)
    ]  # fmt: skip
    return [
        build_retrieval_event(
            tenant=TENANT, conversation_id=uuid4(), message_id=uuid4(), engine="hybrid",
            query=f"Berapa lama pengembalian dana untuk pesanan nomor {n} diproses?", results=results,
            answer="Tujuh hari kerja [RAG-1].", occurred_at=datetime.now(UTC), latency_ms=40,
        )
        for n in range(count)
    ]  # fmt: skip


@contextmanager
def up() -> Iterator[str]:
    """A server that works."""
    with EmbeddedQueue(_folder()) as server:
        yield server.url


@contextmanager
def down() -> Iterator[str]:
    """A port where nobody listens."""
    with socket.socket() as reserved:
        reserved.bind(("127.0.0.1", 0))
        yield f"redis://127.0.0.1:{reserved.getsockname()[1]}"


@contextmanager
def hung() -> Iterator[str]:
    """A server that is stopped: connections are accepted, nothing is answered."""
    with EmbeddedQueue(_folder()) as server:
        os.kill(server.pid, signal.SIGSTOP)
        try:
            yield server.url
        finally:
            os.kill(server.pid, signal.SIGCONT)


@contextmanager
def full() -> Iterator[str]:
    """A server without room for another key."""
    with EmbeddedQueue(_folder()) as server:
        with redis.Redis.from_url(server.url) as client:
            client.config_set("maxmemory", 1)
        yield server.url


def _folder() -> Path:
    return Path(tempfile.mkdtemp(prefix="kb_pipeline-benchmark-"))


Server = Callable[[], AbstractContextManager[str]]


def timed(call: Callable[[RetrievalEvent], object], events: Sequence[RetrievalEvent], apart_s: float) -> list[float]:
    """Milliseconds of each call."""
    times = []
    for event in events:
        started = time.perf_counter()
        call(event)
        times.append((time.perf_counter() - started) * 1000)
        if apart_s:
            time.sleep(apart_s)
    return times


def floor(events: Sequence[RetrievalEvent]) -> list[float]:
    """Nothing but the wire form as JSON, kept in memory."""
    kept: deque[str] = deque()
    return timed(lambda event: kept.append(json.dumps(job_of(event))), events, 0)


def percentile(times: Sequence[float], share: float) -> float:
    """The smallest time that so large a share of the calls stays within."""
    return sorted(times)[min(int(len(times) * share), len(times) - 1)]


@dataclass(frozen=True, kw_only=True, slots=True)
class Measured:
    """One run: milliseconds of its calls, events that were dropped while it ran."""

    median: float
    p99: float
    highest: float
    dropped: float = 0.0

    @classmethod
    def of(cls, times: Sequence[float], dropped: float = 0.0) -> Self:
        """The figures of a run."""
        return cls(median=statistics.median(times), p99=percentile(times, 0.99), highest=max(times), dropped=dropped)


def middle(runs: Sequence[Measured]) -> Measured:
    """The medians of several runs: one that another process got in the way of does not decide."""
    return Measured(
        median=statistics.median(run.median for run in runs),
        p99=statistics.median(run.p99 for run in runs),
        highest=statistics.median(run.highest for run in runs),
        dropped=statistics.median(run.dropped for run in runs),
    )


def row(name: str, pace: str, measured: Measured, floor_ms: float) -> None:
    """One line of the table."""
    print(
        f"{name:<6} {pace:<6} {measured.median:>9.3f} {measured.p99:>9.3f} {measured.highest:>9.3f}"
        f" {measured.median / floor_ms:>7.1f} {measured.dropped:>8.0f}"
    )


def recorded(server: Server, events: Sequence[RetrievalEvent], apart_s: float) -> Measured:
    """One run of record() against a server that the recorder has met already."""
    registry = CollectorRegistry()
    with server() as url, RetrievalRecorder(url, registry=registry) as recorder:
        recorder.record(events[0])
        time.sleep(0.5)
        times = timed(recorder.record, events, apart_s)
        dropped = registry.get_sample_value("kb_retrieval_events_dropped_total", {"reason": "buffer_full"})
        recorder.close(0)
    return Measured.of(times, dropped or 0.0)


def main() -> int:
    """Measure, print the table, say by the exit code whether the limit holds."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=int, default=3000)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--apart-ms", type=float, default=1.0, help="pause between two paced calls")
    arguments = parser.parse_args()
    # The recorder says what it cannot send, and here that is all.
    logging.disable(logging.WARNING)
    events = events_of(arguments.events)
    print(f"{'':<6} {'':<6} {'median ms':>9} {'p99 ms':>9} {'max ms':>9} {'floors':>7} {'dropped':>8}")
    least = middle([Measured.of(floor(events)) for _ in range(arguments.repeats)])
    row("floor", "burst", least, least.median)
    worst = 0.0
    for server in (up, down, hung, full):
        for pace, apart_s in (("burst", 0.0), ("paced", arguments.apart_ms / 1000)):
            measured = middle([recorded(server, events, apart_s) for _ in range(arguments.repeats)])
            row(server.__name__, pace, measured, least.median)
            worst = max(worst, measured.p99)
    print(f"highest p99: {worst:.2f} ms (at most {HIGHEST_P99_MS})")
    return 0 if worst <= HIGHEST_P99_MS else 1


if __name__ == "__main__":
    sys.exit(main())
