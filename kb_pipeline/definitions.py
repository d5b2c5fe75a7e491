"""The composition root: settings become assets, checks, jobs, schedules and sensors. Tests use the same function.

Belongs here: which definitions exist. Does not: what they do.
"""

from datetime import datetime
from typing import Any

import dagster as dg

from kb_pipeline.defs.checks import expectation_checks, ledger_checks
from kb_pipeline.defs.grading import grading_assets, source_specs
from kb_pipeline.defs.jobs import grading_jobs
from kb_pipeline.defs.maintenance import clean_event_log, expired_text, quality_partitions
from kb_pipeline.defs.partitions import hourly_partitions
from kb_pipeline.defs.resources import GradingStreets
from kb_pipeline.defs.schedules import schedules
from kb_pipeline.defs.sensors import backlog_sensor
from kb_pipeline.settings import Settings, load_settings


def build_definitions(settings: Settings, **resources: Any) -> dg.Definitions:
    """Everything that Dagster runs for these settings; `resources` replaces the default ones by name.

    With `rag_quality.enabled: false` there is nothing: no asset, job, schedule or sensor of the grading street.
    """
    quality = settings.rag_quality
    if not quality.enabled:
        return dg.Definitions()
    start_at = quality.start_at if isinstance(quality.start_at, datetime) else None
    partitions = hourly_partitions(start_at)
    return dg.Definitions(
        assets=[*source_specs(), *grading_assets(partitions), expired_text, quality_partitions],
        asset_checks=[*ledger_checks(), *expectation_checks()],
        jobs=[*grading_jobs(), clean_event_log],
        schedules=schedules(),
        sensors=[backlog_sensor(int(quality.eval_interval_s), partitions.start)],
        resources={"streets": GradingStreets(settings), **resources},
        executor=dg.in_process_executor,
    )


@dg.definitions
def defs() -> dg.Definitions:
    """The code location: what workspace.yaml loads."""
    return build_definitions(load_settings())
