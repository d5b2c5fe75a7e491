"""Whatever a producer sends becomes a clean event or an explained rejection."""

import json
import math
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID, uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb_pipeline.records.retrieval import RetrievalEvent, SearchEvent, SearchEventType
from kb_pipeline.retrieval.events import MAX_HITS, Note, Read, Reason, Rejected, job_of, read_job
from kb_pipeline_tests.retrieval.event_strategies import ENGINES, RECEIVED_AT, anything, retrieval_events, spoiled

ORG, SPECIALIST, CONVERSATION, MESSAGE, EVENT, SEARCH = (
    "6f1c2d3e-0000-4000-8000-00000000000" + digit for digit in "123456"
)
JOB: dict[str, Any] = {
    "schema_version": 1,
    "type": "retrieval",
    "id": EVENT,
    "org_id": ORG,
    "specialist_id": SPECIALIST,
    "conversation_id": CONVERSATION,
    "message_id": MESSAGE,
    "engine": "hybrid",
    "query": "Berapa lama garansi mesin cuci?",
    "top_k": 5,
    "latency_ms": 42,
    "retrieved": [{"doc_id": "garansi", "chunk_id": "2", "rank": 1, "score": 0.8}],
    "occurred_at": "2026-03-01T09:00:00Z",
}
STEP: dict[str, Any] = {
    "type": "search",
    "id": EVENT,
    "org_id": ORG,
    "specialist_id": SPECIALIST,
    "search_id": SEARCH,
    "event_type": "kb.result.clicked",
    "doc_id": "garansi",
    "occurred_at": "2026-03-01T09:00:00Z",
}


def short(value: object) -> str:
    """A name for a value in a test's id."""
    return repr(value)[:24]


def outcome(job: object) -> Read | Rejected:
    return read_job(job, received_at=RECEIVED_AT, engines=ENGINES)


def read(**changes: object) -> tuple[RetrievalEvent, set[Note]]:
    """The event of the example job with some values changed, and the notes."""
    got = outcome(JOB | changes)
    assert isinstance(got, Read), got
    assert isinstance(got.event, RetrievalEvent)
    return got.event, set(got.notes)


def read_without(*names: str, **changes: object) -> tuple[RetrievalEvent, set[Note]]:
    got = outcome({name: value for name, value in (JOB | changes).items() if name not in names})
    assert isinstance(got, Read), got
    assert isinstance(got.event, RetrievalEvent)
    return got.event, set(got.notes)


def step(**changes: object) -> tuple[SearchEvent, set[Note]]:
    got = outcome(STEP | changes)
    assert isinstance(got, Read), got
    assert isinstance(got.event, SearchEvent)
    return got.event, set(got.notes)


def rejection(job: object) -> Rejected:
    got = outcome(job)
    assert isinstance(got, Rejected), got
    return got


def hits(*listed: object) -> tuple[list[tuple[int, str]], set[Note]]:
    """Ranks and documents of a list of results, and the notes."""
    event, notes = read(retrieved=list(listed))
    return [(hit.rank, hit.doc_id) for hit in event.retrieved], notes


def test_a_clean_job_is_read_without_a_note() -> None:
    event, notes = read()
    assert notes == set()
    assert (event.query, event.top_k, event.result_count, event.latency_ms) == (JOB["query"], 5, 1, 42)
    assert event.occurred_at == datetime(2026, 3, 1, 9, tzinfo=UTC)


@given(anything)
def test_nothing_that_json_can_say_makes_the_reader_raise(data: object) -> None:
    assert isinstance(outcome(data), Rejected)


@given(retrieval_events().map(job_of).flatmap(spoiled))
def test_no_value_of_a_property_makes_the_reader_raise_and_what_it_reads_reads_the_same_again(
    job: dict[str, Any],
) -> None:
    got = outcome(job)
    if isinstance(got, Read):
        again = outcome(json.loads(json.dumps(job_of(got.event))))
        assert isinstance(again, Read)
        assert again.event == got.event


