"""The thresholds that rules go by, as the configuration gives them, and the words that several rules share.

Belongs here: numbers that an operator can change. Does not: a rule's own constants.
"""

from dataclasses import dataclass
from datetime import timedelta

from kb_pipeline.counting import counted
from kb_pipeline.records import Finding, Reading


@dataclass(frozen=True, kw_only=True, slots=True)
class Limits:
    """The operator's thresholds. `z` is that of a one-sided interval; 0 takes means at their word.

    `every` is how often rules are evaluated on schedule.
    """

    faithfulness_warn: float = 0.70
    faithfulness_crit: float = 0.55
    min_graded: int = 20
    ungrounded_share: float = 0.10
    empty_share_warn: float = 0.05
    z: float = 1.645
    every: timedelta = timedelta(minutes=15)


def thin(sentence: str, *, n: int = 0, window_h: int | None = None, coverage: float | None = None) -> Reading:
    """Too little to say anything."""
    return Reading(finding=Finding.THIN, sentence=sentence, n=n, window_h=window_h, coverage=coverage)


def absent(what: str) -> Reading:
    """Nothing came at all in the last day."""
    return Reading(finding=Finding.ABSENT, sentence=f"No {what} in 24 hours.", window_h=24)


def span_words(hours: int) -> str:
    """A window in words."""
    return counted(hours, "hour") if hours <= 24 else counted(hours // 24, "day")  # noqa: PLR2004 a day
