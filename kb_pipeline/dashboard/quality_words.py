"""The verdict on quality in one sentence, with what stands behind it.

Belongs here: which sentence goes with which numbers. Does not: alert rules; where the state of an alert is given,
warning and critical are that state.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from kb_pipeline.counting import counted, form, out_of
from kb_pipeline.dashboard import numbers
from kb_pipeline.dashboard.sums import Moments, Tally
from kb_pipeline.dashboard.trend import LEAST_COVERAGE

_CLEAR = 1.96
_WATCHED = ("context_relevance", "answer_relevance")
_NAMES = {"context_relevance": "context relevance", "answer_relevance": "answer relevance"}


class Level(StrEnum):
    """How it looks, each with a mark of its own shape."""

    GOOD = "good"
    WATCH = "watch"
    WARNING = "warning"
    CRITICAL = "critical"
    NONE = "none"


_SENTENCES = {
    Level.WARNING: "Quality is below the warning line.",
    Level.CRITICAL: "Too many answers are not backed by their sources.",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Verdict:
    """A sentence, its level, and what stands behind it."""

    level: Level
    sentence: str
    detail: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Limits:
    """The configured thresholds; `z` is how sure a breach must be."""

    warn: float
    crit: float
    min_graded: int
    z: float


@dataclass(frozen=True, kw_only=True, slots=True)
class AlertStand:
    """Where the rule on low faithfulness stands: `level` is warning, critical, or good where it does not fire."""

    level: Level
    since: datetime | None = None
    sentence: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Standing:
    """The last 24 hours under the newest judge version, beside the week before."""

    day: Tally
    week: Tally
    coverage: float | None
    base: str = "week before"


def quality_verdict(standing: Standing, limits: Limits, alert: AlertStand | None = None, *, when: str = "") -> Verdict:
    """What can be said of quality now.

    Without the state of an alert, warning and critical are decided as the rule does: Wilson's upper bound of the mean
    is below the line. `when` is the time an alert was sent, in words.
    """
    day = standing.day.faithfulness
    sent = f" Alert sent {when}." if when else ""
    if alert and alert.level is not Level.GOOD and (day.n < limits.min_graded or _is_withheld(standing)):
        return Verdict(level=alert.level, sentence=_SENTENCES[alert.level], detail=f"{alert.sentence}{sent}")
    if _is_withheld(standing):
        return _withheld(standing.day)
    if day.n < limits.min_graded:
        return _thin(day, limits)
    level = alert.level if alert else fired_level(day, limits)
    if level is Level.CRITICAL:
        return _below(standing, limits.crit, limits, Level.CRITICAL, sent)
    if level is Level.WARNING:
        return _below(standing, limits.warn, limits, Level.WARNING, sent)
    return _above(standing, limits)


def _is_withheld(standing: Standing) -> bool:
    return standing.coverage is not None and standing.coverage < LEAST_COVERAGE


def fired_level(day: Moments, limits: Limits) -> Level:
    """Critical, warning or good by the bound that the alert rule compares."""
    upper = day.upper(limits.z)
    if upper < limits.crit:
        return Level.CRITICAL
    return Level.WARNING if upper < limits.warn else Level.GOOD


def is_clearly_lower(now: Moments, before: Moments) -> bool:
    """Whether the mean fell by more than chance makes it: Welch's z of the difference, 95 %."""
    return _difference(now, before) < -_CLEAR


def is_clearly_different(now: Moments, before: Moments) -> bool:
    """Whether the mean moved by more than chance makes it."""
    return abs(_difference(now, before)) > _CLEAR


def _difference(now: Moments, before: Moments) -> float:
    mean, earlier = now.mean, before.mean
    if mean is None or earlier is None:
        return 0.0
    spread = (_variance(now) + _variance(before)) ** 0.5
    return (mean - earlier) / spread if spread else 0.0


