"""A run of the judge: what is called, tried again, recorded and given back."""

import asyncio
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from typing import Any

import pytest

from kb_pipeline.adapters.clock import SystemClock
from kb_pipeline.adapters.gateway import DialectMemory, GatewayJudge
from kb_pipeline.demo.reference_judge import Faults, ReferenceJudge
from kb_pipeline.errors import DatabaseError
from kb_pipeline.records import Claim, ErrorClass, Graded, Judgement, JudgeVersion, Score, StepReport, Ungraded, Usage
from kb_pipeline.steps.judge import JudgeLimits, judge_window
from kb_pipeline.windows import Window
from kb_pipeline_tests.turns import VERSION, WINDOW, claim

WHOLE = Score(value=1.0, reason="ok")
GRADED = Graded(
    faithfulness=WHOLE,
    answer_relevance=WHOLE,
    context_relevance=WHOLE,
    usage=Usage(calls=1, prompt_tokens=100, completion_tokens=10),
)
Answer = Callable[[Claim], Awaitable[Judgement]]


def failed(error_class: ErrorClass, retry_after: float | None = None) -> Ungraded:
    return Ungraded(error_class=error_class, retry_after=retry_after, usage=Usage(calls=1))


class Book:
    """A claim book in memory; `journal` keeps what was asked of it."""

    def __init__(self, turns: int, version: JudgeVersion = VERSION) -> None:
        self.version = version
        self.waiting = [claim(f"event-{n}", version=version) for n in range(turns)]
        self.settled: dict[str, Judgement] = {}
        self.released: list[str] = []
        self.retried: Counter[str] = Counter()

    def claim(
        self, window: Window, version: JudgeVersion, *, limit: int, exclude: Collection[str] = ()
    ) -> Sequence[Claim]:
        assert (window, version) == (WINDOW, self.version)
        taken = [each for each in self.waiting if each.event_id not in exclude][:limit]
        self.waiting = [each for each in self.waiting if each not in taken]
        return taken

    def settle(self, outcomes: Sequence[tuple[Claim, Judgement]]) -> None:
        assert not self.settled.keys() & {claimed.event_id for claimed, _ in outcomes}
        self.settled |= {claimed.event_id: judgement for claimed, judgement in outcomes}

    def retry(self, claim: Claim, failed: Ungraded) -> Claim | None:
        self.retried[claim.event_id] += 1
        used = int(failed.uses_attempt)
        key = f"{claim.event_id}:r{claim.calls + 1}"
        return replace(claim, calls=claim.calls + 1, attempts=claim.attempts + used, idempotency_key=key)

    def release(self, claims: Sequence[Claim]) -> None:
        self.released += [claimed.event_id for claimed in claims]

    def errors(self) -> Counter[ErrorClass]:
        return Counter(each.error_class for each in self.settled.values() if isinstance(each, Ungraded))


class Judge(AbstractAsyncContextManager["Judge"]):
    """A judge that answers by a function, and counts."""

    version = VERSION

    def __init__(self, answer: Answer) -> None:
        self._answer = answer
        self.keys: list[str] = []
        self.in_flight = self.most = 0

    async def __aexit__(self, *_: object) -> None:
        assert self.in_flight == 0

    async def grade(self, claim: Claim) -> Judgement:
        self.keys.append(claim.idempotency_key)
        self.in_flight += 1
        self.most = max(self.most, self.in_flight)
        try:
            return await self._answer(claim)
        finally:
            self.in_flight -= 1


async def at_once(_: Claim) -> Judgement:
    await asyncio.sleep(0)
    return GRADED


def limits(**changes: Any) -> JudgeLimits:
    return JudgeLimits(**({"max_batch": 100, "concurrency": 4, "timeout_s": 5.0, "max_attempts": 3} | changes))


def run(book: Book, judge: Judge, **changes: Any) -> dict[str, float]:
    report = judge_window(WINDOW, book=book, judge=judge, clock=SystemClock(), limits=limits(**changes))
    return dict(report.counts)


# --- a judge that works ----------------------------------------------------------------------------------------------


def test_every_waiting_turn_is_called_once_and_recorded() -> None:
    book, judge = Book(50), Judge(at_once)
    counts = run(book, judge)
    assert sorted(judge.keys) == sorted(f"event-{n}" for n in range(50))
    assert set(book.settled.values()) == {GRADED}
    assert (counts["claimed"], counts["graded"], counts["errors"], counts["released"]) == (50, 50, 0, 0)
    assert (counts["calls"], counts["prompt_tokens"], counts["completion_tokens"]) == (50, 5000, 500)
    assert counts["stopped_early"] == 0


