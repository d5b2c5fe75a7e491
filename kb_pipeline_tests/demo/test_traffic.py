"""Planted traffic: repeatable, in order, complete in its kinds, and true to its labels."""

import gzip
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from itertools import pairwise

import msgspec
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from kb_pipeline.demo.knowledge import document_of, load
from kb_pipeline.demo.search import Hit
from kb_pipeline.demo.traffic import (
    COMPANIONS,
    DEFAULT_MIX,
    Effect,
    Incident,
    Kind,
    PlantedCall,
    Traffic,
    generate,
    synthetic_pair,
)
from kb_pipeline.demo.traffic.plan import apportion
from kb_pipeline.demo.traffic.turns import QuestionBank, Turn, turns
from kb_pipeline.records import ParseStatus, Verdict
from kb_pipeline.windows import HOUR, Window
from kb_pipeline_tests.demo.overlap import overlap

END = datetime(2026, 7, 9, 5, tzinfo=UTC)
KNOWLEDGE = load()
BANK = QuestionBank(KNOWLEDGE, overlap)


def planted(traffic: Traffic) -> list[PlantedCall]:
    return [call for chunk in generate(traffic, KNOWLEDGE, overlap) for call in chunk]


def of_kind(kind: Kind, count: int = 2000) -> list[Turn]:
    return [turn for turn in turns(Traffic(end=END, turns=count), BANK) if turn.kind is kind]


def plain(body: bytes | None) -> bytes:
    assert body is not None
    if body[:2] == b"\x1f\x8b":
        return gzip.decompress(body)
    if body[:4] == b"\x28\xb5\x2f\xfd":
        with zstandard.ZstdDecompressor().stream_reader(body, read_across_frames=True) as reader:
            return reader.read()
    return body


DAY = planted(Traffic(end=END))


def synthesis(calls: Sequence[PlantedCall]) -> list[PlantedCall]:
    return [call for call in calls if call.truth.kind.is_turn]


def test_the_same_traffic_is_planted_twice_to_the_byte() -> None:
    assert planted(Traffic(end=END)) == DAY


def test_another_seed_plants_other_traffic() -> None:
    other = planted(Traffic(end=END, seed=8))
    assert not {call.call.event_id for call in other} & {call.call.event_id for call in DAY}
    assert [call.truth.kind for call in other] != [call.truth.kind for call in DAY]


def test_a_default_day_has_every_kind_of_turn_and_of_companion() -> None:
    counts = Counter(call.truth.kind for call in DAY)
    assert sum(counts[kind] for kind in DEFAULT_MIX) == 240
    assert set(counts) == set(DEFAULT_MIX) | set(COMPANIONS) == set(Kind)


def test_every_expected_status_of_the_mix_is_planted_and_streams_too() -> None:
    assert {call.truth.parse_status for call in synthesis(DAY)} == {
        ParseStatus.OK,
        ParseStatus.OK_LENGTH,
        ParseStatus.TOOL_CALLS,
        ParseStatus.ERROR,
        ParseStatus.STREAM_INCOMPLETE,
    }
    assert 20 < sum(call.truth.streamed for call in DAY) < 120
    assert all(plain(call.body.response).startswith(b"data: ") == call.truth.streamed for call in synthesis(DAY))


def test_calls_come_in_the_order_of_time_inside_the_window_with_ids_of_their_own() -> None:
    crowded = Traffic(end=END, turns=1500, hours=1)
    for calls, window in ((DAY, Traffic(end=END).window), (planted(crowded), crowded.window)):
        assert all(before.call.ts <= after.call.ts for before, after in pairwise(calls))
        assert all(call.call.ts in window for call in calls)
        assert len({call.call.event_id for call in calls}) == len(calls)


def test_an_end_within_an_hour_fills_exactly_the_hours_before_it() -> None:
    traffic = Traffic(end=END + timedelta(minutes=20), turns=300, hours=3)
    times = [call.call.ts for call in planted(traffic)]
    assert traffic.window.start <= min(times) <= max(times) < traffic.end
    assert len({ts.replace(minute=0, second=0, microsecond=0) for ts in times}) == 4


def test_there_is_more_traffic_in_office_hours_than_at_night() -> None:
    hours = Counter(call.call.ts.hour for call in synthesis(DAY))
    assert hours[2] + hours[3] > 5 * (hours[18] + hours[19])
    assert all(hours[hour] for hour in range(24))


def test_the_body_chain_links_every_body_to_the_one_before() -> None:
    previous = bytes(32)
    for each in DAY:
        body = each.body
        assert body.request is not None
        assert body.response is not None
        assert body.prev_hash == previous
        assert body.body_hash == sha256(previous + each.call.event_id.encode() + body.request + body.response).digest()
        previous = body.body_hash


