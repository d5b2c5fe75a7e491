"""Whatever the reader accepts, PostgreSQL stores."""

from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kb_pipeline.adapters.postgres.connection import Database
from kb_pipeline.adapters.postgres.retrieval.events import PostgresEventStore
from kb_pipeline.records.retrieval import RetrievalEvent, SearchEvent
from kb_pipeline.retrieval.events import MAX_HITS, Read, job_of, read_job
from kb_pipeline_tests.retrieval.event_strategies import (
    ENGINES,
    retrieval_events,
    schema_retrievals,
    schema_searches,
    search_events,
    spoiled,
)

jobs = schema_retrievals | schema_searches | (retrieval_events() | search_events()).map(job_of).flatmap(spoiled)


def accepted(jobs: Iterable[dict[str, Any]]) -> list[RetrievalEvent | SearchEvent]:
    """The events of those jobs that are accepted, each under an id and for a message of its own."""
    got = [read_job(job, received_at=datetime.now(UTC), engines=ENGINES) for job in jobs]
    events = [each.event for each in got if isinstance(each, Read)]
    return [replace(event, id=uuid4(), message_id=event.message_id and uuid4()) for event in events]


@settings(max_examples=10, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(listed=st.lists(jobs, min_size=10, max_size=40))
def test_every_accepted_event_can_be_stored(database: Database, listed: list[dict[str, Any]]) -> None:
    events = accepted(listed)
    assert PostgresEventStore(database).save(events).written == len(events)


def test_the_heaviest_event_can_be_stored(database: Database) -> None:
    for sign in ('"', "\x01", "\U0001f600", '"\U0001f600'):
        scores = dict.fromkeys(["score", "bm25_score", "vector_similarity", "rerank_score"], -2.2250738585072014e-308)
        listed = [
            {"doc_id": str(n) + sign * 5000, "chunk_id": str(n) + sign * 5000, "pre_rank": 2**31 - 2, **scores}
            for n in range(100)
        ]
        job = {
            "org_id": str(uuid4()), "specialist_id": str(uuid4()), "conversation_id": str(uuid4()),
            "engine": "hybrid", "query": sign * 9000, "query_rewritten": sign * 9000, "trace_id": sign * 900,
            "kb_version": sign * 900, "retrieved": listed, "candidate_pool": listed, "result_count": 10**9,
        }  # fmt: skip
        [event] = accepted([job])
        assert isinstance(event, RetrievalEvent)
        assert (len(event.retrieved), len(event.candidate_pool)) == (MAX_HITS, MAX_HITS)
        assert PostgresEventStore(database).save([event]).written == 1
