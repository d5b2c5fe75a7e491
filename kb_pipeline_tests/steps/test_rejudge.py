"""Which turns a rejudge takes, in what batches, and when it stops; without a database or a judge."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from kb_pipeline.grading.examination import is_sampled
from kb_pipeline.grading.judging.cost import tokens_of
from kb_pipeline.records import RejudgeableTurn, Standing, StepReport
from kb_pipeline.steps.rejudge import Asked, Stop, foresee, rejudge
from kb_pipeline.windows import Window

START = datetime(2026, 7, 9, tzinfo=UTC)
WINDOW = Window(START, START + timedelta(hours=5))
EACH = tokens_of(1, 100)


class Turns:
    """Turns in memory, in pages of at most 7."""

    def __init__(self, standings: Sequence[Standing]) -> None:
        self.all = [
            RejudgeableTurn(ts=START + timedelta(seconds=n // 3), event_id=f"e{n:04d}", standing=each, characters=100)
            for n, each in enumerate(standings)
        ]

    def after(self, window: Window, last: RejudgeableTurn | None, *, chunk: int) -> Sequence[RejudgeableTurn]:  # noqa: ARG002
        key = (last.ts, last.event_id) if last else (START, "")
        return [turn for turn in self.all if (turn.ts, turn.event_id) > key][:7]


class Grader:
    """Grades every batch, or leaves every turn with an error; notes what it was given and what it cost."""

    def __init__(self, *, works: bool = True, budget: int | None = None) -> None:
        self.works, self.left = works, budget
        self.batches: list[list[str]] = []

    def grade(self, batch: Sequence[RejudgeableTurn]) -> StepReport:
        self.batches.append([turn.event_id for turn in batch])
        if self.left is not None and self.works:
            self.left -= EACH * len(batch)
        return StepReport(counts={"graded": len(batch) * self.works, "errors": len(batch) * (not self.works)})

    def tokens_left(self) -> int | None:
        return self.left

    @property
    def graded(self) -> list[str]:
        return [event_id for batch in self.batches for event_id in batch]


standings = st.lists(st.sampled_from(Standing), max_size=60)


@given(standings, st.floats(0.01, 1), st.none() | st.integers(1, 20), st.integers(1, 9))
def test_every_open_turn_of_the_sample_is_graded_once_in_order_up_to_the_limit(
    found: list[Standing], rate: float, limit: int | None, batch: int
) -> None:
    turns, grader = Turns(found), Grader()
    asked = Asked(window=WINDOW, sample_rate=rate, limit=limit)
    forecast = foresee(asked, turns=turns)
    report = rejudge(asked, turns=turns, grade=grader.grade, batch=batch, tokens_left=grader.tokens_left)
    wanted = [turn.event_id for turn in turns.all if turn.standing is Standing.OPEN and is_sampled(turn.event_id, rate)]
    assert grader.graded == wanted[:limit]
    assert all(0 < len(each) <= batch for each in grader.batches)
    assert report.stopped is None
    assert forecast.turns == len(grader.graded)
    assert sum(forecast.standings.values()) == sum(is_sampled(turn.event_id, rate) for turn in turns.all)


@given(st.integers(0, 40), st.integers(0, 30), st.integers(1, 9))
def test_the_budget_is_never_passed_by_more_than_one_turn(turns: int, affordable: int, batch: int) -> None:
    source, grader = Turns([Standing.OPEN] * turns), Grader(budget=EACH * affordable + EACH // 2)
    asked = Asked(window=WINDOW)
    report = rejudge(asked, turns=source, grade=grader.grade, batch=batch, tokens_left=grader.tokens_left)
    assert len(grader.graded) == min(turns, affordable + 1)
    assert report.stopped is (Stop.TOKENS if turns > affordable + 1 else None)
    assert len(set(grader.graded)) == len(grader.graded)


def test_a_judge_that_gives_no_score_is_left_after_five_turns_even_in_batches_of_one() -> None:
    grader = Grader(works=False)
    turns = Turns([Standing.OPEN] * 50)
    report = rejudge(Asked(window=WINDOW), turns=turns, grade=grader.grade, batch=1, tokens_left=grader.tokens_left)
    assert report.stopped is Stop.OUTAGE
    assert len(grader.graded) == 5


def test_a_run_that_says_that_it_stopped_early_is_the_last() -> None:
    turns = Turns([Standing.OPEN] * 50)

    def grade(batch: Sequence[RejudgeableTurn]) -> StepReport:
        return StepReport(counts={"graded": 1, "errors": len(batch) - 1, "stopped_early": 1})

    report = rejudge(Asked(window=WINDOW), turns=turns, grade=grade, batch=10, tokens_left=lambda: None)
    assert (report.stopped, report.counts["graded"]) == (Stop.OUTAGE, 1)
