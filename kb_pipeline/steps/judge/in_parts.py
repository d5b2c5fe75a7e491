"""A judge that grades by parts what exceeds the context window of the judge that it asks.

Belongs here: the calls of one turn, what came back of them, a window that proves smaller. Does not: the plan, the rule
that combines scores, HTTP.
"""

import asyncio
from dataclasses import replace
from types import TracebackType
from typing import Self

from kb_pipeline.grading.judging import idempotency_key, nonce_of
from kb_pipeline.grading.judging.combining import added, combined
from kb_pipeline.grading.judging.cost import characters_within
from kb_pipeline.grading.judging.parts import Part, Parts, Plan, TooLong, Whole, plan_parts
from kb_pipeline.ports import Judge
from kb_pipeline.records import Claim, ErrorClass, Graded, Judgement, Shown, Ungraded, Usage

# A text may take more tokens than its characters say: a refused call is planned anew for so much of the window.
_SMALLER = 0.7
_MOST_PLANS = 8


class InParts:
    """Asks `judge` for each turn once where its window of `context_tokens` holds the turn, else part after part.

    Parts that came back are kept until the turn is graded or the judge is closed, so a turn that is tried again asks
    only for the others. Where the server says that its window is smaller, later turns are planned for that.
    """

    def __init__(self, judge: Judge, *, context_tokens: int) -> None:
        self.version = judge.version
        self._judge = judge
        self._context_tokens = context_tokens
        self._kept: dict[str, dict[str, Graded]] = {}

    async def __aenter__(self) -> Self:
        await self._judge.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> bool | None:
        self._kept.clear()
        return await self._judge.__aexit__(kind, error, traceback)

    async def grade(self, claim: Claim) -> Judgement:
        """The scores of the turn, of all parts together, or why there are none; with what every call cost."""
        tokens = self._context_tokens
        refusal: Ungraded | None = None
        for _ in range(_MOST_PLANS):
            plan = await _planned(claim, characters_within(tokens))
            if isinstance(plan, TooLong):
                return _left_out(plan, refusal)
            if refusal is None or isinstance(plan, Parts):
                judgement = await self._by_plan(claim, plan, refusal.usage if refusal else Usage())
                if not (isinstance(judgement, Ungraded) and judgement.too_long):
                    return judgement
                refusal = judgement
            tokens = self._smaller(tokens, refusal)
        return refusal or Ungraded(error_class=ErrorClass.HTTP_4XX, too_long=True)

    async def _by_plan(self, claim: Claim, plan: Whole | Parts, spent: Usage) -> Judgement:
        if isinstance(plan, Parts):
            return await self._by_parts(claim, plan, spent)
        judgement = await self._judge.grade(replace(claim, triad=plan.triad))
        if isinstance(judgement, Graded):
            return replace(judgement, shown=Shown(history_left_out=plan.history_left_out))
        return judgement

    async def _by_parts(self, claim: Claim, plan: Parts, spent: Usage) -> Judgement:
        """One part after the other, so that a turn takes no more of the server at once than another."""
        kept = self._kept.setdefault(claim.event_id, {})
        grades: list[Graded] = []
        for part in plan.parts:
            asked = _claim_of(claim, part, calls=claim.calls + spent.calls)
            mark = nonce_of(claim.event_id, part.triad)
            if mark not in kept:
                judgement = await self._judge.grade(asked)
                spent = added(spent, judgement.usage)
                if isinstance(judgement, Ungraded):
                    return replace(judgement, detail=f"part {part.name}: {judgement.detail}", usage=spent)
                kept[mark] = judgement
            grades.append(kept[mark])
        del self._kept[claim.event_id]
        return combined(plan, grades, spent)

    def _smaller(self, tokens: int, refusal: Ungraded) -> int:
        """The window to plan for after a refusal: the server's own figure where it is smaller, else a part of it."""
        told = refusal.window_tokens
        if told is not None and told < tokens:
            self._context_tokens = min(self._context_tokens, told)
            return told
        return int(tokens * _SMALLER)


def _left_out(plan: TooLong, refusal: Ungraded | None) -> Ungraded:
    """No scores for want of room, after what the server said of it."""
    said = f"{refusal.detail}; " if refusal else ""
    return Ungraded(
        error_class=ErrorClass.HTTP_4XX,
        detail=f"{said}too long for the judge: {plan.reason}",
        too_long=True,
        usage=refusal.usage if refusal else Usage(),
    )


async def _planned(claim: Claim, room: int) -> Plan:
    """The plan; one that needs its time, up to a second, is made beside the event loop."""
    triad = claim.triad
    if len(triad.question) + len(triad.context) + len(triad.answer) <= room:
        return plan_parts(triad, claim.metrics, room)
    return await asyncio.to_thread(plan_parts, triad, claim.metrics, room)


def _claim_of(claim: Claim, part: Part, *, calls: int) -> Claim:
    """The part as a claim of its own; its key is the same in every run that asks for the same texts."""
    mark = nonce_of(claim.event_id, part.triad)
    key = idempotency_key(claim.event_id, calls=calls, version=claim.version, response_format="", part=mark)
    return replace(claim, triad=part.triad, metrics=part.metrics, calls=calls, idempotency_key=key, part=part.name)
