"""Grade the demo's hours through Dagster, one run per hour in this process, in the instance that the UI shows.

Belongs here: running the hourly job and gathering what its checks said. Does not: planting traffic, the summary.
"""

from collections.abc import Callable, Iterable

import dagster as dg

from kb_pipeline.definitions import build_definitions
from kb_pipeline.defs.checks import newest_closed_hour
from kb_pipeline.defs.jobs import DAILY_JOB, HOURLY_JOB
from kb_pipeline.errors import KbPipelineError
from kb_pipeline.grading.health import Level
from kb_pipeline.settings import Settings
from kb_pipeline.windows import Window, partition_key

QUIET = {"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}}
_SEVERITY = (Level.PASSED, Level.WARNED, Level.FAILED)


def grade_hours(
    settings: Settings, instance: dg.DagsterInstance, hours: Iterable[Window], on_hour: Callable[[Window], None]
) -> dict[str, Level]:
    """Run every hour, then housekeeping; gives the worst verdict of each check.

    A check that looks at the newest closed hour, whatever it was run for, counts by its last verdict.
    Raises KbPipelineError when a run fails.
    """
    definitions = build_definitions(settings)
    job = definitions.resolve_job_def(HOURLY_JOB)
    checks: dict[str, Level] = {}
    for hour in hours:
        key = partition_key(hour)
        result = job.execute_in_process(partition_key=key, instance=instance, run_config=QUIET, raise_on_error=False)
        if _was_interrupted(result):
            raise KeyboardInterrupt
        if not result.success:
            raise KbPipelineError(f"the run of {key} failed: {_failure(result)}")
        _gather(checks, result.get_asset_check_evaluations())
        on_hour(hour)
    definitions.resolve_job_def(DAILY_JOB).execute_in_process(instance=instance, run_config=QUIET)
    return dict(sorted(checks.items()))


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


def _gather(checks: dict[str, Level], evaluations: Iterable[dg.AssetCheckEvaluation]) -> None:
    for each in evaluations:
        level = _level(each)
        before = (
            Level.PASSED if each.check_name == newest_closed_hour.check_key.name else checks.get(each.check_name, level)
        )
        checks[each.check_name] = max(before, level, key=_SEVERITY.index)


def _level(evaluation: dg.AssetCheckEvaluation) -> Level:
    if evaluation.passed:
        return Level.PASSED
    return Level.WARNED if evaluation.severity is dg.AssetCheckSeverity.WARN else Level.FAILED
