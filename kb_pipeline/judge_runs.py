"""Runs of the configured judge over a window: whether one may call it now, for how many turns, and what is learnt.

Belongs here: composition of the judge step with its claims, its client and its account. Does not: the loop over hours.
"""

from collections import Counter
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import partial

from kb_pipeline.adapters.gateway import GatewayJudge, refuse_public_host
from kb_pipeline.adapters.postgres.claims import PostgresClaimBook, Rejudging, claim_book
from kb_pipeline.adapters.postgres.connection import Database
from kb_pipeline.adapters.postgres.judge_account import PostgresJudgeAccount
from kb_pipeline.adapters.postgres.publication import PostgresPublication
from kb_pipeline.grading.judging.cost import tokens_of
from kb_pipeline.ports import Clock, Judge
from kb_pipeline.records import ErrorClass, JudgeVersion, StepReport
from kb_pipeline.settings import RagQualitySettings
from kb_pipeline.steps.judge import JudgeLimits, judge_window
from kb_pipeline.windows import Window

# A claim outlives a full queue of slow calls; a run that dies loses its claims at once, whatever the lease.
LEASE_TIMEOUTS = 4
LEASE_SPARE_S = 60.0
# Twice as many as a run needs to take the judge to be down.
PROBE_TURNS = 16
OUTAGES_OF_A_SHORT_RUN = 3


class JudgeRuns:
    """Runs of one judge version, None where judging is off; `account` knows its tokens and its outages."""

    def __init__(
        self,
        quality: RagQualitySettings,
        database: Database,
        *,
        version: JudgeVersion | None,
        publication: PostgresPublication,
        judge_chars: int,
        clock: Clock,
    ) -> None:
        self._quality = quality
        self._database = database
        self._version = version
        self._publication = publication
        self._judge_chars = judge_chars
        self._clock = clock
        self.account = PostgresJudgeAccount(database, version=version, daily_tokens=quality.judge_daily_tokens)

    def judge(
        self,
        window: Window,
        *,
        limit: int | None = None,
        ignore_waits: bool = False,
        on_progress: Callable[[StepReport], None] | None = None,
    ) -> StepReport:
        """Grade up to `limit` (default max_batch) waiting turns; raises JudgeRefused for a public host.

        None once the day has cost judge_daily_tokens; before, as many as by estimate fit what is left, at least one.
        Unless `ignore_waits`, none either before a judge that was found down, or a turn that got no scores, is due
        again. The report's notes say so, of the window's turns. Of a judge that was down a few turns are asked first,
        those that failed least: a few that it always fails on do not pass for an outage.
        """
        if self._version is None:
            return StepReport(counts={"claimed": 0})
        refuse_public_host(self._quality.judge_base_url, allow_external=self._quality.allow_external_judge)
        most = self._affordable(window, self._quality.max_batch if limit is None else limit, ignore_waits=ignore_waits)
        if most <= 0:
            return StepReport(counts={"claimed": 0}, notes=self._notes(window))
        run = partial(self._run, window, self._version, ignore_waits=ignore_waits, on_progress=on_progress)
        if not self.account.was_down():
            return StepReport(counts=run(most), notes=self._notes(window))
        counts = run(min(most, PROBE_TURNS), probing=True)
        if counts["graded"] and most > counts["claimed"] and not counts["stopped_early"]:
            counts += run(most - counts["claimed"])
        return StepReport(counts=counts, notes=self._notes(window))

    def _run(
        self,
        window: Window,
        version: JudgeVersion,
        limit: int,
        *,
        ignore_waits: bool,
        probing: bool = False,
        on_progress: Callable[[StepReport], None] | None,
    ) -> Counter[str]:
        limits = self._limits(limit)
        with self._book(limits, ignore_waits=ignore_waits, probing=probing) as book:
            judge = gateway_judge(self._quality, version)
            report = judge_window(
                window, book=book, judge=judge, clock=self._clock, limits=limits, on_progress=on_progress
            )
        if report.counts["graded"]:
            self.account.found_up()
        if _found_down(report):
            self.account.found_down(self._clock.now(), asked_s=book.longest_retry_after_s)
        return Counter(report.counts)

    def judge_with(
        self,
        judge: Judge,
        window: Window,
        *,
        turns: int,
        rejudging: Rejudging | None = None,
        on_progress: Callable[[StepReport], None] | None = None,
    ) -> StepReport:
        """Let any judge grade up to `turns` turns that wait, or those to rejudge; the account has no part in it."""
        limits = self._limits(turns)
        with self._book(limits, rejudging=rejudging) as book:
            return judge_window(
                window, book=book, judge=judge, clock=self._clock, limits=limits, on_progress=on_progress
            )

    def _limits(self, turns: int) -> JudgeLimits:
        return JudgeLimits(
            max_batch=turns,
            concurrency=self._quality.judge_concurrency,
            timeout_s=self._quality.judge_timeout_s,
            max_attempts=self._quality.judge_max_attempts,
        )

    def _book(
        self,
        limits: JudgeLimits,
        *,
        ignore_waits: bool = False,
        probing: bool = False,
        rejudging: Rejudging | None = None,
    ) -> AbstractContextManager[PostgresClaimBook]:
        return claim_book(
            self._database,
            lease_s=LEASE_TIMEOUTS * limits.timeout_s + LEASE_SPARE_S,
            max_attempts=limits.max_attempts,
            judge_chars=self._judge_chars,
            clock=self._clock,
            ignore_waits=ignore_waits,
            probing=probing,
            rejudging=rejudging,
        )

    def _affordable(self, window: Window, limit: int, *, ignore_waits: bool) -> int:
        now = self._clock.now()
        standing = self.account.may_judge(now)
        if standing.is_spent or not (ignore_waits or standing.may_judge):
            return 0
        left = standing.tokens_left
        if left is None:
            return limit
        turns, characters = self._publication.waiting(window, due_at=None if ignore_waits else now)
        each = tokens_of(turns, characters) // turns if turns else 0
        return min(limit, max(1, left // each)) if each else limit

    def _notes(self, window: Window) -> tuple[str, ...]:
        standing = self.account.may_judge(self._clock.now())
        if standing.may_judge:
            return ()
        turns, _ = self._publication.waiting(window)
        return replace(standing, waiting=turns).sentences()


def _found_down(report: StepReport) -> bool:
    """Whether the run ended because the judge is down, or met nothing but outages: an hour may hold few turns."""
    outages = sum(report.counts.get(f"error_{each}", 0) for each in ErrorClass if each.is_outage)
    is_all = report.counts["graded"] == 0 and outages == report.counts["errors"]
    return bool(report.counts["stopped_early"]) or (is_all and outages >= OUTAGES_OF_A_SHORT_RUN)


def gateway_judge(quality: RagQualitySettings, version: JudgeVersion, *, base_url: str | None = None) -> GatewayJudge:
    """The configured server, or the one at `base_url`, asked as `version`."""
    return GatewayJudge(
        base_url=base_url or quality.judge_base_url,
        model=version.model,
        tenant=quality.judge_tenant,
        timeout_s=quality.judge_timeout_s,
        concurrency=quality.judge_concurrency,
        allow_external=quality.allow_external_judge,
    )
