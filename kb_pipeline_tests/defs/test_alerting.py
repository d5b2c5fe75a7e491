"""Alerts as Dagster runs them: after the windows of an hour, on a schedule, and for a run that failed."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import dagster as dg
import pytest
from dagster._core.utils import make_new_run_id

from kb_pipeline.adapters.postgres.connection import Database
from kb_pipeline.definitions import build_definitions
from kb_pipeline.defs.alerting import EVALUATION_JOB, FAILED, FINISHED, slot
from kb_pipeline.settings import Settings
from kb_pipeline.windows import floor_hour
from kb_pipeline_tests.alert_desk.windows import bad_hours, settings
from kb_pipeline_tests.builders import table
from kb_pipeline_tests.defs.runs import run, succeeded

pytestmark = pytest.mark.postgres


def heard(given: Settings, instance: dg.DagsterInstance, sensor: str, job: str, event: str) -> list[object]:
    """What a sensor makes of the end of a run."""
    definitions = build_definitions(given)
    context = dg.build_run_status_sensor_context(
        sensor_name=sensor,
        dagster_event=dg.DagsterEvent(event, job),
        dagster_instance=instance,
        dagster_run=dg.DagsterRun(job_name=job, run_id=make_new_run_id()),
        resources=dict(definitions.resources or {}),
    )
    found = definitions.get_repository_def().get_sensor_def(sensor)(context)
    return list(found) if isinstance(found, Iterator) else [found]


def alerts(database: Database) -> list[tuple[str, str]]:
    return table(
        database,
        "SELECT fingerprint, payload ->> 'status' FROM kb_alert_outbox WHERE destination = 'keep'"
        " ORDER BY queued_at, fingerprint, kb_seq",
    )


def test_the_asset_evaluates_and_shows_its_counts_and_the_verdict(
    database: Database, instance: dg.DagsterInstance
) -> None:
    bad_hours(database, until=floor_hour(datetime.now(UTC)))
    result = run(settings(database), instance, EVALUATION_JOB)
    assert succeeded(result)
    (materialization,) = result.asset_materializations_for_node("alert_evaluation")
    assert materialization.metadata["notices"].value == 2
    assert "Quality is below the line" in str(materialization.metadata["verdict"].value)
    assert len(alerts(database)) == 2


def test_an_hours_windows_are_followed_by_an_evaluation_and_other_runs_are_not(
    database: Database, instance: dg.DagsterInstance
) -> None:
    given = settings(database)
    (request,) = heard(given, instance, FINISHED, "grade_hour", "PIPELINE_SUCCESS")
    assert isinstance(request, dg.RunRequest)
    assert request.run_key in {slot(datetime.now(UTC)), slot(datetime.now(UTC) - timedelta(minutes=5))}
    (skipped,) = heard(given, instance, FINISHED, "keep_house", "PIPELINE_SUCCESS")
    assert isinstance(skipped, dg.SkipReason)


def test_a_failed_run_is_an_alert_until_a_run_of_the_job_succeeds(
    database: Database, instance: dg.DagsterInstance
) -> None:
    given = settings(database)
    heard(given, instance, FAILED, "__ASSET_JOB", "PIPELINE_FAILURE")
    assert alerts(database) == []
    heard(given, instance, FAILED, "derive_hour", "PIPELINE_FAILURE")
    heard(given, instance, FAILED, "derive_hour", "PIPELINE_FAILURE")
    heard(given, instance, FINISHED, "grade_hour", "PIPELINE_SUCCESS")
    name = "kb_run_failed|run|prod:derive_hour"
    assert alerts(database) == [(name, "firing")]
    heard(given, instance, FINISHED, "derive_hour", "PIPELINE_SUCCESS")
    assert alerts(database) == [(name, "firing"), (name, "resolved")]


def test_evaluations_of_five_minutes_are_one() -> None:
    at = datetime(2026, 3, 4, 12, 3, 59, tzinfo=UTC)
    assert slot(at) == "2026-03-04T12:00:00+00:00"
    assert slot(at + timedelta(minutes=2)) == "2026-03-04T12:05:00+00:00"
