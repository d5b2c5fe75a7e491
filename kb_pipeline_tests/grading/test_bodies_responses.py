"""A stored response gives its answer, or the reason why it has none, whichever server, gateway or tracer wrote it."""

import base64
import gzip
import json
import zlib
from collections.abc import Callable

import pytest

from kb_pipeline.grading.bodies import Response, read_response
from kb_pipeline.records import ParseStatus
from kb_pipeline_tests.grading.prompts import ANSWER, as_json, choice, chunk, completion, event_stream, read

WHOLE = json.loads(completion())
CALL = {"id": "c", "type": "function", "function": {"name": "cari", "arguments": "{}"}}


@pytest.mark.parametrize(
    "content",
    [
        ANSWER,
        [{"type": "text", "text": ANSWER[:9]}, {"type": "text", "text": ANSWER[9:]}],
        [ANSWER],
        [[{"text": ANSWER}]],
        {"type": "text", "text": ANSWER},
        [{"type": "output_text", "text": {"value": ANSWER, "annotations": []}}],
        [{"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}, {"type": "text", "text": ANSWER}],
        [{"type": "reasoning", "text": "hm"}, {"type": "text", "text": ANSWER}, {"type": "image_url", "image_url": {}}],
        [{"type": "redacted_thinking", "data": "x"}, {"text": "hm", "thought": True}, {"text": ANSWER}, None],
    ],
)
def test_the_answer_is_the_text_of_the_content_in_any_form(content: object) -> None:
    assert read(completion(content)) == Response(ParseStatus.OK, ANSWER, "stop")


@pytest.mark.parametrize("finish_reason", ["stop", "eos", "stop_sequence", "end_turn", "STOP", None])
def test_a_foreign_finish_reason_is_kept_as_sent(finish_reason: str | None) -> None:
    assert read(completion(finish_reason=finish_reason)) == Response(ParseStatus.OK, ANSWER, finish_reason)


@pytest.mark.parametrize(
    "finish_reason",
    ["length", "max_tokens", "model_length", "MAX_TOKENS", "FinishReason.MAX_TOKENS", "max-tokens", "ERROR_LIMIT"],
)
def test_an_answer_cut_by_the_token_limit_is_flagged(finish_reason: str) -> None:
    assert read(completion(finish_reason=finish_reason)) == Response(ParseStatus.OK_LENGTH, ANSWER, finish_reason)


def test_of_several_choices_the_one_with_index_0_counts_wherever_it_stands() -> None:
    others = [{**choice("Lain."), "index": 2}, choice(), {**choice("Lagi."), "index": 1}]
    assert read({"choices": others}).answer == ANSWER


def test_an_index_that_was_written_as_text_is_an_index() -> None:
    assert read({"choices": [{**choice("Lain."), "index": "1"}, {**choice(), "index": "0"}]}).answer == ANSWER


@pytest.mark.parametrize("text", ["Tulis `<tool_call>` di sana.", "Tanda <tool_call> membuka sebuah panggilan."])
def test_an_answer_that_speaks_of_tool_calls_makes_none(text: str) -> None:
    assert read(completion(text)) == Response(ParseStatus.OK, text, "stop")


@pytest.mark.parametrize(
    "armour",
    [
        base64.b64encode,
        base64.encodebytes,
        lambda body: base64.urlsafe_b64encode(gzip.compress(body)).rstrip(b"="),
        lambda body: b"\\x" + zlib.compress(body).hex().encode(),
        lambda body: as_json("\\x" + body.hex().upper()),
        lambda body: as_json({"isBase64Encoded": True, "body": base64.b64encode(body).decode()}),
    ],
    ids=range(6),
)
@pytest.mark.parametrize("body", [completion(), event_stream()], ids=["json", "stream"])
def test_bytes_that_were_stored_as_text_are_read(armour: Callable[[bytes], bytes], body: bytes) -> None:
    assert read(armour(body)) == Response(ParseStatus.OK, ANSWER, "stop")


@pytest.mark.parametrize("text", [b"Yayasandidirikanolehnotaris", b"deadbeefdeadbeefdeadbeef", b"=" * 40, b"A" * 41])
def test_a_word_that_only_looks_like_stored_bytes_is_text(text: bytes) -> None:
    assert read(text) == Response(ParseStatus.NOT_JSON)


def test_an_answer_keeps_its_white_space_and_control_characters() -> None:
    assert read(completion(" a\u0000b\n")).answer == " a\u0000b\n"


@pytest.mark.parametrize(
    ("message", "finish_reason", "expected"),
    [
        ({"content": None, "tool_calls": [CALL]}, "tool_calls", Response(ParseStatus.TOOL_CALLS, "", "tool_calls")),
        ({"content": None, "tool_calls": [CALL]}, "stop", Response(ParseStatus.TOOL_CALLS, "", "stop")),
        (
            {"content": "Sebentar.", "tool_calls": [CALL]},
            "tool_calls",
            Response(ParseStatus.TOOL_CALLS, "Sebentar.", "tool_calls"),
        ),
        (
            {"content": None, "function_call": {"name": "cari"}},
            "function_call",
            Response(ParseStatus.TOOL_CALLS, "", "function_call"),
        ),
        ({"content": '<tool_call>{"name": "cari"}</tool_call>'}, "stop", None),
        ({"content": None, "refusal": "I can't."}, "stop", Response(ParseStatus.REFUSAL, "", "stop")),
        ({"content": [{"type": "refusal", "refusal": "No."}]}, "stop", Response(ParseStatus.REFUSAL, "", "stop")),
        ({"content": ""}, "refusal", Response(ParseStatus.REFUSAL, "", "refusal")),
        ({"content": "Sebagian"}, "content_filter", Response(ParseStatus.CONTENT_FILTER, "Sebagian", "content_filter")),
        ({"content": ""}, "SAFETY", Response(ParseStatus.CONTENT_FILTER, "", "SAFETY")),
        (
            {"content": ""},
            "content_filter: SAFETY",
            Response(ParseStatus.CONTENT_FILTER, "", "content_filter: SAFETY"),
        ),
        ({"content": '<tool_call>\n{"name": "cari"}'}, "stop", None),
        ({"content": "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function"}, "stop", None),
        ({"content": 'Sebentar.\n<tool_call>\n{"name": "cari"}\n</tool_call>'}, "stop", None),
        (
            {"content": "<|channel|>commentary to=functions.cari <|constrain|>json<|message|>{}<|call|>"},
            "stop",
            Response(ParseStatus.TOOL_CALLS, "", "stop"),
        ),
        ({"content": ""}, "MALFORMED_FUNCTION_CALL", Response(ParseStatus.TOOL_CALLS, "", "MALFORMED_FUNCTION_CALL")),
        ({"content": ""}, "stop", Response(ParseStatus.EMPTY_ANSWER, "", "stop")),
        ({"content": " \n"}, "stop", Response(ParseStatus.EMPTY_ANSWER, "", "stop")),
        ({"content": None, "reasoning_content": "hm"}, "length", Response(ParseStatus.EMPTY_ANSWER, "", "length")),
        ({}, None, Response(ParseStatus.EMPTY_ANSWER)),
        (
            {"content": ANSWER, "tool_calls": [], "refusal": "", "function_call": None},
            "stop",
            Response(ParseStatus.OK, ANSWER, "stop"),
        ),
        ({"content": "Sebagian"}, "error", Response(ParseStatus.ERROR, "", "error")),
        ({"content": "redacted-by-litellm"}, "stop", Response(ParseStatus.REDACTED, "", "stop")),
        (
            {"content": "A... (litellm_truncated skipped 99 chars) ...B"},
            "stop",
            Response(ParseStatus.TRUNCATED_JSON, "", "stop"),
        ),
    ],
)
def test_a_choice_without_an_answer_says_why(
    message: dict[str, object], finish_reason: str, expected: Response | None
) -> None:
    answered = read({"choices": [{"index": 0, "message": message, "finish_reason": finish_reason}]})
    assert answered == (expected or Response(ParseStatus.TOOL_CALLS, str(message["content"]), "stop"))


@pytest.mark.parametrize(
    "body",
    [
        {"error": {"message": "no key", "type": "invalid_request_error", "code": "invalid_api_key"}},
        {"error": {"code": 429, "message": "slow down", "metadata": {"raw": "x"}}, "user_id": "u"},
        {"error": "model not found"},
        {"error": {}},
        {"error": {"message": "bad"}, "choices": []},
        {"error": {"message": "late"}, **WHOLE},
        [{"error": {"code": 400, "status": "INVALID_ARGUMENT"}}],
        {"object": "error", "message": "too long", "type": "BadRequestError", "param": None, "code": 400},
        {"detail": "Not Found"},
        {"detail": [{"loc": ["body"], "msg": "field required", "type": "missing"}]},
        {"type": "about:blank", "title": "Bad Gateway", "status": 502, "detail": "upstream"},
        {"type": "error", "error": {"type": "overloaded_error", "message": "busy"}},
        {"message": "Forbidden"},
        {"statusCode": 500, "message": "Internal"},
        {"code": 500, "msg": "failed", "data": None},
        {"success": False, "errors": [{"code": 7003, "message": "no route"}], "result": None},
        {"base_resp": {"status_code": 1004, "status_msg": "login"}, "choices": None},
        {"fault": {"faultstring": "quota"}},
        {"error_code": 17, "error_msg": "daily limit"},
        {"choices": [{"index": 0, "error": {"code": 502, "message": "x"}, "message": {"content": "Sebag"}}]},
        {"statusCode": 502, "body": '{"message": "upstream"}'},
    ],
)
def test_an_error_is_an_error_in_every_shape(body: object) -> None:
    assert read(body).parse_status is ParseStatus.ERROR


@pytest.mark.parametrize(
    "error",
    [
        {"code": "content_filter", "message": "filtered", "innererror": {"code": "ResponsibleAIPolicyViolation"}},
        {"code": "BadRequest", "innererror": {"code": "ResponsibleAIPolicyViolation"}},
        {"type": "content_policy_violation"},
        {"message": "litellm.ContentPolicyViolationError: blocked"},
        {"code": "data_inspection_failed"},
    ],
)
def test_an_error_of_a_content_filter_is_told_apart(error: object) -> None:
    assert read({"error": error}).parse_status is ParseStatus.CONTENT_FILTER


@pytest.mark.parametrize("nothing", [None, {}, "", [], 0, False, {"code": 0, "message": ""}, {"message": None}, "none"])
def test_an_error_that_says_nothing_is_none(nothing: object) -> None:
    assert read({**WHOLE, "error": nothing}).parse_status is ParseStatus.OK


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"", ParseStatus.EMPTY),
        (b" \r\n\0", ParseStatus.EMPTY),
        (b"null", ParseStatus.EMPTY),
        (b'""', ParseStatus.EMPTY),
        (b"{}", ParseStatus.REDACTED),
        (b'"{}"', ParseStatus.REDACTED),
        (b"[]", ParseStatus.REDACTED),
        (b"[REDACTED]", ParseStatus.REDACTED),
        (b'{"text": "redacted-by-litellm"}', ParseStatus.REDACTED),
        (b'{"status": 200, "body": null}', ParseStatus.REDACTED),
        (b'{"response_omitted": true, "status": 200}', ParseStatus.REDACTED),
        (b"<html><h1>502 Bad Gateway</h1></html>", ParseStatus.NOT_JSON),
        (b"upstream timed out", ParseStatus.NOT_JSON),
        (b"{'choices': []}", ParseStatus.NOT_JSON),
        (b"12 monkeys", ParseStatus.NOT_JSON),
        (completion()[:-9], ParseStatus.TRUNCATED_JSON),
        (b"[" + completion() + b", {", ParseStatus.TRUNCATED_JSON),
        (json.dumps(completion().decode()).encode()[:-9], ParseStatus.TRUNCATED_JSON),
        (b'{"choices": [{"message": {"cont... [truncated 4096 bytes]', ParseStatus.TRUNCATED_JSON),
        (completion("Akta \u2013 sah").decode().encode("cp1252"), ParseStatus.UNDECODABLE),
        (b'{"choices": []}', ParseStatus.NO_CHOICES),
        (b'{"choices": null, "object": "chat.completion"}', ParseStatus.NO_CHOICES),
        (b'{"object": "chat.completion"}', ParseStatus.NO_CHOICES),
        (b'"a word"', ParseStatus.NOT_CHAT),
        (b"42", ParseStatus.NOT_CHAT),
        (b'{"choices": [{"text": "old", "index": 0, "finish_reason": null}]}', ParseStatus.NOT_CHAT),
        (b'{"type": "message", "role": "assistant", "content": [{"type": "text", "text": "x"}]}', ParseStatus.NOT_CHAT),
        (b'{"model": "m", "message": {"role": "assistant", "content": "x"}, "done": true}', ParseStatus.NOT_CHAT),
        (
            b'{"object": "response", "output": [{"type": "message", "role": "assistant", "content": []}]}',
            ParseStatus.NOT_CHAT,
        ),
        (b'{"candidates": [{"content": {"parts": [{"text": "x"}]}}]}', ParseStatus.NOT_CHAT),
        (b'[{"generated_text": "x"}]', ParseStatus.NOT_CHAT),
        (b'{"data": [{"embedding": [0.1]}], "object": "list"}', ParseStatus.NOT_CHAT),
    ],
)
def test_what_cannot_be_read_says_why(body: bytes, status: ParseStatus) -> None:
    assert read(body) == Response(status)


