"""The grading street, wired: settings and a database become steps that a command or an asset can call.

Belongs here: composition of steps and adapters, and the loop of one grading run. Does not: Dagster, terminals.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import partial

from kb_pipeline.adapters.clock import SystemClock
from kb_pipeline.adapters.postgres.audit_trail import PostgresAuditTrail
from kb_pipeline.adapters.postgres.backlog import HourlyBacklog, PostgresBacklog
from kb_pipeline.adapters.postgres.calibration import PostgresCalibration
from kb_pipeline.adapters.postgres.canaries import PostgresCanaries
from kb_pipeline.adapters.postgres.claims import reopen_failed
from kb_pipeline.adapters.postgres.connection import Database
from kb_pipeline.adapters.postgres.explanation import Explanation, explain
from kb_pipeline.adapters.postgres.grader import grader_database
from kb_pipeline.adapters.postgres.judge_account import Grain
from kb_pipeline.adapters.postgres.ledger import PostgresLedger
from kb_pipeline.adapters.postgres.opinions import PostgresOpinions
from kb_pipeline.adapters.postgres.publication import PostgresPublication
from kb_pipeline.adapters.postgres.retention import PostgresRetention
from kb_pipeline.errors import SettingsError
from kb_pipeline.grading.aggregates import CallCounts
from kb_pipeline.grading.bodies import MAX_BODY_BYTES
from kb_pipeline.grading.canary import CanaryReport
from kb_pipeline.grading.examination import ExaminationRules
from kb_pipeline.grading.extraction import question_preview
from kb_pipeline.grading.judging import INSTRUCTION, PROMPT_VERSION
from kb_pipeline.grading.judging.needs import DayTokens, TokensNeeded, tokens_needed
from kb_pipeline.grading.standing import Cost, Standing
from kb_pipeline.judge_runs import JudgeRuns
from kb_pipeline.judge_server import JudgeServer
from kb_pipeline.ports import Clock
from kb_pipeline.records import JudgeVersion, StepReport
from kb_pipeline.settings import Settings
from kb_pipeline.steps.calibrate_judge import calibrate_judge, last_closed_day
from kb_pipeline.steps.canary import ask_canary
from kb_pipeline.steps.collect import collect
from kb_pipeline.steps.expire import Ages, expire, make_partitions
from kb_pipeline.steps.forecast import Forecast, forecast_of, foresee, waiting
from kb_pipeline.steps.judge import visits
from kb_pipeline.steps.second_opinion import give_opinions
from kb_pipeline.windows import Window

BEGINNING = datetime(1970, 1, 1, tzinfo=UTC)

Progress = Callable[[str, int], None]


@dataclass(frozen=True, kw_only=True, slots=True)
class GradeReport:
    """What one grading run did, as counts over its hours; `notes` say why turns wait."""

    hours: int
    counts: dict[str, int | float]
    notes: tuple[str, ...] = ()


class GradingStreet:
    """Every step of the street over one database. Use `open`, or give a database of your own."""

    def __init__(
        self, settings: Settings, database: Database, *, clock: Clock | None = None, run_id: str | None = None
    ) -> None:
        self.settings = settings
        self.database = database
        self.clock = clock or SystemClock()
        self.run_id = run_id
        self._quality = settings.rag_quality
        self._tenant = self._quality.judge_tenant
        self._surfaces = sorted(self._quality.surfaces)
        model = self._quality.judge_model
        self.version = JudgeVersion(model=model, prompt_version=PROMPT_VERSION) if model else None
        self._server = JudgeServer(self._quality)
        self.publication = PostgresPublication(database, version=self.version)
        self.judge_runs = JudgeRuns(
            self._quality,
            database,
            version=self.version,
            publication=self.publication,
            server=self._server,
            clock=self.clock,
        )
        self._rules = self._examination_rules()
        self._templates = self._rules.fingerprints()
        self._backlog = PostgresBacklog(
            database,
            surfaces=self._surfaces,
            pipeline_tenant=self._tenant,
            version=self.version,
            templates=self._templates,
        )

    @classmethod
    @contextmanager
    def open(
        cls, settings: Settings, *, run_id: str | None = None, clock: Clock | None = None
    ) -> Iterator["GradingStreet"]:
        """The street over the configured database; its connections are closed at the end of the block."""
        with grader_database(settings.database_url) as database:
            yield cls(settings, database, clock=clock, run_id=run_id)

    def collect(
        self, window: Window, *, asked: bool = False, on_progress: Callable[[int], None] | None = None
    ) -> StepReport:
        """Examine the window's new calls, from the activation instant on, or all of them when `asked`.

        Asked, calls are read anew too that other markers decided: those of a surface that was not configured yet, those
        that the markers did not fit, those that another sample rate left out.
        """
        active = window if asked else _part_from(self.start_at(), window)
        if active is None:
            return StepReport(counts={"examined": 0})
        preview = partial(question_preview, redact=self.settings.redaction.compiled())
        return collect(
            active,
            trail=self._trail("grading", reread=asked),
            ledger=PostgresLedger(self.database, preview=preview, templates=self._templates),
            rules=self._rules,
            on_progress=on_progress,
        )

    def second_opinions(self, window: Window, *, on_progress: Callable[[int], None] | None = None) -> StepReport:
        """Count for each turn of the window what of its answer the context has, where that is not counted yet."""
        return give_opinions(window, book=PostgresOpinions(self.database), on_progress=on_progress)

    def judge(
        self,
        window: Window,
        *,
        limit: int | None = None,
        ignore_waits: bool = False,
        on_progress: Callable[[StepReport], None] | None = None,
    ) -> StepReport:
        """Grade up to `limit` (default max_batch) waiting turns; raises JudgeRefused for a public host.

        See JudgeRuns.judge for what `ignore_waits` does, and what the report's notes say.
        """
        return self.judge_runs.judge(window, limit=limit, ignore_waits=ignore_waits, on_progress=on_progress)

    def publish(self, window: Window) -> StepReport:
        """Bring the published rows of the window up to date."""
        return StepReport(counts={"rows_changed": self.publication.publish(window)})

    def aggregate(self, window: Window) -> StepReport:
        """Bring the windows of the hours, and of their days, up to date."""
        return StepReport(counts={"windows_changed": self.publication.aggregate(window)})

    def expire(self) -> StepReport:
        """Apply the retention."""
        ages = self.settings.retention
        return expire(
            self.clock.now(),
            retention=PostgresRetention(self.database),
            ages=Ages(
                triad_text_days=ages.triad_text_days, preview_days=ages.preview_days, quality_days=ages.quality_days
            ),
        )

    def make_partitions(self) -> StepReport:
        """Make the partitions ahead."""
        return make_partitions(self.clock.now(), retention=PostgresRetention(self.database))

    def ask_canary(self) -> CanaryReport:
        """Ask the judge about turns of our own and keep what came of it; raises JudgeRefused for a public host."""
        report = ask_canary(self._server.judge(self.required_version()), self.clock)
        PostgresCanaries(self.database).save(report)
        return report

    def newest_canary(self) -> CanaryReport | None:
        """The newest asking of the configured judge, None before the first."""
        return PostgresCanaries(self.database).newest(self.required_version())

    def calibrate_judge(self) -> StepReport:
        """Hold the scores of the thirty days up to the last closed one against what experts made of the drafts."""
        return calibrate_judge(
            last_closed_day(self.clock.now()),
            book=PostgresCalibration(self.database),
            threshold=self._quality.thresholds.faithfulness_warn,
        )

    def start_at(self) -> datetime:
        """The instant from which turns are graded unasked; the first call with `start_at: now` fixes it."""
        configured = self._quality.start_at
        if isinstance(configured, datetime):
            return configured
        return self._backlog.activate(self.clock.now())

    def backlog(
        self,
        *,
        start_at: datetime | None = None,
        asked: bool = False,
        look_back: timedelta | None = None,
        ignore_waits: bool = False,
    ) -> list[HourlyBacklog]:
        """Hours with work, oldest first; unexamined calls count from `start_at`, by default from the activation on.

        `asked` as in `collect`; `look_back` bounds how much of the audit trail is looked through, all of it by default.
        While the day's tokens are spent, no turn waits; nor, unless `ignore_waits`, while a judge that was found down,
        or the turn after a run that failed on it, is not due again.
        """
        standing = self.judge_runs.account.may_judge(self.clock.now())
        return self._backlog.hours(
            start_at=start_at or self.start_at(),
            now=self.clock.now(),
            look_back=look_back,
            reread=asked,
            may_judge=not standing.is_spent if ignore_waits else standing.may_judge,
            ignore_waits=ignore_waits,
        )

    def standing(self) -> Standing:
        """Whether the judge may be called now, and what waits for it."""
        return self.judge_runs.account.standing(self.clock.now())

    def end_waits(self) -> None:
        """The judge was mended: the next run calls it, for turns too that it failed on."""
        self.judge_runs.account.end_waits()

    def costs(self, window: Window, *, by: Grain) -> list[Cost]:
        """What every judge version cost for the turns of the window, by UTC hour or day, oldest first."""
        return self.judge_runs.account.costs(window, by=by)

    def grade(
        self,
        *,
        since: datetime | None = None,
        until: datetime | None = None,
        retry_failed: bool = False,
        ignore_waits: bool = False,
        on_progress: Progress | None = None,
    ) -> GradeReport:
        """One grading run over every hour with work, which claims turns for max_batch judge calls.

        Oldest first, but for the share of the newest closed hour (steps/judge/fairness.py).

        `since` asks for turns before the activation too, and for those to be read anew that other markers decided (see
        `collect`). `ignore_waits` as in `judge`. `on_progress` hears a step's name and how many more it did.
        Raises SettingsError where grading is switched off.
        """
        self.require_enabled()
        if retry_failed and self.version is not None:
            reopen_failed(self.database, Window(since or BEGINNING, until or self.clock.now()))
        counts: Counter[str] = Counter()
        hours = self._hours(since or self.start_at(), since, until, ignore_waits=ignore_waits)
        for visit in visits(hours, max_batch=self._quality.max_batch, now=self.clock.now()):
            limit = min(visit.at_most, self._quality.max_batch - counts["planned_calls"])
            counts += self._grade_hour(
                visit.hour,
                asked=since is not None,
                limit=limit,
                ignore_waits=ignore_waits,
                hear=on_progress or _unheard,
            )
        notes = self.standing().sentences() if self.version is not None else ()
        return GradeReport(hours=len(hours), counts=dict(counts), notes=notes)

    def _grade_hour(self, hour: Window, *, asked: bool, limit: int, ignore_waits: bool, hear: Progress) -> Counter[str]:
        counts: Counter[str] = Counter()
        counts.update(self.collect(hour, asked=asked, on_progress=partial(hear, "examined")).counts)
        counts.update(self.second_opinions(hour, on_progress=partial(hear, "opinions")).counts)
        # Published before the judge too: a turn stands with its metrics while it waits.
        counts.update(self.publish(hour).counts)
        if limit > 0 and self.version is not None:
            hear_judged = differences(partial(hear, "judged"))
            judged = self.judge(hour, limit=limit, ignore_waits=ignore_waits, on_progress=hear_judged).counts
            # Beside the calls that were examined, a bare "calls" could be either.
            counts.update({"judge_calls" if name == "calls" else name: count for name, count in judged.items()})
            counts.update(self.publish(hour).counts)
        counts.update(self.aggregate(hour).counts)
        return counts

    def require_enabled(self) -> None:
        """Raise SettingsError where grading is switched off."""
        if not self._quality.enabled:
            raise SettingsError(
                "rag_quality.enabled is false, so nothing is graded; set it to true in kb_pipeline.yaml"
            )

    def required_version(self) -> JudgeVersion:
        """The configured judge; raises SettingsError where there is none."""
        if self.version is None:
            raise SettingsError("rag_quality.judge_model is null, so there is no judge; name one in kb_pipeline.yaml")
        return self.version

    def forecast(self, *, since: datetime | None = None, until: datetime | None = None) -> Forecast:
        """What `grade` would do for the same instants; nothing is written but the access record, nobody is called."""
        start = since or self._expected_start()
        hours = self._hours(start, since, until)
        windows = hours if since is not None else list(filter(None, (_part_from(start, hour) for hour in hours)))
        room = self._server.characters(self.version) if self.version is not None else None
        counts = foresee(
            windows, trail=self._trail("forecast", reread=since is not None), rules=self._rules, judge_chars=room
        )
        if room is not None:
            for hour in hours:
                counts += waiting(*self.publication.waiting(hour, judge_chars=room, due_at=self.clock.now()))
        return forecast_of(counts, hours=len(hours))

    def row_counts(self, window: Window) -> dict[str, int]:
        """Rows of the window by table."""
        return self.publication.row_counts(window)

    def ledger_counts(self, window: Window) -> CallCounts:
        """What the ledger says of the configured surfaces in the window."""
        return self.publication.ledger_counts(window, self._surfaces)

    def baseline_counts(self, window: Window) -> CallCounts:
        """The same from the hourly windows, for weeks at a time."""
        return self.publication.windowed_counts(window, self._surfaces)

    def explain(self, event_id: str) -> Explanation | None:
        """Everything known of one call; the reading is recorded."""
        return explain(self.database, event_id, purpose="explain")

    def _hours(
        self, start_at: datetime, since: datetime | None, until: datetime | None, *, ignore_waits: bool = False
    ) -> Sequence[Window]:
        end = until or self.clock.now()
        backlog = self.backlog(start_at=start_at, asked=since is not None, ignore_waits=ignore_waits)
        hours = [each.hour for each in backlog]
        return [hour for hour in hours if hour.start < end and (since is None or hour.end > since)]

    def _expected_start(self) -> datetime:
        """What `start_at` would say now, without fixing it."""
        configured = self._quality.start_at
        if isinstance(configured, datetime):
            return configured
        return self._backlog.activation() or self.clock.now()

    def tokens_today(self) -> DayTokens:
        """What the UTC day's judge tokens are, and how many are spent."""
        return self.judge_runs.account.today(self.clock.now())

    def tokens_needed(self, *, turns: int, prompt_tokens: int, version: JudgeVersion | None = None) -> TokensNeeded:
        """What turns will need of a version, by default the configured one; `prompt_tokens` is for one that is new."""
        asked = version or self.version
        measured = self.judge_runs.account.measured(asked, self.clock.now()) if asked else None
        return tokens_needed(turns=turns, prompt_tokens=prompt_tokens, measured=measured)

    def tokens_left(self) -> int | None:
        """What is left of the UTC day's tokens; None where no budget is set."""
        return self.judge_runs.account.may_judge(self.clock.now()).tokens_left

    def _trail(self, purpose: str, *, reread: bool) -> PostgresAuditTrail:
        return PostgresAuditTrail(
            self.database,
            self.clock,
            surfaces=self._surfaces,
            pipeline_tenant=self._tenant,
            max_body_bytes=MAX_BODY_BYTES,
            templates=self._templates,
            reread=reread,
            purpose=purpose,
            run_id=self.run_id,
        )

    def _examination_rules(self) -> ExaminationRules:
        return ExaminationRules(
            templates={name: surface.template(name) for name, surface in self._quality.surfaces.items()},
            pipeline_tenant=self._tenant,
            judge_instruction=INSTRUCTION,
            sample_rate=self._quality.sample_rate,
        )


def _part_from(start: datetime, window: Window) -> Window | None:
    """The part of a window from an instant on."""
    return replace(window, start=max(start, window.start)) if start < window.end else None


def _unheard(_step: str, _more: int) -> None:
    """For callers that show no progress."""


def differences(hear: Callable[[int], None]) -> Callable[[StepReport], None]:
    """Turn running totals of judged turns into how many more there are."""
    before = 0

    def differ(report: StepReport) -> None:
        nonlocal before
        now = int(report.counts["graded"] + report.counts["errors"])
        hear(now - before)
        before = now

    return differ
