"""One run over one window: claims in small batches as slots free, outcomes written while calls go on.

Belongs here: carrying out what limits and pacing decide. Does not: those decisions.
"""

import asyncio
from collections import Counter, deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, replace

from kb_pipeline.ports import ClaimBook, Clock, Judge
from kb_pipeline.records import Claim, ErrorClass, Graded, Judgement, StepReport, Ungraded
from kb_pipeline.steps.judge.limits import JudgeLimits
from kb_pipeline.steps.judge.loop import run_to_end
from kb_pipeline.steps.judge.pacing import Pace, RetryBudget, wait_before_retry
from kb_pipeline.windows import Window

Progress = Callable[[StepReport], None]

_COUNTS = (
    "claimed", "graded", "errors", "released", "calls", "retries",
    "prompt_tokens", "completion_tokens", "planned_calls", "stopped_early",
)  # fmt: skip


def judge_window(
    window: Window,
    *,
    book: ClaimBook,
    judge: Judge,
    clock: Clock,
    limits: JudgeLimits,
    on_progress: Progress | None = None,
) -> StepReport:
    """Judge the turns of `window` that wait, within `limits`; every outcome is in `book` when this returns.

    Counts: claimed = graded + errors + released (turns); error_<class> (turns), calls, retries, prompt_tokens,
    completion_tokens, planned_calls (of the claimed turns, one for each part), stopped_early (1 when the judge was
    taken to be down). Stopped by Ctrl-C, SIGTERM or an error of the book, it records the outcomes it has and releases
    the claims it has not called; turns in flight wait for the end of their lease. `on_progress` gets the counts so far
    after each call, in the thread of the run.
    """
    run = _Run(window, book=book, judge=judge, clock=clock, limits=limits, on_progress=on_progress)
    return run_to_end(run.to_end)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Call:
    """A claimed turn and its next call, the `tries`-th of this run; `failed` is what the one before it ended in."""

    claim: Claim
    tries: int = 1
    failed: ErrorClass | None = None
    started_at: float = 0.0


@dataclass(frozen=True, kw_only=True, slots=True)
class _Ended:
    """A call came back."""

    call: _Call
    judgement: Judgement


@dataclass(frozen=True, kw_only=True, slots=True)
class _Claimed:
    """The book gave turns; none means that no more wait."""

    claims: Sequence[Claim]


@dataclass(frozen=True, kw_only=True, slots=True)
class _Kept:
    """The book kept a turn for another call, after a wait in seconds; None when the claim was lost."""

    call: _Call | None
    wait: float


@dataclass(frozen=True, kw_only=True, slots=True)
class _Due:
    """A turn has waited for long enough."""

    call: _Call


