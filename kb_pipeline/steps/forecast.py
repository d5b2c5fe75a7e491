"""What a grading run would do, before it is done.

Belongs here: counting turns, calls and tokens of calls that were not examined. Does not: writing, calling.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from kb_pipeline.grading.examination import ExaminationRules
from kb_pipeline.grading.judging.cost import estimate_tokens, tokens_of
from kb_pipeline.grading.judging.parts import Parts, Whole, plan_parts
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

    `judge_chars` is what one call has room for, None where judging is off. Keys: verdict/…, parse_status/…, turns,
    judge_calls, prompt_tokens.
    """
    counts: Counter[str] = Counter()
    for window in windows:
        for examinations in examined(window, trail=trail, rules=rules):
            for each in examinations:
                counts.update(_foreseen(each, judge_chars))
    return counts


def waiting(turns: int, calls: int, characters: int) -> Counter[str]:
    """The same counts for turns that were examined and wait, with their calls and the characters that these carry."""
    return Counter({"turns": turns, "judge_calls": calls, "prompt_tokens": tokens_of(calls, characters)})


def forecast_of(counts: Mapping[str, int], *, hours: int) -> Forecast:
    """The counts as a forecast."""
    verdicts, statuses = _under(counts, "verdict/"), _under(counts, "parse_status/")
    return Forecast(
        hours=hours,
        calls=sum(verdicts.values()),
        turns=counts.get("turns", 0),
        judge_calls=counts.get("judge_calls", 0),
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
    if judge_chars is None or not triad.parse_status.is_judged:
        return counts
    match plan_parts(triad, metrics, judge_chars):
        case Whole(triad=shown):
            asked = [(shown, metrics)]
        case Parts(parts=parts):
            asked = [(part.triad, part.metrics) for part in parts]
        case _:
            return counts
    counts["turns"], counts["judge_calls"] = 1, len(asked)
    counts["prompt_tokens"] = sum(estimate_tokens(*each) for each in asked)
    return counts


def _under(counts: Mapping[str, int], prefix: str) -> dict[str, int]:
    return {name.removeprefix(prefix): count for name, count in sorted(counts.items()) if name.startswith(prefix)}
