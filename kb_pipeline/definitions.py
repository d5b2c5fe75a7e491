"""The composition root: settings become assets, checks, jobs, schedules and sensors. Tests use the same function.

Belongs here: which definitions exist. Does not: what they do.
"""

from datetime import datetime
from typing import Any

import dagster as dg

from kb_pipeline.defs.alerting import ALERT_DESK, alert_definitions
from kb_pipeline.defs.arrivals import retrieval_arrivals_sensor
from kb_pipeline.defs.copies import copy_definitions
from kb_pipeline.defs.delivery import delivery_definitions
from kb_pipeline.defs.grading import grading_assets, grading_source_specs
from kb_pipeline.defs.grading_checks import grading_checks, slow_grading_checks
from kb_pipeline.defs.jobs import grading_jobs, house_job, retrieval_jobs
from kb_pipeline.defs.maintenance import (
    clean_event_log,
    expired_queries,
    expired_text,
    late_hours,
    quality_partitions,
)
from kb_pipeline.defs.partitions import hourly_partitions
from kb_pipeline.defs.resources import AlertDesks, GradingStreets, RetrievalStreets
from kb_pipeline.defs.retrieval import (
    arriving_specs,
    ground_truth,
    hourly_retrieval_assets,
    retrieval_source_specs,
)
from kb_pipeline.defs.retrieval_checks import (
    derived_checks,
    event_checks,
    slow_event_checks,
    truth_checks,
    truth_expectations,
)
from kb_pipeline.defs.schedules import harvest_schedule, hourly_schedule, nightly_schedules
from kb_pipeline.defs.sensors import backlog_sensor
from kb_pipeline.defs.streets import GRADING, RETRIEVAL
from kb_pipeline.defs.trust import trust_definitions
from kb_pipeline.settings import RagQualitySettings, RetrievalSettings, Settings, load_settings

# How often late events and decisions are looked for; new ones have their hourly run anyway.
RETRIEVAL_INTERVAL_S = 300


def build_definitions(settings: Settings, **resources: Any) -> dg.Definitions:
    """Everything that Dagster runs for these settings; `resources` replaces the default ones by name.

    Each street is there when it is enabled, alone or beside the other one; without either there is nothing: no asset,
    job, schedule or sensor.
    """
    streets = []
    if settings.rag_quality.enabled:
        streets.append(_grading(settings.rag_quality))
        if settings.rag_quality.judge_model:
            streets.append(trust_definitions(with_experts=settings.retrieval.enabled))
    if settings.retrieval.enabled:
        streets.append(_retrieval(settings.retrieval))
        if settings.retrieval.clickhouse_url:
            streets.append(copy_definitions())
    if not streets:
        return dg.Definitions()
    windows = {"quality_windows": settings.rag_quality.enabled, "retrieval_windows": settings.retrieval.enabled}
    streets.append(alert_definitions([name for name, is_there in windows.items() if is_there]))
    if settings.alerts.has_destination:
        streets.append(delivery_definitions())
    opened = {
        GRADING.name: GradingStreets(settings),
        RETRIEVAL.name: RetrievalStreets(settings),
        ALERT_DESK: AlertDesks(settings),
    }
    return dg.Definitions.merge(*streets, _housekeeping(), dg.Definitions(resources={**opened, **resources}))


def _grading(quality: RagQualitySettings) -> dg.Definitions:
    start_at = quality.start_at if isinstance(quality.start_at, datetime) else None
    partitions = hourly_partitions(start_at)
    slow = slow_grading_checks()
    return dg.Definitions(
        assets=[*grading_source_specs(), *grading_assets(partitions), expired_text, quality_partitions],
        asset_checks=[*grading_checks(), *slow],
        jobs=grading_jobs(slow),
        schedules=[hourly_schedule(GRADING)],
        sensors=[backlog_sensor(GRADING, int(quality.eval_interval_s), partitions.start)],
    )


def _retrieval(retrieval: RetrievalSettings) -> dg.Definitions:
    partitions = hourly_partitions()
    hourly = hourly_retrieval_assets(partitions)
    slow = slow_event_checks(retrieval.engines)
    return dg.Definitions(
        assets=[*retrieval_source_specs(), *arriving_specs(), *hourly, ground_truth, expired_queries, late_hours],
        asset_checks=[*event_checks(), *slow, *derived_checks(), *truth_checks(), truth_expectations],
        jobs=retrieval_jobs(event_checks(), slow),
        schedules=[hourly_schedule(RETRIEVAL), harvest_schedule()],
        sensors=[backlog_sensor(RETRIEVAL, RETRIEVAL_INTERVAL_S, partitions.start), retrieval_arrivals_sensor],
    )


def _housekeeping() -> dg.Definitions:
    return dg.Definitions(
        jobs=[house_job(), clean_event_log], schedules=nightly_schedules(), executor=dg.in_process_executor
    )


@dg.definitions
def defs() -> dg.Definitions:
    """The code location: what workspace.yaml loads."""
    return build_definitions(load_settings())
