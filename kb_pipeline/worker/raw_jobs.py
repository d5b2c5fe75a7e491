"""A job as it lies in the queue, made readable: whatever a foreign producer wrote, BullMQ gets what it can work with.

Belongs here: the notation of a job's fields and options. Does not: what its data say (retrieval/events).
"""

import json
import math
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, TypeGuard

from kb_pipeline.retrieval.events.wire import ATTEMPTS, BACKOFF_MS

# What json.loads raises for text that is no JSON, too deep or with too long a number.
_UNREADABLE = (ValueError, RecursionError)
_NUMBERS = ("delay", "priority", "timestamp", "processedOn", "finishedOn", "ats", "attemptsMade", "atm", "stc")
_ENDINGS = ("attempts", "backoff", "removeOnComplete", "removeOnFail")
_BACKOFF = {"type": "exponential", "delay": BACKOFF_MS}


def readable(fields: Mapping[str, str]) -> dict[str, str]:
    """The fields with those that no job can have replaced; data that are no JSON become a text that says so."""
    mended = dict(fields)
    mended["data"] = _json_text(fields.get("data"), lambda _: True, json.dumps(str(fields.get("data"))))
    mended["opts"] = _mended_options(fields.get("opts"))
    mended["stacktrace"] = _json_text(fields.get("stacktrace"), lambda value: isinstance(value, list), "[]")
    mended["progress"] = _json_text(fields.get("progress"), lambda _: True, "0")
    for name in _NUMBERS:
        if name in fields:
            mended[name] = str(_whole(fields[name]))
    with suppress(KeyError):
        mended["parent"] = _json_text(mended["parent"], lambda value: isinstance(value, dict), "{}")
    return mended


def usable_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """The options with which a job can be failed and finished; what is missing or absurd is as our own jobs have it."""
    usable = dict(options)
    attempts = options.get("attempts")
    if not _is_whole(attempts) or attempts < 0:
        usable["attempts"] = ATTEMPTS
    backoff = options.get("backoff")
    if backoff is not None and not _is_backoff(backoff):
        usable["backoff"] = _BACKOFF
    for name in ("removeOnComplete", "removeOnFail"):
        if name in options and not _is_retention(options[name]):
            del usable[name]
    # A refusal is a sentence; where in our code it was said is of no use in the queue.
    usable["stackTraceLimit"] = 0
    return usable


def _mended_options(text: str | None) -> str:
    """Of whatever the options say that which decides about the end of the job."""
    try:
        options = json.loads(text or "{}")
    except _UNREADABLE:
        options = {}
    said = options if isinstance(options, dict) else {}
    return json.dumps(usable_options({name: said[name] for name in _ENDINGS if name in said}))


def _json_text(text: str | None, accepts: Callable[[object], bool], otherwise: str) -> str:
    try:
        accepted = text is not None and accepts(json.loads(text))
    except _UNREADABLE:
        accepted = False
    return text if accepted and text is not None else otherwise


def _whole(text: str) -> int:
    try:
        number = float(text)
    except ValueError:
        return 0
    return int(number) if math.isfinite(number) else 0


def _is_whole(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_backoff(backoff: object) -> bool:
    return (
        isinstance(backoff, dict)
        and backoff.get("type") in {"fixed", "exponential"}
        and _is_whole(backoff.get("delay"))
        and 0 <= backoff["delay"] <= 24 * 3_600_000
    )


def _is_retention(value: object) -> bool:
    if isinstance(value, dict):
        return set(value) <= {"age", "count", "limit"} and all(_is_whole(bound) for bound in value.values())
    return isinstance(value, bool) or _is_whole(value)
