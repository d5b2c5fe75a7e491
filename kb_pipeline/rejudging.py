"""The judge changed safely, wired: turns graded again by another version, and two versions compared.

Belongs here: composition of steps and adapters for these two. Does not: hourly grading (grading_street.py), terminals.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from kb_pipeline.adapters.postgres.claims import Rejudging
from kb_pipeline.adapters.postgres.comparisons import PostgresComparisons
from kb_pipeline.adapters.postgres.rejudging import PostgresRejudgeableTurns
from kb_pipeline.grading.comparison import name_of
from kb_pipeline.grading.comparison.figures import Comparison
from kb_pipeline.grading.judging import PROMPT_VERSION
from kb_pipeline.grading_street import GradingStreet, differences
from kb_pipeline.judge_server import JudgeServer
from kb_pipeline.records import JudgeVersion, RejudgeableTurn, StepReport
from kb_pipeline.steps.compare_judges import compare_judges
from kb_pipeline.steps.rejudge import Asked, RejudgeForecast, RejudgeReport, foresee, rejudge
from kb_pipeline.windows import Window

# A batch drains at its end; with so many calls for every slot that costs little.
CALLS_PER_SLOT = 8


@dataclass(frozen=True, kw_only=True, slots=True)
class Rejudged:
    """What a rejudge did, and how many published rows it changed: none for a version that is not the configured one."""

    report: RejudgeReport
    rows_changed: int


class SecondJudge:
    """Another judge version over the turns that have a score: `model` (default: the configured one), this prompt.

    Scores of a version that is not the configured one are provisional: published rows do not change, and the hours do
    not count as changed. Those of the configured one are published. Raises SettingsError where grading is switched off,
    or where no model is named and none configured.
    """

    def __init__(self, street: GradingStreet, *, model: str | None = None, base_url: str | None = None) -> None:
        street.require_enabled()
        self._street = street
        self._server = JudgeServer(street.settings.rag_quality, base_url=base_url)
        self.version = JudgeVersion(model=model, prompt_version=PROMPT_VERSION) if model else street.required_version()
        self.is_configured = self.version == street.version
        room = self._server.characters(self.version)
        self._turns = PostgresRejudgeableTurns(street.database, version=self.version, judge_chars=room)

    @property
    def name(self) -> str:
        """MODEL@PROMPT."""
        return name_of(self.version)

    def foresee(self, asked: Asked) -> RejudgeForecast:
        """What `rejudge` would do; nobody is called, nothing is written."""
        return foresee(asked, turns=self._turns)

    def rejudge(self, asked: Asked, *, on_progress: Callable[[int], None] | None = None) -> Rejudged:
        """Grade what is asked for and not done yet; raises JudgeRefused for a public host.

        It works in batches, asks the day's budget before each, and may be stopped at any time: what came back is kept.
        """
        quality = self._street.settings.rag_quality
        self._server.judge(self.version)  # a public host is refused before anything is asked

        def grade(batch: Sequence[RejudgeableTurn]) -> StepReport:
            event_ids = [turn.event_id for turn in batch]
            return self._street.judge_runs.judge_with(
                self._server,
                self.version,
                asked.window,
                rejudging=Rejudging(event_ids=event_ids, provisional=not self.is_configured),
                on_progress=differences(on_progress) if on_progress else None,
            )

        report = rejudge(
            asked,
            turns=self._turns,
            grade=grade,
            batch=max(quality.max_batch, CALLS_PER_SLOT * quality.judge_concurrency),
            tokens_left=self._street.tokens_left,
        )
        return Rejudged(report=report, rows_changed=self._publish(asked.window))

    def _publish(self, window: Window) -> int:
        """Bring rows and windows up to date where the configured version has scores that are not published."""
        if not self.is_configured:
            return 0
        changed = 0
        for hour in self._street.publication.hours_to_republish(window):
            changed += self._street.publication.publish(hour)
            self._street.publication.aggregate(hour)
        return changed


def compared(
    street: GradingStreet,
    window: Window,
    *,
    first: str | None = None,
    second: str | None = None,
    on_progress: Callable[[int], None] | None = None,
) -> Comparison:
    """Two versions over the turns of the window that both scored, held against the thresholds of alarms.

    Raises as compare_judges does.
    """
    thresholds = street.settings.rag_quality.thresholds
    return compare_judges(
        window,
        book=PostgresComparisons(street.database),
        first=first,
        second=second,
        thresholds=(thresholds.faithfulness_warn, thresholds.faithfulness_crit),
        on_progress=on_progress,
    )