def test_a_chain_can_be_continued() -> None:
    first = next(iter(generate(Traffic(end=END, turns=3), KNOWLEDGE, overlap, previous=b"x" * 32)))[0]
    assert first.body.prev_hash == b"x" * 32


def test_bodies_are_stored_as_zstd_with_and_without_a_size_gzip_and_plain() -> None:
    starts = Counter((call.body.request or b"")[:2] for call in DAY)
    assert starts[b"\x28\xb5"] > starts[b"\x1f\x8b"] > 0
    assert starts[b'{"'] > 0
    frames = [call.body.request for call in DAY if (call.body.request or b"")[:2] == b"\x28\xb5"]
    sizes = {zstandard.get_frame_parameters(frame or b"").content_size for frame in frames}
    assert zstandard.CONTENTSIZE_UNKNOWN in sizes
    assert len(sizes) > 20


def test_calls_that_must_not_be_graded_quote_the_markers_nonetheless() -> None:
    quoting = Counter(
        call.truth.kind
        for call in DAY
        if call.truth.verdict is not Verdict.SYNTHESIS
        and all(marker in plain(call.body.request) for marker in (b"Susun jawaban", b"HASIL ALAT", b"PERTANYAAN:"))
    )
    assert quoting[Kind.JUDGE] > 0
    assert quoting[Kind.STAFF] > 0
    assert quoting[Kind.SUMMARY] > 0
    judges = [call for call in DAY if call.truth.kind is Kind.JUDGE]
    assert {(call.call.tenant, call.call.surface, call.truth.verdict) for call in judges} == {
        ("ahu-observatory", "system", Verdict.SELF)
    }


def test_a_turn_and_its_companions_share_a_trace() -> None:
    traces = {call.call.trace_id for call in synthesis(DAY)}
    assert len(traces) == 240
    searches = [call for call in DAY if call.call.operation == "search"]
    assert searches
    assert all(call.call.trace_id in traces for call in searches)


def test_prompts_vary_in_roles_parts_history_and_decimal_commas() -> None:
    calls = synthesis(planted(Traffic(end=END, turns=400)))
    requests = [msgspec.json.decode(plain(call.body.request)) for call in calls]
    roles = Counter(tuple(message["role"] for message in request["messages"]) for request in requests)
    assert roles["system", "user"] > 100
    assert roles["developer", "user"] > 0
    assert roles["system", "system", "user"] > 0
    assert roles["system", "user", "assistant", "user"] > 20
    last = [request["messages"][-1]["content"] for request in requests]
    assert any(isinstance(content, list) for content in last)
    assert any("(skor 0,7" in str(content) for content in last)
    assert any("(skor 0.7" in str(content) for content in last)


def test_a_grounded_answer_states_only_facts_of_retrieved_passages() -> None:
    for turn in of_kind(Kind.GROUNDED):
        retrieved = {hit.doc_id for hit in turn.hits}
        assert turn.answer.faithful
        assert turn.answer.facts
        assert {document_of(fact) for fact in turn.answer.facts} <= retrieved
        values = [KNOWLEDGE.by_fact[fact].value for fact in turn.answer.facts]
        assert all(value in turn.answer.text for value in values if value)


def test_a_contradicted_answer_states_a_false_value() -> None:
    for turn in of_kind(Kind.CONTRADICTED):
        changed = [KNOWLEDGE.by_fact[fact].changed for fact in turn.answer.facts]
        assert turn.answer.faithful is False
        assert sum(value in turn.answer.text for value in changed if value) == 1


def test_a_partly_ungrounded_answer_adds_exactly_one_claim() -> None:
    for turn in of_kind(Kind.PARTLY_UNGROUNDED):
        assert turn.answer.faithful is False
        claims = [c.text for c in KNOWLEDGE.claims if c.text.removesuffix(".") in turn.answer.text]
        assert len(claims) == 1
        assert turn.answer.facts


def test_an_irrelevant_answer_is_faithful_only_when_its_facts_were_retrieved() -> None:
    seen = set()
    for turn in of_kind(Kind.IRRELEVANT):
        seen.add(turn.answer.faithful)
        documents = {document_of(fact) for fact in turn.answer.facts}
        assert turn.answer.relevant is False
        assert documents.isdisjoint({document_of(fact) for fact in turn.question.facts})
        assert (documents <= {hit.doc_id for hit in turn.hits}) == turn.answer.faithful
    assert seen == {True, False}


