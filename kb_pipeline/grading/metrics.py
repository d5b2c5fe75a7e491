"""The deterministic metrics of one turn: exact, free, always there.

Belongs here: the formulas of docs/reference/metrics.md. Does not: parsing, the judge, aggregates over turns.
"""

from collections.abc import Sequence

from kb_pipeline.grading.bodies import is_length
from kb_pipeline.grading.refusals import asserts_nothing, opens_with
from kb_pipeline.records import Metrics, ParseStatus, Triad

__all__ = ["asserts_nothing", "measure"]

# The statuses with which the model had its say, even if it said nothing, besides `ok`.
_ANSWERED = frozenset(
    {
        ParseStatus.OK_LENGTH,
        ParseStatus.CONTEXT_FALLBACK,
        ParseStatus.NO_QUESTION,
        ParseStatus.TRUNCATED_PROMPT,
        ParseStatus.EMPTY_ANSWER,
    }
)


def measure(triad: Triad, *, refusal_phrases: Sequence[str]) -> Metrics:
    """The metrics of a triad; scores are None where no header carried one."""
    scores = [passage.score for passage in triad.passages if passage.score is not None]
    had_context = _had_context(triad)
    return Metrics(
        had_context=had_context,
        num_passages=len(triad.passages),
        top_score=max(scores) if scores else None,
        mean_score=sum(scores) / len(scores) if scores else None,
        context_chars=len(triad.context),
        answer_chars=len(triad.answer),
        refused=_refused(triad, had_context=had_context, phrases=tuple(refusal_phrases)),
        answer_truncated=is_length(triad.finish_reason),
    )


def _had_context(triad: Triad) -> bool:
    """Passages that are empty below their headers are no context."""
    if triad.passages:
        return any(passage.text and not passage.text.isspace() for passage in triad.passages)
    return bool(triad.context) and not triad.context.isspace()


def _refused(triad: Triad, *, had_context: bool, phrases: tuple[str, ...]) -> bool:
    if triad.parse_status is not ParseStatus.OK and triad.parse_status not in _ANSWERED:
        return triad.parse_status is ParseStatus.REFUSAL
    return opens_with(triad.answer, phrases) or (not had_context and asserts_nothing(triad.answer))
