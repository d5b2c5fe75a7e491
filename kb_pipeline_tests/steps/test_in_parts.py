"""A turn that exceeds the window of the judge: which calls are made, which are made again, what they come to."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from types import TracebackType
from typing import Any, Self

import pytest

from kb_pipeline.grading.judging.cost import characters_within
from kb_pipeline.records import Claim, ErrorClass, Graded, Judgement, Passage, Score, Ungraded, Usage
from kb_pipeline.steps.judge import InParts
from kb_pipeline_tests.turns import VERSION, claim, metrics, triad

WINDOW = 4_096
ROOM = characters_within(WINDOW)
GRADED = Graded(
    faithfulness=Score(value=1.0, reason="ya"),
    answer_relevance=Score(value=1.0, reason="ya"),
    context_relevance=Score(value=1.0, reason="ya"),
    usage=Usage(calls=1, prompt_tokens=100, completion_tokens=10, latency_ms=5, response_format="json_schema"),
)
TOO_LONG = Ungraded(error_class=ErrorClass.HTTP_4XX, detail="HTTP 400", too_long=True, usage=Usage(calls=1))
OUTAGE = Ungraded(error_class=ErrorClass.TIMEOUT, detail="silence", usage=Usage(calls=1, latency_ms=50))


class Inner:
    """A judge that does as `answer` says; keeps the claims that it was asked about."""

    def __init__(self, answer: Callable[[Claim], Judgement] = lambda _: GRADED) -> None:
        self.version = VERSION
        self.answer = answer
        self.asked: list[Claim] = []
        self.opened = 0

    async def __aenter__(self) -> Self:
        self.opened += 1
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.opened -= 1

    async def grade(self, claim: Claim) -> Judgement:
        self.asked.append(claim)
        return self.answer(claim)


def long_claim(sentences: int = 180, **changes: Any) -> Claim:
    """A turn whose answer needs several parts of the window."""
    answer = " ".join(f"Ketentuan ke-{number} berlaku bagi perseroan." for number in range(sentences))
    passages = tuple(
        Passage(rank=number, score=None, text=f"Ketentuan ke-{number} bagi perseroan. " * 10) for number in range(60)
    )
    turn = triad(context="\n".join(passage.text for passage in passages), passages=passages, answer=answer)
    whole = metrics(context_chars=len(turn.context), answer_chars=len(turn.answer))
    return claim(triad=turn, metrics=whole, **changes)


def grade(judge: InParts, *claims: Claim) -> list[Judgement]:
    async def run() -> list[Judgement]:
        async with judge:
            return [await judge.grade(each) for each in claims]

    return asyncio.run(run())


def test_a_turn_that_fits_is_asked_about_once_and_unchanged() -> None:
    inner = Inner()
    (judgement,) = grade(InParts(inner, context_tokens=WINDOW), claim())
    assert inner.asked == [claim()]
    assert judgement == GRADED
    assert inner.opened == 0


def test_a_turn_in_parts_has_the_scores_and_the_cost_of_all_of_them() -> None:
    inner = Inner()
    (judgement,) = grade(InParts(inner, context_tokens=WINDOW), long_claim())
    assert isinstance(judgement, Graded)
    count = len(inner.asked)
    assert judgement.shown.parts == count > 1
    assert judgement.usage == Usage(
        calls=count,
        prompt_tokens=100 * count,
        completion_tokens=10 * count,
        latency_ms=5 * count,
        response_format="json_schema",
    )
    assert [each.part for each in inner.asked] == [f"{number}/{count}" for number in range(1, count + 1)]
    assert "".join(each.triad.answer for each in inner.asked) == long_claim().triad.answer


def test_each_part_has_a_key_of_its_own_that_the_same_claim_has_again_after_a_crash() -> None:
    def keys(taken: Claim) -> list[str]:
        inner = Inner()
        grade(InParts(inner, context_tokens=WINDOW), taken)
        return [each.idempotency_key for each in inner.asked]

    first = keys(long_claim())
    assert len(set(first)) == len(first)
    assert "event-1" not in first
    assert keys(long_claim()) == first
    assert set(keys(long_claim(calls=3))).isdisjoint(first)


def test_a_turn_tried_again_asks_only_for_the_parts_that_did_not_come_back() -> None:
    attempts = {"2/": 1}

    def answer(asked: Claim) -> Judgement:
        if asked.part.startswith("2/") and attempts["2/"]:
            attempts["2/"] -= 1
            return OUTAGE
        return GRADED

    inner = Inner(answer)
    failed, judgement = grade(InParts(inner, context_tokens=WINDOW), long_claim(), long_claim(calls=2))
    assert isinstance(failed, Ungraded)
    assert (failed.error_class, failed.usage.calls) == (ErrorClass.TIMEOUT, 2)
    assert failed.detail.startswith("part 2/")
    assert isinstance(judgement, Graded)
    count = judgement.shown.parts
    assert judgement.usage.calls == (count or 0) - 1
    asked = [each.part.partition("/")[0] for each in inner.asked]
    assert asked == ["1", "2", "2", *map(str, range(3, (count or 0) + 1))]
    assert len({each.idempotency_key for each in inner.asked}) == len(asked)


def test_a_part_without_scores_leaves_the_turn_without_any() -> None:
    inner = Inner(lambda asked: replace(OUTAGE, error_class=ErrorClass.NOT_JSON) if asked.part[0] == "2" else GRADED)
    (judgement,) = grade(InParts(inner, context_tokens=WINDOW), long_claim())
    assert isinstance(judgement, Ungraded)
    assert judgement.error_class is ErrorClass.NOT_JSON
    assert len(inner.asked) == 2


def refusing(most: int, told: int | None) -> Callable[[Claim], Judgement]:
    """A server that refuses more than `most` characters, and says that its window has `told` tokens."""

    def answer(asked: Claim) -> Judgement:
        size = len(asked.triad.context) + len(asked.triad.answer)
        return replace(TOO_LONG, window_tokens=told) if size > most else GRADED

    return answer


@pytest.mark.parametrize("told", [WINDOW, None, 100_000])
def test_a_call_refused_as_too_long_is_made_again_in_smaller_parts(told: int | None) -> None:
    inner = Inner(refusing(ROOM, told))
    (judgement,) = grade(InParts(inner, context_tokens=20_000), long_claim())
    assert isinstance(judgement, Graded)
    assert judgement.shown.parts
    assert judgement.usage.calls == len(inner.asked)
    assert len({each.idempotency_key for each in inner.asked}) == len(inner.asked)
    assert inner.asked[0].part == ""
    assert all(each.part for each in inner.asked[1:])


def test_a_window_that_the_server_tells_is_kept_for_the_turns_that_follow() -> None:
    inner = Inner(refusing(ROOM, WINDOW))
    grade(InParts(inner, context_tokens=20_000), long_claim(), replace(long_claim(), event_id="event-2"))
    refused = [each for each in inner.asked if isinstance(inner.answer(each), Ungraded)]
    assert [each.event_id for each in refused] == ["event-1"]


def test_a_server_that_refuses_every_length_is_not_asked_for_ever() -> None:
    inner = Inner(lambda _: TOO_LONG)
    (judgement,) = grade(InParts(inner, context_tokens=20_000), long_claim())
    assert isinstance(judgement, Ungraded)
    assert judgement.too_long
    assert judgement.usage.calls == len(inner.asked) <= 8


def test_what_no_parts_can_hold_is_left_without_scores_and_without_a_call() -> None:
    inner = Inner()
    (judgement,) = grade(InParts(inner, context_tokens=WINDOW), long_claim(3_000))
    assert isinstance(judgement, Ungraded)
    assert (judgement.error_class, judgement.usage.calls, inner.asked) == (ErrorClass.HTTP_4XX, 0, [])
    assert "more than 8 parts" in judgement.detail
