"""The retrieval street, wired: settings and a database become steps that a command or an asset can call.

Belongs here: composition of steps and adapters, and the loop of one run. Does not: Dagster, terminals.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial

from kb_pipeline.adapters.clickhouse import ClickHouse
from kb_pipeline.adapters.clock import SystemClock
from kb_pipeline.adapters.postgres.connection import Database
from kb_pipeline.adapters.postgres.grader import grader_database
from kb_pipeline.adapters.postgres.retrieval.backlog import PostgresRetrievalBacklog, RetrievalBacklog
from kb_pipeline.adapters.postgres.retrieval.copying import PostgresEventLines
from kb_pipeline.adapters.postgres.retrieval.drafts import PostgresDrafts
from kb_pipeline.adapters.postgres.retrieval.erasure import PostgresQueryRetention
from kb_pipeline.adapters.postgres.retrieval.evidence import PostgresEvidence
from kb_pipeline.adapters.postgres.retrieval.gaps import PostgresGaps
from kb_pipeline.adapters.postgres.retrieval.knowledge import PostgresKnowledge
from kb_pipeline.adapters.postgres.retrieval.outcomes import PostgresOutcomes
from kb_pipeline.adapters.postgres.retrieval.soundness import PostgresSoundness
from kb_pipeline.adapters.postgres.retrieval.windows import PostgresRetrievalWindows
from kb_pipeline.errors import SettingsError
from kb_pipeline.grading.extraction import question_preview
from kb_pipeline.ports import Clock
from kb_pipeline.records import StepReport
from kb_pipeline.settings import Settings
from kb_pipeline.steps.copy_events import copy_events
from kb_pipeline.steps.diagnose import diagnose_gaps
from kb_pipeline.steps.expire_queries import QueryAges, expire_queries
from kb_pipeline.steps.harvest import harvest
from kb_pipeline.steps.outcomes import derive_outcomes
from kb_pipeline.windows import Window, floor_hour, hour_of

BEGINNING = datetime(1970, 1, 1, tzinfo=UTC)
# Counts that say how things stand, not what was done: of several hours the last one counts.
STANDING = ("tasks", "knowledge_base_mapped", "views_absent", "view_absent/")

Progress = Callable[[str, int], None]
Counts = Mapping[str, int | float]


@dataclass(frozen=True, kw_only=True, slots=True)
class RetrievalReport:
    """What one run of the street did: the counts of each step over its hours, and of the one harvest."""

    hours: int
    outcomes: Counts = field(default_factory=dict)
    gaps: Counts = field(default_factory=dict)
    windows: Counts = field(default_factory=dict)
    harvest: Counts = field(default_factory=dict)


class RetrievalStreet:
    """Every step of the street over one database. Use `open`, or give a database of your own."""

    def __init__(self, settings: Settings, database: Database, *, clock: Clock | None = None) -> None:
        self.settings = settings
        self.database = database
        self.clock = clock or SystemClock()
        self.soundness = PostgresSoundness(database)
        self._drafts = PostgresDrafts(database)
        self._outcomes = PostgresOutcomes(database)
        self._knowledge = PostgresKnowledge(database)
        self._windows = PostgresRetrievalWindows(database)
        self._backlog = PostgresRetrievalBacklog(database)

    @classmethod
    @contextmanager
    def open(cls, settings: Settings, *, run_id: str | None = None) -> Iterator["RetrievalStreet"]:  # noqa: ARG003 as GradingStreet
        """The street over the configured database; its connections are closed at the end of the block."""
        with grader_database(settings.database_url) as database:
            yield cls(settings, database)

    def outcomes(self, window: Window) -> StepReport:
        """Derive the outcomes of drafts decided in the window, and of those made in it that are not decided."""
        return derive_outcomes(window, drafts=self._drafts, book=self._outcomes)

    def diagnose(self, window: Window) -> StepReport:
        """Say of each draft corrected in the window where the right information went missing."""
        return diagnose_gaps(window, drafts=self._drafts, knowledge=self._knowledge, book=PostgresGaps(self.database))

    def aggregate(self, window: Window) -> StepReport:
        """Bring the hourly windows up to date; those of which retention took events stay as they were."""
        kept = self.kept_from()
        hours = [hour for hour in window.hours() if hour.start >= kept]
        return StepReport(counts={"windows_changed": sum(map(self._windows.aggregate, hours))})

    def harvest(self, on_progress: Callable[[int], None] | None = None) -> StepReport:
        """Take evidence from what is not harvested yet, and bring every judgment up to date as of now."""
        redact = self.settings.redaction.compiled()
        return harvest(
            drafts=self._drafts,
            knowledge=self._knowledge,
            book=PostgresEvidence(self.database, preview=partial(question_preview, redact=redact)),
            as_of=self.clock.now(),
            on_progress=on_progress,
        )

    def copy_events(self, on_progress: Callable[[int], None] | None = None) -> StepReport:
        """Bring the copy in ClickHouse up to date; nothing where none is configured. Raises ClickHouseFailed."""
        url = self.settings.retrieval.clickhouse_url
        if url is None:
            return StepReport(counts={})
        with ClickHouse(url) as copy:
            return copy_events(lines=PostgresEventLines(self.database), copy=copy, on_progress=on_progress)

    def expire(self) -> StepReport:
        """Apply the retention, and let go of what the source deleted."""
        ages = self.settings.retention
        return expire_queries(
            Window(BEGINNING, self.clock.now()),
            retention=PostgresQueryRetention(self.database),
            drafts=self._outcomes,
            ages=QueryAges(
                query_text_days=ages.query_text_days, preview_days=ages.preview_days, quality_days=ages.quality_days
            ),
        )

    def backlog(self, *, look_back: timedelta | None = None) -> Sequence[RetrievalBacklog]:
        """Hours with work, oldest first; `look_back` bounds how far back they are looked for, all of it by default."""
        now = self.clock.now()
        start = floor_hour(now - look_back) if look_back else BEGINNING
        return self._backlog.hours(Window(start, hour_of(now).end), windows_from=self.kept_from())

    def row_counts(self, window: Window) -> dict[str, int]:
        """Rows of the window by table."""
        return self._windows.row_counts(window)

    def run(
        self, *, since: datetime | None = None, until: datetime | None = None, on_progress: Progress | None = None
    ) -> RetrievalReport:
        """Derive every hour with work, oldest first, then harvest once.

        `since` and `until` leave out hours before and after; the ground truth has no hours. `on_progress` hears a
        step's name and how many more it did. Raises SettingsError where the street is switched off.
        """
        self.require_enabled()
        hear = on_progress or _unheard
        outcomes: dict[str, int | float] = {}
        gaps: dict[str, int | float] = {}
        windows: dict[str, int | float] = {}
        hours = self._hours(since, until)
        for span in spans(hours):
            _add(outcomes, self.outcomes(span))
            _add(gaps, self.diagnose(span))
            _add(windows, self.aggregate(span))
            hear("hours", len(list(span.hours())))
        harvested = self.harvest(partial(hear, "drafts")).counts
        return RetrievalReport(hours=len(hours), outcomes=outcomes, gaps=gaps, windows=windows, harvest=harvested)

    def kept_from(self) -> datetime:
        """From here on every event is kept; of the hour before, retention may have taken some."""
        return self.clock.now() - timedelta(days=self.settings.retention.quality_days)

    def require_enabled(self) -> None:
        """Raise SettingsError where the street is switched off."""
        if not self.settings.retrieval.enabled:
            raise SettingsError(
                "retrieval.enabled is false, so nothing is harvested; set it to true in kb_pipeline.yaml"
            )

    def _hours(self, since: datetime | None, until: datetime | None) -> Sequence[Window]:
        end = until or self.clock.now()
        hours = [each.hour for each in self.backlog()]
        return [hour for hour in hours if hour.start < end and (since is None or hour.end > since)]


def spans(hours: Sequence[Window]) -> Iterator[Window]:
    """The hours, oldest first, with neighbours of one UTC day taken together: a pass costs more than an hour of it."""
    span: Window | None = None
    for hour in hours:
        if span and span.end == hour.start and span.start.date() == hour.start.date():
            span = Window(span.start, hour.end)
            continue
        if span:
            yield span
        span = hour
    if span:
        yield span


def _add(total: dict[str, int | float], report: StepReport) -> None:
    for name, count in report.counts.items():
        total[name] = count if name.startswith(STANDING) else total.get(name, 0) + count


def _unheard(_step: str, _more: int) -> None:
    """For callers that show no progress."""
