"""Stored response bodies to the answer they carry, or the reason why they carry none.

Belongs here: completions, and what gateways and tracers wrap around them. Does not: requests, the folding of streams.
"""

from collections.abc import Mapping

import msgspec

from kb_pipeline.grading.bodies.armour import unarmoured
from kb_pipeline.grading.bodies.choices import GatheredChoice, finish_reason_of, first_choice
from kb_pipeline.grading.bodies.compression import MAX_BODY_BYTES, decompress
from kb_pipeline.grading.bodies.documents import Documents, read_documents, to_text, without_padding
from kb_pipeline.grading.bodies.failures import failure_of, is_placeholder, is_redacted
from kb_pipeline.grading.bodies.replies import Reply, Response, judged
from kb_pipeline.grading.bodies.streams import (
    DONE,
    fold_chunks,
    holds_events,
    is_chunk,
    is_event_stream,
    read_event_stream,
)
from kb_pipeline.records import ParseStatus

# Keys under which gateways and tracers keep the body of the response.
_WRAPPERS = (
    *("response", "response_body", "responseBody", "body", "output", "result", "data", "payload", "completion"),
    *("chunks", "events", "gen_ai.output.messages", "output.value"),
)
_DEEPEST_WRAPPER = 5
_MOST_DOCUMENTS = 5
# What makes an object with a role and content another API's reply instead of a bare chat message.
_OTHER_API = frozenset({"type", "stop_reason", "model", "done", "usage"})


class _Message(msgspec.Struct, gc=False):
    content: object = None
    refusal: object = None
    tool_calls: object = None
    function_call: object = None


class _Choice(msgspec.Struct, gc=False):
    message: _Message
    finish_reason: str | None = None
    index: int | None = None
    error: object = None


class _Completion(msgspec.Struct, gc=False):
    choices: list[_Choice]
    error: object = None


_decode_completion = msgspec.json.Decoder(_Completion).decode


def read_response(data: bytes | None, *, max_bytes: int = MAX_BODY_BYTES) -> Response:
    """The answer in a stored response body, compressed or plain; `missing_body` for None. Never raises."""
    if data is None:
        return Response(ParseStatus.MISSING_BODY)
    plain = decompress(data, max_bytes=max_bytes)
    if isinstance(plain, ParseStatus):
        return Response(plain)
    try:
        completion = _decode_completion(plain)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return _read_tolerantly(plain)
    if len(completion.choices) != 1 or completion.error:
        return _read_tolerantly(plain)
    choice = completion.choices[0]
    message, text = choice.message, choice.message.content
    calls_tools = bool(message.tool_calls or message.function_call)
    if not isinstance(text, str) or choice.error:
        return _read_tolerantly(plain)
    return judged(Reply(text, choice.finish_reason or None, bool(message.refusal), calls_tools))


def _read_tolerantly(plain: bytes, depth: int = _DEEPEST_WRAPPER) -> Response:
    text = to_text(plain)
    return Response(text) if isinstance(text, ParseStatus) else _of_text(text, depth)


def _of_armoured(stored: bytes, depth: int) -> Response:
    plain = decompress(stored, max_bytes=MAX_BODY_BYTES) if depth > 0 else ParseStatus.NOT_CHAT
    return Response(plain) if isinstance(plain, ParseStatus) else _read_tolerantly(plain, depth)


def _of_text(text: str, depth: int) -> Response:
    if not text:
        return Response(ParseStatus.EMPTY)
    if stored := unarmoured(text):
        return _of_armoured(stored, depth - 1)
    if is_event_stream(text):
        return read_event_stream(text)
    kept = text.removesuffix(DONE).rstrip()
    documents = read_documents(kept)
    if isinstance(documents.values[0] if documents.values else None, dict | list | str) or not documents.damage:
        return _of_documents(documents, depth, is_list=text[0] == "[", done=kept is not text)
    if holds_events(text):
        return read_event_stream(text)
    return Response(ParseStatus.REDACTED if is_placeholder(text) else documents.damage)


def _of_documents(documents: Documents, depth: int, *, is_list: bool, done: bool) -> Response:
    values, damage = documents
    if not values:
        return Response(ParseStatus.NO_CHOICES if done else ParseStatus.EMPTY)
    if any(map(is_chunk, values)):
        return fold_chunks(values, damaged=damage is not None, done=done)
    if damage is ParseStatus.TRUNCATED_JSON and is_list:
        return Response(damage)
    responses = [_of_value(value, depth) for value in values[:_MOST_DOCUMENTS]]
    return next((each for each in responses if each.parse_status is not ParseStatus.NOT_CHAT), responses[0])


def _of_value(value: object, depth: int) -> Response:
    if depth <= 0:
        return Response(ParseStatus.NOT_CHAT)
    if isinstance(value, dict):
        return _of_object(value, depth)
    if isinstance(value, list):
        return _of_list(value, depth)
    if isinstance(value, str):
        return _of_string(without_padding(value), depth)
    return Response(ParseStatus.EMPTY if value is None else ParseStatus.NOT_CHAT)


def _of_string(text: str, depth: int) -> Response:
    if text[:1] in {"{", "[", '"'} or is_event_stream(text) or text in {"", "null"}:
        return _of_text(text, depth - 1)
    if stored := unarmoured(text):
        return _of_armoured(stored, depth - 1)
    return Response(ParseStatus.REDACTED if is_placeholder(text) else ParseStatus.NOT_CHAT)


def _of_list(values: list[object], depth: int) -> Response:
    if not values:
        return Response(ParseStatus.REDACTED)
    if any(map(is_chunk, values)):
        return fold_chunks(values)
    texts = [value for value in values if isinstance(value, str)]
    if len(texts) == len(values):  # the lines of a stream
        return _of_string("\n".join(texts).strip(), depth)
    return _of_value(values[-1], depth - 1)


def _of_object(body: dict[str, object], depth: int) -> Response:
    if is_redacted(body):
        return Response(ParseStatus.REDACTED)
    choices = body.get("choices")
    chosen = first_choice(choices) if isinstance(choices, list) else None
    finish_reason = chosen.finish_reason if chosen else None
    if failure := failure_of(body):
        return Response(failure, "", finish_reason)
    if is_chunk(body):
        return fold_chunks([body])
    if chosen:
        return judged(chosen.reply()) if chosen.is_chat else Response(ParseStatus.NOT_CHAT, "", finish_reason)
    if "choices" in body or body.get("object") == "chat.completion":
        return Response(ParseStatus.NO_CHOICES)
    return _bare_message(body) or _unwrapped(body, depth)


def _bare_message(body: Mapping[str, object]) -> Response | None:
    """A tracer may keep the assistant's message alone."""
    if body.get("role") != "assistant" or _OTHER_API & body.keys():
        return None
    if not {"content", "parts", "tool_calls"} & body.keys():
        return None
    gathered = GatheredChoice()
    gathered.add({"message": body, "finish_reason": finish_reason_of(body)})
    return judged(gathered.reply())


def _unwrapped(body: Mapping[str, object], depth: int) -> Response:
    """The body inside an envelope, where exactly one of its keys holds something that reads like a chat response."""
    wrapped = [key for key in _WRAPPERS if key in body]
    for key in wrapped:
        response = _of_value(body[key], depth - 1)
        if response.parse_status is ParseStatus.EMPTY:
            return Response(ParseStatus.REDACTED)
        if response.parse_status is not ParseStatus.NOT_CHAT:
            return response
    return Response(ParseStatus.NOT_CHAT)