def _variance(moments: Moments) -> float:
    """The variance of the mean; never 0, however few scores agree, as Moments.interval."""
    mean = moments.total / moments.n
    own = max(0.0, moments.squares / moments.n - mean * mean)
    return own / moments.n + _CLEAR**2 / (4 * moments.n**2)


def _facts(day: Moments) -> str:
    bounds = numbers.between(day.interval())
    return f"{numbers.score(day.mean)} over the last 24 hours (95 % interval {bounds}, {counted(day.n, 'answer')})"


def _above(standing: Standing, limits: Limits) -> Verdict:
    day, week = standing.day.faithfulness, standing.week.faithfulness
    low = (day.interval() or (0.0, 1.0))[0]
    moved = _moved(standing)
    if (day.mean or 0.0) < limits.warn:
        detail = (
            f"Faithfulness is {_facts(day)}, below {limits.warn:.2f}, but its bound of {day.upper(limits.z):.2f} still "
            f"reaches above: too early to tell.{moved}"
        )
        return Verdict(level=Level.WATCH, sentence="Quality may be below the warning line.", detail=detail)
    if is_clearly_lower(day, week):
        touches = f" Its interval now touches the warning line at {limits.warn:.2f}." if low < limits.warn else ""
        detail = (
            f"Faithfulness is {_facts(day)}, down from {numbers.score(week.mean)} the {standing.base}.{touches}{moved}"
        )
        return Verdict(level=Level.WATCH, sentence="Quality is still good, but getting worse.", detail=detail)
    detail = f"Faithfulness is {_facts(day)}{_as_before(day, week, standing.base)}.{moved}"
    return Verdict(level=Level.GOOD, sentence="Quality is good and steady.", detail=detail)


def _as_before(day: Moments, week: Moments, base: str) -> str:
    if week.mean is None:
        return f"; the {base} has no scores to compare with"
    if is_clearly_different(day, week):
        return f", up from {numbers.score(week.mean)} the {base}"
    return f", as in the {base} ({numbers.score(week.mean)})"


def _moved(standing: Standing) -> str:
    falls = [a for a in _WATCHED if is_clearly_lower(getattr(standing.day, a), getattr(standing.week, a))]
    if not falls:
        return ""
    names = " and ".join(_NAMES[aspect] for aspect in falls)
    return f" {names.capitalize()} {'fall' if len(falls) > 1 else 'falls'} with it."


def _below(standing: Standing, line: float, limits: Limits, level: Level, sent: str) -> Verdict:
    day = standing.day.faithfulness
    upper = day.upper(limits.z)
    if upper < line:
        name = "the critical line at " if level is Level.CRITICAL else ""
        rest = f"; even its upper bound of {upper:.2f} is below {name}{line:.2f}."
    else:
        rest = f"; the alert that fired below {line:.2f} has not resolved yet."
    return Verdict(
        level=level, sentence=_SENTENCES[level], detail=f"Faithfulness is {_facts(day)}{rest}{sent}{_moved(standing)}"
    )


def _thin(day: Moments, limits: Limits) -> Verdict:
    shown = " The scores are shown as they are." if day.n else ""
    detail = f"{day.n:,} of the {limits.min_graded:,} needed in the last 24 hours.{shown}"
    return Verdict(level=Level.NONE, sentence="Too few graded answers for a verdict.", detail=detail)


def _withheld(day: Tally) -> Verdict:
    missing = day.judgeable - day.graded
    detail = (
        f"{out_of(missing, day.judgeable, 'answer')} of the last 24 hours {form(missing, 'has', 'have')} no grade. "
        "Exact measures are complete."
    )
    sentence = "The mean is withheld: too many answers are ungraded."
    return Verdict(level=Level.NONE, sentence=sentence, detail=detail)


