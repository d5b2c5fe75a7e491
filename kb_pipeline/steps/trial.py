"""Asking a judge about turns of our own making, which belong to nobody and are never published.

Belongs here: calls and the tries that can help. Does not: the turns, what their verdicts mean.
"""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from kb_pipeline.grading.judging import idempotency_key
from kb_pipeline.grading.metrics import measure
from kb_pipeline.ports import Clock, Judge
from kb_pipeline.records import Claim, Graded, Judgement, Triad
from kb_pipeline.steps.judge.loop import run_to_end
from kb_pipeline.steps.judge.pacing import wait_before_retry

MOST_CALLS = 2


@dataclass(frozen=True, kw_only=True, slots=True)
class Trial:
    """One turn of our own under a name, which starts its idempotency key."""

    name: str
    triad: Triad


def ask(
    trials: Sequence[Trial], judge: Judge, clock: Clock, *, on_progress: Callable[[int], None] | None = None
) -> list[Judgement]:
    """What the judge says of each trial, in their order; each is called at most twice, with keys of this moment.

    The judge itself limits how many calls are in flight.
    """

    async def asked() -> list[Judgement]:
        async with judge:
            return await asyncio.gather(*(_asked(trial, judge, clock, on_progress) for trial in trials))

    return run_to_end(asked)


async def _asked(trial: Trial, judge: Judge, clock: Clock, on_progress: Callable[[int], None] | None) -> Judgement:
    claim = _claim(trial, judge, clock)
    judgement = await judge.grade(claim)
    for tries in range(1, MOST_CALLS):
        wait = None
        if not isinstance(judgement, Graded):
            wait = wait_before_retry(claim, judgement, tries=tries, max_attempts=MOST_CALLS)
        if wait is None:
            break
        await asyncio.sleep(wait)
        claim = _again(claim, judgement)
        judgement = await judge.grade(claim)
    if on_progress is not None:
        on_progress(1)
    return judgement


def _claim(trial: Trial, judge: Judge, clock: Clock) -> Claim:
    """A claim whose id carries the time, so that no gateway replays an older reply."""
    now = clock.now()
    event_id = f"{trial.name}-{now:%Y%m%dT%H%M%S%f}"
    return Claim(
        event_id=event_id,
        ts=now,
        version=judge.version,
        idempotency_key=event_id,
        calls=0,
        attempts=0,
        triad=trial.triad,
        metrics=measure(trial.triad, refusal_phrases=()),
    )


def _again(claim: Claim, failed: Judgement) -> Claim:
    calls = claim.calls + failed.usage.calls
    used_format = failed.usage.response_format or ""
    key = idempotency_key(claim.event_id, calls=calls, version=claim.version, response_format=used_format)
    return replace(claim, calls=calls, idempotency_key=key)
