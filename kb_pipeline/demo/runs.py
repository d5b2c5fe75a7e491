"""The demo's Dagster runs, in this process, in the instance that the UI shows; hours that were derived without one.

Belongs here: running jobs, gathering what their checks said, reporting hours to Dagster. Does not: planting, summaries.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping

import dagster as dg

from kb_pipeline.definitions import build_definitions
from kb_pipeline.defs.grading_checks import newest_closed_hour
from kb_pipeline.defs.jobs import DAILY_JOB, HARVEST_JOB, RETRIEVAL_JOB
from kb_pipeline.defs.retrieval_checks import newest_hour_arrived
from kb_pipeline.defs.trust import TRUST_JOB
from kb_pipeline.errors import KbPipelineError
from kb_pipeline.retrieval_street import RetrievalStreet
from kb_pipeline.settings import Settings
from kb_pipeline.verdicts import Level
from kb_pipeline.windows import Window, partition_key

QUIET = {"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}}
# Checks that look at the newest closed hour, whatever they were run for, count by their last verdict.
NEWEST = frozenset({newest_closed_hour.check_key.name, newest_hour_arrived.check_key.name})
# So many of the newest hours of the retrieval street have runs of their own, with every check; a run takes seconds, and
# the older hours are many.
DERIVED_IN_RUNS = 3
HOURLY_ASSETS = {
    "draft_outcomes": "kb_draft_outcome",
    "retrieval_gaps": "kb_retrieval_gap",
    "retrieval_windows": "kb_retrieval_window",
}
_SEVERITY = (Level.PASSED, Level.WARNED, Level.FAILED)


class DagsterRuns:
    """Runs jobs and keeps the worst verdict of each check."""

    def __init__(self, settings: Settings, instance: dg.DagsterInstance) -> None:
        self.settings = settings
        self.instance = instance
        self._definitions = build_definitions(settings)
        self._checks: dict[str, Level] = {}
        self._counts: defaultdict[str, Counter[str]] = defaultdict(Counter)

    @property
    def checks(self) -> Mapping[str, Level]:
        """The worst verdict of each check so far."""
        return dict(sorted(self._checks.items()))

    def counts(self, asset: str) -> Counter[str]:
        """The sum of every count that the runs' materializations of an asset showed."""
        return Counter(self._counts[asset])

    def reconfigure(self, settings: Settings) -> None:
        """Go on with other settings."""
        self.settings = settings
        self._definitions = build_definitions(settings)

    def run(self, name: str, hour: Window | None = None) -> None:
        """One run of a job; raises KbPipelineError when it fails."""
        result = self._definitions.resolve_job_def(name).execute_in_process(
            partition_key=partition_key(hour) if hour else None,
            instance=self.instance,
            run_config=QUIET,
            raise_on_error=False,
        )
        if _was_interrupted(result):
            raise KeyboardInterrupt
        if not result.success:
            of_hour = f" of {partition_key(hour)}" if hour else ""
            raise KbPipelineError(f"the run of {name}{of_hour} failed: {_failure(result)}")
        self._gather(result.get_asset_check_evaluations())
        for event in result.get_asset_materialization_events():
            self._add_up(event.materialization)

    def _gather(self, evaluations: Iterable[dg.AssetCheckEvaluation]) -> None:
        for each in evaluations:
            level = _level(each)
            before = Level.PASSED if each.check_name in NEWEST else self._checks.get(each.check_name, level)
            self._checks[each.check_name] = max(before, level, key=_SEVERITY.index)

    def _add_up(self, materialization: dg.AssetMaterialization) -> None:
        values = {name: each.value for name, each in materialization.metadata.items()}
        self._counts[materialization.asset_key.to_user_string()].update(
            {name: value for name, value in values.items() if isinstance(value, int) and not isinstance(value, bool)}
        )


def derive_hours(
    runs: DagsterRuns, hours: Iterable[Window], on_hours: Callable[[int], None], *, in_runs: int = DERIVED_IN_RUNS
) -> None:
    """Every hour of the retrieval street, then the ground truth; `on_hours` hears how many more are done.

    The newest `in_runs` hours have a run each. The older ones are derived as `kb-pipeline harvest` would do it beside
    Dagster, which is then told of them.
    """
    every = list(hours)
    older, newest = every[:-in_runs], every[-in_runs:]
    with RetrievalStreet.open(runs.settings) as street:
        if older:
            street.run(until=older[-1].end, on_progress=lambda step, more: on_hours(more) if step == "hours" else None)
        for hour in older:
            _report(runs.instance, hour, street.row_counts(hour))
    for hour in newest:
        runs.run(RETRIEVAL_JOB, hour)
        on_hours(1)
    runs.run(HARVEST_JOB)


def keep_house(runs: DagsterRuns) -> None:
    """The nightly runs."""
    runs.run(DAILY_JOB)
    runs.run(TRUST_JOB)


def _report(instance: dg.DagsterInstance, hour: Window, rows: Mapping[str, int]) -> None:
    for asset, table in HOURLY_ASSETS.items():
        instance.report_runless_asset_event(
            dg.AssetMaterialization(
                asset_key=asset,
                partition=partition_key(hour),
                metadata={"dagster/partition_row_count": rows[table]},
            )
        )


def _was_interrupted(result: dg.ExecuteInProcessResult) -> bool:
    """Whether somebody pressed Ctrl-C in a step, which Dagster notes as a failure of the step."""
    failures = [event.step_failure_data.error for event in result.all_events if event.is_step_failure]
    names = {each.cls_name for error in failures if error for each in (error, error.cause) if each}
    return bool(names & {"DagsterExecutionInterruptedError", "KeyboardInterrupt"})


def _failure(result: dg.ExecuteInProcessResult) -> str:
    """The first failed step and the type and first line of its error; our own errors never carry text of a turn."""
    for event in result.all_events:
        if event.is_step_failure and event.step_failure_data.error:
            error = event.step_failure_data.error
            cause = error.cause or error
            return f"step {event.step_key}: {cause.message.strip().splitlines()[0]}"
    return "no step says why"


def _level(evaluation: dg.AssetCheckEvaluation) -> Level:
    if evaluation.passed:
        return Level.PASSED
    return Level.WARNED if evaluation.severity is dg.AssetCheckSeverity.WARN else Level.FAILED
