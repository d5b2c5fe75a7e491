"""Hypothesis strategies for events as records, for jobs as the schema allows them, and for anything JSON can say.

Belongs here: what inputs look like. Does not: assertions.
"""

from datetime import UTC, datetime
from functools import partial
from typing import Any

from hypothesis import strategies as st

from kb_pipeline.records.retrieval import (
    Candidate,
    RetrievalEvent,
    RetrievedDocument,
    SearchEvent,
    SearchEventType,
    Tenant,
)

RECEIVED_AT = datetime(2026, 3, 1, 9, 30, tzinfo=UTC)
ENGINES = ("hybrid", "keyword")
LARGEST = 2**31 - 1

uuids = st.uuids()
tenants = st.builds(Tenant, org_id=uuids, specialist_id=uuids)
moments = partial(st.datetimes, timezones=st.just(UTC))
instants = moments(datetime(2020, 1, 1), datetime(2026, 3, 2, 9, 29))  # noqa: DTZ001 hypothesis adds the zone
storable = st.characters(exclude_characters="\x00", exclude_categories=["Cs"])
printable = st.characters(exclude_categories=["Cs", "Cc", "Zs", "Zl", "Zp"])
texts = st.text(storable, max_size=60)
labels = st.text(storable, max_size=60)
ids = st.text(printable, min_size=1, max_size=60)
scores = st.floats(allow_nan=False, allow_infinity=False)
counts = st.integers(0, LARGEST)
ranks = st.integers(1, LARGEST)


@st.composite
def retrieved_documents(draw: st.DrawFn, at_most: int = 6) -> tuple[RetrievedDocument, ...]:
    keys = draw(st.lists(st.tuples(ids, st.none() | ids), max_size=at_most, unique=True))
    return tuple(
        RetrievedDocument(
            doc_id=doc_id,
            chunk_id=chunk_id,
            rank=rank,
            score=draw(st.none() | scores),
            bm25_score=draw(st.none() | scores),
            vector_similarity=draw(st.none() | scores),
            pre_rerank_rank=draw(st.none() | ranks),
            rerank_score=draw(st.none() | scores),
            used_in_final=draw(st.none() | st.booleans()),
        )
        for rank, (doc_id, chunk_id) in enumerate(keys, start=1)
    )


@st.composite
def candidates(draw: st.DrawFn) -> tuple[Candidate, ...]:
    keys = draw(st.lists(st.tuples(ids, st.none() | ids), max_size=4, unique=True))
    pre_ranks = sorted(draw(st.lists(ranks, min_size=len(keys), max_size=len(keys))))
    return tuple(
        Candidate(doc_id=doc_id, chunk_id=chunk_id, pre_rank=pre_rank)
        for (doc_id, chunk_id), pre_rank in zip(keys, pre_ranks, strict=True)
    )


@st.composite
def retrieval_events(draw: st.DrawFn) -> RetrievalEvent:
    hits = draw(retrieved_documents())
    shadow = draw(st.booleans())
    return RetrievalEvent(
        id=draw(uuids),
        tenant=draw(tenants),
        conversation_id=draw(uuids),
        message_id=None if shadow else draw(st.none() | uuids),
        engine=draw(st.sampled_from([*ENGINES, "other"])),
        query=draw(texts),
        top_k=draw(counts),
        result_count=len(hits),
        latency_ms=draw(st.none() | counts),
        retrieved=hits,
        occurred_at=draw(instants),
        query_rewritten=draw(st.none() | texts),
        candidate_pool=draw(candidates()),
        kb_version=draw(st.none() | labels),
        degraded=draw(st.booleans()),
        shadow=shadow,
        trace_id=draw(st.none() | labels),
    )


@st.composite
def search_events(draw: st.DrawFn) -> SearchEvent:
    event_type = draw(st.sampled_from(list(SearchEventType)))
    performed = event_type is SearchEventType.PERFORMED
    return SearchEvent(
        id=draw(uuids),
        tenant=draw(tenants),
        expert_id=draw(st.none() | uuids),
        conversation_id=draw(st.none() | uuids),
        message_id=draw(st.none() | uuids),
        search_id=draw(uuids),
        event_type=event_type,
        query=draw(texts if performed else st.none() | texts),
        doc_id=draw(st.none() | ids if performed else ids),
        chunk_id=draw(st.none() | ids),
        rank=draw(st.none() | ranks),
        result_count=draw(st.none() | counts),
        occurred_at=draw(instants),
    )


