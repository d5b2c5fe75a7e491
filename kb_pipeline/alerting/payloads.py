"""What goes out for a state: Keep's alert as plain data, with nothing in it that a citizen wrote.

Belongs here: fields, limits of size, encoding. Does not: HTTP, what is sent when.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote

from kb_pipeline.alerting.subjects import clean
from kb_pipeline.records import AlertState, NoticeStatus, Reading

MAX_MESSAGE_BYTES = 1024
MAX_ALERT_BYTES = 16 * 1024
SOURCE = "kb_pipeline"
# The names of a subject's parts behind the environment, by the rule's topic; jobs and rules have one part.
_PARTS = {
    "rag_": ("tenant", "surface", "engine"),
    "kb_no_data": ("tenant", "surface"),
    "kb_empty_result_spike": ("org_id", "specialist_id", "engine"),
    "kb_rule_error": ("broken_rule",),
    "kb_run_failed": ("job",),
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Sender:
    """Who sends: the environment that every alert names, and the address of the dashboard, None where there is none."""

    environment: str
    public_url: str | None = None


def alert_of(state: AlertState, *, title: str, sender: Sender, now: datetime) -> dict[str, Any]:
    """The alert for a state's notice. `id` and `fingerprint` are the same; `kb_seq` never goes back.

    Raises ValueError for a state without a notice, for a number that is not finite, and for an alert over 16 KiB.
    """
    if state.notice is None or state.reading is None:
        raise ValueError("an alert is made of a state with a notice and a reading")
    is_firing = state.notice.status is NoticeStatus.FIRING
    alert = {
        "id": state.fingerprint,
        "fingerprint": state.fingerprint,
        "kb_fingerprint": state.fingerprint,
        "kb_seq": state.kb_seq,
        "name": state.rule,
        "status": str(state.notice.status),
        "severity": str(state.notice.severity),
        "lastReceived": instant(now),
        "environment": clean(sender.environment),
        "service": "kb-pipeline",
        "source": [SOURCE],
        "message": cut(_message(title, state, is_firing=is_firing)),
        "description": title,
        "labels": _labels(state, state.reading),
    }
    if sender.public_url:
        alert["url"] = f"{sender.public_url}/alerts?fingerprint={quote(state.fingerprint, safe=':._-')}"
    if len(encode([alert])) > MAX_ALERT_BYTES:
        raise ValueError(f"an alert has at most {MAX_ALERT_BYTES} bytes")
    return alert


def instant(moment: datetime) -> str:
    """RFC 3339 in UTC with milliseconds and Z."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def restamped(alert: Mapping[str, Any], now: datetime) -> dict[str, Any]:
    """The same alert for a repeat: nothing but `lastReceived` differs."""
    return {**alert, "lastReceived": instant(now)}


def encode(alerts: list[dict[str, Any]]) -> bytes:
    """The body of a request: always a list, keys in order; raises ValueError for NaN and infinities."""
    return json.dumps(alerts, allow_nan=False, ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode()


def cut(text: str) -> str:
    """A text of at most 1 KiB, cut between characters."""
    raw = text.encode()
    return text if len(raw) <= MAX_MESSAGE_BYTES else raw[: MAX_MESSAGE_BYTES - 3].decode(errors="ignore") + "…"


def _message(title: str, state: AlertState, *, is_firing: bool) -> str:
    where = ", ".join(f"{name} {value}" for name, value in _names(state).items())
    sentence = state.reading.sentence if state.reading else ""
    words = f"{title} ({where}). {sentence}" if where else f"{title}. {sentence}"
    if not is_firing:
        return f"Resolved: {words}"
    if state.notice and state.notice.is_flapping:
        return f"{words} It fired three times in a day, so it is held until a whole quiet window has passed."
    return words


def _names(state: AlertState) -> dict[str, str]:
    """The parts of the subject by name, cleaned as in the fingerprint."""
    parts = next((names for begin, names in _PARTS.items() if state.rule.startswith(begin)), ())
    return {name: clean(part) for name, part in zip(parts, state.subject[1:], strict=False)}


def _labels(state: AlertState, reading: Reading) -> dict[str, str]:
    """Flat and of strings: the numbers behind the notice."""
    numbers = {
        "value": reading.value,
        "bound": reading.bound,
        "threshold": reading.threshold,
        "baseline": reading.baseline,
        "coverage": reading.coverage,
    }
    counts = {"n": reading.n, "window_hours": reading.window_h}
    return {
        "rule": state.rule,
        "metric": state.metric,
        **_names(state),
        **{name: _decimal(number) for name, number in numbers.items() if number is not None},
        **{name: str(count) for name, count in counts.items() if count is not None},
        **({"window_end": instant(state.window_end)} if state.window_end else {}),
    }


def _decimal(number: float) -> str:
    if number - number != 0:
        raise ValueError("a number of an alert is finite")
    return f"{number:.4f}"