@given(retrieval_events().map(job_of).flatmap(spoiled))
def test_what_is_read_can_be_stored(job: dict[str, Any]) -> None:
    got = outcome(job)
    if isinstance(got, Read) and isinstance(got.event, RetrievalEvent):
        text = json.dumps(job_of(got.event), ensure_ascii=False, allow_nan=False)
        assert "\\u0000" not in text
        assert text.encode()


@pytest.mark.parametrize(
    "data", [None, [], "{}", 3, True, [JOB], json.dumps(JOB)], ids=lambda data: type(data).__name__ + str(data)[:9]
)
def test_a_job_that_is_no_object_is_rejected(data: object) -> None:
    assert rejection(data).reason is Reason.NOT_AN_OBJECT


@pytest.mark.parametrize("name", ["org_id", "specialist_id", "conversation_id", "query"])
@pytest.mark.parametrize("value", [None, [], {}, True], ids=repr)
def test_without_tenant_conversation_or_query_a_job_is_rejected_by_the_name_of_what_is_missing(
    name: str, value: object
) -> None:
    assert rejection(JOB | {name: value}).reason == name
    assert rejection({key: given for key, given in JOB.items() if key != name}).reason == name


@pytest.mark.parametrize("name", ["id", "org_id", "specialist_id", "conversation_id", "message_id"])
@pytest.mark.parametrize("value", ["17", 17, "not-a-uuid", ORG[:-1], ORG + "0", "x" * 36, {"id": ORG}], ids=repr)
def test_a_key_that_is_no_uuid_is_a_rejection(name: str, value: object) -> None:
    assert rejection(JOB | {name: value}).reason == name


def test_a_rejection_explains_itself_in_one_sentence_without_repeating_a_text() -> None:
    secret = "nomor kartu 4111-1111"
    for name in ("id", "org_id", "message_id"):
        detail = rejection(JOB | {name: secret}).detail
        assert detail.startswith(f"{name} is a text that is no UUID; ")
        assert secret not in detail
        assert detail.endswith(".")


@pytest.mark.parametrize("value", [None, ""], ids=repr)
def test_no_message_is_no_fault(value: object) -> None:
    event, notes = read(message_id=value)
    assert (event.message_id, notes) == (None, set())


def test_a_key_is_read_in_upper_case_without_hyphens_and_between_blanks() -> None:
    event, notes = read(message_id=f" {MESSAGE.replace('-', '').upper()} ")
    assert (event.message_id, notes) == (UUID(MESSAGE), set())


def test_javascripts_spelling_of_the_properties_is_understood() -> None:
    event, notes = read_without(
        "schema_version", "org_id", "specialist_id", "conversation_id", "message_id", "top_k", "latency_ms",
        "occurred_at",
        schemaVersion=1, orgId=ORG, specialistId=SPECIALIST, conversationId=CONVERSATION, messageId=MESSAGE, topK=5,
        latencyMs=42, occurredAt="2026-03-01T09:00:00Z", kbVersion="7", traceId="t", queryRewritten="garansi",
        candidatePool=[{"docId": "garansi", "preRank": 1}],
        retrieved=[
            {"docId": "garansi", "chunkId": "2", "rank": 1, "bm25Score": 7, "vectorSimilarity": 0.5,
             "preRerankRank": 1, "rerankScore": 0.9, "usedInFinal": True}
        ],
    )  # fmt: skip
    assert notes == set()
    [hit] = event.retrieved
    assert (hit.doc_id, hit.chunk_id, hit.bm25_score, hit.vector_similarity) == ("garansi", "2", 7.0, 0.5)
    assert (hit.pre_rerank_rank, hit.rerank_score, hit.used_in_final) == (1, 0.9, True)
    assert (event.tenant.org_id, event.message_id, event.kb_version) == (UUID(ORG), UUID(MESSAGE), "7")
    assert (event.trace_id, event.query_rewritten, event.candidate_pool[0].doc_id) == ("t", "garansi", "garansi")


