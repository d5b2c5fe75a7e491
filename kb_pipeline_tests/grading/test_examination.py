"""Each audited call gets one verdict, in the documented order, and nothing is decompressed in vain."""

import hashlib
import json
from dataclasses import replace
from datetime import UTC, datetime

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from kb_pipeline.grading.examination import ExaminationRules, evidence_intact, examine, extract_pair, is_sampled
from kb_pipeline.records import AuditedCall, ParseStatus, StoredBody, Verdict
from kb_pipeline_tests.grading.prompts import ANSWER, QUESTION, TEMPLATE, completion, event_stream, prompt, request_body

CALL = AuditedCall(
    event_id="e1", ts=datetime(2026, 7, 9, 14, tzinfo=UTC), surface="public", tenant="portal", http_status=200
)
RULES = ExaminationRules(
    templates={"public": TEMPLATE}, pipeline_tenant="grader", judge_instruction="You grade answers.", sample_rate=1.0
)


def zstd(body: bytes) -> bytes:
    return zstandard.ZstdCompressor().compress(body)


BODY = StoredBody(request=zstd(request_body(prompt())), response=zstd(completion()))
# Decompressing this one would end in another verdict.
DAMAGED = StoredBody(request=zstd(request_body(prompt()))[:-3], response=b"x")
JUDGE = StoredBody(
    request=request_body(prompt(), instruction="You grade answers.\nSusun jawaban, HASIL ALAT."), response=completion()
)
ROUTER = StoredBody(request=request_body(prompt(), instruction="Pilih alat."), response=completion())


def test_a_synthesis_call_has_its_triad_and_metrics() -> None:
    examined = examine(CALL, BODY, RULES)
    assert (examined.verdict, examined.parse_status) == (Verdict.SYNTHESIS, ParseStatus.OK)
    assert examined.triad
    assert examined.metrics
    assert (examined.triad.question, examined.triad.answer, examined.metrics.num_passages) == (QUESTION, ANSWER, 2)


@pytest.mark.parametrize(
    ("call", "body", "rules", "verdict", "status"),
    [
        (replace(CALL, tenant="grader"), DAMAGED, RULES, Verdict.SELF, None),
        (replace(CALL, tenant="grader", surface="staff"), None, RULES, Verdict.SELF, None),
        (replace(CALL, surface="staff"), DAMAGED, RULES, Verdict.OTHER, None),
        (CALL, DAMAGED, RULES, Verdict.UNREADABLE, ParseStatus.UNDECODABLE),
        (CALL, None, RULES, Verdict.UNREADABLE, ParseStatus.MISSING_BODY),
        (CALL, replace(BODY, request=None), RULES, Verdict.UNREADABLE, ParseStatus.MISSING_BODY),
        (CALL, replace(BODY, request=b"{}"), RULES, Verdict.UNREADABLE, ParseStatus.REDACTED),
        (CALL, JUDGE, RULES, Verdict.SELF, None),
        (CALL, JUDGE, replace(RULES, judge_instruction=" "), Verdict.SYNTHESIS, ParseStatus.OK),
        (replace(CALL, tenant=""), BODY, replace(RULES, pipeline_tenant=""), Verdict.SYNTHESIS, ParseStatus.OK),
        (CALL, ROUTER, RULES, Verdict.OTHER, None),
        (CALL, BODY, replace(RULES, sample_rate=0.0), Verdict.SAMPLED_OUT, None),
        (CALL, ROUTER, replace(RULES, sample_rate=0.0), Verdict.OTHER, None),
        (CALL, replace(BODY, response=None), RULES, Verdict.SYNTHESIS, ParseStatus.MISSING_BODY),
        (CALL, BODY, replace(RULES, max_body_bytes=100), Verdict.UNREADABLE, ParseStatus.TOO_LARGE),
        (replace(CALL, http_status=None), BODY, RULES, Verdict.SYNTHESIS, ParseStatus.OK),
    ],
    ids=range(16),
)
def test_the_first_verdict_that_fits_counts(
    call: AuditedCall, body: StoredBody | None, rules: ExaminationRules, verdict: Verdict, status: ParseStatus | None
) -> None:
    examined = examine(call, body, rules)
    assert (examined.verdict, examined.parse_status) == (verdict, status)
    assert (examined.triad is not None) == (examined.metrics is not None) == (verdict is Verdict.SYNTHESIS)