def test_turns_without_context_were_retrieved_nothing_for() -> None:
    for kind in (Kind.NO_CONTEXT_REFUSED, Kind.NO_CONTEXT_ASSERTED):
        assert all(not turn.hits for turn in of_kind(kind))
    assert all(turn.hits for turn in of_kind(Kind.REFUSED))


def test_a_cut_answer_is_the_beginning_of_a_longer_one_and_ends_by_length() -> None:
    cut = [call for call in DAY if call.truth.kind is Kind.CUT]
    assert cut
    assert all(b'"finish_reason":"length"' in plain(call.body.response) for call in cut)


def changed_hour(effect: Effect, *, share: float = 1.0) -> tuple[Window, list[PlantedCall]]:
    hour = Window(END - 3 * HOUR, END - 2 * HOUR)
    return hour, planted(Traffic(end=END, turns=600, incidents=(Incident(effect=effect, window=hour, share=share),)))


def split(calls: Sequence[PlantedCall], hour: Window) -> tuple[list[PlantedCall], list[PlantedCall]]:
    inside = [call for call in calls if call.call.ts in hour]
    return synthesis(inside), synthesis([call for call in calls if call.call.ts not in hour])


@pytest.mark.parametrize(
    ("effect", "expected"),
    [(Effect.QUESTION_RENAMED, ParseStatus.NO_QUESTION), (Effect.CONTEXT_RENAMED, ParseStatus.CONTEXT_FALLBACK)],
)
def test_a_renamed_marker_changes_the_expected_status_of_its_hour_alone(effect: Effect, expected: ParseStatus) -> None:
    hour, calls = changed_hour(effect)
    inside, outside = split(calls, hour)
    assert Counter(call.truth.parse_status for call in inside)[expected] > 0.8 * len(inside)
    assert expected not in {call.truth.parse_status for call in outside}
    assert ParseStatus.OK not in {call.truth.parse_status for call in inside}


def test_a_changed_signature_makes_turns_unrecognisable() -> None:
    hour, calls = changed_hour(Effect.SIGNATURE_CHANGED)
    inside, outside = split(calls, hour)
    assert inside
    assert {call.truth.verdict for call in inside} == {Verdict.OTHER}
    assert {call.truth.verdict for call in outside} == {Verdict.SYNTHESIS}
    assert all("Susun jawaban" not in plain(call.body.request).decode() for call in inside)


def test_a_quality_drop_makes_a_share_of_the_answers_ungrounded() -> None:
    hour, calls = changed_hour(Effect.UNGROUNDED, share=0.7)
    inside, outside = split(calls, hour)
    during, otherwise = (sum(call.truth.faithful is False for call in part) / len(part) for part in (inside, outside))
    assert during > 0.4
    assert otherwise < 0.25


def test_late_bodies_say_when_they_arrive() -> None:
    hour, calls = changed_hour(Effect.LATE_BODY, share=0.5)
    late = [call for call in calls if call.body_arrives is not None]
    assert late
    assert all(call.call.ts in hour and call.body_arrives == call.call.ts + HOUR for call in late)


def test_chunks_are_bounded() -> None:
    sizes = [len(chunk) for chunk in generate(Traffic(end=END, turns=100), KNOWLEDGE, overlap, chunk=37)]
    assert set(sizes[:-1]) == {37}
    assert 0 < sizes[-1] <= 37


def test_traffic_of_nothing_or_without_a_time_zone_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one"):
        Traffic(end=END, turns=0)
    with pytest.raises(ValueError, match="at least one"):
        Traffic(end=END, hours=0)
    with pytest.raises(ValueError, match="time zone"):
        Traffic(end=datetime(2026, 7, 9))  # noqa: DTZ001 - the missing zone is the point


def test_a_retriever_that_finds_nothing_is_refused() -> None:
    def nothing(_query: str, _language: str) -> tuple[Hit, ...]:
        return ()

    with pytest.raises(ValueError, match="no question"):
        next(iter(generate(Traffic(end=END), KNOWLEDGE, nothing)))


@given(st.integers(0, 5000), st.lists(st.integers(1, 100), min_size=1, max_size=30))
def test_parts_add_up_and_are_within_one_of_their_share(total: int, weights: list[int]) -> None:
    parts = apportion(total, weights)
    assert sum(parts) == total
    assert all(abs(part - total * weight / sum(weights)) < 1 for part, weight in zip(parts, weights, strict=True))


def test_a_synthetic_pair_repeats_and_has_about_six_kilobytes() -> None:
    sizes = [sum(map(len, synthetic_pair(i))) for i in range(300)]
    assert 5_500 < sum(sizes) / 300 < 6_500
    assert min(sizes) > 4_000
    assert synthetic_pair(5) == synthetic_pair(5)
    assert synthetic_pair(5) != synthetic_pair(6)