def with_optional(required: dict[str, Any], optional: dict[str, Any]) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries(required, optional=optional)


# Texts as a schema's pattern or length lets them through: odd characters, white space, signs of every alphabet.
wild_texts = st.text(max_size=80)
wild_ids = st.text(min_size=1, max_size=80).filter(lambda text: not text.isspace())
wild_numbers = st.integers(-(10**12), 10**12) | st.floats(allow_nan=False, allow_infinity=False)
zones = st.sampled_from(["Z", "z", "+00:00", "+0700", "-09:30", "+23:59"])
written_instants = st.builds(
    lambda moment, mark, fraction, zone: f"{moment:%Y-%m-%d}{mark}{moment:%H:%M:%S}{fraction}{zone}",
    moments(datetime(1001, 1, 1), datetime(9998, 1, 1)),  # noqa: DTZ001 the same
    st.sampled_from("Tt "),
    st.sampled_from(["", ".5", ".123456789"]),
    zones,
) | st.sampled_from(["2026-02-30T25:61:61Z", "0000-00-00T00:00:00Z"])
uuid_texts = uuids.map(str) | uuids.map(lambda key: str(key).upper())
nullable_uuids = st.none() | uuid_texts

schema_results = with_optional(
    {"doc_id": wild_ids},
    {
        "chunk_id": st.none() | wild_ids,
        "rank": st.none() | ranks,
        "score": st.none() | wild_numbers,
        "bm25_score": st.none() | wild_numbers,
        "vector_similarity": st.none() | wild_numbers,
        "pre_rerank_rank": st.none() | ranks,
        "rerank_score": st.none() | wild_numbers,
        "used_in_final": st.none() | st.booleans(),
    },
)
schema_candidates = with_optional(
    {"doc_id": wild_ids}, {"chunk_id": st.none() | wild_ids, "pre_rank": st.none() | ranks}
)
schema_retrievals = with_optional(
    {
        "type": st.just("retrieval"),
        "org_id": uuid_texts,
        "specialist_id": uuid_texts,
        "conversation_id": uuid_texts,
        "engine": st.text(min_size=1, max_size=20),
        "query": wild_texts,
        "retrieved": st.lists(schema_results, max_size=5),
        "occurred_at": written_instants,
    },
    {
        "schema_version": st.just(1),
        "id": uuid_texts,
        "message_id": nullable_uuids,
        "query_rewritten": st.none() | wild_texts,
        "top_k": st.none() | counts,
        "result_count": st.none() | counts,
        "latency_ms": st.none() | st.floats(0, LARGEST) | counts,
        "candidate_pool": st.none() | st.lists(schema_candidates, max_size=4),
        "kb_version": st.none() | wild_texts,
        "degraded": st.none() | st.booleans(),
        "shadow": st.none() | st.booleans(),
        "trace_id": st.none() | wild_texts,
    },
)
_search_required = {
    "type": st.just("search"),
    "org_id": uuid_texts,
    "specialist_id": uuid_texts,
    "search_id": uuid_texts,
    "occurred_at": written_instants,
}
_search_optional = {
    "schema_version": st.just(1),
    "id": uuid_texts,
    "expert_id": nullable_uuids,
    "conversation_id": nullable_uuids,
    "message_id": nullable_uuids,
    "chunk_id": st.none() | wild_ids,
    "rank": st.none() | ranks,
    "result_count": st.none() | counts,
}
schema_searches = with_optional(
    {**_search_required, "event_type": st.just("kb.search.performed"), "query": wild_texts},
    {**_search_optional, "doc_id": st.none() | wild_ids},
) | with_optional(
    {
        **_search_required,
        "event_type": st.sampled_from(["kb.result.clicked", "kb.citation.inserted"]),
        "doc_id": wild_ids,
    },
    {**_search_optional, "query": st.none() | wild_texts},
)

# Whatever JSON can say, and Python's readers of it: lone surrogates, NaN, integers without an end.
anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda children: st.lists(children, max_size=4) | st.dictionaries(st.text(max_size=8), children, max_size=4),
    max_leaves=8,
)


def spoiled(job: dict[str, Any]) -> st.SearchStrategy[dict[str, Any]]:
    """The job with some of its values replaced by anything at all."""
    return st.dictionaries(st.sampled_from(sorted(job)), anything, max_size=3).map(lambda others: job | others)
