"""Runs and checks on a real database, with a real judge over HTTP."""

import os
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import dagster as dg
import pytest

from kb_pipeline.adapters.expectations import RAG_QUALITY
from kb_pipeline.adapters.postgres.connection import Database
from kb_pipeline.adapters.postgres.dagster_storage import delete_old_events
from kb_pipeline.adapters.postgres.server_check import check_server
from kb_pipeline.definitions import build_definitions
from kb_pipeline.defs.jobs import BACKLOG_JOB, DAILY_JOB, HOURLY_JOB
from kb_pipeline.settings import load_settings
from kb_pipeline.windows import partition_key
from kb_pipeline_tests.builders import Upstream, closed_hour, request_body, settings, table
from kb_pipeline_tests.defs.runs import QUIET, SILENT, run, succeeded
from kb_pipeline_tests.judges import WatchedJudge
from kb_pipeline_tests.schema_file import client
from kb_pipeline_tests.servers import libpq_url

AWAY = "postgresql+psycopg://kb:secret@127.0.0.1:9/kb"


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
        "second_opinions": 5,
        "judge_scores": 5,
        "rag_quality": 5,
        "quality_windows": 1,
    }
    checks = {each.check_name: each.passed for each in result.get_asset_check_evaluations()}
    assert checks == dict.fromkeys(checks, True)
    assert len(checks) == 9


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
    assert {"alerts_expired", "flips_expired"} <= metadata["expired_alerts"]


def test_checks_asked_for_alone_look_at_the_newest_closed_hour(
    database: Database, judge: WatchedJudge, instance: dg.DagsterInstance
) -> None:
    Upstream(database).turns(3, closed_hour())
    given = settings(database, judge_base_url=judge.url)
    assert run(given, instance, BACKLOG_JOB, partition_key(closed_hour())).success
    definitions = build_definitions(given)
    everything = definitions.resolve_implicit_global_asset_job_def()
    graph = definitions.resolve_asset_graph()
    checks = {key for key in graph.asset_check_keys if key.name not in RAG_QUALITY.groups}
    alone = everything.get_subset(asset_selection=set(), asset_check_selection=checks)
    result = alone.execute_in_process(instance=instance, run_config=QUIET, raise_on_error=False)
    assert succeeded(result)
    found = result.get_asset_check_evaluations()
    assert {each.check_name for each in found} == {key.name for key in checks}
    assert all(each.passed for each in found)
    (coverage,) = [each for each in found if each.check_name == "coverage"]
    assert coverage.metadata["from"].value == closed_hour().start.isoformat()


@pytest.mark.parametrize("key", ["2009-01-01-00:00", "2999-01-01-00:00"])
def test_an_hour_before_the_first_one_or_in_the_future_is_no_partition(
    database: Database, instance: dg.DagsterInstance, key: str
) -> None:
    with pytest.raises((dg.DagsterInvariantViolationError, dg.DagsterUnknownPartitionError)):
        run(settings(database, judge_model=None), instance, BACKLOG_JOB, key)
    assert table(database, "SELECT * FROM rag_call") == []


def test_a_run_on_a_database_that_is_away_fails_in_one_sentence(
    database: Database, instance: dg.DagsterInstance
) -> None:
    given = settings(database, judge_model=None)
    away = given.model_copy(update={"database": given.database.model_copy(update={"url": AWAY})})
    result = run(away, instance, BACKLOG_JOB, partition_key(closed_hour()))
    assert not result.success
    errors = [each.step_failure_data.error for each in result.all_events if each.is_step_failure]
    assert errors[0]
    cause = errors[0].cause or errors[0]
    assert "the database at 127.0.0.1/kb cannot be used" in cause.message
    assert "secret" not in errors[0].to_string()