def test_properties_that_nobody_knows_are_ignored() -> None:
    event, notes = read(metadata={"huge": "x" * 1_000_000, "deep": [[[[]]]]})
    assert (event.query, notes) == (JOB["query"], set())


@pytest.mark.parametrize("version", [None, 1, "1", 1.0], ids=repr)
def test_the_known_schema_version_is_read_also_unsaid(version: object) -> None:
    assert read(schema_version=version)[1] == set()


@pytest.mark.parametrize("version", [2, "2", 0, -1, True, "one", 1.5, []], ids=repr)
def test_a_newer_or_senseless_schema_version_is_rejected(version: object) -> None:
    assert rejection(JOB | {"schema_version": version}).reason is Reason.SCHEMA_VERSION


@pytest.mark.parametrize("kind", ["click", 3, {}, ["retrieval"]])
def test_an_unknown_type_is_rejected(kind: object) -> None:
    assert rejection(JOB | {"type": kind}).reason is Reason.TYPE


def test_without_a_type_a_job_with_an_event_type_is_a_search() -> None:
    assert read_without("type")[1] == set()
    got = outcome({name: value for name, value in STEP.items() if name != "type"})
    assert isinstance(got, Read)
    assert isinstance(got.event, SearchEvent)


@pytest.mark.parametrize("engine", [None, "semantic", 7, "", "x" * 100], ids=repr)
def test_an_engine_that_is_not_configured_is_other_and_noted(engine: object) -> None:
    event, notes = read(engine=engine)
    assert (event.engine, notes) == ("other", {Note.ENGINE_UNKNOWN})


@pytest.mark.parametrize(("engine", "known"), [(" hybrid ", "hybrid"), ("Hybrid", "hybrid"), ("other", "other")])
def test_an_engine_is_known_in_any_case(engine: str, known: str) -> None:
    event, notes = read(engine=engine)
    assert (event.engine, notes) == (known, set())


def test_nul_and_lone_surrogates_become_replacement_characters_and_pairs_become_their_character() -> None:
    event, notes = read(query="a\x00b\ud83dc\ud83d\ude00")
    assert (event.query, notes) == ("a\ufffdb\ufffdc\U0001f600", {Note.TEXT_CLEANED})


@pytest.mark.parametrize("sign", ["a", "é", "記", "\U0001f600", "\x00", "\ud83d", "\ud83d\ude00"], ids=ascii)
def test_a_query_is_cut_to_8_kb_of_utf_8_between_two_characters(sign: str) -> None:
    event, notes = read(query=sign * 500_000)
    assert 8192 - 4 < len(event.query.encode()) <= 8192
    assert set(event.query) == {
        "\ufffd" if sign in "\x00\ud83d" else sign.encode("utf-16", "surrogatepass").decode("utf-16")
    }
    assert Note.QUERY_CUT in notes


def test_a_query_of_exactly_8_kb_stays_whole() -> None:
    assert read(query="a" * 8192) == (read(query="a" * 8192)[0], set())
    assert len(read(query="a" * 8192)[0].query) == 8192


def test_a_number_as_the_query_is_text_and_an_empty_query_is_noted() -> None:
    assert read(query=42)[0].query == "42"
    event, notes = read(query="  ")
    assert (event.query, notes) == ("  ", {Note.QUERY_EMPTY})


@pytest.mark.parametrize("score", [math.nan, math.inf, -math.inf, 10**400, True, "NaN", "0,8", "", [], {}], ids=short)
def test_a_score_that_is_no_finite_number_is_null(score: object) -> None:
    event, notes = read(retrieved=[{"doc_id": "garansi", "score": score, "rerank_score": 0.5}])
    assert (event.retrieved[0].score, event.retrieved[0].rerank_score) == (None, 0.5)
    assert notes == {Note.SCORE_DROPPED}


@pytest.mark.parametrize(
    ("score", "value"), [("0.82", 0.82), (" -3 ", -3.0), ("1e-3", 0.001), (".5", 0.5), (-2, -2.0)], ids=repr
)
def test_a_score_may_be_negative_or_a_decimal_in_a_text(score: object, value: float) -> None:
    event, notes = read(retrieved=[{"doc_id": "garansi", "score": score}])
    assert (event.retrieved[0].score, notes) == (value, set())


