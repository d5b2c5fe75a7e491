"""The verdict on quality in words, from the same states that alerts come from.

Belongs here: good, below the line, or not known, and why. Does not: rules, which have decided already.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from kb_pipeline.alerting.catalogue import JUDGE_OUTAGE, LOW_FAITHFULNESS, NO_DATA, UNGROUNDED_SPIKE
from kb_pipeline.alerting.machine import worse
from kb_pipeline.records import AlertState, AlertStatus, Finding, Severity

_QUALITY = (LOW_FAITHFULNESS, UNGROUNDED_SPIKE)
_BLIND = {NO_DATA: "no data comes in", JUDGE_OUTAGE: "the judge gives no scores"}


class QualityLevel(StrEnum):
    """What can be said of quality now."""

    GOOD = "good"
    WORSE = "worse"
    UNKNOWN = "unknown"


@dataclass(frozen=True, kw_only=True, slots=True)
class QualityVerdict:
    """The level with one sentence; `severity` is that of the worst alert, None where none fires."""

    level: QualityLevel
    sentence: str
    severity: Severity | None = None


def quality_verdict(states: Iterable[AlertState]) -> QualityVerdict:
    """The verdict over the states of the subjects that somebody looks at; all of an environment, or those of a filter.

    What makes it impossible to tell comes first, then what fires, then what the readings say.
    """
    found = list(states)
    blind = next((state for state in found if state.rule in _BLIND and state.status.is_active), None)
    if blind is not None:
        return _unknown(f"{_BLIND[blind.rule]}. {_sentence(blind)}")
    quality = [state for state in found if state.rule in _QUALITY]
    active = [state for state in quality if state.status.is_active]
    if active:
        return _worse(active)
    return _calm([state for state in quality if state.rule == LOW_FAITHFULNESS and state.reading])


def _worse(active: Sequence[AlertState]) -> QualityVerdict:
    severity: Severity | None = None
    for state in active:
        severity = worse(severity, state.memory.severity)
    gravest = [state for state in active if state.memory.severity is severity]
    worst = min(gravest, key=lambda state: _value(state) if state.rule == LOW_FAITHFULNESS else 1.0)
    is_recovering = all(state.status is AlertStatus.RECOVERING for state in active)
    words = "is recovering" if is_recovering else "is below the line"
    said = f"Quality {words}{_of(worst)}: {_sentence(worst)}"
    return QualityVerdict(level=QualityLevel.WORSE, sentence=said, severity=severity)


def _calm(measured: Sequence[AlertState]) -> QualityVerdict:
    telling = [state for state in measured if _finding(state) in {Finding.GOOD, Finding.BETWEEN, Finding.BREACH}]
    if not telling:
        return _unknown(_sentence(measured[0]) if measured else "no turn was graded yet.")
    low = [state for state in telling if _is_low(state)]
    if low:
        return _unknown(f"so few turns can be low by chance{_of(_largest(low))}. {_sentence(_largest(low))}")
    largest = _largest(telling)
    return QualityVerdict(level=QualityLevel.GOOD, sentence=f"Quality is good{_of(largest)}: {_sentence(largest)}")


def _is_low(state: AlertState) -> bool:
    reading = state.reading
    return bool(reading and reading.value is not None and reading.threshold and reading.value < reading.threshold)


def _value(state: AlertState) -> float:
    return 1.0 if state.reading is None or state.reading.value is None else state.reading.value


def _of(state: AlertState) -> str:
    """Whose reading it is: tenant, surface and engine, as far as they have a name."""
    names = " / ".join(name for name in state.subject[1:] if name)
    return f" ({names})" if names else ""


def _largest(states: Sequence[AlertState]) -> AlertState:
    return max(states, key=lambda state: state.reading.n if state.reading else 0)


def _finding(state: AlertState) -> Finding | None:
    return state.reading.finding if state.reading else None


def _sentence(state: AlertState) -> str:
    text = state.reading.sentence if state.reading else "nothing was read yet."
    return text[:1].lower() + text[1:]


def _unknown(because: str) -> QualityVerdict:
    return QualityVerdict(level=QualityLevel.UNKNOWN, sentence=f"Quality is not known, because {because}")
