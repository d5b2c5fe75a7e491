"""The deterministic metrics are exact, and undefined rather than wrong."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb_pipeline.grading.metrics import measure
from kb_pipeline.records import Metrics, ParseStatus, Passage, Triad
from kb_pipeline_tests.grading.prompts import ANSWER, PASSAGES, REFUSAL_PHRASES, prompt, triad

REFUSAL = "Maaf, informasi tersebut tidak tersedia."
STATUSES = st.sampled_from(list(ParseStatus))


def measured(read: Triad) -> Metrics:
    return measure(read, refusal_phrases=REFUSAL_PHRASES)


def passage(score: float | None, text: str = "Teks.") -> Passage:
    return Passage(rank=1, score=score, text=text)


def test_a_usual_turn_has_all_metrics() -> None:
    assert measured(triad(prompt())) == Metrics(
        had_context=True,
        num_passages=2,
        top_score=0.79,
        mean_score=(0.79 + 0.61) / 2,
        context_chars=len(PASSAGES),
        answer_chars=len(ANSWER),
        refused=False,
        answer_truncated=False,
    )


@pytest.mark.parametrize(
    ("scores", "top", "mean"),
    [
        ([], None, None),
        ([None, None], None, None),
        ([0.5, None, 0.25], 0.5, 0.375),
        ([0.0], 0.0, 0.0),
        ([-1.0, -3.0], -1.0, -2.0),
    ],
)
def test_scores_are_taken_over_the_passages_that_have_one(
    scores: list[float | None], top: float | None, mean: float | None
) -> None:
    metrics = measured(Triad(parse_status=ParseStatus.OK, passages=tuple(map(passage, scores))))
    assert (metrics.top_score, metrics.mean_score) == (top, mean)


@pytest.mark.parametrize(
    ("read", "had_context"),
    [
        (Triad(parse_status=ParseStatus.OK, context="Status: diterima."), True),
        (Triad(parse_status=ParseStatus.CONTEXT_FALLBACK, context="x"), True),
        (Triad(parse_status=ParseStatus.OK, context="[RAG-1] x", passages=(passage(0.5, ""), passage(0.4))), True),
        (Triad(parse_status=ParseStatus.OK, context="[RAG-1]", passages=(passage(0.5, ""), passage(0.4, " "))), False),
        (Triad(parse_status=ParseStatus.OK, context=" \n"), False),
        (Triad(parse_status=ParseStatus.OK), False),
    ],
)
def test_headers_over_nothing_are_no_context(read: Triad, *, had_context: bool) -> None:
    assert measured(read).had_context is had_context


@pytest.mark.parametrize("finish_reason", ["length", "max_tokens", "LENGTH", "FinishReason.MAX_TOKENS"])
def test_the_token_limit_is_told_whatever_became_of_the_turn(finish_reason: str) -> None:
    assert measured(
        Triad(parse_status=ParseStatus.NO_QUESTION, answer="x", finish_reason=finish_reason)
    ).answer_truncated
    assert measured(Triad(parse_status=ParseStatus.EMPTY_ANSWER, finish_reason=finish_reason)).answer_truncated


@pytest.mark.parametrize("finish_reason", [None, "stop", "tool_calls", ""])
def test_no_other_finish_reason_means_a_cut(finish_reason: str | None) -> None:
    assert not measured(Triad(parse_status=ParseStatus.OK, answer="x", finish_reason=finish_reason)).answer_truncated


@pytest.mark.parametrize(
    ("read", "refused"),
    [
        (Triad(parse_status=ParseStatus.OK, context="x", answer=REFUSAL), True),
        (Triad(parse_status=ParseStatus.OK, answer=REFUSAL), True),
        (Triad(parse_status=ParseStatus.OK, answer="Ada yang bisa saya bantu?"), True),
        (Triad(parse_status=ParseStatus.OK, context="x", answer="Ada yang bisa saya bantu?"), False),
        (Triad(parse_status=ParseStatus.OK, answer="PT adalah badan hukum."), False),
        (Triad(parse_status=ParseStatus.EMPTY_ANSWER), True),
        (Triad(parse_status=ParseStatus.EMPTY_ANSWER, context="x"), False),
        (Triad(parse_status=ParseStatus.REFUSAL, context="x"), True),
        (Triad(parse_status=ParseStatus.ERROR), False),
        (Triad(parse_status=ParseStatus.TOOL_CALLS, answer="Sebentar."), False),
        (Triad(parse_status=ParseStatus.STREAM_INCOMPLETE), False),
        (Triad(parse_status=ParseStatus.CONTENT_FILTER), False),
    ],
)
def test_a_turn_is_refused_by_its_opening_or_when_it_says_nothing_without_context(
    read: Triad, *, refused: bool
) -> None:
    assert measured(read).refused is refused


SCORES = st.none() | st.floats(-1e12, 1e12, allow_nan=False)


@given(STATUSES, st.lists(SCORES), st.text(), st.text(), st.none() | st.text())
def test_every_triad_has_finite_metrics(
    status: ParseStatus, scores: list[float | None], context: str, answer: str, finish_reason: str | None
) -> None:
    read = Triad(
        parse_status=status,
        context=context,
        passages=tuple(map(passage, scores)),
        answer=answer,
        finish_reason=finish_reason,
    )
    metrics = measured(read)
    assert metrics.num_passages == len(scores)
    assert all(value is None or math.isfinite(value) for value in (metrics.top_score, metrics.mean_score))
    assert (metrics.top_score is None) == all(score is None for score in scores)
