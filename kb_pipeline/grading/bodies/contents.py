"""The text of a message's content, in every form that servers and clients write it.

Belongs here: strings, parts, nested lists, broken surrogates. Does not: whose message it is.
"""

from collections.abc import Iterator

# Parts that hold no words of the message: thinking, tools, media, and a refusal (which is no answer).
_NOT_TEXT = (
    "thinking",
    "redacted_thinking",
    "reasoning",
    "thought",
    "refusal",
    "tool_",
    "function",
    "image",
    "audio",
    "video",
)
_DEEPEST = 8


def text_of(content: object, *, between: str) -> str:
    """The text of `content` with `between` between its parts; "" when it holds none.

    Accepts a string, null, a list of parts (also nested, also of strings) and a single part.
    """
    return content if isinstance(content, str) else between.join(text for text in _texts(content, _DEEPEST) if text)


def parts_of_type(content: object, prefix: str) -> list[dict[str, object]]:
    """The parts of `content` whose type starts with `prefix`."""
    if not isinstance(content, list):
        return []
    return [part for part in content if isinstance(part, dict) and str(part.get("type", "")).startswith(prefix)]


def mended(text: str) -> str:
    """`text` with halves of surrogate pairs joined, or replaced where the other half is missing."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def _texts(content: object, depth: int) -> Iterator[str]:
    if isinstance(content, str):
        yield content
    elif isinstance(content, list) and depth:
        for part in content:
            yield from _texts(part, depth - 1)
    elif isinstance(content, dict) and depth:
        kind = str(content.get("type") or "text")
        if not kind.startswith(_NOT_TEXT) and content.get("thought") is not True:
            yield from _texts(_inner(content), depth - 1)


def _inner(part: dict[str, object]) -> object:
    for key in ("text", "content", "value", "parts"):
        if part.get(key) is not None:
            return part[key]
    return None
