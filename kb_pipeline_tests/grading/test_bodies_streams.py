"""A stream, however it was stored, is folded into one answer; one that did not reach its end gives none."""

import json

import pytest

from kb_pipeline.grading.bodies import Response
from kb_pipeline.records import ParseStatus
from kb_pipeline_tests.grading.prompts import ANSWER, CHUNKS, as_json, chunk, event_stream, read

WHOLE = Response(ParseStatus.OK, ANSWER, "stop")
LINES = [json.dumps(each) for each in CHUNKS]
USAGE = {"object": "chat.completion.chunk", "choices": [], "usage": {"completion_tokens": 9}}
PROMPT_FILTER = {"id": "", "object": "", "choices": [], "prompt_filter_results": [{"prompt_index": 0}]}


@pytest.mark.parametrize(
    "stored",
    [
        event_stream(),
        event_stream(done=False),
        event_stream(newline="\r\n"),
        event_stream(newline="\r"),
        event_stream([PROMPT_FILTER, *CHUNKS, USAGE]),
        b": keep-alive\n\n: keep-alive\n\n" + event_stream(),
        event_stream().replace(b"data: ", b"data:"),
        event_stream().replace(b"data: ", b"event: message\nid: 7\nretry: 10\ndata: "),
        event_stream().replace(b"\n\n", b"\n"),
        event_stream().replace(b'"choices"', b'\ndata:  "choices"'),
        event_stream().replace(b"data: [DONE]", b"data: ping\n\ndata: [DONE]"),
        b"\xef\xbb\xbf" + event_stream(),
        event_stream().replace(b"data: ", b"data: data: "),
        event_stream() + event_stream(),
        event_stream().decode().encode("utf-16"),
        json.dumps(event_stream().decode()).encode(),
        as_json([f"data: {line}" for line in LINES]),
        "\n".join(LINES).encode(),
        "\r\n".join([*LINES, "[DONE]"]).encode(),
        "".join(LINES).encode(),
        "\x1e".join(["", *LINES]).encode(),
        as_json(CHUNKS),
        as_json([{"event": "message", "data": line} for line in LINES]),
        "\n".join(json.dumps({"data": each}) for each in CHUNKS).encode(),
        event_stream(
            [{"object": "chat.completion", "choices": [{"message": {"content": ANSWER}, "finish_reason": "stop"}]}]
        ),
    ],
    ids=range(25),
)
def test_every_way_to_store_a_stream_gives_the_same_answer(stored: bytes) -> None:
    assert read(stored) == WHOLE


def test_a_stream_ends_with_done_where_no_chunk_has_a_finish_reason() -> None:
    chunks = [chunk({"content": ANSWER}), chunk({"content": ""})]
    assert read(event_stream(chunks)) == Response(ParseStatus.OK, ANSWER)
    assert read("\n".join([*map(json.dumps, chunks), "[DONE]"]).encode()) == Response(ParseStatus.OK, ANSWER)
    assert read(event_stream(chunks, done=False)) == Response(ParseStatus.STREAM_INCOMPLETE)
    for end in (b'data: "[DONE]"\n\n', b"data: [done]\n\n", b"event: done\ndata: {}\n\n", b"event: end\n\n"):
        assert read(event_stream(chunks, done=False) + end) == Response(ParseStatus.OK, ANSWER)


def test_the_usage_at_the_end_proves_that_the_end_was_reached() -> None:
    chunks = [chunk({"content": ANSWER}), USAGE]
    assert read(event_stream(chunks, done=False)).parse_status is ParseStatus.OK


def test_every_cut_before_the_finish_reason_is_noticed() -> None:
    stored = event_stream([*CHUNKS[:2], chunk({"content": "“akta” 📜"}), CHUNKS[3]])
    end = stored.rindex(b'"stop"')
    cut = {read(stored[:size]) for size in range(len("data:"), end)}
    assert cut == {Response(ParseStatus.STREAM_INCOMPLETE)}


def test_a_cut_behind_the_finish_reason_takes_nothing_from_the_answer() -> None:
    stored = event_stream([*CHUNKS, USAGE])
    after = stored.index(b"\n\n", stored.index(b'"stop"'))
    assert {read(stored[:size]) for size in range(after, len(stored))} == {WHOLE}


def test_a_stream_that_lost_its_beginning_is_incomplete() -> None:
    stored = event_stream()
    assert read(stored[20:]).parse_status is ParseStatus.STREAM_INCOMPLETE


def test_a_chunk_damaged_in_the_middle_makes_the_answer_incomplete() -> None:
    damaged = event_stream().replace(b'didirikan "}', b"didir")
    assert read(damaged).parse_status is ParseStatus.STREAM_INCOMPLETE


@pytest.mark.parametrize("end", [3, 25, 90])
def test_a_list_of_chunks_that_was_cut_is_incomplete(end: int) -> None:
    assert read(as_json(CHUNKS[:3])[:-end]).parse_status is ParseStatus.STREAM_INCOMPLETE