@dataclass(frozen=True, kw_only=True, slots=True)
class Progress:
    """How far the turns of a period came, for the page that has no score to show."""

    is_enabled: bool
    has_judge: bool
    examined: int
    recognised: int
    parsed: int
    attempted: int
    waiting: int
    failures: int
    skipped: int
    newest_call_at: datetime | None
    is_filtered: bool
    elsewhere: int
    """Graded turns that the filters leave out."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Emptiness:
    """Why nothing is graded: the place where the flow stops, what to do, and the commands that mend it."""

    sentence: str
    detail: str
    stops_at: str
    advice: str
    commands: tuple[str, ...]


def emptiness(progress: Progress) -> Emptiness:
    """Why there is no graded turn; the first reason that holds."""
    if not progress.is_enabled:
        return Emptiness(
            sentence="No graded turns yet, because grading is switched off.",
            detail="rag_quality.enabled is false: nothing is read and nothing is sent to the judge.",
            stops_at="read",
            advice="Set rag_quality.enabled to true in kb_pipeline.yaml, and see first what a run would do:",
            commands=("kb-pipeline grade --dry-run",),
        )
    if progress.is_filtered and progress.elsewhere:
        left_out = counted(progress.elsewhere, "graded turn of this period is", "graded turns of this period are")
        return Emptiness(
            sentence="No graded turns here, because nothing matches these filters.",
            detail=f"{left_out} left out by them.",
            stops_at="",
            advice="Choose other filters, or all of them.",
            commands=(),
        )
    return _unfiltered(progress)


def _unfiltered(progress: Progress) -> Emptiness:
    if not progress.examined:
        return Emptiness(
            sentence="No graded turns yet, because no audited call was read in this period.",
            detail="Either nobody asked the chatbot anything, or nothing runs the pipeline.",
            stops_at="read",
            advice="See whether the views show the audit trail, and whether Dagster's daemon runs:",
            commands=("kb-pipeline check",),
        )
    if not progress.recognised:
        return Emptiness(
            sentence="No graded turns yet, because no call was recognised.",
            detail=f"{counted(progress.examined, 'call was', 'calls were')} read; none has a synthesis call's markers.",
            stops_at="recognised",
            advice="Compare synthesis_markers with a current system message, or have markers proposed:",
            commands=("kb-pipeline suggest-template",),
        )
    if not progress.has_judge:
        return Emptiness(
            sentence="No graded turns yet, because no judge is configured.",
            detail="rag_quality.judge_model is null: exact measures are kept all the same.",
            stops_at="judged",
            advice="Name a model in rag_quality.judge_model, and test the way to it:",
            commands=("kb-pipeline check",),
        )
    return _ungraded(progress)


def _ungraded(progress: Progress) -> Emptiness:
    if progress.failures:
        return Emptiness(
            sentence="No graded turns yet, because the judge does not answer.",
            detail=f"{_ready(progress.failures + progress.waiting)} for it. "
            "Without grades there is no score, so none is shown.",
            stops_at="judged",
            advice="See whether the gateway is up and judge_base_url names it; this command tests the way there:",
            commands=("kb-pipeline check", "kb-pipeline grade --retry-failed"),
        )
    if progress.waiting:
        return Emptiness(
            sentence="No graded turns yet, because the judge was not asked so far.",
            detail=f"{_ready(progress.waiting)} for it.",
            stops_at="judged",
            advice="They are graded by the next run; this one grades now:",
            commands=("kb-pipeline grade",),
        )
    return Emptiness(
        sentence="No graded turns yet, because none of the turns can be judged.",
        detail=f"{counted(progress.skipped, 'turn has', 'turns have')} no answer, or no question that could be read.",
        stops_at="parsed",
        advice="Where parse success is low, the template may have changed; have markers proposed:",
        commands=("kb-pipeline suggest-template",),
    )


def _ready(count: int) -> str:
    return counted(count, "answer is ready and waits", "answers are ready and wait")


def waited(oldest: datetime | None, now: datetime) -> timedelta:
    """How long the oldest turn has waited; nothing where none waits."""
    return max(timedelta(), now - oldest) if oldest else timedelta()
