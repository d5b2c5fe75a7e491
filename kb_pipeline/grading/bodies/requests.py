"""Stored request bodies to the messages that were sent.

Belongs here: chat requests, and what gateways and tracers wrap around them. Does not: the template of the prompt.
"""

from collections.abc import Iterable, Iterator, Mapping

import msgspec

from kb_pipeline.grading.bodies.armour import unarmoured
from kb_pipeline.grading.bodies.compression import MAX_BODY_BYTES, decompress
from kb_pipeline.grading.bodies.contents import mended, parts_of_type, text_of
from kb_pipeline.grading.bodies.documents import read_documents, to_text, without_padding
from kb_pipeline.grading.bodies.failures import is_placeholder, is_redacted
from kb_pipeline.records import ParseStatus

# Keys under which gateways and tracers keep the messages, or the body of the request.
_WRAPPERS = (
    *("request", "request_body", "requestBody", "proxy_server_request", "body", "input", "payload", "params", "kwargs"),
    *("json", "data", "gen_ai.input.messages", "input.value", "ai.prompt.messages"),
)
_DEEPEST_WRAPPER = 5
_SHORT = 128
_ROLES = {"human": "user", "ai": "assistant", "model": "assistant", "function": "tool", "ipython": "tool"}
# LangChain writes the class of a message, or wraps its fields.
_CLASS_ROLES = {
    "systemmessage": "system", "humanmessage": "user", "aimessage": "assistant", "toolmessage": "tool",
    "functionmessage": "tool", "chatmessage": "user",
}  # fmt: skip
_PLAIN_ROLES = frozenset({"system", "developer", "user", "assistant", "tool"})


class PromptMessage(msgspec.Struct, frozen=True, gc=False):
    """One message of a request as plain text: parts are lines, images and thinking are left out."""

    role: str
    text: str = msgspec.field(name="content")


class Request(msgspec.Struct, frozen=True, gc=False):
    """The messages of one chat request in order; roles are in lower case."""

    messages: tuple[PromptMessage, ...]


class _Plain(msgspec.Struct, gc=False):
    messages: tuple[PromptMessage, ...]
    system: object = None


_decode_plain = msgspec.json.Decoder(_Plain).decode


def read_request(data: bytes | None, *, max_bytes: int = MAX_BODY_BYTES) -> Request | ParseStatus:
    """The messages in a stored request body, compressed or plain, or the reason why there are none. Never raises."""
    if data is None:
        return ParseStatus.MISSING_BODY
    plain = decompress(data, max_bytes=max_bytes)
    if isinstance(plain, ParseStatus):
        return plain
    try:
        request = _decode_plain(plain)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return _read_tolerantly(plain)
    for message in request.messages:
        if message.role not in _PLAIN_ROLES or (len(message.text) < _SHORT and is_placeholder(message.text)):
            return _read_tolerantly(plain)
    if request.system is not None:
        return _read_tolerantly(plain)
    return Request(request.messages) if request.messages else ParseStatus.REDACTED


def _read_tolerantly(plain: bytes) -> Request | ParseStatus:
    found = _of_bytes(plain, _DEEPEST_WRAPPER)
    return found if isinstance(found, ParseStatus) else Request(found)


def _of_bytes(plain: bytes, depth: int) -> tuple[PromptMessage, ...] | ParseStatus:
    text = to_text(plain)
    if isinstance(text, ParseStatus):
        return text
    return _of_text(text, depth) if text else ParseStatus.EMPTY


def _of_armoured(stored: bytes, depth: int) -> tuple[PromptMessage, ...] | ParseStatus:
    plain = decompress(stored, max_bytes=MAX_BODY_BYTES) if depth > 0 else ParseStatus.NOT_CHAT
    return plain if isinstance(plain, ParseStatus) else _of_bytes(plain, depth)


