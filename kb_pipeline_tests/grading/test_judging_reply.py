"""What a judge's reply is taken for."""

import gzip
import json
import math
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb_pipeline.grading.judging import read_reply, retry_after_seconds
from kb_pipeline.records import ErrorClass, Graded, Score, Ungraded
from kb_pipeline_tests.turns import METRICS, TRIAD, metrics, triad

SCORES: dict[str, Any] = {
    "faithfulness_reason": "Semua klaim didukung.",
    "faithfulness": 0.5,
    "answer_relevance_reason": "Menjawab.",
    "answer_relevance": 1,
    "context_relevance_reason": "Sesuai.",
    "context_relevance": 0.25,
}
GOOD = json.dumps(SCORES)
OTHER = GOOD.replace("0.5", "0.75")


def completion(content: Any, finish_reason: str | None = "stop", **message: Any) -> bytes:
    choice = {
        "index": 0,
        "message": {"role": "assistant", "content": content, **message},
        "finish_reason": finish_reason,
    }
    return json.dumps(
        {"object": "chat.completion", "choices": [choice], "usage": {"prompt_tokens": 9, "completion_tokens": 4}}
    ).encode()


def read(body: bytes, status: int = 200, **changes: Any) -> Graded | Ungraded:
    return read_reply(body, status, triad=TRIAD, metrics=metrics(**changes))


def error_class(body: bytes, status: int = 200) -> ErrorClass | None:
    judgement = read(body, status)
    return judgement.error_class if isinstance(judgement, Ungraded) else None


def with_score(raw: str) -> str:
    """A reply whose faithfulness is written as `raw`."""
    return GOOD.replace("0.5", raw)


READABLE = {
    "the object alone": GOOD,
    "white space around it": f"\n\n  {GOOD}  \n",
    "a byte order mark": f"\ufeff{GOOD}",
    "a fence": f"```json\n{GOOD}\n```",
    "a fence that never ends": f"```json\n{GOOD}",
    "prose around it": f"Here are the grades, from 0 to 1:\n{GOOD}\nI hope this helps.",
    "braces in the prose": f"I used {{these}} rules. {GOOD}",
    "the same object twice": f"{GOOD}\n\nFinal:\n{GOOD}",
    "a trailing comma": GOOD[:-1] + ",\n}",
    "raw control characters in a reason": GOOD.replace("klaim", "kla\n\tim"),
    "a wrapper key": json.dumps({"result": SCORES}),
    "two wrapper keys": json.dumps({"output": {"grades": SCORES}}),
    "a list of one": json.dumps([SCORES]),
    "thinking with braces": f'<think>Maybe {{"faithfulness": 1.0}}? No.</think>\n{GOOD}',
    "only the end of thinking": f'Maybe {{"faithfulness": 1.0}}?</think>{GOOD}',
    "thinking in brackets": f"[THINK]0.9?[/THINK]{GOOD}",
    "harmony channels": "<|channel|>analysis<|message|>hm {<|end|><|start|>assistant<|channel|>final<|message|>" + GOOD,
    "a tag inside a reason": GOOD.replace("klaim", "</think> klaim"),
    "keys of another order and more keys": json.dumps({"note": "ok", **dict(reversed(SCORES.items()))}),
    "scores in objects": json.dumps(
        {
            "faithfulness": {"score": 0.5, "reason": "Semua klaim didukung."},
            "answer_relevance": {"value": 1, "reason": "Menjawab."},
            "context_relevance": {"score": 0.25, "reason": "Sesuai."},
        }
    ),
    "reasons in an object": json.dumps(
        {
            "faithfulness": 0.5,
            "answer_relevance": 1,
            "context_relevance": 0.25,
            "reasons": {
                "faithfulness": "Semua klaim didukung.",
                "answer_relevance": "Menjawab.",
                "context_relevance": "Sesuai.",
            },
        }
    ),
}


@pytest.mark.parametrize("content", READABLE.values(), ids=READABLE.keys())
def test_form_is_forgiven(content: str) -> None:
    judgement = read(completion(content))
    assert isinstance(judgement, Graded), judgement
    scores = (judgement.faithfulness.value, judgement.answer_relevance.value, judgement.context_relevance.value)
    assert scores == (0.5, 1.0, 0.25)
    assert judgement.answer_relevance.reason == "Menjawab."


