"""Streams as they were stored: events to chunks, chunks to one response.

Belongs here: SSE framing, folding deltas per choice, whether the stream reached its end. Does not: single completions.
"""

import re
from collections.abc import Iterable, Iterator, Mapping

import msgspec

from kb_pipeline.grading.bodies.choices import GatheredChoice, index_of
from kb_pipeline.grading.bodies.documents import read_documents
from kb_pipeline.grading.bodies.failures import failure_of
from kb_pipeline.grading.bodies.replies import Response, judged
from kb_pipeline.records import ParseStatus

DONE = "[DONE]"
_LINE_END = re.compile(r"\r\n|\n|\r")  # str.splitlines would also split at characters that JSON strings may hold
# Proxies of proxies write the name of the field twice; llama.cpp's server has a field of its own for errors.
_FIELD = re.compile(r"\s*(?P<name>data|event|id|retry|error|)(?::[ ]?(?:data:[ ]?)?|$)(?P<value>.*)", re.DOTALL)
_DATA_LINE = re.compile(r"(?:\A|[\r\n])[ \t]*data:")
_FIRST_LINE = re.compile(r"(?:data|event|id|retry):|: ")
_CHUNK = "chat.completion.chunk"
_DEEPEST_WRAPPER = 5
_END_EVENTS = frozenset({"done", "end", "complete", "completed"})


def is_event_stream(text: str) -> bool:
    """Whether `text` opens like server-sent events."""
    return _FIRST_LINE.match(text) is not None


def holds_events(text: str) -> bool:
    """Whether events stand anywhere in `text`: a stream whose beginning is missing."""
    return _DATA_LINE.search(text) is not None


def is_chunk(value: object) -> bool:
    """Whether a JSON value is a chunk of a streamed chat completion, or an event that carries one as its data."""
    if not isinstance(value, dict):
        return False
    choices, data = value.get("choices"), value.get("data")
    if isinstance(choices, list):
        has_delta = any(isinstance(choice, dict) and "delta" in choice for choice in choices)
        return has_delta or value.get("object") == _CHUNK
    return (isinstance(data, dict) and is_chunk({**data, "data": None})) or (isinstance(data, str) and _CHUNK in data)


def read_event_stream(text: str) -> Response:
    """The response that a text of server-sent events amounts to."""
    fold = _Fold()
    for event, data in _events(text):
        fold.take_event(data, event)
    return fold.response()


def fold_chunks(values: Iterable[object], *, damaged: bool = False, done: bool = False) -> Response:
    """The response of chunks that were stored as JSON.

    `damaged` when the text after the last one was cut or broken, `done` when it ended with `[DONE]`.
    """
    fold = _Fold()
    for value in values:
        fold.take(value)
    fold.done = fold.done or done
    fold.damaged = fold.damaged or (damaged and not fold.has_ended)
    return fold.response()


def _events(text: str) -> Iterator[tuple[str, str]]:
    """The name and the data of each event; comments and other fields are left out.

    A line that is no field at all is given as data: bare JSON amid the events, or the rest of a cut line.
    """
    event = ""
    data: list[str] = []
    for line in _LINE_END.split(text):
        field = _FIELD.match(line) if line else None
        if field is None:
            if data or event:
                yield event, "\n".join(data)
            event = ""
            data.clear()
            if line.strip():
                yield event, line
        elif field["name"] == "data":
            data.append(field["value"])
        elif field["name"] == "event":
            event = field["value"].strip()
        elif field["name"] == "error":
            yield "error", field["value"]
    if data or event:
        yield event, "\n".join(data)


class _Fold:
    """Chunks being put together."""

    def __init__(self) -> None:
        self.choices: dict[int, GatheredChoice] = {}
        self.failure: ParseStatus | None = None
        self.done = False
        self.damaged = False
        self.others = 0
        self.usage_came_last = False

    @property
    def has_ended(self) -> bool:
        """Whether the end of the answer was seen."""
        chosen = self._chosen()
        return self.done or bool(chosen and chosen.finish_reason)

    def take_event(self, data: str, event: str = "") -> None:
        """Take in the data of one event: a chunk, several, `[DONE]`, or what a server sends to keep the line open."""
        try:
            self.take(msgspec.json.decode(data))
        except (msgspec.MsgspecError, ValueError, RecursionError):
            self._take_text(data)
        if event in _END_EVENTS:
            self.done = True
        if event == "error":
            self.failure = self.failure or ParseStatus.STREAM_ERROR

    def take(self, value: object, depth: int = _DEEPEST_WRAPPER) -> None:
        """Take in one JSON value of the stream; nobody reads on behind `[DONE]`."""
        if self.done and self.choices:
            return
        if isinstance(value, list) and depth:
            for entry in value:
                self.take(entry, depth - 1)
        elif isinstance(value, str):
            self.done = self.done or value.strip().upper() == DONE
        elif isinstance(value, dict):
            choices = value.get("choices")
            if isinstance(choices, list):
                self._take_chunk(value, choices)
            else:
                self._take_other(value, depth)

    def response(self) -> Response:
        """What the stream amounts to."""
        chosen = self._chosen()
        finish_reason = chosen.finish_reason if chosen else None
        if self.failure:
            return Response(self.failure, "", finish_reason)
        if chosen is None or not chosen.is_chat:
            return Response(self._without_chat(), "", finish_reason)
        if self.damaged or not (self.has_ended or self.usage_came_last):
            return Response(ParseStatus.STREAM_INCOMPLETE, "", finish_reason)
        response = judged(chosen.reply())
        if response.parse_status is ParseStatus.ERROR:
            return Response(ParseStatus.STREAM_ERROR, "", finish_reason)
        return response

    def _take_text(self, data: str) -> None:
        text = data.strip()
        is_last = text[-len(DONE) :].upper() == DONE
        values, damage = read_documents(text[: -len(DONE)] if is_last else text)
        for value in values:
            self.take(value)
        self.done = self.done or is_last
        # A ping or a word is no damage; the beginning or the rest of a JSON text is.
        if damage and any(sign in text for sign in '{}"') and not self.has_ended:
            self.damaged = True

    def _take_chunk(self, chunk: Mapping[str, object], choices: list[object]) -> None:
        if chunk.get("error"):
            self._fail(chunk)
        for choice in choices:
            if isinstance(choice, dict):
                self.choices.setdefault(index_of(choice), GatheredChoice()).add(choice)
        self.usage_came_last = not choices and bool(chunk.get("usage"))

    def _take_other(self, value: dict[str, object], depth: int) -> None:
        wrapped = value.get("data")
        if self._fail(value):
            return
        if isinstance(wrapped, dict | list) and depth:
            self.take(wrapped, depth - 1)
        elif isinstance(wrapped, str):
            self.take_event(wrapped)
        else:
            self.others += 1

    def _fail(self, value: Mapping[str, object]) -> bool:
        failure = failure_of(value)
        if failure is ParseStatus.ERROR:
            failure = ParseStatus.STREAM_ERROR
        self.failure = self.failure or failure
        return failure is not None

    def _chosen(self) -> GatheredChoice | None:
        return self.choices[min(self.choices)] if self.choices else None

    def _without_chat(self) -> ParseStatus:
        if self.choices or self.others:
            return ParseStatus.NOT_CHAT
        return ParseStatus.NO_CHOICES if self.done or self.usage_came_last else ParseStatus.STREAM_INCOMPLETE