def _of_text(text: str, depth: int) -> tuple[PromptMessage, ...] | ParseStatus:
    if stored := unarmoured(text):
        return _of_armoured(stored, depth - 1)
    values, damage = read_documents(text)
    if damage and (not isinstance(values[0] if values else None, dict | list | str) or text[0] == "["):
        return ParseStatus.REDACTED if is_placeholder(text) else damage
    return _of_value(values[0], depth) if values else ParseStatus.EMPTY


def _of_value(value: object, depth: int) -> tuple[PromptMessage, ...] | ParseStatus:
    if depth <= 0:
        return ParseStatus.NOT_CHAT
    if value is None or value == "":
        return ParseStatus.EMPTY
    if isinstance(value, str):
        return _of_string(without_padding(value), depth)
    if isinstance(value, dict):
        return _of_object(value, depth)
    return _of_list(value, depth) if isinstance(value, list) else ParseStatus.NOT_CHAT


def _of_string(text: str, depth: int) -> tuple[PromptMessage, ...] | ParseStatus:
    if text[:1] in {"{", "[", '"'}:
        return _of_text(text, depth - 1)
    if stored := unarmoured(text):
        return _of_armoured(stored, depth - 1)
    return ParseStatus.REDACTED if is_placeholder(text) else ParseStatus.NOT_CHAT


def _of_object(body: dict[str, object], depth: int) -> tuple[PromptMessage, ...] | ParseStatus:
    if is_redacted(body):
        return ParseStatus.REDACTED
    if "messages" in body:
        found = _of_value(body["messages"], depth - 1)
        if not isinstance(found, ParseStatus):
            return _instruction_beside(body) + found
        return ParseStatus.REDACTED if found is ParseStatus.EMPTY else found
    for key in _WRAPPERS:
        if key in body:
            found = _of_value(body[key], depth - 1)
            if found is not ParseStatus.NOT_CHAT:
                return ParseStatus.REDACTED if found is ParseStatus.EMPTY else found
    return ParseStatus.NOT_CHAT


def _instruction_beside(body: Mapping[str, object]) -> tuple[PromptMessage, ...]:
    """The system prompt where a client writes it beside the messages."""
    text = mended(text_of(body.get("system"), between="\n"))
    return (PromptMessage("system", text),) if text else ()


def _of_list(values: list[object], depth: int) -> tuple[PromptMessage, ...] | ParseStatus:
    if not values:
        return ParseStatus.REDACTED
    if len(values) == 1 and isinstance(values[0], list):  # a batch of one conversation
        return _of_list(values[0], depth - 1) if depth > 1 else ParseStatus.NOT_CHAT
    messages = tuple(_messages(value for value in values if isinstance(value, dict)))
    if not messages:
        return ParseStatus.NOT_CHAT
    return ParseStatus.REDACTED if all(is_placeholder(message.text) for message in messages) else messages


def _messages(values: Iterable[Mapping[str, object]]) -> Iterator[PromptMessage]:
    for value in values:
        role = _role_of(value)
        if role is None:
            continue
        fields = _fields_of(value)
        content = fields.get("content")
        if content is None:
            content = fields.get("parts")
        text = mended(text_of(content, between="\n"))
        # A tool's result may travel inside a user message; it is never the user's own words.
        results = [mended(text_of(part.get("content"), between="\n")) for part in parts_of_type(content, "tool_result")]
        yield from (PromptMessage("tool", result) for result in results)
        if text or not results:
            yield PromptMessage(_ROLES.get(role, role), text)


def _role_of(value: Mapping[str, object]) -> str | None:
    """The role of a message, in lower case; None for what is no message."""
    named = value.get("role") or value.get("type")
    if named == "constructor" and isinstance(path := value.get("id"), list) and path:
        return _CLASS_ROLES.get(str(path[-1]).lower().removesuffix("chunk"))
    return named.strip().lower() if isinstance(named, str) else None


def _fields_of(value: Mapping[str, object]) -> Mapping[str, object]:
    """The fields of a message, also where they are wrapped."""
    for key in ("data", "kwargs"):
        inner = value.get(key)
        if isinstance(inner, dict) and "content" in inner and "content" not in value:
            return inner
    return value
