"""Runs, ticks and checks on a real database, with a real judge over HTTP."""

import os
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import cast

import dagster as dg
import pytest

from kb_pipeline.adapters.postgres.backlog import HourlyBacklog
from kb_pipeline.adapters.postgres.connection import Database
from kb_pipeline.definitions import build_definitions
from kb_pipeline.defs.in_flight import PARTITION_TAG
from kb_pipeline.defs.jobs import BACKLOG_JOB, DAILY_JOB, HOURLY_JOB
from kb_pipeline.defs.partitions import FIRST_HOUR
from kb_pipeline.defs.resources import GradingStreets
from kb_pipeline.defs.schedules import grade_hourly
from kb_pipeline.defs.sensors import MAX_REQUESTS, backlog_sensor, requested
from kb_pipeline.settings import Settings
from kb_pipeline.windows import HOUR, Window, partition_key
from kb_pipeline_tests.builders import Upstream, closed_hour, request_body, settings, table
from kb_pipeline_tests.judges import WatchedJudge

SILENT = {"telemetry": {"enabled": False}}
QUIET = {"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}}


@pytest.fixture
def judge() -> Iterator[WatchedJudge]:
    with WatchedJudge() as watched:
        yield watched


@pytest.fixture
def instance(tmp_path: Path) -> Iterator[dg.DagsterInstance]:
    with dg.DagsterInstance.local_temp(str(tmp_path), overrides=SILENT) as local:
        yield local


def run(given: Settings, instance: dg.DagsterInstance, job: str, key: str | None = None) -> dg.ExecuteInProcessResult:
    resolved = build_definitions(given).resolve_job_def(job)
    return resolved.execute_in_process(partition_key=key, instance=instance, run_config=QUIET, raise_on_error=False)


def succeeded(result: dg.ExecuteInProcessResult) -> bool:
    """Whether a run succeeded; what failed is raised otherwise."""
    for event in result.all_events:
        if event.is_step_failure:
            raise AssertionError(event.step_failure_data.error)
    return result.success


def test_a_run_of_an_hour_materializes_every_asset_with_its_rows_and_passes_every_check(
    database: Database, judge: WatchedJudge, instance: dg.DagsterInstance
) -> None:
    Upstream(database).turns(5, closed_hour())
    result = run(settings(database, judge_base_url=judge.url), instance, HOURLY_JOB, partition_key(closed_hour()))
    assert succeeded(result)
    rows = {
        event.asset_key.to_user_string(): event.materialization.metadata["dagster/partition_row_count"].value
        for event in result.get_asset_materialization_events()
        if event.asset_key
    }
    assert rows == {
        "synthesis_bodies": 5,
        "triads": 5,
        "deterministic_metrics": 5,
        "judge_scores": 5,
        "rag_quality": 5,
        "quality_windows": 1,
    }
    checks = {each.check_name: each.passed for each in result.get_asset_check_evaluations()}
    assert checks == dict.fromkeys(checks, True)
    assert len(checks) == 8


def test_nothing_that_a_citizen_wrote_stands_in_dagsters_storage(
    database: Database, judge: WatchedJudge, tmp_path: Path
) -> None:
    marker = "Pengakuanrahasia"
    Upstream(database).turn("e1", closed_hour().start, request=request_body(f"Apakah {marker} boleh?"))
    with dg.DagsterInstance.local_temp(str(tmp_path), overrides=SILENT) as instance:
        given = settings(database, judge_base_url=judge.url)
        assert run(given, instance, HOURLY_JOB, partition_key(closed_hour())).success
        # A run whose table is gone fails in the middle of the text.
        with database.connect() as connection:
            connection.execute("TRUNCATE rag_call, rag_triad, rag_metric")
            connection.execute("ALTER TABLE rag_triad ADD CHECK (question = '')")
        assert not run(given, instance, HOURLY_JOB, partition_key(closed_hour())).success
    found = [path for path in tmp_path.rglob("*") if path.is_file() and marker.encode() in path.read_bytes()]
    assert found == []


def test_a_changed_template_fails_its_check_and_the_hour_still_gets_its_rows(
    database: Database, judge: WatchedJudge, instance: dg.DagsterInstance
) -> None:
    upstream = Upstream(database)
    for number in range(6):
        changed = request_body().replace(b"PERTANYAAN:", b"TANYA:")
        upstream.turn(f"e{number}", closed_hour().start + timedelta(minutes=number), request=changed)
    result = run(settings(database, judge_base_url=judge.url), instance, BACKLOG_JOB, partition_key(closed_hour()))
    assert succeeded(result)
    (check,) = [each for each in result.get_asset_check_evaluations() if each.check_name == "parse_success"]
    assert not check.passed
    assert check.severity is dg.AssetCheckSeverity.ERROR
    assert check.metadata["no_question"].value == 6
    assert table(database, "SELECT DISTINCT skip_reason FROM rag_quality") == [("no_question",)]


def test_the_sensor_asks_for_exactly_the_hours_with_work_and_for_the_rest_after_max_batch(
    database: Database, judge: WatchedJudge, instance: dg.DagsterInstance
) -> None:
    upstream = Upstream(database)
    upstream.turns(5, closed_hour(3))
    upstream.turns(1, closed_hour(30), prefix="late")
    given = settings(database, judge_base_url=judge.url, max_batch=3)
    old, recent = partition_key(closed_hour(30)), partition_key(closed_hour(3))
    first = tick(given, instance)
    assert set(first) == {old, recent}
    assert tick(given, instance) == first, "without progress the run key stays, so nothing runs twice"
    for key in (old, recent):
        assert run(given, instance, BACKLOG_JOB, key).success
    second = tick(given, instance)
    assert set(second) == {recent}
    assert second[recent] != first[recent], "a remembered run key would starve the rest"
    assert run(given, instance, BACKLOG_JOB, recent).success
    assert tick(given, instance) == {}
    assert judge.calls.total() == 6


def test_an_hour_whose_run_is_in_flight_is_not_asked_for(
    database: Database, judge: WatchedJudge, instance: dg.DagsterInstance
) -> None:
    Upstream(database).turns(1, closed_hour())
    given = settings(database, judge_base_url=judge.url)
    key = partition_key(closed_hour())
    job = build_definitions(given).resolve_job_def(BACKLOG_JOB)
    instance.create_run_for_job(job, tags={PARTITION_TAG: key}, status=dg.DagsterRunStatus.STARTED)
    assert tick(given, instance) == {}


def test_a_run_that_failed_is_asked_for_again(
    database: Database, judge: WatchedJudge, instance: dg.DagsterInstance
) -> None:
    Upstream(database).turns(1, closed_hour())
    given = settings(database, judge_base_url=judge.url)
    before = tick(given, instance)
    job = build_definitions(given).resolve_job_def(BACKLOG_JOB)
    instance.create_run_for_job(
        job, tags={PARTITION_TAG: partition_key(closed_hour())}, status=dg.DagsterRunStatus.FAILURE
    )
    after = tick(given, instance)
    assert set(after) == set(before)
    assert after != before


def tick(given: Settings, instance: dg.DagsterInstance) -> dict[str, str]:
    sensor = backlog_sensor(300, FIRST_HOUR)
    with dg.build_sensor_context(instance=instance, resources={"streets": GradingStreets(given)}) as context:
        result = sensor(context)
    assert isinstance(result, dg.SensorResult)
    return {str(each.partition_key): str(each.run_key) for each in result.run_requests or []}


def test_a_long_backlog_is_taken_oldest_first_and_starves_no_new_hour() -> None:
    hours = [
        HourlyBacklog(
            hour=Window(FIRST_HOUR + HOUR * n, FIRST_HOUR + HOUR * (n + 1)),
            unexamined=1,
            waiting=0,
            stale=False,
            progress="x",
        )
        for n in range(100)
    ]
    asked = requested(hours, set(), FIRST_HOUR)
    assert len(asked) == MAX_REQUESTS
    assert asked[:2] == [hours[99], hours[98]]
    assert asked[2:] == hours[: MAX_REQUESTS - 2]
    assert requested(hours[:1], set(), FIRST_HOUR) == hours[:1]
    assert requested(hours[:1], set(), FIRST_HOUR + HOUR) == []


def test_the_schedule_asks_for_the_last_closed_hour_and_the_running_one(instance: dg.DagsterInstance) -> None:
    at = FIRST_HOUR + HOUR * 5 + timedelta(minutes=2)
    with dg.build_schedule_context(instance=instance, scheduled_execution_time=at) as context:
        asked = [each.partition_key for each in cast(list[dg.RunRequest], grade_hourly(context))]
    assert asked == ["2024-01-01-04:00", "2024-01-01-05:00"]


def test_the_daily_job_lets_go_of_old_text_and_makes_partitions(
    database: Database, judge: WatchedJudge, instance: dg.DagsterInstance
) -> None:
    result = run(settings(database, judge_base_url=judge.url), instance, DAILY_JOB)
    assert succeeded(result)
    metadata = {
        event.asset_key.to_user_string(): set(event.materialization.metadata)
        for event in result.get_asset_materialization_events()
        if event.asset_key
    }
    assert "texts_expired" in metadata["expired_text"]
    assert "partitions_made" in metadata["quality_partitions"]


def test_the_shipped_instance_file_is_one_that_dagster_accepts(
    empty_database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And old events are cleaned from it, while materializations stay."""
    shipped = Path(__file__).parents[2] / "dagster.yaml"
    (tmp_path / "dagster.yaml").write_bytes(shipped.read_bytes())
    url = empty_database.url.set(drivername="postgresql+psycopg2").render_as_string(hide_password=False)
    monkeypatch.setitem(os.environ, "KB_PIPELINE_DAGSTER_URL", url)
    with dg.DagsterInstance.from_config(str(tmp_path)) as instance:
        assert instance.telemetry_enabled is False if hasattr(instance, "telemetry_enabled") else True
        assert instance.run_monitoring_enabled
