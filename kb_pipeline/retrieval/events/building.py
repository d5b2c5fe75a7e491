"""Makes the event of a retrieval out of what an application has in hand when it saves a draft.

Belongs here: what the application should not have to work out: order, counts, which results the answer cites, an id.
Does not: sending it.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any
from uuid import UUID

from kb_pipeline.records.retrieval import Candidate, RetrievalEvent, RetrievedDocument, Tenant
from kb_pipeline.retrieval.events.citations import CITATION, cited_ranks
from kb_pipeline.retrieval.events.hits import candidates_of, hits_of, in_order
from kb_pipeline.retrieval.events.objects import value_of
from kb_pipeline.retrieval.events.values import Notes, milliseconds_of
from kb_pipeline.retrieval.events.wire import candidate_job, derived_id, hit_job

_UNSET = UUID(int=0)


def build_retrieval_event(
    *,
    tenant: Tenant,
    conversation_id: UUID,
    message_id: UUID | None = None,
    engine: str,
    query: str,
    results: Sequence[RetrievedDocument | Mapping[str, Any]],
    occurred_at: datetime,
    answer: str | None = None,
    citation: re.Pattern[str] = CITATION,
    top_k: int | None = None,
    latency_ms: float | None = None,
    query_rewritten: str | None = None,
    candidate_pool: Sequence[Candidate | Mapping[str, Any]] = (),
    kb_version: str | None = None,
    degraded: bool = False,
    shadow: bool = False,
    trace_id: str | None = None,
    event_id: UUID | None = None,
) -> RetrievalEvent:
    """The event of one retrieval; what is wrong with keys and texts shows when it is recorded, not here.

    `results` are those that were shown to the model, in that order or with their ranks; mappings may have the
    properties of `RetrievedDocument`, also as JavaScript spells them, and others. `used_in_final` is what a result
    says itself, else whether `answer` cites it (`citation`: see `cited_ranks`), or None without an answer; the n that
    is cited is the n-th result shown, repetitions counted. `occurred_at` is aware, `latency_ms` any number.
    Without an `event_id` it is derived from the rest, so that building the same event again gives the same id.
    """
    notes: Notes = set()
    pool, from_zero = candidates_of([_candidate(each) for each in candidate_pool], notes)
    shown = in_order([_result(each) for each in results], notes)
    hits, result_count = hits_of(_with_citations(shown, answer, citation), notes, from_zero=from_zero)
    event = RetrievalEvent(
        id=event_id or _UNSET,
        tenant=tenant,
        conversation_id=conversation_id,
        message_id=None if shadow else message_id,
        engine=engine,
        query=query,
        top_k=result_count if top_k is None else top_k,
        result_count=result_count,
        latency_ms=milliseconds_of(latency_ms, notes),
        retrieved=hits,
        occurred_at=occurred_at,
        query_rewritten=query_rewritten,
        candidate_pool=pool,
        kb_version=kb_version,
        degraded=degraded,
        shadow=shadow,
        trace_id=trace_id,
    )
    return event if event_id else replace(event, id=derived_id(event, is_timed=True))


def _result(result: RetrievedDocument | Mapping[str, Any]) -> dict[str, Any]:
    return hit_job(result) if isinstance(result, RetrievedDocument) else dict(result)


def _candidate(candidate: Candidate | Mapping[str, Any]) -> dict[str, Any]:
    return candidate_job(candidate) if isinstance(candidate, Candidate) else dict(candidate)


def _with_citations(
    shown: Sequence[Mapping[str, object]], answer: str | None, citation: re.Pattern[str]
) -> list[Mapping[str, object]]:
    if answer is None or not answer.strip():
        return list(shown)
    cited = cited_ranks(answer, citation)
    return [
        each if value_of(each, "used_in_final") is not None else {**each, "used_in_final": place in cited}
        for place, each in enumerate(shown, start=1)
    ]
