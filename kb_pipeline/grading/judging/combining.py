"""The scores of a turn's parts become the turn's: a weighted mean, or none where a part has none.

Belongs here: that rule. Does not: planning the parts, calling anybody.
"""

from collections.abc import Sequence

from kb_pipeline.grading.judging.neutral import clean_line
from kb_pipeline.grading.judging.parts import Part, Parts
from kb_pipeline.grading.judging.prompt import REASON_CHARS
from kb_pipeline.records import ErrorClass, Graded, Score, Shown, Ungraded, Usage
from kb_pipeline.support import Language, language_of

_LOWEST_OF = {
    Language.INDONESIAN: ("Dinilai per bagian, sebanyak ", "; yang terendah: "),
    Language.ENGLISH: ("Graded in parts, of which there are ", "; the lowest: "),
}


def combined(plan: Parts, grades: Sequence[Graded], usage: Usage) -> Graded | Ungraded:
    """The scores of the turn, from the grades of its parts in their order and what all calls cost.

    Each is the mean of the parts' scores: faithfulness weighted by the sentences that assert something, answer
    relevance by the characters of the answer, context relevance by those of the context that the parts show. So it lies
    between the lowest and the highest of them. Parts without weight do not count; where one with weight has no such
    score, neither has the turn, for that part's reason. Where no score is left the turn is ungraded as bad_schema.
    """
    parts = plan.parts
    language = language_of(parts[0].triad.question)
    faithfulness = _mean([(part.assertions, each.faithfulness) for part, each in _each(parts, grades)], language)
    answer_relevance = _mean(
        [(part.metrics.answer_chars, each.answer_relevance) for part, each in _each(parts, grades)], language
    )
    context_relevance = _mean(
        [(part.metrics.context_chars, each.context_relevance) for part, each in _each(parts, grades)], language
    )
    scores = (faithfulness, answer_relevance, context_relevance)
    if all(score.value is None for score in scores):
        detail = "some part lacks each of the scores"
        return Ungraded(error_class=ErrorClass.BAD_SCHEMA, detail=detail, usage=usage)
    return Graded(
        faithfulness=faithfulness,
        answer_relevance=answer_relevance,
        context_relevance=context_relevance,
        usage=usage,
        shown=Shown(parts=len(parts), context_shown=plan.context_shown, history_left_out=plan.history_left_out),
    )


def added(one: Usage, other: Usage) -> Usage:
    """What both cost together; the response format is the later one's."""
    return Usage(
        calls=one.calls + other.calls,
        prompt_tokens=_sum(one.prompt_tokens, other.prompt_tokens),
        completion_tokens=_sum(one.completion_tokens, other.completion_tokens),
        latency_ms=_sum(one.latency_ms, other.latency_ms),
        response_format=other.response_format or one.response_format,
    )


def _each(parts: Sequence[Part], grades: Sequence[Graded]) -> list[tuple[Part, Graded]]:
    return list(zip(parts, grades, strict=True))


def _mean(weighted: Sequence[tuple[int, Score]], language: Language) -> Score:
    counted = [(weight, score) for weight, score in weighted if weight > 0] or [(1, weighted[0][1])]
    values: list[tuple[float, int, str]] = []
    for weight, score in counted:
        if score.value is None:
            return Score(value=None, reason=score.reason)
        values.append((score.value, weight, score.reason))
    lowest, highest = min(values), max(values)
    mean = sum(value * weight for value, weight, _ in values) / sum(weight for _, weight, _ in values)
    # The last digit of a float sum may lie outside of what was summed.
    return Score(value=min(max(mean, lowest[0]), highest[0]), reason=_reason(lowest[2], len(weighted), language))


def _reason(lowest: str, parts: int, language: Language) -> str:
    if parts == 1:
        return lowest
    before, behind = _LOWEST_OF[language]
    return clean_line(f"{before}{parts}{behind}{lowest}", limit=REASON_CHARS)


def _sum(one: int | None, other: int | None) -> int | None:
    return None if one is None and other is None else (one or 0) + (other or 0)