def test_a_character_split_between_two_chunks_is_joined() -> None:
    halves = (rb'{"choices":[{"delta":{"content":"a\ud83d"}}]}', rb'{"choices":[{"delta":{"content":"\udcdcb"}}]}')
    stored = b"".join(b"data: " + half + b"\n\n" for half in (*halves, b"[DONE]"))
    assert read(stored).answer == "a📜b"


def test_characters_that_look_like_line_ends_stay_in_the_answer() -> None:
    text = "a\u2028b\x85c\x0bd"
    assert read(event_stream([chunk({"content": text}), chunk({}, "stop")])).answer == text


def test_only_the_first_choice_is_folded() -> None:
    other = [chunk({"content": "Lain."}, index=1), chunk({}, "length", index=1)]
    assert read(event_stream([other[0], *CHUNKS[:3], other[1], CHUNKS[3]])) == WHOLE


@pytest.mark.parametrize(
    ("deltas", "finish_reason", "status"),
    [
        ([{"tool_calls": [{"index": 0, "function": {"arguments": "{"}}]}], "tool_calls", ParseStatus.TOOL_CALLS),
        ([{"tool_calls": [{"index": 0, "function": {"arguments": "{"}}]}], "stop", ParseStatus.TOOL_CALLS),
        ([{"refusal": "I can"}, {"refusal": "not."}], "stop", ParseStatus.REFUSAL),
        ([{"content": "Sebag"}], "content_filter", ParseStatus.CONTENT_FILTER),
        ([{"reasoning_content": "hm", "content": None}, {"reasoning": "hm"}], "length", ParseStatus.EMPTY_ANSWER),
        ([{"content": "<think>hm"}], "length", ParseStatus.EMPTY_ANSWER),
        ([{"content": ANSWER}], "length", ParseStatus.OK_LENGTH),
        ([{"content": "Sebag"}], "error", ParseStatus.STREAM_ERROR),
    ],
)
def test_a_stream_without_an_answer_says_why(
    deltas: list[dict[str, object]], finish_reason: str, status: ParseStatus
) -> None:
    answered = read(event_stream([*map(chunk, deltas), chunk({}, finish_reason)]))
    assert (answered.parse_status, answered.finish_reason) == (status, finish_reason)


@pytest.mark.parametrize(
    "event",
    [
        b'data: {"error": {"message": "overloaded", "code": 529}}\n\n',
        b'data: {"error": "boom", "choices": [{"index": 0, "delta": {"content": ""}, "finish_reason": "error"}]}\n\n',
        b'data: {"choices": [{"index": 0, "delta": {}, "error": {"code": 502}}]}\n\n',
        b"event: error\ndata: upstream went away\n\n",
        b"event: error\n\n",
        b'error: {"code": 500, "message": "slot is gone"}\n\n',
        b'{"error": {"message": "written into the stream without framing"}}\n',
        b'data: {"object": "error", "message": "too long"}\n\n',
        b'data: {"type": "error", "error": {"type": "overloaded_error"}}\n\n',
        b'data: {"detail": "Internal Server Error"}\n\n',
    ],
)
def test_an_error_anywhere_in_a_stream_outranks_what_came_before(event: bytes) -> None:
    answered = read(event_stream(CHUNKS[:3], done=False) + event + b"data: [DONE]\n\n")
    assert (answered.parse_status, answered.answer) == (ParseStatus.STREAM_ERROR, "")


@pytest.mark.parametrize(
    ("stored", "status"),
    [
        (
            b'event: message_start\ndata: {"type": "message_start", "message": {"role": "assistant"}}\n\n',
            ParseStatus.NOT_CHAT,
        ),
        (b'data: {"type": "response.output_text.delta", "delta": "x"}\n\n', ParseStatus.NOT_CHAT),
        (b'data:{"index": 1, "token": {"text": "x"}, "generated_text": null}\n\n', ParseStatus.NOT_CHAT),
        (
            b'{"model": "m", "message": {"content": "x"}, "done": false}\n{"model": "m", "done": true}\n',
            ParseStatus.NOT_CHAT,
        ),
        (
            b'data: {"choices": [{"index": 0, "text": "x", "finish_reason": "stop"}]}\n\ndata: [DONE]\n\n',
            ParseStatus.NOT_CHAT,
        ),
        (b"data: [DONE]\n\n", ParseStatus.NO_CHOICES),
        (b'data: {"choices": []}\n\ndata: [DONE]\n\n', ParseStatus.NO_CHOICES),
        (b": PROCESSING\n\n: PROCESSING\n\n", ParseStatus.STREAM_INCOMPLETE),
        (b"data: ", ParseStatus.STREAM_INCOMPLETE),
        (b'data: {"choices": []}\n\n', ParseStatus.STREAM_INCOMPLETE),
    ],
)
def test_a_stream_of_something_else_says_what_it_is(stored: bytes, status: ParseStatus) -> None:
    assert read(stored).parse_status is status