def test_the_shipped_instance_file_works_and_its_clean_up_leaves_the_history_of_every_partition(
    database: Database, empty_database: Database, judge: WatchedJudge, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Upstream(database).turns(2, closed_hour())
    shipped = Path(__file__).parents[2] / "dagster.yaml"
    (tmp_path / "dagster.yaml").write_bytes(shipped.read_bytes())
    url = empty_database.url.set(drivername="postgresql+psycopg2").render_as_string(hide_password=False)
    monkeypatch.setitem(os.environ, "KB_PIPELINE_DAGSTER_URL", url)
    key = partition_key(closed_hour())
    with dg.DagsterInstance.from_config(str(tmp_path)) as instance:
        assert instance.run_monitoring_enabled
        assert instance.get_settings("telemetry") == {"enabled": False}
        assert succeeded(run(settings(database, judge_base_url=judge.url), instance, HOURLY_JOB, key))
        events = "SELECT count(*) FROM event_logs"
        before, history = table(empty_database, events), history_of(instance, key)
        assert delete_old_events(instance, before=datetime.now(UTC) - timedelta(hours=1)) == 0
        deleted = delete_old_events(instance, before=datetime.now(UTC) + timedelta(hours=1))
        assert table(empty_database, events) == [(before[0][0] - deleted,)]
        assert deleted > before[0][0] / 3
        assert history_of(instance, key) == history
        assert all(history.values())
    problems = {each.name for each in check_server(empty_database) if not each.ok}
    assert "dagster storage" in problems, "a database of its own, never the one with the text of turns"
    assert "dagster storage" not in {each.name for each in check_server(database)}


def history_of(instance: dg.DagsterInstance, key: str) -> dict[str, object]:
    """What the UI shows of an hour: materializations with their row counts, partitions, checks, the run."""
    quality = dg.AssetKey("rag_quality")
    latest = instance.get_latest_materialization_event(quality)
    assert latest
    assert latest.asset_materialization
    check = dg.AssetCheckKey(quality, "coverage")
    checks = instance.event_log_storage.get_asset_check_execution_history(check, limit=5)
    return {
        "partitions": instance.get_materialized_partitions(quality),
        "rows": latest.asset_materialization.metadata["dagster/partition_row_count"].value,
        "of": latest.asset_materialization.partition == key,
        "checks": [each.status.value for each in checks],
        "runs": [each.status.value for each in instance.get_runs()],
    }


def test_a_dormant_street_leaves_every_byte_of_the_database_as_it_was(database: Database, tmp_path: Path) -> None:
    Upstream(database).turns(2, closed_hour())
    before = dumped(database)
    config = tmp_path / "kb_pipeline.yaml"
    config.write_text(f"database: {{url: '{database.url.render_as_string(hide_password=False)}'}}\n")
    repository = build_definitions(load_settings(config)).get_repository_def()
    assert repository.sensor_defs == []
    assert repository.schedule_defs == []
    for command in (["check"], ["grade", "--dry-run"], ["grade"]):
        subprocess.run(
            [sys.executable, "-m", "kb_pipeline.cli", "--config", str(config), *command],
            check=False,
            capture_output=True,
            timeout=60,
        )
    assert dumped(database) == before


def dumped(database: Database) -> bytes:
    command = [str(client("pg_dump")), "--restrict-key=same", libpq_url(database.url.render_as_string(False))]
    return subprocess.run(command, check=True, capture_output=True).stdout


def test_a_run_says_in_words_that_the_days_tokens_are_spent_and_how_many_turns_wait(
    database: Database, judge: WatchedJudge, instance: dg.DagsterInstance
) -> None:
    Upstream(database).turns(4, closed_hour())
    given = settings(database, judge_base_url=judge.url, judge_daily_tokens=1)
    result = run(given, instance, BACKLOG_JOB, partition_key(closed_hour()))
    assert succeeded(result)
    (scores,) = [
        event.materialization
        for event in result.get_asset_materialization_events()
        if event.asset_key == dg.AssetKey("judge_scores")
    ]
    assert scores.metadata["claimed"].value == 1
    assert scores.metadata["note"].value == (
        "today's judge_daily_tokens of 1 are spent; 3 turns wait until midnight UTC"
    )
