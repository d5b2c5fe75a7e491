"""Response bodies as OpenAI-compatible servers send them: completions, streams, tool calls, errors.

Belongs here: the shapes of bodies. Does not: what an answer says, compression.
"""

from random import Random
from typing import Any

import msgspec

from kb_pipeline.demo.traffic.kinds import Kind
from kb_pipeline.demo.traffic.turns import Turn

MODEL = "qwen-35b"
THINKING = "Saya periksa dulu dokumen yang ditemukan, lalu menyusun jawabannya {tanpa menambah apa pun}."
FINISH = {Kind.CUT: "length", Kind.TOOL_CALLS: "tool_calls"}
# (HTTP status, type, message): some servers answer 200 with an error body.
ERRORS = (
    (429, "rate_limit_exceeded", "Too many requests; retry later."),
    (503, "service_unavailable", "The model is loading."),
    (500, "internal_error", "The worker stopped unexpectedly."),
    (200, "upstream_error", "The provider closed the connection."),
)
WORDS_PER_CHUNK = 4


def response(turn: Turn, *, call_id: str, random: Random) -> tuple[int, bytes]:
    """HTTP status and body of the response to a synthesis call."""
    if turn.kind is Kind.FAILED:
        return _error(random)
    if turn.look.streamed:
        return 200, _stream(turn, call_id)
    finish = FINISH.get(turn.kind, "stop")
    return 200, completion(_message(turn), call_id=call_id, created=int(turn.ts.timestamp()), finish=finish)


def completion(
    message: dict[str, Any], *, call_id: str, created: int, finish: str = "stop", model: str = MODEL
) -> bytes:
    """The body of a chat completion with one choice."""
    words = len(str(message.get("content") or "").split())
    return msgspec.json.encode(
        {
            "id": call_id,
            "object": "chat.completion",
            "created": created,
            "model": model,
            "choices": [{"index": 0, "message": message, "logprobs": None, "finish_reason": finish}],
            "usage": {"prompt_tokens": 900, "completion_tokens": 2 * words, "total_tokens": 900 + 2 * words},
        }
    )


def _message(turn: Turn) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": _content(turn)}
    if turn.kind is Kind.TOOL_CALLS:
        message |= {"content": None, "tool_calls": [_tool_call(turn)]}
    if turn.look.thinking == "field":
        message["reasoning_content"] = THINKING
    return message


def _content(turn: Turn) -> str:
    return f"<think>\n{THINKING}\n</think>\n\n{turn.answer.text}" if turn.look.thinking == "tag" else turn.answer.text


def _tool_call(turn: Turn) -> dict[str, Any]:
    arguments = msgspec.json.encode({"kueri": turn.question.query}).decode()
    function = {"name": "cari_dokumen", "arguments": arguments}
    return {"id": f"call_{turn.number}", "type": "function", "function": function}


def _stream(turn: Turn, call_id: str) -> bytes:
    deltas = [{"role": "assistant", "content": ""}, *_deltas(turn)]
    chunks = [_chunk(turn, call_id, delta, None) for delta in deltas]
    if turn.kind is Kind.STREAM_CUT:
        return b"".join(chunks[: max(2, len(chunks) - 2)])
    end = _chunk(turn, call_id, {}, FINISH.get(turn.kind, "stop"))
    return b"".join([*chunks, end, b"data: [DONE]\n\n"])


def _deltas(turn: Turn) -> list[dict[str, Any]]:
    if turn.kind is Kind.TOOL_CALLS:
        return [{"tool_calls": [{"index": 0, **_tool_call(turn)}]}]
    thinking = [{"reasoning_content": THINKING}] if turn.look.thinking == "field" else []
    words = _content(turn).split(" ")
    pieces = [" ".join(words[i : i + WORDS_PER_CHUNK]) for i in range(0, len(words), WORDS_PER_CHUNK)]
    return [*thinking, *({"content": piece if i == 0 else f" {piece}"} for i, piece in enumerate(pieces))]


def _chunk(turn: Turn, call_id: str, delta: dict[str, Any], finish: str | None) -> bytes:
    chunk = {
        "id": call_id,
        "object": "chat.completion.chunk",
        "created": int(turn.ts.timestamp()),
        "model": MODEL,
        "choices": [{"index": 0, "delta": delta, "finish_reason": finish}],
    }
    return b"data: " + msgspec.json.encode(chunk) + b"\n\n"


def _error(random: Random) -> tuple[int, bytes]:
    status, code, message = random.choice(ERRORS)
    return status, msgspec.json.encode({"error": {"message": message, "type": code, "param": None, "code": code}})
