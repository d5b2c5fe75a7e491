"""Runs and checks on a real database, with a real judge over HTTP."""

import os
from datetime import timedelta
from pathlib import Path

import dagster as dg
import pytest

from kb_pipeline.adapters.postgres.connection import Database
from kb_pipeline.defs.jobs import BACKLOG_JOB, DAILY_JOB, HOURLY_JOB
from kb_pipeline.windows import partition_key
from kb_pipeline_tests.builders import Upstream, closed_hour, request_body, settings, table
from kb_pipeline_tests.defs.runs import SILENT, run, succeeded
from kb_pipeline_tests.judges import WatchedJudge


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
