"""Runs of a job as Dagster's daemon makes them, in this process."""

import dagster as dg
from dagster._core.definitions.sensor_definition import SensorExecutionData

from kb_pipeline.definitions import build_definitions
from kb_pipeline.settings import Settings

SILENT = {"telemetry": {"enabled": False}}
QUIET = {"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}}


def run(given: Settings, instance: dg.DagsterInstance, job: str, key: str | None = None) -> dg.ExecuteInProcessResult:
    resolved = build_definitions(given).resolve_job_def(job)
    return resolved.execute_in_process(partition_key=key, instance=instance, run_config=QUIET, raise_on_error=False)


def succeeded(result: dg.ExecuteInProcessResult) -> bool:
    """Whether a run succeeded; what failed is raised otherwise."""
    for event in result.all_events:
        if event.is_step_failure:
            raise AssertionError(event.step_failure_data.error)
    return result.success


def ticked(
    given: Settings, instance: dg.DagsterInstance, sensor: str, cursor: str | None = None
) -> SensorExecutionData:
    """One tick of a sensor, as the daemon makes it."""
    definitions = build_definitions(given)
    with dg.build_sensor_context(
        instance=instance, definitions=definitions, resources=dict(definitions.resources or {}), cursor=cursor
    ) as context:
        return definitions.get_repository_def().get_sensor_def(sensor).evaluate_tick(context)