def test_no_more_turns_are_claimed_than_a_run_may() -> None:
    book, judge = Book(50), Judge(at_once)
    assert run(book, judge, max_batch=7)["claimed"] == 7
    assert (len(book.settled), len(book.waiting)) == (7, 43)


def test_turns_are_called_oldest_first() -> None:
    judge = Judge(at_once)
    run(Book(9), judge, concurrency=1)
    assert judge.keys == [f"event-{n}" for n in range(9)]


def test_a_claim_that_brings_less_than_asked_for_does_not_end_the_run() -> None:
    class Contended(Book):
        def claim(
            self, window: Window, version: JudgeVersion, *, limit: int, exclude: Collection[str] = ()
        ) -> Sequence[Claim]:
            return super().claim(window, version, limit=max(1, limit // 2), exclude=exclude)

    assert run(Contended(30), Judge(at_once))["graded"] == 30


def test_an_empty_window_calls_nobody() -> None:
    judge = Judge(at_once)
    assert run(Book(0), judge)["calls"] == 0
    assert judge.keys == []


def test_never_more_calls_are_in_flight_than_allowed() -> None:
    async def slowly(_: Claim) -> Judgement:
        await asyncio.sleep(0.01)
        return GRADED

    judge = Judge(slowly)
    run(Book(60), judge, concurrency=5)
    assert judge.most == 5


def test_calls_go_on_while_outcomes_are_written() -> None:
    class Slow(Book):
        def settle(self, outcomes: Sequence[tuple[Claim, Judgement]]) -> None:
            time.sleep(0.1)
            super().settle(outcomes)

    book = Slow(40)
    started = time.monotonic()
    run(book, Judge(at_once))
    assert len(book.settled) == 40
    assert time.monotonic() - started < 2.0


def test_progress_is_told_after_each_call() -> None:
    seen: list[StepReport] = []
    judge_window(
        WINDOW, book=Book(5), judge=Judge(at_once), clock=SystemClock(), limits=limits(), on_progress=seen.append
    )
    assert [report.counts["graded"] for report in seen] == [1, 2, 3, 4, 5]


def test_it_works_from_a_thread_that_runs_an_event_loop() -> None:
    async def caller() -> dict[str, float]:
        return run(Book(5), Judge(at_once))

    assert asyncio.run(caller())["graded"] == 5


def test_it_works_from_any_other_thread() -> None:
    book = Book(5)
    thread = threading.Thread(target=run, args=(book, Judge(at_once)))
    thread.start()
    thread.join()
    assert len(book.settled) == 5


# --- single calls that fail ------------------------------------------------------------------------------------------


def failing_first(
    times: int, *, error_class: ErrorClass, only: str = "event-3", retry_after: float | None = None
) -> Answer:
    seen: Counter[str] = Counter()

    async def answer(claimed: Claim) -> Judgement:
        await asyncio.sleep(0.001)
        seen[claimed.event_id] += 1
        fails = claimed.event_id == only and seen[claimed.event_id] <= times
        return failed(error_class, retry_after) if fails else GRADED

    return answer


@pytest.mark.parametrize("error_class", [ErrorClass.HTTP_5XX, ErrorClass.CONNECTION, ErrorClass.NOT_JSON])
def test_a_call_that_can_succeed_is_made_again_in_the_same_run(error_class: ErrorClass) -> None:
    book, judge = Book(8), Judge(failing_first(1, error_class=error_class))
    counts = run(book, judge)
    assert (counts["graded"], counts["calls"], counts["retries"]) == (8, 9, 1)
    assert judge.keys.count("event-3") == judge.keys.count("event-3:r1") == 1
    assert book.retried == {"event-3": 1}


def test_a_wait_that_the_server_asks_for_is_kept() -> None:
    book, judge = Book(3), Judge(failing_first(1, error_class=ErrorClass.RATE_LIMITED, only="event-1", retry_after=1.0))
    started = time.monotonic()
    assert run(book, judge)["graded"] == 3
    assert 1.0 <= time.monotonic() - started < 2.0


def test_a_long_wait_is_left_to_a_later_run() -> None:
    book = Book(3)
    judge = Judge(failing_first(1, error_class=ErrorClass.RATE_LIMITED, only="event-1", retry_after=600))
    counts = run(book, judge)
    assert (counts["graded"], counts["errors"], counts["error_rate_limited"]) == (2, 1, 1)


def test_a_refusal_is_not_tried_again() -> None:
    judge = Judge(failing_first(1, error_class=ErrorClass.HTTP_4XX))
    book = Book(8)
    assert run(book, judge)["calls"] == 8
    assert book.errors() == {ErrorClass.HTTP_4XX: 1}


def test_unusable_replies_end_when_the_attempts_do() -> None:
    judge = Judge(failing_first(99, error_class=ErrorClass.BAD_SCHEMA))
    book = Book(12)
    counts = run(book, judge, max_attempts=3)
    assert sum(key.startswith("event-3") for key in judge.keys) == 3
    assert (counts["graded"], counts["error_bad_schema"]) == (11, 1)


def test_repeated_calls_are_bounded_by_a_budget() -> None:
    seen: Counter[str] = Counter()

    async def every_first(claimed: Claim) -> Judgement:
        await asyncio.sleep(0.001)
        seen[claimed.event_id] += 1
        return failed(ErrorClass.HTTP_5XX) if seen[claimed.event_id] == 1 and int(claimed.event_id[6:]) % 2 else GRADED

    book = Book(100)
    counts = run(book, Judge(every_first))
    assert counts["calls"] <= 1.3 * 100
    assert counts["graded"] + counts["errors"] == 100
    assert counts["errors"] > 0


def test_a_claim_that_was_lost_is_left_alone() -> None:
    class Losing(Book):
        def retry(self, claim: Claim, failed: Ungraded) -> Claim | None:  # noqa: ARG002 it is lost in any case
            return None

    book = Losing(6)
    judge = Judge(failing_first(1, error_class=ErrorClass.HTTP_5XX))
    assert run(book, judge)["calls"] == 6
    assert "event-3" not in book.settled
    assert book.released == []


# --- a judge that is down --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("concurrency", [1, 4, 20])
def test_a_judge_that_hangs_ends_the_run_within_two_time_limits(concurrency: int) -> None:
    async def hang(_: Claim) -> Judgement:
        await asyncio.sleep(0.4)
        return failed(ErrorClass.TIMEOUT)

    book, judge = Book(100), Judge(hang)
    started = time.monotonic()
    counts = run(book, judge, concurrency=concurrency, timeout_s=0.4)
    assert time.monotonic() - started < 5 * 0.4 + 1
    assert counts["stopped_early"] == 1
    assert judge.most <= concurrency
    assert len(judge.keys) < 100
    left_in_error = {event.partition(":")[0] for event in judge.keys}
    assert counts["errors"] == len(left_in_error)
    untouched = set(book.released) - left_in_error
    assert len(left_in_error) + len(untouched) + len(book.waiting) == 100
    assert counts["claimed"] == counts["errors"] + counts["released"]


def test_a_judge_that_refuses_connections_ends_the_run_at_once() -> None:
    async def refuse(_: Claim) -> Judgement:
        return failed(ErrorClass.CONNECTION)

    started = time.monotonic()
    counts = run(Book(100), Judge(refuse))
    assert time.monotonic() - started < 1.0
    assert counts["errors"] <= 10
    assert counts["stopped_early"] == 1


def test_a_judge_that_writes_rubbish_does_not_use_up_the_batch() -> None:
    async def rubbish(_: Claim) -> Judgement:
        await asyncio.sleep(0.001)
        return failed(ErrorClass.NOT_JSON)

    counts = run(Book(100), Judge(rubbish))
    assert counts["errors"] < 30
    assert counts["stopped_early"] == 1


def test_a_judge_that_goes_down_midway_keeps_what_it_gave() -> None:
    calls = 0

    async def for_a_while(_: Claim) -> Judgement:
        nonlocal calls
        calls += 1
        number = calls
        await asyncio.sleep(0.001)
        return GRADED if number <= 30 else failed(ErrorClass.CONNECTION)

    book = Book(100)
    counts = run(book, Judge(for_a_while))
    assert counts["graded"] == 30
    assert counts["stopped_early"] == 1
    assert counts["errors"] < 15


def test_a_burst_of_refusals_beside_working_calls_stops_nothing() -> None:
    running = 0

    async def small_server(_: Claim) -> Judgement:
        nonlocal running
        if running >= 4:
            return failed(ErrorClass.RATE_LIMITED)
        running += 1
        await asyncio.sleep(0.02)
        running -= 1
        return GRADED

    counts = run(Book(100), Judge(small_server), concurrency=16)
    assert counts["stopped_early"] == 0
    assert counts["graded"] >= 70
    assert counts["graded"] + counts["errors"] == 100


# --- a run that is stopped -------------------------------------------------------------------------------------------


def test_an_error_of_the_book_ends_the_run_and_frees_its_claims() -> None:
    class Broken(Book):
        def settle(self, outcomes: Sequence[tuple[Claim, Judgement]]) -> None:
            if outcomes:
                raise DatabaseError("the database went away")

    book = Broken(50)
    with pytest.raises(DatabaseError, match="went away"):
        run(book, Judge(at_once))


def test_an_error_of_the_judge_itself_is_not_swallowed() -> None:
    async def bug(_: Claim) -> Judgement:
        raise ZeroDivisionError

    book, judge = Book(20), Judge(bug)
    with pytest.raises(ZeroDivisionError):
        run(book, judge)
    assert {*judge.keys, *book.released, *(each.event_id for each in book.waiting)} == {f"event-{n}" for n in range(20)}


class Interrupted(BaseException):
    """What a scheduler raises from its own signal handler."""


@pytest.mark.parametrize("with_handler", [False, True], ids=["Ctrl-C", "a handler that raises"])
def test_a_run_that_is_interrupted_records_what_it_has_and_gives_back_the_rest(*, with_handler: bool) -> None:
    async def some(claimed: Claim) -> Judgement:
        if int(claimed.event_id[6:]) < 5:
            return GRADED
        await asyncio.sleep(30)
        return GRADED

    def interrupt(_: int, __: object) -> None:
        raise Interrupted

    book, judge = Book(20), Judge(some)
    number = signal.SIGTERM if with_handler else signal.SIGINT
    before = signal.signal(signal.SIGTERM, interrupt) if with_handler else signal.getsignal(signal.SIGTERM)
    timer = threading.Timer(0.4, os.kill, (os.getpid(), number))
    timer.start()
    try:
        with pytest.raises(Interrupted if with_handler else KeyboardInterrupt):
            run(book, judge)
    finally:
        timer.join()
        signal.signal(signal.SIGTERM, before)
    assert set(book.settled) == {f"event-{n}" for n in range(5)}
    called = set(judge.keys)
    assert book.released
    assert not called & set(book.released)
    assert called | set(book.released) | {each.event_id for each in book.waiting} == {f"event-{n}" for n in range(20)}


@pytest.mark.parametrize("repetition", range(8))
def test_an_interrupt_that_strikes_inside_a_call_is_not_lost(repetition: int) -> None:
    """Whoever embeds the run raises an exception of his own from his handler, wherever the run just is."""

    async def busy(_: Claim) -> Judgement:
        for _step in range(100_000):
            await asyncio.sleep(0)
        return GRADED

    def interrupt(_signal: int, _frame: object) -> None:
        raise Interrupted

    before = signal.signal(signal.SIGINT, interrupt)
    timer = threading.Timer(0.02 + repetition / 100, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    try:
        with pytest.raises(Interrupted):
            run(Book(4), Judge(busy), concurrency=2)
    finally:
        timer.join()
        signal.signal(signal.SIGINT, before)


def test_sigterm_gives_back_the_claims_and_ends_the_process_with_143() -> None:
    script = textwrap.dedent(
        """
        import asyncio, sys
        from kb_pipeline_tests.steps import test_judge as t

        async def hang(_):
            print("called", flush=True)
            await asyncio.sleep(30)

        book = t.Book(10)
        try:
            t.run(book, t.Judge(hang), concurrency=2)
        finally:
            print("released", len(book.released), flush=True)
        """
    )
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "called\n"
        process.send_signal(signal.SIGTERM)
        output = process.stdout.read()
        assert process.wait(10) == 143
    assert "released 2" in output


# --- on the wire -----------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_under_faults_every_turn_is_whole_in_one_run_at_few_calls() -> None:
    faults = Faults(rate_limited=0.05, server_error=0.05, hang=0.02, malformed=0.05, latency_s=0.02, seed=3)
    book = Book(200)
    with ReferenceJudge(faults) as reference:
        judge = GatewayJudge(
            base_url=reference.base_url,
            model=VERSION.model,
            tenant="t",
            timeout_s=2.0,
            concurrency=20,
            dialects=DialectMemory(),
        )
        report = judge_window(
            WINDOW,
            book=book,
            judge=judge,
            clock=SystemClock(),
            limits=limits(max_batch=200, concurrency=20, timeout_s=2.0),
        )
    assert report.counts["graded"] == 200
    assert report.counts["calls"] <= 1.3 * 200


def test_limits_must_be_positive() -> None:
    with pytest.raises(ValueError, match="concurrency"):
        limits(concurrency=0)
