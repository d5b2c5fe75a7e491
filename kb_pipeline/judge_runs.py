"""Runs of the configured judge over a window: whether one may call it now, for how many turns, and what is learnt.

Belongs here: composition of the judge step with its claims, its client and its account. Does not: the loop over hours.
"""

from collections import Counter
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import partial

from kb_pipeline.adapters.gateway import refuse_public_host
from kb_pipeline.adapters.postgres.claims import PostgresClaimBook, Rejudging, claim_book
from kb_pipeline.adapters.postgres.connection import Database
from kb_pipeline.adapters.postgres.judge_account import PostgresJudgeAccount
from kb_pipeline.adapters.postgres.publication import PostgresPublication
from kb_pipeline.grading.judging.cost import tokens_of
from kb_pipeline.grading.judging.parts import MOST_PARTS
from kb_pipeline.judge_server import JudgeServer
from kb_pipeline.ports import Clock
from kb_pipeline.records import ErrorClass, JudgeVersion, StepReport
from kb_pipeline.settings import RagQualitySettings
from kb_pipeline.steps.judge import JudgeLimits, judge_window
from kb_pipeline.windows import Window

# A claim outlives a full queue of slow turns in parts; a run that dies loses its claims at once, whatever the lease.
LEASE_TIMEOUTS = 4 * MOST_PARTS
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
        server: JudgeServer,
        clock: Clock,
    ) -> None:
        self._quality = quality
        self._database = database
        self._version = version
        self._publication = publication
        self._server = server
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
        """Grade waiting turns with about `limit` (default max_batch) calls; raises JudgeRefused for a public host.

        The last turn may take a few calls more, one for each of its parts.
        None once the day has cost judge_daily_tokens; before, as many as by estimate fit what is left, at least one.
        Unless `ignore_waits`, none either before a judge that was found down, or a turn that got no scores, is due
        again. The report's notes say so, of the window's turns. Of a judge that was down a few turns are asked first,
        those that failed least: a few that it always fails on do not pass for an outage.
        """
        if self._version is None:
            return StepReport(counts={"claimed": 0})
        refuse_public_host(self._quality.judge_base_url, allow_external=self._quality.allow_external_judge)
        asked = self._quality.max_batch if limit is None else limit
        most = self._affordable(window, self._version, asked, ignore_waits=ignore_waits)
        if most <= 0:
            return StepReport(counts={"claimed": 0}, notes=self._notes(window))
        run = partial(self._run, window, self._version, ignore_waits=ignore_waits, on_progress=on_progress)
        if not self.account.was_down():
            return StepReport(counts=run(most), notes=self._notes(window))
        counts = run(min(most, PROBE_TURNS), probing=True)
        if counts["graded"] and most > counts["planned_calls"] and not counts["stopped_early"]:
            counts += run(most - counts["planned_calls"])
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
        room = self._server.characters(version)
        with self._book(limits, room, ignore_waits=ignore_waits, probing=probing) as book:
            judge = self._server.judge(version)
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
        server: JudgeServer,
        version: JudgeVersion,
        window: Window,
        *,
        rejudging: Rejudging,
        on_progress: Callable[[StepReport], None] | None = None,
    ) -> StepReport:
        """Let a version at any server grade the turns to rejudge; the account has no part in it."""
        limits = self._limits(len(rejudging.event_ids) * MOST_PARTS)
        judge = server.judge(version)
        with self._book(limits, server.characters(version), rejudging=rejudging) as book:
            return judge_window(
                window, book=book, judge=judge, clock=self._clock, limits=limits, on_progress=on_progress
            )

    def _limits(self, calls: int) -> JudgeLimits:
        return JudgeLimits(
            max_batch=calls,
            concurrency=self._quality.judge_concurrency,
            timeout_s=self._quality.judge_timeout_s,
            max_attempts=self._quality.judge_max_attempts,
        )

    def _book(
        self,
        limits: JudgeLimits,
        judge_chars: int,
        *,
        ignore_waits: bool = False,
        probing: bool = False,
        rejudging: Rejudging | None = None,
    ) -> AbstractContextManager[PostgresClaimBook]:
        return claim_book(
            self._database,
            lease_s=LEASE_TIMEOUTS * limits.timeout_s + LEASE_SPARE_S,
            max_attempts=limits.max_attempts,
            judge_chars=judge_chars,
            clock=self._clock,
            ignore_waits=ignore_waits,
            probing=probing,
            rejudging=rejudging,
        )

    def _affordable(self, window: Window, version: JudgeVersion, limit: int, *, ignore_waits: bool) -> int:
        """The calls that by estimate may be made."""
        now = self._clock.now()
        standing = self.account.may_judge(now)
        if standing.is_spent or not (ignore_waits or standing.may_judge):
            return 0
        left = standing.tokens_left
        if left is None:
            return limit
        room, due_at = self._server.characters(version), None if ignore_waits else now
        _, calls, characters = self._publication.waiting(window, judge_chars=room, due_at=due_at)
        each = tokens_of(calls, characters) // calls if calls else 0
        return min(limit, max(1, left // each)) if each else limit

    def _notes(self, window: Window) -> tuple[str, ...]:
        standing = self.account.may_judge(self._clock.now())
        if standing.may_judge:
            return ()
        turns, *_ = self._publication.waiting(window)
        return replace(standing, waiting=turns).sentences()


def _found_down(report: StepReport) -> bool:
    """Whether the run ended because the judge is down, or met nothing but outages: an hour may hold few turns."""
    outages = sum(report.counts.get(f"error_{each}", 0) for each in ErrorClass if each.is_outage)
    is_all = report.counts["graded"] == 0 and outages == report.counts["errors"]
    return bool(report.counts["stopped_early"]) or (is_all and outages >= OUTAGES_OF_A_SHORT_RUN)
