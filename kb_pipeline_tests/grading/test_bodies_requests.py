"""A stored request gives its messages as plain text, or the reason why it has none."""

import base64
import gzip
import json

import pytest

from kb_pipeline.grading.bodies import PromptMessage, Request, read_request
from kb_pipeline.records import ParseStatus
from kb_pipeline_tests.grading.prompts import as_json

MESSAGES = [{"role": "system", "content": "Susun jawaban."}, {"role": "user", "content": "Apa itu yayasan?"}]
BODY = {"model": "m", "messages": MESSAGES, "stream": True, "tools": [{"type": "function"}]}
READ = Request((PromptMessage("system", "Susun jawaban."), PromptMessage("user", "Apa itu yayasan?")))


@pytest.mark.parametrize(
    "stored",
    [
        as_json(BODY),
        gzip.compress(as_json(BODY)),
        b"\xef\xbb\xbf" + as_json(BODY),
        as_json(BODY).decode().encode("utf-16"),
        as_json(BODY) + b"\n trailing",
        b'{"messages": null, ' + as_json(BODY)[1:],
        b'{"temperature": NaN, ' + as_json(BODY)[1:],
        as_json(json.dumps(BODY)),
        as_json(MESSAGES),
        as_json([MESSAGES]),
        as_json({"messages": json.dumps(MESSAGES)}),
        as_json({"request": BODY, "response": {}}),
        as_json({"method": "POST", "headers": {}, "body": json.dumps(BODY)}),
        as_json({"proxy_server_request": {"url": "x", "body": BODY}}),
        as_json({"input": {"messages": MESSAGES}}),
        as_json(
            {
                "gen_ai.input.messages": json.dumps(
                    [{"role": m["role"], "parts": [{"type": "text", "content": m["content"]}]} for m in MESSAGES]
                )
            }
        ),
        as_json(
            {
                "messages": [
                    {"type": "system", "content": "Susun jawaban."},
                    {"type": "human", "content": "Apa itu yayasan?"},
                ]
            }
        ),
        as_json({"messages": [{**MESSAGES[0], "role": "System"}, {**MESSAGES[1], "name": "warga"}]}),
        as_json({"system": "Susun jawaban.", "messages": MESSAGES[1:]}),
        as_json({"system": [{"type": "text", "text": "Susun jawaban."}], "messages": MESSAGES[1:]}),
        as_json({"messages": [{"type": m["role"], "data": {"content": m["content"]}} for m in MESSAGES]}),
        as_json(
            {
                "messages": [
                    {"type": "constructor", "id": ["langchain", name], "kwargs": {"content": m["content"]}}
                    for name, m in zip(("SystemMessage", "HumanMessage"), MESSAGES, strict=True)
                ]
            }
        ),
        base64.b64encode(gzip.compress(as_json(BODY))),
        b"\\x" + as_json(BODY).hex().encode(),
        as_json("\ufeff" + json.dumps(BODY)),
    ],
    ids=range(25),
)
def test_the_messages_are_found_in_every_wrapping(stored: bytes) -> None:
    assert read_request(stored) == READ


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (None, ""),
        ("", ""),
        ([{"type": "text", "text": "satu"}, {"type": "text", "text": "dua"}], "satu\ndua"),
        (
            [{"type": "image_url", "image_url": {"url": "data:image/png;base64,AA"}}, {"type": "text", "text": "satu"}],
            "satu",
        ),
        (["satu", ["dua"]], "satu\ndua"),
        ({"type": "text", "text": "satu"}, "satu"),
        ([{"type": "thinking", "thinking": "hm"}, {"type": "input_text", "text": "satu"}], "satu"),
        (7, ""),
    ],
)
def test_parts_of_a_message_are_lines_and_images_are_left_out(content: object, text: str) -> None:
    read = read_request(as_json({"messages": [{"role": "user", "content": content}]}))
    assert read == Request((PromptMessage("user", text),))


def test_a_tools_result_inside_a_user_message_is_a_tools_message() -> None:
    parts = [{"type": "tool_result", "content": [{"type": "text", "text": "hasil"}]}]
    read = read_request(as_json({"messages": [{"role": "user", "content": parts}]}))
    assert read == Request((PromptMessage("tool", "hasil"),))


@pytest.mark.parametrize(
    ("stored", "status"),
    [
        (None, ParseStatus.MISSING_BODY),
        (b"", ParseStatus.EMPTY),
        (b" \n", ParseStatus.EMPTY),
        (b"null", ParseStatus.EMPTY),
        (b"{}", ParseStatus.REDACTED),
        (b'"{}"', ParseStatus.REDACTED),
        (b'{"messages": {}}', ParseStatus.REDACTED),
        (b'{"messages": "{}"}', ParseStatus.REDACTED),
        (b'{"model": "m", "messages": []}', ParseStatus.REDACTED),
        (b'{"model": "m", "messages": null}', ParseStatus.REDACTED),
        (b'{"messages": [{"role": "user", "content": "redacted-by-litellm"}]}', ParseStatus.REDACTED),
        (b"[REDACTED]", ParseStatus.REDACTED),
        (as_json(BODY)[:-20], ParseStatus.TRUNCATED_JSON),
        (as_json(MESSAGES)[:-20], ParseStatus.TRUNCATED_JSON),
        (b"model=m&messages=x", ParseStatus.NOT_JSON),
        (b'{"model": "m", "prompt": "Once upon"}', ParseStatus.NOT_CHAT),
        (b'{"input": "embed me", "model": "e"}', ParseStatus.NOT_CHAT),
        (b'{"messages": [1, 2]}', ParseStatus.NOT_CHAT),
        (b"7", ParseStatus.NOT_CHAT),
        (b'{"messages": [{"role": "user", "content": "\xff"}]}', ParseStatus.UNDECODABLE),
        (gzip.compress(as_json(BODY))[:-6], ParseStatus.UNDECODABLE),
    ],
    ids=range(21),  # gzip writes the time: the bytes would give each worker other names
)
def test_a_request_without_messages_says_why(stored: bytes | None, status: ParseStatus) -> None:
    assert read_request(stored) is status


def test_a_request_above_the_cap_is_too_large() -> None:
    assert read_request(as_json(BODY), max_bytes=30) is ParseStatus.TOO_LARGE