@pytest.mark.parametrize(
    "body",
    [
        completion([{"type": "text", "text": GOOD[:20]}, {"type": "text", "text": GOOD[20:]}]),
        completion([{"type": "thinking", "thinking": "0.9"}, {"type": "text", "text": GOOD}]),
        completion(GOOD, reasoning_content='{"faithfulness": 1.0}'),
        completion(GOOD, finish_reason="length"),
        completion(GOOD, finish_reason=None),
        completion(GOOD + "\n" * 100_000, finish_reason="length"),
        gzip.compress(completion(GOOD), mtime=0),
        b'data: {"choices": [{"index": 0, "delta": {"content": '
        + json.dumps(GOOD).encode()
        + b'}, "finish_reason": "stop"}]}\n\ndata: [DONE]\n\n',
    ],
    ids=[
        "parts",
        "thinking parts",
        "reasoning field",
        "complete at the limit",
        "no finish",
        "padding",
        "gzip",
        "stream",
    ],
)
def test_the_envelopes_of_servers_are_understood(body: bytes) -> None:
    assert isinstance(read(body), Graded)


OFF_THE_MENU = {
    "a number in prose": ("The answer is well supported: 0.9.", ErrorClass.NOT_JSON),
    "a mark out of ten": ("8/10", ErrorClass.NOT_JSON),
    "a bare number": ("0.8", ErrorClass.BAD_SCHEMA),
    "a bare list": ("[0.8, 0.9, 1]", ErrorClass.BAD_SCHEMA),
    "null": ("null", ErrorClass.BAD_SCHEMA),
    "an empty object": ("{}", ErrorClass.BAD_SCHEMA),
    "a score as text": (with_score('"0.8"'), ErrorClass.BAD_SCHEMA),
    "a score as a fraction": (with_score('"8/10"'), ErrorClass.BAD_SCHEMA),
    "a score as a word": (with_score('"high"'), ErrorClass.BAD_SCHEMA),
    "true": (with_score("true"), ErrorClass.BAD_SCHEMA),
    "NaN": (with_score("NaN"), ErrorClass.BAD_SCHEMA),
    "Infinity": (with_score("Infinity"), ErrorClass.BAD_SCHEMA),
    "a list": (with_score("[0.5]"), ErrorClass.BAD_SCHEMA),
    "too large": (with_score("1.2"), ErrorClass.OUT_OF_RANGE),
    "out of ten": (with_score("8"), ErrorClass.OUT_OF_RANGE),
    "negative": (with_score("-0.1"), ErrorClass.OUT_OF_RANGE),
    "more than a float": (with_score("1e999"), ErrorClass.OUT_OF_RANGE),
    "a missing score": (json.dumps({"faithfulness": 0.5, "answer_relevance": 1}), ErrorClass.BAD_SCHEMA),
    "keys of another language": (GOOD.replace("faithfulness", "kesetiaan"), ErrorClass.BAD_SCHEMA),
    "null for a relevance": (GOOD.replace("1,", "null,"), ErrorClass.BAD_SCHEMA),
    "null without a reason": (with_score("null").replace("Semua klaim didukung.", " "), ErrorClass.BAD_SCHEMA),
    "null for a context that is there": (GOOD.replace("0.25", "null"), ErrorClass.BAD_SCHEMA),
    "a reason that is no text": (GOOD.replace('"Menjawab."', "7"), ErrorClass.BAD_SCHEMA),
    "a repeated key": (GOOD[:-1] + ', "faithfulness": 1.0}', ErrorClass.BAD_SCHEMA),
    "a repeated key in a wrapper": ('{"r": ' + GOOD[:-1] + ', "faithfulness": 1.0}}', ErrorClass.BAD_SCHEMA),
    "two objects": (f"{GOOD} {OTHER}", ErrorClass.BAD_SCHEMA),
    "an unreadable object beside one": (f"{{'faithfulness': 1.0}} {GOOD}", ErrorClass.BAD_SCHEMA),
    "single quotes": (GOOD.replace('"', "'"), ErrorClass.NOT_JSON),
    "two scores in one": (GOOD.replace("0.5", '{"score": 0.5, "value": 1.0}'), ErrorClass.BAD_SCHEMA),
    "three wrappers": (json.dumps({"a": {"b": {"c": SCORES}}}), ErrorClass.BAD_SCHEMA),
    "cut in a reason": (GOOD[:40], ErrorClass.TRUNCATED_REPLY),
    "cut before the last brace": (GOOD[:-1], ErrorClass.TRUNCATED_REPLY),
    "cut after an object": (f"{GOOD} {OTHER[:30]}", ErrorClass.TRUNCATED_REPLY),
    "nothing": ("", ErrorClass.EMPTY_REPLY),
    "white space": (" \n ", ErrorClass.EMPTY_REPLY),
    "thinking alone": (f"<think>{GOOD}</think>", ErrorClass.EMPTY_REPLY),
    "thinking that never ends": (f"<think>{GOOD}", ErrorClass.EMPTY_REPLY),
    "thinking that never ends, in a line": (f"Hm. <think>{GOOD}", ErrorClass.NOT_JSON),
    "braces without end": ("{" * 50_000, ErrorClass.TRUNCATED_REPLY),
    "a book": ("word " * 20_000 + GOOD, ErrorClass.BAD_SCHEMA),
}


