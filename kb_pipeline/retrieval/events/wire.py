"""The wire form of an event: the flat JSON object that is the job's data, its job id, the options of the job.

Belongs here: what we put on the queue, and the schema that documents it. Does not: reading what others put there.
"""

import json
from importlib.resources import files
from typing import Any
from uuid import UUID, uuid5

from kb_pipeline.records.retrieval import Candidate, RetrievalEvent, RetrievedDocument, SearchEvent

SCHEMA_VERSION = 1
RETRIEVAL = "retrieval"
SEARCH = "search"

ATTEMPTS = 8
BACKOFF_MS = 2000
"""Before the second attempt; it doubles with each: the eighth comes after about four minutes."""
KEEP_COMPLETED = 1000
KEEP_FAILED_S = 7 * 24 * 60 * 60

# Any fixed UUID does: it keeps derived ids apart from those that others derive.
_NAMESPACE = UUID("5a3f0e0b-9a0e-4d52-8b5e-7c1d5a2f6e41")


def job_of(event: RetrievalEvent | SearchEvent) -> dict[str, Any]:
    """The data of the event's job: JSON values only, properties named as columns, those without a value left out."""
    job = _retrieval(event) if isinstance(event, RetrievalEvent) else _search(event)
    return _stated(job)


def job_id(event: RetrievalEvent | SearchEvent) -> str:
    """The job's id, under which the queue keeps a second dispatch out: m-<message>, e-<event>, s-<step of a search>.

    Never a bare id: BullMQ's own keys have names such as `active`, and it numbers jobs without an id.
    """
    if isinstance(event, SearchEvent):
        return f"s-{event.id}"
    return f"e-{event.id}" if event.message_id is None else f"m-{event.message_id}"


def job_options(job_id: str) -> dict[str, Any]:
    """The options of the job of that id, as BullMQ takes them in every language."""
    return {
        "jobId": job_id,
        "attempts": ATTEMPTS,
        "backoff": {"type": "exponential", "delay": BACKOFF_MS},
        "removeOnComplete": {"count": KEEP_COMPLETED},
        "removeOnFail": {"age": KEEP_FAILED_S},
    }


def job_schema() -> dict[str, Any]:
    """The JSON Schema (draft 2020-12) of what a producer sends."""
    text = files(__package__).joinpath("retrieval_job.schema.json").read_text(encoding="utf-8")
    schema: dict[str, Any] = json.loads(text)
    return schema


def derived_id(event: RetrievalEvent | SearchEvent, *, is_timed: bool) -> UUID:
    """The id of an event that came without one: a version-5 UUID of its content, the same for a repetition.

    Two dispatches of one draft may differ in their times; there and where the producer gave no time, none counts.
    """
    content = job_of(event)
    ignored = {"id"}
    if not is_timed or (isinstance(event, RetrievalEvent) and event.message_id is not None):
        ignored |= {"occurred_at", "latency_ms"}
    stated = {name: value for name, value in content.items() if name not in ignored}
    return uuid5(_NAMESPACE, json.dumps(stated, sort_keys=True))


def _retrieval(event: RetrievalEvent) -> dict[str, Any]:
    return {
        "schema_version": SCHEMA_VERSION,
        "type": RETRIEVAL,
        "id": str(event.id),
        "org_id": str(event.tenant.org_id),
        "specialist_id": str(event.tenant.specialist_id),
        "conversation_id": str(event.conversation_id),
        "message_id": _text(event.message_id),
        "engine": event.engine,
        "query": event.query,
        "query_rewritten": event.query_rewritten,
        "top_k": event.top_k,
        "result_count": event.result_count,
        "latency_ms": event.latency_ms,
        "retrieved": [hit_job(hit) for hit in event.retrieved],
        "candidate_pool": [candidate_job(candidate) for candidate in event.candidate_pool],
        "occurred_at": event.occurred_at.isoformat(),
        "kb_version": event.kb_version,
        "degraded": event.degraded,
        "shadow": event.shadow,
        "trace_id": event.trace_id,
    }


def _search(event: SearchEvent) -> dict[str, Any]:
    return {
        "schema_version": SCHEMA_VERSION,
        "type": SEARCH,
        "id": str(event.id),
        "org_id": str(event.tenant.org_id),
        "specialist_id": str(event.tenant.specialist_id),
        "expert_id": _text(event.expert_id),
        "conversation_id": _text(event.conversation_id),
        "message_id": _text(event.message_id),
        "search_id": str(event.search_id),
        "event_type": str(event.event_type),
        "query": event.query,
        "doc_id": event.doc_id,
        "chunk_id": event.chunk_id,
        "rank": event.rank,
        "result_count": event.result_count,
        "occurred_at": event.occurred_at.isoformat(),
    }


def hit_job(hit: RetrievedDocument) -> dict[str, Any]:
    """One result within a job."""
    return _stated(
        {
            "doc_id": hit.doc_id,
            "chunk_id": hit.chunk_id,
            "rank": hit.rank,
            "score": hit.score,
            "bm25_score": hit.bm25_score,
            "vector_similarity": hit.vector_similarity,
            "pre_rerank_rank": hit.pre_rerank_rank,
            "rerank_score": hit.rerank_score,
            "used_in_final": hit.used_in_final,
        }
    )


def candidate_job(candidate: Candidate) -> dict[str, Any]:
    """One candidate within a job."""
    return _stated({"doc_id": candidate.doc_id, "chunk_id": candidate.chunk_id, "pre_rank": candidate.pre_rank})


def _stated(properties: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in properties.items() if value is not None}


def _text(key: UUID | None) -> str | None:
    return None if key is None else str(key)