def test_ids_that_are_numbers_become_text() -> None:
    event, _ = read(retrieved=[{"doc_id": 17, "chunk_id": 3.0}, {"doc_id": 12345678901234567890}])
    assert [(hit.doc_id, hit.chunk_id) for hit in event.retrieved] == [("17", "3"), ("12345678901234567890", None)]


@pytest.mark.parametrize("bad", [None, "", " ", True, [], {}, math.nan, 10**400], ids=short)
def test_a_result_without_a_document_is_dropped_and_not_counted(bad: object) -> None:
    event, notes = read(retrieved=[{"doc_id": bad}, {"doc_id": "garansi"}, "garansi", None])
    assert [hit.doc_id for hit in event.retrieved] == ["garansi"]
    assert (event.result_count, notes) == (1, {Note.HIT_DROPPED})


def test_ids_too_long_to_keep_are_cut_and_stay_different() -> None:
    long = "s3://arsip/" + "x" * 600
    event, notes = read(retrieved=[{"doc_id": long + "1"}, {"doc_id": long + "2"}, {"doc_id": "記" * 512}])
    ids = [hit.doc_id for hit in event.retrieved]
    assert len(set(ids)) == 3
    assert all(len(each) <= 512 and len(each.encode()) <= 1024 for each in ids)
    assert ids[0].startswith("s3://arsip/xxx")
    assert notes == {Note.ID_CUT}


def test_control_characters_in_an_id_are_replaced() -> None:
    event, notes = read(retrieved=[{"doc_id": "a\tb\x00c\ud800"}])
    assert (event.retrieved[0].doc_id, notes) == ("a\ufffdb\ufffdc\ufffd", {Note.TEXT_CLEANED})


def test_ranks_from_zero_and_with_holes_are_renumbered_in_their_order() -> None:
    assert hits({"doc_id": "b", "rank": 1}, {"doc_id": "a", "rank": 0}) == (
        [(1, "a"), (2, "b")],
        {Note.RANKS_RENUMBERED},
    )
    assert hits({"doc_id": "c", "rank": 9}, {"doc_id": "a", "rank": "-2"}, {"doc_id": "b", "rank": 4.0})[0] == [
        (1, "a"),
        (2, "b"),
        (3, "c"),
    ]


def test_ties_and_missing_ranks_keep_the_order_of_the_list() -> None:
    assert hits({"doc_id": "c"}, {"doc_id": "a"}, {"doc_id": "b"}) == ([(1, "c"), (2, "a"), (3, "b")], set())
    tied, _ = hits({"doc_id": "c", "rank": 1}, {"doc_id": "a", "rank": 1}, {"doc_id": "b", "rank": 1})
    assert tied == [(1, "c"), (2, "a"), (3, "b")]
    mixed, notes = hits({"doc_id": "b", "rank": 2}, {"doc_id": "c", "rank": "second"}, {"doc_id": "a", "rank": 1})
    assert mixed == [(1, "a"), (2, "b"), (3, "c")]
    assert Note.NUMBER_DROPPED in notes


def test_the_same_document_and_chunk_twice_is_one_result_at_its_best_rank() -> None:
    event, notes = read(
        retrieved=[
            {"doc_id": "a", "chunk_id": "1", "rank": 3, "score": 0.1, "used_in_final": True},
            {"doc_id": "b", "rank": 2},
            {"doc_id": "a", "chunk_id": "1", "rank": 1, "score": 0.9, "used_in_final": False},
            {"doc_id": "a", "chunk_id": "2", "rank": 4},
        ]
    )
    assert [(hit.rank, hit.doc_id, hit.chunk_id, hit.score) for hit in event.retrieved] == [
        (1, "a", "1", 0.9),
        (2, "b", None, None),
        (3, "a", "2", None),
    ]
    assert event.retrieved[0].used_in_final is True
    assert (event.result_count, Note.HITS_MERGED in notes) == (3, True)


