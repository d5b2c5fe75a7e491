"""The event of a retrieval, built out of a saved draft and its scored results."""

import re
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb_pipeline.records.retrieval import Candidate, RetrievalEvent, RetrievedDocument, Tenant
from kb_pipeline.retrieval.events import Read, build_retrieval_event, cited_ranks, job_of, read_job

TENANT = Tenant(org_id=UUID(int=1), specialist_id=UUID(int=2))
NOW = datetime(2026, 3, 1, 9, 30, tzinfo=UTC)


def built(**given_values: Any) -> RetrievalEvent:
    values: dict[str, Any] = {
        "tenant": TENANT,
        "conversation_id": UUID(int=3),
        "message_id": UUID(int=4),
        "engine": "hybrid",
        "query": "Apakah ongkos kirim ke Papua gratis?",
        "results": [{"doc_id": "ongkir", "score": 0.7}, {"doc_id": "promo", "score": 0.4}],
        "occurred_at": NOW,
    }
    return build_retrieval_event(**values | given_values)


def used(event: RetrievalEvent) -> dict[str, bool | None]:
    return {hit.doc_id: hit.used_in_final for hit in event.retrieved}


@pytest.mark.parametrize(
    ("answer", "ranks"),
    [
        ("Gratis [RAG-1].", {1}),
        ("Gratis [RAG-1][RAG-3].", {1, 3}),
        ("Gratis [RAG-1, RAG-3; rag-12].", {1, 3, 12}),
        ("Free of charge [2], see also [ 4 ].", {2, 4}),
        ("Free [1,2] and [RAG-4–6].", {1, 2, 4, 5, 6}),
        ("Between [RAG-2-RAG-4].", {2, 3, 4}),
        ("[RAG 7] and [RAG8]", {7, 8}),
        ("Tahun [2024] dan [12a] dan (3) dan RAG-4 dan [] tidak.", set()),
        ("[1-900]", {1, 900}),
        ("", set()),
    ],
    ids=lambda value: str(value)[:30],
)
def test_citations_are_read_by_their_numbers(answer: str, ranks: set[int]) -> None:
    assert cited_ranks(answer) == ranks


def test_another_way_of_citing_is_a_pattern_with_a_group_or_the_numbers_of_its_match() -> None:
    assert cited_ranks("Gratis^2 dan cepat^10.", re.compile(r"\^(?P<rank>\d+)")) == {2, 10}
    assert cited_ranks("Gratis 【3】", re.compile(r"【\d+】")) == {3}


@given(st.text(alphabet="[RAG-1, ];–0", max_size=200))
def test_no_answer_stops_the_reading_of_citations(answer: str) -> None:
    assert all(0 <= rank <= 999 for rank in cited_ranks(answer))


def test_a_long_answer_of_half_citations_is_read_in_one_go() -> None:
    assert cited_ranks("[RAG-1, " * 50_000 + "[" * 50_000 + "[3" + " " * 50_000) == frozenset()


def test_used_is_what_the_answer_cites() -> None:
    assert used(built(answer="Ya, gratis [RAG-2].")) == {"ongkir": False, "promo": True}
    assert used(built(answer="Ya, gratis.")) == {"ongkir": False, "promo": False}


@pytest.mark.parametrize("answer", [None, "", " \n"], ids=repr)
def test_without_an_answer_nobody_can_tell_what_was_used(answer: str | None) -> None:
    assert used(built(answer=answer)) == {"ongkir": None, "promo": None}


def test_what_a_result_says_of_itself_stands() -> None:
    results = [{"docId": "ongkir", "usedInFinal": True}, RetrievedDocument(doc_id="promo", rank=2, used_in_final=False)]
    assert used(built(results=results, answer="[RAG-2]")) == {"ongkir": True, "promo": False}


def test_the_number_cited_is_that_of_the_prompt_where_ranks_count_from_zero() -> None:
    results = [{"doc_id": "promo", "rank": 1}, {"doc_id": "ongkir", "rank": 0}]
    assert used(built(results=results, answer="[RAG-1]")) == {"ongkir": True, "promo": False}


def test_the_number_cited_is_that_of_the_prompt_where_a_passage_was_shown_twice() -> None:
    results = [{"doc_id": "ongkir"}, {"doc_id": "ongkir"}, {"doc_id": "promo"}]
    assert used(built(results=results, answer="[RAG-3]")) == {"ongkir": False, "promo": True}
    assert used(built(results=results, answer="[RAG-2]")) == {"ongkir": True, "promo": False}


def test_results_are_ordered_counted_and_cut() -> None:
    results = [{"doc_id": f"d{n}", "rank": n, "score": float("nan")} for n in range(80, 0, -1)]
    event = built(results=results)
    assert (event.result_count, event.top_k, len(event.retrieved)) == (80, 80, 50)
    assert (event.retrieved[0].doc_id, event.retrieved[0].rank, event.retrieved[0].score) == ("d1", 1, None)
    assert built(results=[], top_k=5) == built(results=(), top_k=5)
    assert (built(results=[], top_k=5).result_count, built(results=[], top_k=5).top_k) == (0, 5)


def test_sub_scores_come_along_from_records_and_from_mappings() -> None:
    record = RetrievedDocument(
        doc_id="ongkir", chunk_id="3", rank=1, score=0.7, bm25_score=11.5, vector_similarity=0.83, pre_rerank_rank=4,
        rerank_score=0.7,
    )  # fmt: skip
    mapping = {
        "docId": "ongkir", "chunkId": 3, "score": 0.7, "bm25Score": "11.5", "vectorSimilarity": 0.83,
        "preRerankRank": 4, "rerankScore": 0.7, "title": "Ongkos kirim",
    }  # fmt: skip
    assert built(results=[record]).retrieved == built(results=[mapping]).retrieved == (record,)


def test_candidates_come_along_from_records_and_from_mappings() -> None:
    pool = [{"doc_id": "promo", "preRank": 0}, {"doc_id": "ongkir", "preRank": 1}]
    event = built(candidate_pool=pool, results=[{"doc_id": "ongkir", "pre_rerank_rank": 1}])
    assert event.candidate_pool == (Candidate(doc_id="promo", pre_rank=1), Candidate(doc_id="ongkir", pre_rank=2))
    assert event.retrieved[0].pre_rerank_rank == 2
    assert built(candidate_pool=event.candidate_pool).candidate_pool == event.candidate_pool


def test_building_the_same_event_again_gives_the_same_id() -> None:
    assert built().id == built().id
    assert built().id == built(occurred_at=datetime(2026, 3, 1, 9, 31, tzinfo=UTC), latency_ms=3).id
    assert built().id != built(query="Apakah ongkos kirim ke Maluku gratis?").id
    assert built(message_id=None).id != built(message_id=None, occurred_at=datetime(2026, 3, 1, tzinfo=UTC)).id
    assert built(event_id=UUID(int=9)).id == UUID(int=9)


def test_a_shadow_run_names_no_message() -> None:
    assert built(shadow=True).message_id is None


def test_what_is_built_is_read_without_a_note() -> None:
    event = built(
        answer="[RAG-1]", latency_ms=12.7, query_rewritten="ongkos kirim papua", kb_version="7", degraded=True,
        trace_id="t-1", candidate_pool=[{"doc_id": "ongkir"}],
    )  # fmt: skip
    assert event.latency_ms == 13
    assert read_job(job_of(event), received_at=NOW, engines=["hybrid"]) == Read(event)