@pytest.mark.parametrize(("content", "expected"), OFF_THE_MENU.values(), ids=OFF_THE_MENU.keys())
def test_content_is_never_guessed(content: str, expected: ErrorClass) -> None:
    assert error_class(completion(content)) is expected


@pytest.mark.parametrize(
    ("body", "status", "expected"),
    [
        (b"", 200, ErrorClass.EMPTY_REPLY),
        (b"<html>welcome</html>", 200, ErrorClass.NOT_JSON),
        (b'{"choices": []}', 200, ErrorClass.EMPTY_REPLY),
        (b'{"choices": {}}', 200, ErrorClass.EMPTY_REPLY),
        (b'"text"', 200, ErrorClass.BAD_SCHEMA),
        (GOOD.encode(), 200, ErrorClass.BAD_SCHEMA),
        (completion(None), 200, ErrorClass.EMPTY_REPLY),
        (completion(None, refusal="I cannot help with that."), 200, ErrorClass.EMPTY_REPLY),
        (completion("", finish_reason="length", reasoning_content="so ..."), 200, ErrorClass.TRUNCATED_REPLY),
        (completion("<think>so", finish_reason="length"), 200, ErrorClass.TRUNCATED_REPLY),
        (completion("The answer", finish_reason="length"), 200, ErrorClass.TRUNCATED_REPLY),
        (completion(GOOD)[:-30], 200, ErrorClass.TRUNCATED_REPLY),
        (b'{"error": {"message": "x", "code": 429}}', 200, ErrorClass.RATE_LIMITED),
        (b'{"error": {"message": "x", "code": "503"}}', 200, ErrorClass.HTTP_5XX),
        (b'{"error": {"message": "x", "type": "invalid_request_error"}}', 200, ErrorClass.HTTP_4XX),
        (b'{"error": "overloaded"}', 200, ErrorClass.HTTP_5XX),
        (completion(GOOD), 429, ErrorClass.RATE_LIMITED),
        (completion(GOOD), 500, ErrorClass.HTTP_5XX),
        (completion(GOOD), 529, ErrorClass.HTTP_5XX),
        (completion(GOOD), 404, ErrorClass.HTTP_4XX),
        (completion(GOOD), 307, ErrorClass.HTTP_4XX),
        (completion(GOOD), 408, ErrorClass.TIMEOUT),
    ],
)
def test_a_reply_without_the_judges_text_has_a_class(body: bytes, status: int, expected: ErrorClass) -> None:
    assert error_class(body, status) is expected


def test_deep_nesting_is_no_object_of_scores_however_deep_this_python_reads() -> None:
    deep = '{"a":' * 8000 + "1" + "}" * 8000
    assert error_class(completion(deep)) in {ErrorClass.NOT_JSON, ErrorClass.BAD_SCHEMA}


BYTES = st.one_of(
    st.binary(max_size=400),
    st.text(max_size=200).map(completion),
    st.recursive(
        st.none() | st.booleans() | st.floats() | st.text(max_size=9),
        lambda inner: (
            st.lists(inner)
            | st.dictionaries(st.sampled_from([*SCORES, "score", "choices"]) | st.text(max_size=5), inner)
        ),
    ).map(lambda value: completion(json.dumps(value))),
    st.tuples(st.integers(0, len(GOOD)), st.text(max_size=9)).map(
        lambda cut: completion(GOOD[: cut[0]] + cut[1] + GOOD[cut[0] :])
    ),
)


@given(BYTES, st.integers(100, 599))
def test_no_bytes_raise_and_no_score_leaves_its_range(body: bytes, status: int) -> None:
    judgement = read(body, status)
    if isinstance(judgement, Graded):
        scores = (judgement.faithfulness, judgement.answer_relevance, judgement.context_relevance)
        assert any(score.value is not None for score in scores)
        for score in scores:
            assert score.reason if score.value is None else 0 <= score.value <= 1
            assert len(score.reason) <= 240
            score.reason.encode()


def test_a_refusal_has_no_faithfulness_whatever_the_judge_says() -> None:
    judgement = read(completion(with_score("1.0")), refused=True)
    assert isinstance(judgement, Graded)
    assert judgement.faithfulness == Score(
        value=None, reason="Jawaban berupa penolakan, jadi tidak menyatakan apa pun."
    )
    assert judgement.answer_relevance.value == 1.0


@pytest.mark.parametrize("answer", ["👍", "...", "Terima kasih kembali!", "Halo, ada yang bisa saya bantu?"])
def test_an_answer_that_asserts_nothing_has_no_faithfulness(answer: str) -> None:
    judgement = read_reply(completion(GOOD), 200, triad=triad(answer=answer), metrics=METRICS)
    assert isinstance(judgement, Graded)
    assert judgement.faithfulness.value is None
    assert judgement.faithfulness.reason