def test_fifty_results_are_kept_and_all_are_counted() -> None:
    listed = [{"doc_id": f"d{n}", "rank": n} for n in range(5000, 0, -1)]
    event, notes = read(retrieved=listed, result_count=3)
    assert [hit.doc_id for hit in event.retrieved] == [f"d{n}" for n in range(1, MAX_HITS + 1)]
    assert event.result_count == 5000
    assert notes == {Note.HITS_CUT, Note.RESULT_COUNT_CORRECTED}


@pytest.mark.parametrize("sent", [0, 2, 900])
def test_the_senders_count_is_not_trusted(sent: int) -> None:
    event, notes = read(result_count=sent)
    assert (event.result_count, notes) == (1, {Note.RESULT_COUNT_CORRECTED})


def test_a_list_that_the_sender_cut_to_fifty_may_have_been_longer() -> None:
    full = [{"doc_id": f"d{n}"} for n in range(MAX_HITS)]
    assert read(retrieved=full, result_count=300)[0].result_count == 300
    assert read(retrieved=full, result_count=20)[0].result_count == 50
    assert read(retrieved=full, result_count=10**15)[0].result_count == 50


def test_no_list_of_results_is_an_empty_one_but_something_else_is_a_rejection() -> None:
    event, notes = read(retrieved=None)
    assert (event.retrieved, event.result_count, notes) == ((), 0, {Note.RETRIEVED_MISSING})
    assert read(retrieved=[])[1] == set()
    wrongs: list[object] = [{"0": {}}, "[]", 0]
    for wrong in wrongs:
        assert rejection(JOB | {"retrieved": wrong}).reason is Reason.RETRIEVED


def test_the_place_before_the_re_ranker_counts_from_one() -> None:
    event, _ = read(retrieved=[{"doc_id": "a", "pre_rerank_rank": 3}, {"doc_id": "b", "pre_rerank_rank": 0}])
    assert [hit.pre_rerank_rank for hit in event.retrieved] == [4, 1]
    # None of the results was first before the re-ranker, but the pool shows where counting starts.
    event, _ = read(
        retrieved=[{"doc_id": "a", "pre_rerank_rank": 1}],
        candidate_pool=[{"doc_id": "b", "pre_rank": 0}, {"doc_id": "a", "pre_rank": 1}],
    )
    assert [hit.pre_rerank_rank for hit in event.retrieved] == [2]
    assert [(each.doc_id, each.pre_rank) for each in event.candidate_pool] == [("b", 1), ("a", 2)]


def test_a_candidate_pool_is_sorted_bounded_and_free_of_repetitions() -> None:
    pool = [{"doc_id": f"d{n}", "pre_rank": n} for n in range(200, 0, -1)]
    event, notes = read(candidate_pool=[*pool, {"doc_id": "d1", "pre_rank": 900}, "d7"])
    assert [each.doc_id for each in event.candidate_pool] == [f"d{n}" for n in range(1, MAX_HITS + 1)]
    assert notes == {Note.POOL_CLEANED}
    event, notes = read(candidate_pool=[{"doc_id": "b"}, {"doc_id": "a", "pre_rank": 1}])
    assert [(each.doc_id, each.pre_rank) for each in event.candidate_pool] == [("b", 1), ("a", 2)]
    assert read(candidate_pool="d7")[1] == {Note.POOL_CLEANED}


def as_jsonb(value: object) -> str:
    """A value in the words of PostgreSQL's jsonb, whose numbers have no exponent."""
    match value:
        case dict():
            return "{" + ", ".join(f"{as_jsonb(key)}: {as_jsonb(each)}" for key, each in value.items()) + "}"
        case list():
            return "[" + ", ".join(map(as_jsonb, value)) + "]"
        case float():
            return format(Decimal(repr(value)), "f")
        case _:
            return json.dumps(value, ensure_ascii=False)