@dataclass(frozen=True, kw_only=True, slots=True)
class _Settled:
    """The book recorded a batch of outcomes."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Broken:
    """The book or the judge raised."""

    error: BaseException


_Report = _Ended | _Claimed | _Kept | _Due | _Settled | _Broken


class _Run:
    """The state of one run, changed by one coroutine alone; calls, timers and the book's thread report to its queue."""

    def __init__(
        self,
        window: Window,
        *,
        book: ClaimBook,
        judge: Judge,
        clock: Clock,
        limits: JudgeLimits,
        on_progress: Progress | None,
    ) -> None:
        self._window, self._book, self._judge, self._clock, self._limits = window, book, judge, clock, limits
        self._on_progress = on_progress
        self._pace = Pace(ceiling=limits.concurrency, timeout_s=limits.timeout_s, now=clock.monotonic())
        self._last_start = clock.monotonic() + limits.longest_run_s
        self._budget = RetryBudget()
        self._counts: Counter[str] = Counter()
        self._tried: set[str] = set()
        self._ready: deque[_Call] = deque()
        self._waiting: list[_Call] = []
        self._in_flight: dict[str, asyncio.Task[None]] = {}
        self._outcomes: list[tuple[Claim, Judgement]] = []
        self._asked: set[Future[_Report]] = set()
        self._is_claiming = self._is_settling = self._is_exhausted = False
        self._reports: asyncio.Queue[_Report] = asyncio.Queue()
        self._book_thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="claim-book")

    async def to_end(self) -> StepReport:
        """Work until nothing is left that may be called, and leave the book in order however that ends."""
        try:
            async with self._judge:
                try:
                    await self._until_over()
                finally:
                    await self._without_calls()
        except BaseException:
            with suppress(Exception):  # the first error is the one to tell; leases mend the rest
                self._leave()
            raise
        self._leave()
        return self._report()

    async def _until_over(self) -> None:
        while True:
            self._start_calls()
            self._claim_more()
            self._settle_more()
            if self._is_over():
                return
            self._take(await self._reports.get())

    def _is_over(self) -> bool:
        if self._in_flight or self._asked or self._outcomes:
            return False
        now = self._clock.monotonic()
        is_down = self._pace.is_down(in_flight=0, now=now)
        is_done = self._is_exhausted and not self._ready and not self._waiting
        self._counts["stopped_early"] = int(is_down and not is_done)
        return is_down or is_done or now >= self._last_start

    def _claim_more(self) -> None:
        """Ask for turns when fewer are ready than half the slots; an ailing judge gets no more."""
        wanted = min(self._limits.concurrency, self._limits.max_batch - self._counts["planned_calls"])
        if wanted <= 0:
            self._is_exhausted = True
        is_short = len(self._ready) <= self._limits.concurrency // 2
        now = self._clock.monotonic()
        if self._is_exhausted or self._is_claiming or not is_short or self._pace.is_suspended(now=now):
            return
        if now < self._last_start:
            self._is_claiming = True
            tried = frozenset(self._tried)
            self._ask_book(lambda: _Claimed(claims=self._claims(wanted, tried)))

    def _claims(self, limit: int, tried: frozenset[str]) -> Sequence[Claim]:
        return self._book.claim(self._window, self._judge.version, limit=limit, exclude=tried)

    def _start_calls(self) -> None:
        now = self._clock.monotonic()
        while self._ready and now < self._last_start and self._pace.may_start(in_flight=len(self._in_flight), now=now):
            call = replace(self._ready.popleft(), started_at=now)
            if call.tries == 1:
                self._budget.turn_started()
            else:
                self._counts["retries"] += 1
            self._in_flight[call.claim.event_id] = asyncio.create_task(self._called(call))

    async def _called(self, call: _Call) -> None:
        try:
            self._reports.put_nowait(_Ended(call=call, judgement=await self._judge.grade(call.claim)))
        except asyncio.CancelledError:
            raise
        except BaseException as error:  # noqa: BLE001 the run's coroutine raises it; kept here, it would be waited for
            self._reports.put_nowait(_Broken(error=error))

    def _settle_more(self) -> None:
        """Hand over the outcomes so far in one batch; those that come meanwhile make the next one."""
        if self._outcomes and not self._is_settling:
            batch, self._outcomes = self._outcomes, []
            self._is_settling = True
            self._ask_book(lambda: self._settled(batch))

    def _settled(self, batch: Sequence[tuple[Claim, Judgement]]) -> _Settled:
        self._book.settle(batch)
        return _Settled()

    def _ask_book(self, work: Callable[[], _Report]) -> None:
        """Let the book's own thread do `work`, so that calls in flight go on; what comes of it is reported."""
        loop = asyncio.get_running_loop()
        future = self._book_thread.submit(work)
        self._asked.add(future)
        future.add_done_callback(lambda done: _tell(loop, lambda: self._reports.put_nowait(self._answer(done))))

    def _answer(self, future: Future[_Report]) -> _Report:
        self._asked.discard(future)
        error = future.exception()
        return future.result() if error is None else _Broken(error=error)

    def _take(self, report: _Report) -> None:
        match report:
            case _Ended(call=call, judgement=judgement):
                self._take_ended(call, judgement)
            case _Claimed(claims=claims):
                self._is_claiming = False
                # Fewer than asked for may only mean that another run took the rest of them.
                self._is_exhausted = not claims
                self._take_claims(claims)
            case _Kept(call=kept, wait=wait):
                if kept is not None:
                    self._waiting.append(kept)
                    asyncio.get_running_loop().call_later(wait, self._reports.put_nowait, _Due(call=kept))
            case _Due(call=due):
                self._waiting.remove(due)
                self._ready.appendleft(due)
            case _Settled():
                self._is_settling = False
            case _Broken(error=error):
                raise error

    def _take_claims(self, claims: Sequence[Claim]) -> None:
        self._counts["claimed"] += len(claims)
        self._counts["planned_calls"] += sum(claim.planned_calls for claim in claims)
        self._ready.extend(_Call(claim=claim) for claim in claims)

    def _take_ended(self, call: _Call, judgement: Judgement) -> None:
        del self._in_flight[call.claim.event_id]
        self._count_call(judgement)
        now = self._clock.monotonic()
        if isinstance(judgement, Graded):
            self._pace.succeeded(started_at=call.started_at, now=now)
            self._conclude(call.claim, judgement)
        else:
            self._pace.failed(judgement.error_class, started_at=call.started_at, now=now)
            self._retry_or_conclude(call, judgement)
        if self._on_progress is not None:
            self._on_progress(self._report())

    def _retry_or_conclude(self, call: _Call, failed: Ungraded) -> None:
        wait = wait_before_retry(call.claim, failed, tries=call.tries, max_attempts=self._limits.max_attempts)
        if wait is None or self._pace.is_suspended(now=self._clock.monotonic()) or not self._budget.take():
            self._conclude(call.claim, failed)
            return
        self._ask_book(lambda: self._kept(call, failed, wait))

    def _kept(self, call: _Call, failed: Ungraded, wait: float) -> _Kept:
        claim = self._book.retry(call.claim, failed)
        kept = None if claim is None else _Call(claim=claim, tries=call.tries + 1, failed=failed.error_class)
        return _Kept(call=kept, wait=wait)

    def _conclude(self, claim: Claim, judgement: Judgement) -> None:
        self._outcomes.append((claim, judgement))
        if isinstance(judgement, Graded):
            self._counts["graded"] += 1
        else:
            # A turn that was graded is no longer waiting; this one would be, so that it is named when more is claimed.
            self._tried.add(claim.event_id)
            self._count_error(judgement.error_class)

    def _count_error(self, error_class: ErrorClass) -> None:
        self._counts["errors"] += 1
        self._counts[f"error_{error_class}"] += 1

    def _count_call(self, judgement: Judgement) -> None:
        usage = judgement.usage
        self._counts["calls"] += usage.calls
        self._counts["prompt_tokens"] += usage.prompt_tokens or 0
        self._counts["completion_tokens"] += usage.completion_tokens or 0

    async def _without_calls(self) -> None:
        """Cancel what is still in flight and wait until it is gone."""
        tasks = list(self._in_flight.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _leave(self) -> None:
        """Record what came back, give back what was not called. The book's thread has ended: it is called from here."""
        self._book_thread.shutdown(wait=True)
        reports = [self._reports.get_nowait() for _ in range(self._reports.qsize())]
        reports += [future.result() for future in self._asked if future.exception() is None]
        for report in reports:
            self._take_last(report)
        for call in [*self._ready, *self._waiting]:
            if call.failed is None:
                self._counts["released"] += 1
            else:
                self._count_error(call.failed)
        self._book.settle(self._outcomes)
        self._book.release([call.claim for call in [*self._ready, *self._waiting]])

    def _take_last(self, report: _Report) -> None:
        """Take what a report brings when nothing may start any more."""
        match report:
            case _Ended(call=call, judgement=judgement):
                self._count_call(judgement)
                self._conclude(call.claim, judgement)
            case _Claimed(claims=claims):
                self._take_claims(claims)
            case _Kept(call=_Call() as kept):
                self._waiting.append(kept)

    def _report(self) -> StepReport:
        return StepReport(counts=dict.fromkeys(_COUNTS, 0) | dict(self._counts))


def _tell(loop: asyncio.AbstractEventLoop, callback: Callable[[], None]) -> None:
    """Run `callback` in `loop`; when that is closed, whoever closed it looks for itself."""
    with suppress(RuntimeError):
        loop.call_soon_threadsafe(callback)
