"""What a grading run would do, before it is done.

Belongs here: counting turns, calls and tokens of calls that were not examined. Does not: writing, calling.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from kb_pipeline.grading.examination import ExaminationRules
from kb_pipeline.grading.judging.cost import estimate_tokens, tokens_of
from kb_pipeline.ports import AuditTrail
from kb_pipeline.records import Examination
from kb_pipeline.steps.collect import examined
from kb_pipeline.windows import Window


@dataclass(frozen=True, kw_only=True, slots=True)
class Forecast:
    """What a grading run would do: calls to examine, turns to judge, and an estimate of the judge's prompt tokens."""

    hours: int
    calls: int
    turns: int
    judge_calls: int
    prompt_tokens: int
    verdicts: Mapping[str, int] = field(default_factory=dict)
    parse_statuses: Mapping[str, int] = field(default_factory=dict)


def foresee(
    windows: Iterable[Window], *, trail: AuditTrail, rules: ExaminationRules, judge_chars: int | None
) -> Counter[str]:
    """Counts over the calls of the windows that were not examined; nobody is called, nothing is kept.

    `judge_chars` is what the judge has room for, None where judging is off. Keys: verdict/…, parse_status/…, turns,
    prompt_tokens.
    """
    counts: Counter[str] = Counter()
    for window in windows:
        for examinations in examined(window, trail=trail, rules=rules):
            for each in examinations:
                counts.update(_foreseen(each, judge_chars))
    return counts


def waiting(turns: int, characters: int) -> Counter[str]:
    """The same counts for turns that were examined and wait, with the characters that they carry in all."""
    return Counter({"turns": turns, "prompt_tokens": tokens_of(turns, characters)})


def forecast_of(counts: Mapping[str, int], *, hours: int) -> Forecast:
    """The counts as a forecast."""
    turns = counts.get("turns", 0)
    verdicts, statuses = _under(counts, "verdict/"), _under(counts, "parse_status/")
    return Forecast(
        hours=hours,
        calls=sum(verdicts.values()),
        turns=turns,
        judge_calls=turns,
        prompt_tokens=counts.get("prompt_tokens", 0),
        verdicts=verdicts,
        parse_statuses=statuses,
    )


def _foreseen(examination: Examination, judge_chars: int | None) -> Counter[str]:
    counts = Counter({f"verdict/{examination.verdict}": 1})
    triad, metrics = examination.triad, examination.metrics
    if triad is None or metrics is None:
        return counts
    counts[f"parse_status/{triad.parse_status}"] = 1
    fits = judge_chars is not None and metrics.context_chars + metrics.answer_chars <= judge_chars
    if triad.parse_status.is_judged and fits:
        counts["turns"] = 1
        counts["prompt_tokens"] = estimate_tokens(triad, metrics)
    return counts


def _under(counts: Mapping[str, int], prefix: str) -> dict[str, int]:
    return {name.removeprefix(prefix): count for name, count in sorted(counts.items()) if name.startswith(prefix)}