@pytest.mark.parametrize("sign", ['"', "\x01", "記", "\U0001f600", '"\U0001f600'], ids=ascii)
@pytest.mark.parametrize("score", [-2.2250738585072014e-308, -1.7976931348623157e308])
def test_the_heaviest_lists_stay_below_256_kb_of_jsonb(sign: str, score: float) -> None:
    scores = {"score": score, "bm25_score": score, "vector_similarity": score, "rerank_score": score}
    listed = [
        {"doc_id": str(n) + sign * 5000, "chunk_id": str(n) + sign * 5000, "pre_rerank_rank": 2**31 - 1, **scores}
        for n in range(100)
    ]
    event, _ = read(retrieved=listed, candidate_pool=[{**each, "pre_rank": 2**31 - 2} for each in listed])
    job = job_of(event)
    assert len(job["retrieved"]) == len(job["candidate_pool"]) == MAX_HITS
    for name in ("retrieved", "candidate_pool"):
        assert len(as_jsonb(job[name]).encode()) < 256 * 1024


@given(st.text(min_size=1, max_size=2000))
def test_no_id_weighs_more_than_is_reckoned_with(text: str) -> None:
    event, _ = read(retrieved=[{"doc_id": text * 3}])
    for hit in event.retrieved:
        assert len(hit.doc_id) <= 512
        assert len(json.dumps(hit.doc_id, ensure_ascii=False).encode()) <= 1400


@pytest.mark.parametrize(
    ("sent", "instant", "notes"),
    [
        ("2026-02-28T23:00:00+07:00", datetime(2026, 2, 28, 16, tzinfo=UTC), set()),
        ("2026-02-28t16:00:00.123456789z", datetime(2026, 2, 28, 16, microsecond=123456, tzinfo=UTC), set()),
        ("2026-02-28 16:00:00", datetime(2026, 2, 28, 16, tzinfo=UTC), {Note.TIME_NAIVE}),
        ("2026-02-28", datetime(2026, 2, 28, tzinfo=UTC), {Note.TIME_NAIVE}),
        ("20260228", datetime(2026, 2, 28, tzinfo=UTC), {Note.TIME_NAIVE}),
        (1772294400, datetime(2026, 2, 28, 16, tzinfo=UTC), {Note.TIME_EPOCH}),
        (1772294400123, datetime(2026, 2, 28, 16, microsecond=123000, tzinfo=UTC), {Note.TIME_EPOCH}),
        (1772294400123456, datetime(2026, 2, 28, 16, microsecond=123456, tzinfo=UTC), {Note.TIME_EPOCH}),
        (1772294400000000000, datetime(2026, 2, 28, 16, tzinfo=UTC), {Note.TIME_EPOCH}),
        ("1772294400", datetime(2026, 2, 28, 16, tzinfo=UTC), {Note.TIME_EPOCH}),
        ("1772294400.0", datetime(2026, 2, 28, 16, tzinfo=UTC), {Note.TIME_EPOCH}),
        ("2026-03-02T09:29:59Z", datetime(2026, 3, 2, 9, 29, 59, tzinfo=UTC), set()),
        ("2020-01-01T00:00:00Z", datetime(2020, 1, 1, tzinfo=UTC), set()),
    ],
)
def test_a_time_is_read_as_what_it_can_only_mean(sent: object, instant: datetime, notes: set[Note]) -> None:
    event, noted = read(occurred_at=sent)
    assert (event.occurred_at, noted) == (instant, notes)
    assert event.occurred_at.utcoffset() == timedelta(0)


@pytest.mark.parametrize(
    "sent",
    [
        "yesterday", "", True, [], {}, 0, -5, 1e300, math.nan, math.inf, "1e999", 10**400, 17722944001234567890,
        "2019-12-31T23:59:59Z", "2026-03-02T09:30:00Z", "9999-12-31T23:59:59-23:59", "0001-01-01T00:00:00+23:59",
        179604 * 365 * 86400, "2026-02-30T00:00:00Z", "9" * 5000,
    ],
    ids=short,
)  # fmt: skip
def test_a_time_that_cannot_be_true_is_that_of_the_arrival(sent: object) -> None:
    event, notes = read(occurred_at=sent)
    assert (event.occurred_at, notes) == (RECEIVED_AT, {Note.TIME_REPLACED})


