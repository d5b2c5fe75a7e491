"""Choices of completions, whole ones and chunks, as loosely decoded JSON.

Belongs here: reading a choice of any server. Does not: verdicts, framing of streams.
"""

from collections.abc import Iterable, Mapping

from kb_pipeline.grading.bodies.contents import mended, parts_of_type, text_of
from kb_pipeline.grading.bodies.failures import failure_of
from kb_pipeline.grading.bodies.replies import Reply
from kb_pipeline.records import ParseStatus

_LONGEST_INDEX = 9


class GatheredChoice:
    """One choice being put together: from a message at once, or from deltas."""

    __slots__ = ("calls_tools", "failed", "finish_reason", "is_chat", "refused", "texts")

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.finish_reason: str | None = None
        self.refused = False
        self.calls_tools = False
        self.failed: ParseStatus | None = None
        self.is_chat = False

    def add(self, choice: Mapping[str, object]) -> None:
        """Take in what `choice` adds; a whole message stands in for the deltas before it."""
        self.finish_reason = finish_reason_of(choice) or self.finish_reason
        if choice.get("error"):
            self.failed = failure_of({"error": choice["error"]}) or self.failed
        delta, message = choice.get("delta"), choice.get("message")
        self.is_chat = self.is_chat or "delta" in choice or "message" in choice
        if isinstance(delta, dict):
            self._add_words(delta)
        if isinstance(message, dict):
            if text_of(message.get("content"), between=""):
                self.texts.clear()
            self._add_words(message)

    def reply(self) -> Reply:
        """What was gathered."""
        return Reply(
            text=mended("".join(self.texts)),
            finish_reason=self.finish_reason,
            refused=self.refused,
            calls_tools=self.calls_tools,
            failed=self.failed,
        )

    def _add_words(self, message: Mapping[str, object]) -> None:
        content = message.get("content")
        if content is None:
            content = message.get("parts")
        text = content if isinstance(content, str) else text_of(content, between="")
        if text:
            self.texts.append(text)
        self.refused = self.refused or bool(message.get("refusal") or parts_of_type(content, "refusal"))
        self.calls_tools = self.calls_tools or _calls_tools(message)


def finish_reason_of(choice: Mapping[str, object]) -> str | None:
    """The finish_reason as sent; some servers put it into an object, or write "" until there is one."""
    reason = choice.get("finish_reason")
    if isinstance(reason, dict):
        reason = reason.get("type")
    return reason if isinstance(reason, str) and reason not in {"", "null", "None"} else None


def index_of(choice: Mapping[str, object]) -> int:
    """The position of a choice, also where it was written as text; 0 where the server gives none."""
    index = choice.get("index")
    if isinstance(index, str) and len(index) <= _LONGEST_INDEX and index.isdecimal():
        return int(index)
    return index if isinstance(index, int) else 0


def first_choice(choices: Iterable[object]) -> GatheredChoice | None:
    """The choice with index 0, else the first one; None when there is none."""
    usable = [choice for choice in choices if isinstance(choice, dict)]
    if not usable:
        return None
    gathered = GatheredChoice()
    gathered.add(min(usable, key=index_of))
    return gathered


def _calls_tools(message: Mapping[str, object]) -> bool:
    calls = message.get("tool_calls")
    if isinstance(calls, list) and any(calls):
        return True
    return bool(message.get("function_call"))
