"""Simulated events on the way that real ones take: recorder, queue, worker process, our tables.

Belongs here: sending at a pace, waiting until all have arrived. Does not: the worker, the events.
"""

import time
from collections.abc import Callable, Sequence

import redis
from prometheus_client import CollectorRegistry

from kb_pipeline.adapters.postgres.connection import Database
from kb_pipeline.counting import counted
from kb_pipeline.demo.queries import load
from kb_pipeline.errors import KbPipelineError
from kb_pipeline.recorder import RetrievalRecorder
from kb_pipeline.records import RetrievalEvent, SearchEvent
from kb_pipeline.settings import Settings

# So many events may wait in the recorder before the sender pauses.
WAITING = 2_000
PAUSE_S = 0.05
STALLED_S = 60.0
CLOSING_S = 30.0


def deliver(
    database: Database,
    settings: Settings,
    events: Sequence[RetrievalEvent | SearchEvent],
    on_arrival: Callable[[int], None],
) -> None:
    """Send the events through the configured queue; returns when the worker has written every one.

    `on_arrival` hears how many are there. Raises KbPipelineError when one is refused, or none arrives for a minute.
    """
    redis_url = settings.retrieval.redis_url
    if redis_url is None:
        raise KbPipelineError("retrieval.redis_url is not set; the demo writes it into its settings file")
    before = arrived(database)
    with RetrievalRecorder(
        redis_url,
        queue=settings.retrieval.queue,
        engines=settings.retrieval.engines,
        registry=CollectorRegistry(),
        timeout_s=1.0,
    ) as recorder:
        for event in events:
            _record(recorder, event)
        recorder.close(CLOSING_S)
    _await(database, before + len(events), before, on_arrival)


def empty_queue(redis_url: str) -> None:
    """Forget what an earlier demo left on the queue server."""
    with redis.Redis.from_url(redis_url) as client:
        client.flushdb()


def arrived(database: Database) -> int:
    """Events of both kinds in our tables, and in the table of conflicts."""
    with database.connect() as connection:
        row = connection.execute(load("arrived_events")).fetchone()
    return int(row[0]) if row else 0


def _record(recorder: RetrievalRecorder, event: RetrievalEvent | SearchEvent) -> None:
    while recorder.waiting >= WAITING:
        time.sleep(PAUSE_S)
    if not recorder.record(event):
        raise KbPipelineError("the recorder refuses an event of the demo; the drop report above says why")


def _await(database: Database, expected: int, before: int, on_arrival: Callable[[int], None]) -> None:
    seen, last_news = before, time.monotonic()
    while seen < expected:
        now = arrived(database)
        if now > seen:
            seen, last_news = now, time.monotonic()
            on_arrival(seen - before)
        elif time.monotonic() - last_news > STALLED_S:
            missing = expected - seen
            raise KbPipelineError(
                f"{counted(missing, 'event')} did not arrive; the worker's output is in worker.log of the demo"
            )
        time.sleep(PAUSE_S)
