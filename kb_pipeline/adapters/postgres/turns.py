"""Rows of rag_triad and rag_metric back to the records they were.

Belongs here: reading the columns in the order in which every query of ours names them. Does not: the queries.
"""

from collections.abc import Sequence
from typing import Any

from kb_pipeline.records import Message, Metrics, ParseStatus, Passage, Triad

TRIAD_COLUMNS = 7


def turn_of(row: Sequence[Any]) -> tuple[Triad, Metrics]:
    """Triad and metrics of a row that holds parse_status … finish_reason, then had_context … answer_truncated."""
    return _triad(row[:TRIAD_COLUMNS]), _metrics(row[TRIAD_COLUMNS:])


def _triad(row: Sequence[Any]) -> Triad:
    parse_status, question, context, passages, history, answer, finish_reason = row
    return Triad(
        parse_status=ParseStatus(parse_status),
        question=question,
        context=context,
        passages=tuple(Passage(rank=each["rank"], score=each["score"], text=each["text"]) for each in passages),
        answer=answer,
        finish_reason=finish_reason,
        history=tuple(Message(role=each["role"], text=each["text"]) for each in history),
    )


def _metrics(row: Sequence[Any]) -> Metrics:
    had_context, num_passages, top_score, mean_score, context_chars, answer_chars, refused, answer_truncated = row
    return Metrics(
        had_context=had_context,
        num_passages=num_passages,
        top_score=top_score,
        mean_score=mean_score,
        context_chars=context_chars,
        answer_chars=answer_chars,
        refused=refused,
        answer_truncated=answer_truncated,
    )
