"""Alerts in Dagster: an evaluation after every hour's windows and on a schedule, runs that fail, delivery.

Belongs here: the asset, its job, schedule and sensors. Does not: rules, what is sent when.
"""

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta

import dagster as dg
from dagster._core.definitions.unresolved_asset_job_definition import UnresolvedAssetJobDefinition

from kb_pipeline.alert_desk import EVERY
from kb_pipeline.counting import counted
from kb_pipeline.defs.hourly import KINDS, OWNERS
from kb_pipeline.defs.jobs import MAINTENANCE_GROUP, PRIORITY, in_process_job
from kb_pipeline.defs.resources import AlertDesks
from kb_pipeline.defs.schedules import regular_schedule
from kb_pipeline.defs.streets import STREETS
from kb_pipeline.defs.tables import table_metadata

ALERTS = "alerts"
ALERT_DESK = "alert_desk"
EVALUATION = "alert_evaluation"
EVALUATION_JOB = "evaluate_alerts"
FINISHED = "finished_runs"
FAILED = "failed_runs"
# Hours that are materialized one after the other are evaluated together.
SLOT = timedelta(minutes=5)
WATCH_S = 30
HOUR_JOBS = frozenset[str]().union(*(street.jobs for street in STREETS))


def alert_definitions(windows: Sequence[str]) -> dg.Definitions:
    """Everything about alerts; `windows` are the assets whose windows there are."""
    asset = _evaluation(windows)
    job = in_process_job(
        EVALUATION_JOB, dg.AssetSelection.assets(asset), "Evaluate every alert rule over the hourly windows."
    )
    minutes = EVERY // timedelta(minutes=1)
    schedule = regular_schedule(
        f"{EVALUATION_JOB}_regularly",
        EVALUATION_JOB,
        f"*/{minutes} * * * *",
        "Evaluates alert rules whether anything materializes or not, so that absence is noticed.",
    )
    return dg.Definitions(
        assets=[asset, _expired_alerts()],
        jobs=[job],
        schedules=[schedule],
        sensors=[_finished_runs(job), _failed_runs()],
    )


def _evaluation(windows: Sequence[str]) -> dg.AssetsDefinition:
    @dg.asset(
        name=EVALUATION,
        deps=list(windows),
        group_name=ALERTS,
        owners=OWNERS,
        kinds=set(KINDS),
        metadata=table_metadata("kb_alert_state"),
        description="Where every alert rule stands; what people are to be told waits in the outbox.",
    )
    def alert_evaluation(
        context: dg.AssetExecutionContext, alert_desk: dg.ResourceParam[AlertDesks]
    ) -> dg.MaterializeResult[None]:
        with alert_desk.open(context.run.run_id) as desk:
            report = desk.evaluate()
            verdict = desk.verdict()
        return dg.MaterializeResult(metadata={**report.counts, "verdict": verdict.sentence})

    return alert_evaluation


def _expired_alerts() -> dg.AssetsDefinition:
    @dg.asset(
        name="expired_alerts",
        deps=[EVALUATION],
        group_name=MAINTENANCE_GROUP,
        owners=OWNERS,
        kinds={"postgres"},
        description="Alerts that are done with, and flips, past their retention are gone from here.",
    )
    def expired_alerts(
        context: dg.AssetExecutionContext, alert_desk: dg.ResourceParam[AlertDesks]
    ) -> dg.MaterializeResult[None]:
        with alert_desk.open(context.run.run_id) as desk:
            return dg.MaterializeResult(metadata=dict(desk.expire().counts))

    return expired_alerts


def _finished_runs(job: UnresolvedAssetJobDefinition) -> dg.SensorDefinition:
    """Asks for an evaluation after an hour's windows, and resolves the alert of a job that works again."""

    @dg.run_status_sensor(
        name=FINISHED,
        run_status=dg.DagsterRunStatus.SUCCESS,
        request_job=job,
        minimum_interval_seconds=WATCH_S,
        default_status=dg.DefaultSensorStatus.RUNNING,
        description="Evaluates alert rules after the windows of an hour; a job that works again is no alert any more.",
    )
    def finished_runs(
        context: dg.RunStatusSensorContext, alert_desk: dg.ResourceParam[AlertDesks]
    ) -> Iterator[dg.RunRequest | dg.SkipReason]:
        name = context.dagster_run.job_name
        with alert_desk.open() as desk:
            if is_ours(name):
                desk.report_run(name, failed=False)
            now = desk.clock.now()
        if name in HOUR_JOBS:
            yield dg.RunRequest(run_key=slot(now), tags=PRIORITY)
        else:
            yield dg.SkipReason(f"{name} makes no windows.")

    return finished_runs


def _failed_runs() -> dg.SensorDefinition:
    """A failed run is an alert."""

    @dg.run_status_sensor(
        name=FAILED,
        run_status=dg.DagsterRunStatus.FAILURE,
        minimum_interval_seconds=WATCH_S,
        default_status=dg.DefaultSensorStatus.RUNNING,
        description="A run of the pipeline that failed is an alert until a run of the same job succeeds.",
    )
    def failed_runs(context: dg.RunStatusSensorContext, alert_desk: dg.ResourceParam[AlertDesks]) -> dg.SkipReason:
        name = context.dagster_run.job_name
        if not is_ours(name):
            return dg.SkipReason("Whoever put the run together by hand saw it fail.")
        with alert_desk.open() as desk:
            report = desk.report_run(name, failed=True)
        return dg.SkipReason(
            f"{name} failed; {counted(int(report.counts['notices']), 'alert follows', 'alerts follow')} from it."
        )

    return failed_runs


def is_ours(job: str) -> bool:
    """Whether a run is of a job of ours; Dagster's own names for runs put together by hand begin with two lines."""
    return not job.startswith("__")


def slot(now: datetime) -> str:
    """The run key of an evaluation: one every five minutes."""
    return (now - (now - datetime.min.replace(tzinfo=now.tzinfo)) % SLOT).isoformat()