def test_a_missing_time_is_that_of_the_arrival_and_created_at_is_understood() -> None:
    event, notes = read(occurred_at=None)
    assert (event.occurred_at, notes) == (RECEIVED_AT, {Note.TIME_MISSING})
    event, notes = read_without("occurred_at", createdAt="2026-03-01T08:00:00Z")
    assert (event.occurred_at, notes) == (datetime(2026, 3, 1, 8, tzinfo=UTC), set())


@pytest.mark.parametrize(
    ("sent", "kept"), [(0.4, 0), (12.6, 13), ("12.6", 13), (2**31 - 1, 2**31 - 1), (None, None)], ids=repr
)
def test_a_latency_is_whole_milliseconds(sent: object, kept: int | None) -> None:
    event, notes = read(latency_ms=sent)
    assert (event.latency_ms, notes) == (kept, set())


@pytest.mark.parametrize("sent", [-1, math.nan, math.inf, 1e300, 2**31, "fast", True, []], ids=repr)
def test_an_impossible_latency_or_top_k_is_as_if_it_were_not_there(sent: object) -> None:
    event, notes = read(latency_ms=sent, top_k=sent)
    assert (event.latency_ms, event.top_k, notes) == (None, 1, {Note.NUMBER_DROPPED})


def test_without_a_top_k_as_many_were_asked_for_as_there_are() -> None:
    event, notes = read(top_k=None, retrieved=[{"doc_id": str(n)} for n in range(7)])
    assert (event.top_k, notes) == (7, set())


@pytest.mark.parametrize(
    ("sent", "kept"), [(True, True), (1, True), ("TRUE", True), (0, False), ("false", False)], ids=repr
)
def test_a_flag_is_read_in_its_usual_spellings(sent: object, kept: bool) -> None:  # noqa: FBT001
    event, notes = read(degraded=sent, retrieved=[{"doc_id": "a", "used_in_final": sent}])
    assert (event.degraded, event.retrieved[0].used_in_final, notes) == (kept, kept, set())


@pytest.mark.parametrize("sent", ["yes", 2, [], 0.5, {}], ids=repr)
def test_a_flag_that_is_none_falls_back_to_its_default(sent: object) -> None:
    event, notes = read(degraded=sent, shadow=sent, retrieved=[{"doc_id": "a", "used_in_final": sent}])
    assert (event.degraded, event.shadow, event.retrieved[0].used_in_final) == (False, False, None)
    assert notes == {Note.FLAG_DROPPED}


def test_a_shadow_run_served_no_message() -> None:
    event, notes = read(shadow=True)
    assert (event.message_id, event.shadow, notes) == (None, True, {Note.SHADOW_MESSAGE_DROPPED})


def test_short_texts_are_cut_and_others_dropped() -> None:
    event, notes = read(trace_id="t" * 900, kb_version=7, query_rewritten="q" * 9000)
    assert (event.trace_id, event.kb_version, event.query_rewritten) == ("t" * 200, "7", "q" * 8192)
    assert notes == {Note.TEXT_CUT}
    event, notes = read(trace_id=[], kb_version={}, query_rewritten=False)
    assert (event.trace_id, event.kb_version, event.query_rewritten) == (None, None, None)
    assert notes == {Note.TEXT_DROPPED}


def test_an_event_without_an_id_gets_the_same_one_again_whenever_it_is_repeated() -> None:
    first, notes = read_without("id")
    assert notes == {Note.ID_DERIVED}
    again = read_job(
        {name: value for name, value in JOB.items() if name != "id"},
        received_at=RECEIVED_AT + timedelta(hours=3),
        engines=ENGINES,
    )
    assert isinstance(again, Read)
    assert again.event.id == first.id