@pytest.mark.parametrize("answer", ["Ya.", "Tidak", "50 juta"])
def test_a_short_answer_still_asserts_something(answer: str) -> None:
    judgement = read_reply(completion(GOOD), 200, triad=triad(answer=answer), metrics=METRICS)
    assert isinstance(judgement, Graded)
    assert judgement.faithfulness.value == 0.5


def test_without_context_there_is_no_relevance_of_it() -> None:
    for raw in ("0.25", "0", "null"):
        judgement = read(completion(GOOD.replace("0.25", raw)), had_context=False)
        assert isinstance(judgement, Graded)
        assert judgement.context_relevance == Score(
            value=None, reason="Tidak ada konteks yang ditemukan untuk pertanyaan ini."
        )


def test_our_own_reasons_are_in_the_questions_language() -> None:
    question = "What is the minimum capital of the company?"
    judgement = read_reply(completion(GOOD), 200, triad=triad(question=question), metrics=metrics(refused=True))
    assert isinstance(judgement, Graded)
    assert judgement.faithfulness.reason == "The answer is a refusal, so it asserts nothing."


def test_the_judge_may_say_that_an_answer_asserts_nothing() -> None:
    judgement = read(completion(with_score("null")))
    assert isinstance(judgement, Graded)
    assert judgement.faithfulness == Score(value=None, reason="Semua klaim didukung.")


def reason_of(text: str) -> str:
    judgement = read(completion(json.dumps(SCORES | {"answer_relevance_reason": text})))
    assert isinstance(judgement, Graded)
    return judgement.answer_relevance.reason


def test_a_long_reason_is_cut_at_a_word() -> None:
    reason = reason_of("kata " * 100)
    assert len(reason) <= 240
    assert reason.endswith("kata…")


@pytest.mark.parametrize("cluster", ["e\u0301", "👩\u200d⚖\ufe0f", "👍🏽"])
def test_a_long_reason_is_never_cut_inside_a_character(cluster: str) -> None:
    for shift in range(len(cluster)):
        reason = reason_of("x" * shift + cluster * 200).removesuffix("…")
        assert len(reason) < 240
        assert (len(reason) - shift) % len(cluster) == 0


def test_a_reason_is_one_clean_line() -> None:
    assert reason_of("satu\ndua\u0000\u202e tiga\ud800") == "satu dua tiga\ufffd"


def test_a_negative_zero_is_zero() -> None:
    judgement = read(completion(with_score("-0.0")))
    assert isinstance(judgement, Graded)
    assert math.copysign(1, judgement.faithfulness.value or 0.0) == 1


def test_tokens_are_counted_also_when_the_reply_cannot_be_used() -> None:
    usage = read(completion("no")).usage
    assert (usage.prompt_tokens, usage.completion_tokens) == (9, 4)
    strange = completion(GOOD).replace(b'"prompt_tokens": 9', b'"prompt_tokens": -1').replace(b": 4}", b": true}")
    assert (read(strange).usage.prompt_tokens, read(strange).usage.completion_tokens) == (None, None)


def test_the_text_of_a_reply_is_in_no_detail() -> None:
    for content in ("rahasia", '{"rahasia": 1}', '{"faithfulness": "rahasia"}'):
        judgement = read(completion(content))
        assert isinstance(judgement, Ungraded)
        assert "rahasia" not in judgement.detail


NOW = datetime(2026, 3, 1, 9, 0, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        (None, None),
        ("7", 7.0),
        (" 1.5 ", 1.5),
        ("-3", 0.0),
        ("Sun, 01 Mar 2026 09:00:20 GMT", 20.0),
        ("Sun, 01 Mar 2026 08:00:00 GMT", 0.0),
        ("Sunday, 01-Mar-26 09:00:05 GMT", 5.0),
        ("nan", None),
        ("inf", None),
        ("soon", None),
        ("", None),
        ("999999999", 86_400.0),
    ],
)
def test_retry_after_is_read_in_seconds_and_as_a_date(value: str | None, seconds: float | None) -> None:
    assert retry_after_seconds(value, now=NOW) == seconds


@pytest.mark.parametrize(
    ("status", "uses_attempt"),
    [(400, True), (413, True), (422, True), (401, False), (404, False), (308, False), (429, False), (500, False)],
)
def test_a_refusal_of_every_turn_alike_uses_up_no_attempt_of_this_one(status: int, *, uses_attempt: bool) -> None:
    judgement = read_reply(b"{}", status, triad=TRIAD, metrics=METRICS)
    assert isinstance(judgement, Ungraded)
    assert judgement.uses_attempt is uses_attempt