def test_a_body_that_was_not_kept_is_missing() -> None:
    assert read_response(None) == Response(ParseStatus.MISSING_BODY)


def test_a_body_above_the_cap_is_too_large() -> None:
    assert read_response(completion(), max_bytes=20) == Response(ParseStatus.TOO_LARGE)


@pytest.mark.parametrize(
    "body",
    [
        b"\xef\xbb\xbf" + completion(),
        completion().decode().encode("utf-16"),
        completion().decode().encode("utf-16-le"),
        completion().decode().encode("utf-32-be"),
        completion() + b"\n\0\0\0",
        completion() + b"} and more",
        completion() + b"\n" + b'{"note": "a second document"}',
        json.dumps(completion().decode()).encode(),
        json.dumps(json.dumps(completion().decode())).encode(),
        json.dumps("\ufeff" + completion().decode()).encode(),
        completion().replace(b'"', b'\\"'),
        b'{"cost": NaN, "logprob": -Infinity, ' + completion()[1:],
        b'{"seed": ' + b"9" * 5000 + b", " + completion()[1:],
        b'{"ratio": 1e999, ' + completion()[1:],
        b'{"seed": ' + b"9" * 5000 + b', "cost": NaN, ' + completion()[1:],
        b'{"deep": ' + b"[" * 5000 + b"]" * 5000 + b", " + completion()[1:],
        b'{"choices": [], ' + completion()[1:],
        b'{"raw": "a\nb\tc", ' + completion()[1:],
        as_json([WHOLE]),
    ],
    ids=range(19),
)
def test_odd_encodings_of_a_good_body_are_read_all_the_same(body: bytes) -> None:
    assert read(body) == Response(ParseStatus.OK, ANSWER, "stop")