@pytest.mark.parametrize("time", [None, "yesterday"], ids=repr)
def test_a_time_that_the_sender_did_not_give_makes_no_id(time: object) -> None:
    untimed = JOB | {"id": None, "message_id": None, "occurred_at": time}
    ids = set()
    for hours in range(3):
        got = read_job(untimed, received_at=RECEIVED_AT + timedelta(hours=hours), engines=ENGINES)
        assert isinstance(got, Read)
        ids.add(got.event.id)
    assert len(ids) == 1


def test_two_dispatches_of_one_draft_have_one_derived_id_and_another_retrieval_has_another() -> None:
    first, _ = read_without("id")
    later, _ = read_without("id", occurred_at="2026-03-01T09:00:01Z", latency_ms=50)
    other, _ = read_without("id", retrieved=[])
    assert later.id == first.id
    assert other.id != first.id


def test_without_a_message_the_time_tells_two_derived_ids_apart() -> None:
    first, _ = read_without("id", "message_id")
    later, _ = read_without("id", "message_id", occurred_at="2026-03-01T09:00:01Z")
    assert first.id != later.id


def test_an_id_that_was_never_filled_in_is_derived_too() -> None:
    event, notes = read(id=str(UUID(int=0)))
    assert (event.id, notes) == (read_without("id")[0].id, {Note.ID_DERIVED})


def test_a_step_of_a_search_is_read() -> None:
    event, notes = step(rank=2, chunk_id=5, expert_id=ORG)
    assert notes == set()
    assert event.event_type is SearchEventType.CLICKED
    assert (event.doc_id, event.chunk_id, event.rank, event.expert_id) == ("garansi", "5", 2, UUID(ORG))
    assert (event.query, event.conversation_id, event.message_id) == (None, None, None)


def test_a_performed_search_needs_its_query_and_a_click_its_document() -> None:
    performed = STEP | {"event_type": "kb.search.performed", "doc_id": None}
    assert rejection(performed).reason is Reason.QUERY
    assert step(**performed, query="garansi", result_count=0)[0].result_count == 0
    assert rejection(STEP | {"doc_id": " "}).reason is Reason.DOC_ID


@pytest.mark.parametrize("event_type", [None, "", "kb.retrieval", 5, []], ids=repr)
def test_an_unknown_step_of_a_search_is_rejected(event_type: object) -> None:
    assert rejection(STEP | {"event_type": event_type}).reason is Reason.EVENT_TYPE


@pytest.mark.parametrize("name", ["org_id", "specialist_id", "search_id", "conversation_id", "message_id", "id"])
def test_a_step_with_a_malformed_key_is_rejected(name: str) -> None:
    assert rejection(STEP | {name: "17"}).reason == name


def test_a_search_without_a_search_id_is_rejected_and_an_odd_expert_is_only_dropped() -> None:
    assert rejection(STEP | {"search_id": None}).reason is Reason.SEARCH_ID
    event, notes = step(expert_id="ibu-ratna")
    assert (event.expert_id, notes) == (None, {Note.TEXT_DROPPED})


def test_a_click_on_rank_zero_was_on_the_first() -> None:
    assert step(rank=0) == (step(rank=1)[0], {Note.RANKS_RENUMBERED})
    assert step(rank=-1)[0].rank is None


def test_two_clicks_on_one_document_are_two_events_also_without_ids() -> None:
    first, _ = step(id=None, message_id=MESSAGE)
    second, _ = step(id=None, message_id=MESSAGE, occurred_at="2026-03-01T09:00:09Z")
    assert first.id != second.id


def test_a_lone_surrogate_or_nul_never_reaches_a_property() -> None:
    bad = "a\x00\ud800"
    event, _ = read(
        query=bad,
        query_rewritten=bad,
        trace_id=bad,
        kb_version=bad,
        retrieved=[{"doc_id": bad, "chunk_id": bad}],
        candidate_pool=[{"doc_id": bad, "chunk_id": bad}],
        extra=str(uuid4()),
    )
    text = json.dumps(job_of(event), ensure_ascii=False)
    assert "\\u0000" not in text
    text.encode()
