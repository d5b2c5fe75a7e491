"""Grade turns again by another judge version, beside the scores they have.

Belongs here: which turns, in what batches, when to stop. Does not: claims and calls (steps/judge), SQL.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import islice

from kb_pipeline.grading.examination import is_sampled
from kb_pipeline.grading.judging.cost import tokens_of
from kb_pipeline.ports import RejudgeableTurns
from kb_pipeline.records import RejudgeableTurn, Standing, StepReport
from kb_pipeline.windows import Window

CHUNK = 1_000
# So many turns without a score and none with one: the judge is down, however small the batches are.
PATIENCE = 5

GradeBatch = Callable[[Sequence[RejudgeableTurn]], StepReport]


class Stop(StrEnum):
    """Why a rejudge ended before its turns did."""

    TOKENS = "tokens"
    OUTAGE = "outage"


@dataclass(frozen=True, kw_only=True, slots=True)
class Asked:
    """Which turns are asked for: those of the window, of these a share by hash of event_id, of these the first ones."""

    window: Window
    sample_rate: float = 1.0
    limit: int | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class RejudgeForecast:
    """Turns that were asked for by where they stand, and what the open ones would cost: calls, prompt tokens."""

    turns: int
    prompt_tokens: int
    standings: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True, slots=True)
class RejudgeReport:
    """What a rejudge did, as counts of its batches; `stopped` says why turns are left, if they are."""

    counts: dict[str, int | float]
    stopped: Stop | None = None


def foresee(asked: Asked, *, turns: RejudgeableTurns) -> RejudgeForecast:
    """What a rejudge would do; nobody is called, nothing is written."""
    standings = dict.fromkeys(map(str, Standing), 0)
    count = characters = 0
    for turn in _sampled(asked, turns):
        standings[turn.standing] += 1
        if turn.standing is Standing.OPEN and (asked.limit is None or count < asked.limit):
            count += 1
            characters += turn.characters
    return RejudgeForecast(turns=count, prompt_tokens=tokens_of(count, characters), standings=standings)


def rejudge(
    asked: Asked,
    *,
    turns: RejudgeableTurns,
    grade: GradeBatch,
    batch: int,
    tokens_left: Callable[[], int | None],
) -> RejudgeReport:
    """Grade every turn that is asked for, once, in batches of at most `batch`, the oldest first.

    A batch is cut to what by estimate fits the tokens left, at least one turn. It ends early when none are left, or
    when the judge is down: `grade` reports `stopped_early`, or five turns and more end without one score between them.
    Counts as in judge_window.
    """
    counts: Counter[str] = Counter()
    open_turns = islice((turn for turn in _sampled(asked, turns) if turn.standing is Standing.OPEN), asked.limit)
    waiting: list[RejudgeableTurn] = []
    barren: int | float = 0
    while waiting := waiting + list(islice(open_turns, batch - len(waiting))):
        affordable = _affordable(waiting, tokens_left())
        if not affordable:
            return RejudgeReport(counts=dict(counts), stopped=Stop.TOKENS)
        report = grade(waiting[:affordable])
        waiting = waiting[affordable:]
        counts.update(report.counts)
        barren = 0 if report.counts.get("graded") else barren + report.counts.get("errors", 0)
        if report.counts.get("stopped_early") or barren >= PATIENCE:
            return RejudgeReport(counts=dict(counts), stopped=Stop.OUTAGE)
    return RejudgeReport(counts=dict(counts))


def _sampled(asked: Asked, turns: RejudgeableTurns) -> Iterator[RejudgeableTurn]:
    last: RejudgeableTurn | None = None
    while page := turns.after(asked.window, last, chunk=CHUNK):
        last = page[-1]
        yield from (turn for turn in page if is_sampled(turn.event_id, asked.sample_rate))


def _affordable(batch: Sequence[RejudgeableTurn], left: int | None) -> int:
    """How many of the first turns fit what is left: at least one, unless nothing is left."""
    if left is None:
        return len(batch)
    if left <= 0:
        return 0
    count = characters = 0
    for turn in batch:
        characters += turn.characters
        if tokens_of(count + 1, characters) > left:
            break
        count += 1
    return max(1, count)
