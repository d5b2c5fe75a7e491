"""Fixtures of the recorder's tests: one queue server for all that do it no harm, others for those that do."""

from collections.abc import Callable, Iterator
from itertools import count
from typing import Any

import pytest
from prometheus_client import CollectorRegistry

from kb_pipeline.recorder import RetrievalRecorder
from kb_pipeline_tests.queue_servers import QueueServer

_numbers = count()


@pytest.fixture
def server(queue_server: QueueServer) -> QueueServer:
    """The server of every test that only puts jobs on a queue of its own."""
    return queue_server


@pytest.fixture
def queue() -> str:
    """The name of a queue that no other test uses."""
    return f"recorded-{next(_numbers)}"


@pytest.fixture
def registry() -> CollectorRegistry:
    """A registry for one test."""
    return CollectorRegistry()


@pytest.fixture
def new_recorder(queue: str, registry: CollectorRegistry) -> Iterator[Callable[..., RetrievalRecorder]]:
    """Makes recorders for the test's queue and registry; they are closed after the test, without waiting."""
    made: list[RetrievalRecorder] = []

    def make(url: str, **options: Any) -> RetrievalRecorder:
        recorder = RetrievalRecorder(url, queue=queue, registry=registry, **{"closing_s": 60.0, **options})
        made.append(recorder)
        return recorder

    yield make
    for recorder in made:
        recorder.close(0)