@pytest.mark.parametrize(
    ("response", "status"),
    [
        (completion(), ParseStatus.ERROR),
        (b'{"error": {"message": "x"}}', ParseStatus.ERROR),
        (b"<html>502</html>", ParseStatus.ERROR),
        (b'{"anything": 1}', ParseStatus.ERROR),
        (completion()[:-9], ParseStatus.ERROR),
        (b'{"error": {"code": "content_filter"}}', ParseStatus.CONTENT_FILTER),
        (event_stream([{"error": "x"}]), ParseStatus.STREAM_ERROR),
        (b"", ParseStatus.EMPTY),
        (None, ParseStatus.MISSING_BODY),
    ],
)
@pytest.mark.parametrize("http_status", [400, 429, 500, 599])
def test_nothing_that_came_with_a_failed_call_is_an_answer(
    response: bytes | None, status: ParseStatus, http_status: int
) -> None:
    examined = examine(replace(CALL, http_status=http_status), replace(BODY, response=response), RULES)
    assert (examined.verdict, examined.parse_status) == (Verdict.SYNTHESIS, status)
    assert examined.triad
    assert examined.triad.answer == ""


def chained(body: StoredBody, event_id: str = CALL.event_id) -> StoredBody:
    previous = hashlib.sha256(b"before").digest()
    whole = previous + event_id.encode() + (body.request or b"") + (body.response or b"")
    return replace(body, prev_hash=previous, body_hash=hashlib.sha256(whole).digest())


@pytest.mark.parametrize("body", [BODY, DAMAGED, replace(BODY, response=None), StoredBody(request=None, response=None)])
def test_a_body_that_matches_its_link_of_the_chain_is_intact(body: StoredBody) -> None:
    assert examine(CALL, chained(body), RULES).evidence_intact is True
    assert examine(CALL, body, RULES).evidence_intact is None


def test_a_body_that_was_changed_is_not_intact() -> None:
    link = chained(BODY)
    for changed in (
        replace(link, response=zstd(completion("Lain."))),
        replace(link, prev_hash=bytes(32)),
        replace(link, body_hash=bytes(32)),
    ):
        assert examine(CALL, changed, RULES).evidence_intact is False
    assert examine(replace(CALL, event_id="e2"), link, RULES).evidence_intact is False


def test_half_a_chain_is_no_chain() -> None:
    assert evidence_intact("e1", replace(chained(BODY), prev_hash=None)) is None
    assert evidence_intact("e1", replace(chained(BODY), body_hash=None)) is None


def test_the_evidence_of_calls_that_are_not_graded_is_checked_too() -> None:
    assert examine(replace(CALL, surface="staff"), chained(DAMAGED), RULES).evidence_intact is True
    assert (
        examine(replace(CALL, tenant="grader"), replace(chained(BODY), body_hash=b""), RULES).evidence_intact is False
    )


@given(st.text(), st.floats(0, 1), st.floats(0, 1))
def test_a_lower_rate_samples_a_part_of_what_a_higher_one_does(event_id: str, one: float, other: float) -> None:
    low, high = sorted((one, other))
    assert not is_sampled(event_id, low) or is_sampled(event_id, high)
    assert is_sampled(event_id, 1.0)
    assert not is_sampled(event_id, 0.0)


def test_the_rate_is_the_share_of_events_and_the_same_every_time() -> None:
    sampled = [is_sampled(f"event-{number}", 0.25) for number in range(4000)]
    assert 0.22 < sum(sampled) / len(sampled) < 0.28
    assert sampled == [is_sampled(f"event-{number}", 0.25) for number in range(4000)]


def test_a_pair_is_reported_as_plain_values() -> None:
    report = extract_pair(request_body(prompt()), completion(), TEMPLATE)
    assert json.loads(json.dumps(report)) == report | {"passages": list(report["passages"]), "history": []}  # type: ignore[call-overload]
    assert set(report) == {
        "parse_status",
        "question",
        "context",
        "passages",
        "history",
        "answer",
        "finish_reason",
        "metrics",
        "opinion",
    }
    assert (report["parse_status"], report["question"], report["answer"]) == ("ok", QUESTION, ANSWER)


@pytest.mark.parametrize(
    ("request_bytes", "response", "status"),
    [
        (None, completion(), "ok"),
        (None, completion(finish_reason="length"), "ok_length"),
        (None, b"{}", "redacted"),
        (b"", completion(), "empty"),
        (b"{}", completion(), "redacted"),
        (b"oops", b'{"error": "x"}', "error"),
        (request_body("halo"), completion(), "no_question"),
        (request_body(prompt()), None, "missing_body"),
    ],
)
def test_a_report_gives_the_responses_side_first(
    request_bytes: bytes | None, response: bytes | None, status: str
) -> None:
    assert extract_pair(request_bytes, response, TEMPLATE)["parse_status"] == status


@pytest.mark.parametrize("request_bytes", [b'{"model": "e", "input": ["satu"]}', b'{"query": "biaya", "top_k": 5}'])
def test_a_request_that_is_no_chat_at_all_is_some_other_call_and_not_an_unreadable_one(request_bytes: bytes) -> None:
    examination = examine(CALL, StoredBody(request=request_bytes, response=completion()), RULES)
    assert (examination.verdict, examination.parse_status) == (Verdict.OTHER, None)
