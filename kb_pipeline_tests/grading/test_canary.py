"""The canary's verdict over a judge's replies."""

import pytest

from kb_pipeline.demo.reference_judge import reference_verdict
from kb_pipeline.grading.canary import CANARY_TURNS, CanaryTurn, canary_verdict, failures_of
from kb_pipeline.grading.judging.planted import planted_in
from kb_pipeline.grading.metrics import measure
from kb_pipeline.records import ErrorClass, Graded, Judgement, Score, Ungraded

NAMES = ("faithful", "contradicted", "off_topic")


def graded(faithfulness: float | None, answer: float = 0.9, context: float = 0.9) -> Graded:
    scores = [Score(value=value, reason="because") for value in (faithfulness, answer, context)]
    return Graded(faithfulness=scores[0], answer_relevance=scores[1], context_relevance=scores[2])


RIGHT = {"faithful": graded(1.0), "contradicted": graded(0.1), "off_topic": graded(0.0, 0.1, 0.1)}


def replies(**changes: Judgement) -> list[tuple[CanaryTurn, Judgement]]:
    said: dict[str, Judgement] = {**RIGHT, **changes}
    return [(turn, said[turn.name]) for turn in CANARY_TURNS]


def test_there_are_three_turns_with_bounds() -> None:
    assert tuple(turn.name for turn in CANARY_TURNS) == NAMES
    assert all("faithfulness" in turn.bounds for turn in CANARY_TURNS)


def test_a_judge_with_every_verdict_right_is_healthy() -> None:
    verdict = canary_verdict(replies())
    assert (verdict.healthy, verdict.asked, verdict.right_verdicts, verdict.failures) == (True, 3, 3, ())


def test_the_reference_judge_is_healthy() -> None:
    said = [
        (turn, reference_verdict(question=turn.triad.question, context=turn.triad.context, answer=turn.triad.answer))
        for turn in CANARY_TURNS
    ]
    assert canary_verdict(said).healthy is True


@pytest.mark.parametrize(
    ("changes", "failure"),
    [
        ({"contradicted": graded(1.0)}, "contradicted:faithfulness_too_high"),
        ({"faithful": graded(0.3)}, "faithful:faithfulness_too_low"),
        ({"faithful": graded(None)}, "faithful:faithfulness_missing"),
        ({"off_topic": graded(0.0, 0.9, 0.1)}, "off_topic:answer_relevance_too_high"),
        ({"off_topic": graded(0.0, 0.1, 0.9)}, "off_topic:context_relevance_too_high"),
        ({"contradicted": Ungraded(error_class=ErrorClass.BAD_SCHEMA)}, "contradicted:bad_schema"),
    ],
)
def test_one_wrong_or_unusable_verdict_makes_the_judge_unhealthy(changes: dict[str, Judgement], failure: str) -> None:
    verdict = canary_verdict(replies(**changes))
    assert (verdict.healthy, verdict.asked, verdict.right_verdicts) == (False, 3, 2)
    assert verdict.failures == (failure,)


@pytest.mark.parametrize("value", [0.0, 0.5, 1.0])
def test_a_judge_that_always_says_the_same_is_unhealthy(value: float) -> None:
    always = graded(value, value, value)
    assert canary_verdict(replies(**dict.fromkeys(NAMES, always))).healthy is False


def test_an_outage_is_named_and_says_nothing_of_the_judge() -> None:
    outage = Ungraded(error_class=ErrorClass.TIMEOUT)
    verdict = canary_verdict(replies(faithful=outage))
    assert (verdict.healthy, verdict.asked, verdict.right_verdicts) == (True, 2, 2)
    assert verdict.failures == ("faithful:timeout",)
    nothing = canary_verdict(replies(**dict.fromkeys(NAMES, outage)))
    assert (nothing.healthy, nothing.asked, nothing.right_verdicts) == (None, 0, 0)


def test_the_contradicted_turn_asks_for_the_grade_that_it_must_not_get() -> None:
    contradicted = CANARY_TURNS[1]
    planted = planted_in(contradicted.triad, measure(contradicted.triad, refusal_phrases=()))
    assert planted.holds(1.0)
    assert not planted.holds(0.0)
    others = (CANARY_TURNS[0], CANARY_TURNS[2])
    assert all(not planted_in(turn.triad, measure(turn.triad, refusal_phrases=())).asked for turn in others)


def test_a_bound_belongs_to_the_range() -> None:
    assert failures_of(CANARY_TURNS[1], graded(0.5)) == ()
    assert failures_of(CANARY_TURNS[1], graded(0.51)) == ("contradicted:faithfulness_too_high",)
