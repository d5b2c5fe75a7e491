"""The asset graph: what exists, what it depends on, what a reader of the lineage is told."""

from typing import Any

import dagster as dg
import pytest

from kb_pipeline.definitions import build_definitions
from kb_pipeline.settings import Settings


def graph_of(**quality: Any) -> dg.Definitions:
    given = {"enabled": True, **quality}
    return build_definitions(
        Settings.model_validate({"rag_quality": given, "database": {"url": "postgresql://nobody@localhost/none"}})
    )


@pytest.fixture(scope="module")
def graph() -> dg.Definitions:
    return graph_of()


def test_the_graph_is_this(graph: dg.Definitions) -> None:
    keys = graph.resolve_asset_graph()
    edges = {
        key.to_user_string(): sorted(parent.to_user_string() for parent in keys.get(key).parent_keys)
        for key in keys.get_all_asset_keys()
    }
    assert edges == {
        "kb_source/ai_call": [],
        "kb_source/ai_call_body": [],
        "synthesis_bodies": ["kb_source/ai_call", "kb_source/ai_call_body"],
        "triads": ["synthesis_bodies"],
        "deterministic_metrics": ["triads"],
        "judge_scores": ["deterministic_metrics", "triads"],
        "rag_quality": ["deterministic_metrics", "judge_scores", "synthesis_bodies", "triads"],
        "quality_windows": ["rag_quality"],
        "expired_text": ["rag_quality", "triads"],
        "quality_partitions": [],
    }


def test_the_checks_jobs_schedules_and_sensors_are_these(graph: dg.Definitions) -> None:
    checks = {key.to_user_string() for key in graph.resolve_asset_graph().asset_check_keys}
    assert checks == {
        "triads:parse_success",
        "synthesis_bodies:synthesis_share",
        "judge_scores:judge_answers",
        "rag_quality:coverage",
        "quality_windows:newest_closed_hour",
        "rag_quality:rag_quality_schema",
        "rag_quality:rag_quality_ranges",
        "rag_quality:rag_quality_unique",
        "rag_quality:rag_quality_status_consistent",
    }
    repository = graph.get_repository_def()
    assert {job.name for job in repository.get_all_jobs()} >= {
        "grade_hour",
        "grade_backlog",
        "keep_house",
        "clean_event_log",
    }
    schedules = {schedule.name: schedule.default_status for schedule in repository.schedule_defs}
    assert schedules == dict.fromkeys(
        ("grade_hourly", "keep_house_nightly", "clean_event_log_nightly"), dg.DefaultScheduleStatus.RUNNING
    )
    sensors = {sensor.name: sensor.default_status for sensor in repository.sensor_defs}
    assert sensors == {"grading_backlog": dg.DefaultSensorStatus.RUNNING}


def test_every_asset_says_what_it_is_and_every_table_shows_its_columns(graph: dg.Definitions) -> None:
    for spec in graph.resolve_all_asset_specs():
        assert spec.description, spec.key
        assert spec.owners, spec.key
        assert spec.kinds, spec.key
        assert spec.group_name in {"kb_source", "grading", "maintenance"}
        if spec.group_name == "grading":
            columns = spec.metadata["dagster/column_schema"].columns
            assert spec.metadata["dagster/table_name"].startswith("public.rag_")
            assert columns
            assert all(column.description for column in columns)


def test_the_definitions_load_as_dagster_loads_them(graph: dg.Definitions) -> None:
    dg.Definitions.validate_loadable(graph)


def test_the_sensor_ticks_as_often_as_configured() -> None:
    (sensor,) = graph_of(eval_interval_s=30).get_repository_def().sensor_defs
    assert sensor.minimum_interval_seconds == 30


def test_a_dormant_street_has_no_asset_job_schedule_or_sensor() -> None:
    for settings in (Settings(), Settings.model_validate({"rag_quality": {"enabled": False}})):
        dormant = build_definitions(settings)
        assert list(dormant.resolve_all_asset_specs()) == []
        repository = dormant.get_repository_def()
        assert [job.name for job in repository.get_all_jobs()] == []
        assert repository.schedule_defs == []
        assert repository.sensor_defs == []


def test_an_earlier_start_moves_the_first_partition_back_and_a_later_one_leaves_it() -> None:
    keys = (
        graph_of(start_at="2019-03-01T00:30:00+00:00").resolve_asset_graph().get(dg.AssetKey("triads")).partitions_def
    )
    assert keys is not None
    assert keys.get_first_partition_key() == "2019-03-01-00:00"
    later = (
        graph_of(start_at="2026-03-01T00:30:00+00:00").resolve_asset_graph().get(dg.AssetKey("triads")).partitions_def
    )
    assert later is not None
    assert later.get_first_partition_key() == "2024-01-01-00:00"