@pytest.mark.parametrize(
    "envelope",
    [
        {"response": WHOLE},
        {"response": json.dumps(WHOLE)},
        {"request": {"messages": []}, "response": {"status": 200, "headers": {}, "body": WHOLE}},
        {"statusCode": 200, "isBase64Encoded": False, "body": json.dumps(WHOLE)},
        {"code": 0, "msg": "success", "data": WHOLE},
        {"request_id": "r", "output": {"choices": [choice()]}, "usage": {}},
        {"input": "q", "output": {"role": "assistant", "content": ANSWER, "finish_reason": "stop"}},
        {
            "gen_ai.output.messages": json.dumps(
                [{"role": "assistant", "parts": [{"type": "text", "content": ANSWER}], "finish_reason": "stop"}]
            )
        },
        {"chunks": [chunk({"content": ANSWER}), chunk({}, "stop")]},
    ],
    ids=range(9),
)
def test_what_gateways_and_tracers_wrap_around_a_body_is_taken_off(envelope: object) -> None:
    assert read(envelope) == Response(ParseStatus.OK, ANSWER, "stop")


def test_halves_of_a_surrogate_pair_never_reach_the_answer() -> None:
    assert read(b'{"choices": [{"message": {"content": "akta \\ud83d sah"}}]}').answer == "akta \ufffd sah"


def test_every_cut_of_a_body_is_noticed() -> None:
    body = completion(f"{ANSWER} Biaya “Rp250.000” – é \\ \U0001f4dc", "stop")
    cut = {read(body[:end]).parse_status for end in range(1, len(body))}
    assert cut == {ParseStatus.TRUNCATED_JSON}
