"""No bytes whatsoever make the reading of a pair raise: arbitrary ones, and valid bodies damaged in every way."""

import gzip
import json
import random
import zlib
from collections.abc import Callable

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from kb_pipeline.grading.bodies import read_request, read_response
from kb_pipeline.grading.examination import extract_pair
from kb_pipeline.grading.extraction import question_preview, question_sha
from kb_pipeline.records import ParseStatus
from kb_pipeline_tests.grading.prompts import (
    ANSWER,
    CHUNKS,
    TEMPLATE,
    as_json,
    completion,
    event_stream,
    prompt,
    request_body,
)

REQUESTS = [
    request_body(prompt()),
    request_body(
        prompt("lama?"),
        ("assistant", "<think>hm</think>Ya."),
        ("tool", prompt()),
        ("user", [{"type": "text", "text": prompt()}]),
    ),
]
RESPONSES = [
    completion(),
    completion(f"<think>hm</think>{ANSWER}", "length", tool_calls=[], refusal=None),
    completion(None, "tool_calls", tool_calls=[{"id": "c"}]),
    as_json({"error": {"code": "content_filter", "innererror": {"code": "x"}}}),
    event_stream(),
    event_stream(newline="\r\n", done=False) + b'data: {"error": "late"}\n\n',
    "\n".join(map(json.dumps, CHUNKS)).encode(),
    as_json(CHUNKS),
    json.dumps(completion().decode()).encode(),
]
# What confuses parsers when it lands in the middle of a body.
SPLINTERS = (
    *(
        b'"',
        b"{",
        b"]",
        b"\\",
        b"\n",
        b"\r",
        b"\0",
        b"data: ",
        b"[DONE]",
        b"<think>",
        b"</think>",
        b"\\ud83d",
        b"\xf0\x9f",
    ),
    *(b"PERTANYAAN:", b"HASIL ALAT:\n", b"[RAG-9] (skor 99999999999999999999999999)", b"1e999", b"NaN", b"null"),
)


def zstd(body: bytes) -> bytes:
    return zstandard.ZstdCompressor().compress(body)


PACKERS: list[Callable[[bytes], bytes]] = [bytes, bytes, zstd, gzip.compress, zlib.compress]


def damaged(body: bytes, dice: random.Random) -> bytes:
    """`body` with a bit flipped, a cut at either end, bytes replaced, a splinter or a part of another body put in,
    or two parts exchanged.
    """
    at = dice.randrange(len(body) + 1)
    to = dice.randrange(at, len(body) + 1)
    other = dice.choice(REQUESTS + RESPONSES)
    splice = other[dice.randrange(len(other)) :][: dice.randrange(200)]
    flipped = bytes([body[at] ^ (1 << dice.randrange(8))]) if at < len(body) else b""
    return dice.choice(
        [
            body[:at] + flipped + body[at + 1 :],
            body[:at],
            body[at:],
            body[:at] + dice.randbytes(dice.randrange(6)) + body[to:],
            body[:at] + dice.choice(SPLINTERS) + body[at:],
            body[:at] + splice + body[at:],
            body[:at] + body[to:] + body[at:to],
        ]
    )


def read_everything(request: bytes, response: bytes) -> None:
    read = extract_pair(request, response, TEMPLATE)
    assert ParseStatus(str(read["parse_status"]))
    json.dumps(read, allow_nan=False).encode()
    question = str(read["question"])
    (question + str(read["context"]) + str(read["answer"])).encode()
    assert len(question_preview(question) or "") <= 120
    question_sha(question)


@pytest.mark.parametrize("seed", range(8))
def test_damaged_bodies_are_read_without_an_exception(seed: int) -> None:
    dice = random.Random(seed)
    for _ in range(150):
        bodies = []
        for kind in (REQUESTS, RESPONSES):
            body = dice.choice(kind)
            for _ in range(dice.randrange(3)):
                body = damaged(body, dice)
            packed = dice.choice(PACKERS)(body)
            bodies.append(damaged(packed, dice) if dice.random() < 0.25 else packed)
        read_everything(*bodies)


@given(st.binary(), st.binary())
def test_arbitrary_bytes_are_read_without_an_exception(request: bytes, response: bytes) -> None:
    read_everything(request, response)


JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(),
    lambda inner: (
        st.lists(inner)
        | st.dictionaries(
            st.sampled_from(
                [
                    "choices",
                    "message",
                    "delta",
                    "content",
                    "error",
                    "data",
                    "role",
                    "messages",
                    "body",
                    "response",
                    "request",
                    "tool_calls",
                    "type",
                    "text",
                    "parts",
                    "finish_reason",
                    "index",
                ]
            ),
            inner,
        )
    ),
    max_leaves=20,
)


@given(JSON, JSON)
def test_arbitrary_json_is_read_without_an_exception(request: object, response: object) -> None:
    read_everything(json.dumps(request).encode(), json.dumps(response).encode())


@given(st.text(), st.text(), st.text())
def test_arbitrary_texts_in_a_good_pair_are_read_without_an_exception(question: str, context: str, answer: str) -> None:
    asked = json.dumps(
        {"messages": [{"role": "system", "content": "x"}, {"role": "user", "content": prompt(question, context)}]}
    )
    read_everything(asked.encode(), json.dumps({"choices": [{"message": {"content": answer}}]}).encode())


@pytest.mark.parametrize(
    "opening", ["[", '{"error":', '{"data":', '{"data":[', '{"body":', '[{"content":', '{"detail":']
)
@pytest.mark.parametrize("depth", [90, 500, 990, 20_000])
def test_no_depth_of_nesting_escapes_as_an_exception(opening: str, depth: int) -> None:
    closing = "".join({"[": "]", "{": "}"}[sign] for sign in reversed(opening) if sign in "[{")
    text = opening * depth + "1" + closing * depth
    for stored in (
        text,
        f"data: {text}\n\n",
        f'{{"messages": {text}}}',
        f'{{"choices": [{{"message": {{"content": {text}}}}}]}}',
    ):
        assert read_response(stored.encode()).parse_status
        assert read_request(stored.encode())
