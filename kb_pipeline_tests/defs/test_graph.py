"""The asset graph: what exists, what it depends on, what a reader of the lineage is told."""

from collections.abc import Mapping
from typing import Any

import dagster as dg
import pytest

from kb_pipeline.definitions import build_definitions
from kb_pipeline.settings import Settings

QUEUE = {"enabled": True, "redis_url": "redis://localhost:6379/0"}
GRADING: Mapping[str, list[str]] = {
    "kb_source/ai_call": [],
    "kb_source/ai_call_body": [],
    "synthesis_bodies": ["kb_source/ai_call", "kb_source/ai_call_body"],
    "triads": ["synthesis_bodies"],
    "deterministic_metrics": ["triads"],
    "second_opinions": ["deterministic_metrics", "triads"],
    "judge_scores": ["deterministic_metrics", "triads"],
    "rag_quality": ["deterministic_metrics", "judge_scores", "second_opinions", "synthesis_bodies", "triads"],
    "quality_windows": ["rag_quality"],
    "expired_text": ["rag_quality", "triads"],
    "quality_partitions": [],
    "judge_canary": [],
    "alert_evaluation": ["quality_windows"],
    "expired_alerts": ["alert_evaluation"],
}
RETRIEVAL: Mapping[str, list[str]] = {
    "kb_source/message": [],
    "kb_source/expert_queue_item": [],
    "kb_source/correction": [],
    "kb_source/kb_chunk": [],
    "kb_source/audit_log": [],
    "retrieval_events": [],
    "search_events": [],
    "corrections": ["kb_source/correction", "kb_source/expert_queue_item", "kb_source/message"],
    "draft_outcomes": ["corrections", "retrieval_events", "search_events"],
    "retrieval_gaps": ["draft_outcomes", "kb_source/kb_chunk", "retrieval_events"],
    "retrieval_windows": ["retrieval_events"],
    "ground_truth": ["draft_outcomes", "kb_source/kb_chunk", "retrieval_events", "search_events"],
    "late_hours": ["expired_queries"],
    "alert_evaluation": ["retrieval_windows"],
    "expired_alerts": ["alert_evaluation"],
    "expired_queries": ["draft_outcomes", "ground_truth", "retrieval_events", "search_events"],
}
# What needs both streets.
TOGETHER: Mapping[str, list[str]] = {
    "judge_calibration": ["draft_outcomes", "rag_quality"],
    "alert_evaluation": ["quality_windows", "retrieval_windows"],
}
CANARY_CHECK = "judge_canary:judge_is_healthy"
GRADING_CHECKS = {
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
RETRIEVAL_CHECKS = {
    "retrieval_events:completeness",
    "retrieval_events:newest_hour_arrived",
    "retrieval_events:kb_retrieval_event_schema",
    "retrieval_events:kb_retrieval_event_ranges",
    "retrieval_events:kb_retrieval_event_unique",
    "retrieval_events:kb_retrieval_event_lists",
    "search_events:kb_search_event_schema",
    "search_events:kb_search_event_ranges",
    "search_events:kb_search_event_unique",
    "search_events:kb_search_event_consistent",
    "draft_outcomes:event_references",
    "retrieval_windows:empty_share",
    "ground_truth:evidence_references",
    "ground_truth:tenant_isolation",
    "ground_truth:kb_ground_truth_schema",
    "ground_truth:kb_ground_truth_ranges",
    "ground_truth:kb_ground_truth_unique",
    "ground_truth:kb_ground_truth_consistent",
}
TRUST_PARTS = {"assess_judge", "assess_judge_daily"}
GRADING_PARTS = {"grade_hour", "grade_backlog", "grade_hourly", "grading_backlog"} | TRUST_PARTS
RETRIEVAL_PARTS = {
    "derive_hour",
    "derive_backlog",
    "derive_hourly",
    "harvest",
    "harvest_hourly",
    "retrieval_backlog",
    "retrieval_arrivals",
}
ALERT_PARTS = {"evaluate_alerts", "evaluate_alerts_regularly", "finished_runs", "failed_runs"}
HOUSEKEEPING = ALERT_PARTS | {"keep_house", "keep_house_nightly", "clean_event_log", "clean_event_log_nightly"}


def graph_of(*, grading: bool = True, retrieval: bool = True, **quality: Any) -> dg.Definitions:
    given = {
        "rag_quality": {"enabled": grading, **quality},
        "retrieval": QUEUE if retrieval else {"enabled": False},
        "database": {"url": "postgresql://nobody@localhost/none"},
    }
    return build_definitions(Settings.model_validate(given))


@pytest.fixture(scope="module")
def graph() -> dg.Definitions:
    return graph_of()


def edges(graph: dg.Definitions) -> dict[str, list[str]]:
    keys = graph.resolve_asset_graph()
    return {
        key.to_user_string(): sorted(parent.to_user_string() for parent in keys.get(key).parent_keys)
        for key in keys.get_all_asset_keys()
    }


def checks(graph: dg.Definitions) -> set[str]:
    return {key.to_user_string() for key in graph.resolve_asset_graph().asset_check_keys}


def parts(graph: dg.Definitions) -> set[str]:
    """The names of jobs, schedules and sensors, less the job of whatever is put together by hand."""
    repository = graph.get_repository_def()
    jobs = {job.name for job in repository.get_all_jobs() if not job.name.startswith("__")}
    schedules = {schedule.name for schedule in repository.schedule_defs}
    return jobs | schedules | {sensor.name for sensor in repository.sensor_defs}


def test_the_graph_is_this(graph: dg.Definitions) -> None:
    assert edges(graph) == {**GRADING, **RETRIEVAL, **TOGETHER}


def test_the_checks_jobs_schedules_and_sensors_are_these(graph: dg.Definitions) -> None:
    assert checks(graph) == GRADING_CHECKS | RETRIEVAL_CHECKS | {CANARY_CHECK}
    assert parts(graph) == GRADING_PARTS | RETRIEVAL_PARTS | HOUSEKEEPING


def test_every_schedule_and_sensor_is_born_running(graph: dg.Definitions) -> None:
    repository = graph.get_repository_def()
    assert {each.default_status for each in repository.schedule_defs} == {dg.DefaultScheduleStatus.RUNNING}
    assert {each.default_status for each in repository.sensor_defs} == {dg.DefaultSensorStatus.RUNNING}


@pytest.mark.parametrize(
    ("street", "assets", "its_checks", "its_parts"),
    [
        ("grading", GRADING, GRADING_CHECKS | {CANARY_CHECK}, GRADING_PARTS),
        ("retrieval", RETRIEVAL, RETRIEVAL_CHECKS, RETRIEVAL_PARTS),
    ],
)
def test_each_street_is_whole_without_the_other(
    street: str, assets: Mapping[str, list[str]], its_checks: set[str], its_parts: set[str]
) -> None:
    alone = graph_of(grading=street == "grading", retrieval=street == "retrieval")
    dg.Definitions.validate_loadable(alone)
    assert edges(alone) == assets
    assert checks(alone) == its_checks
    assert parts(alone) == its_parts | HOUSEKEEPING


def test_a_run_of_an_hour_has_every_check_of_it_and_one_of_the_backlog_all_but_the_slow_ones(
    graph: dg.Definitions,
) -> None:
    def of(job: str) -> set[str]:
        layer = graph.resolve_job_def(job).asset_layer
        return {key.to_user_string() for key in layer.asset_graph.asset_check_keys}

    truth = {key for key in RETRIEVAL_CHECKS if key.startswith("ground_truth:")}
    slow = {key for key in GRADING_CHECKS | RETRIEVAL_CHECKS if ":rag_quality_" in key or ":kb_" in key}
    assert of("grade_hour") == GRADING_CHECKS
    assert of("grade_backlog") == GRADING_CHECKS - slow
    assert of("derive_hour") == RETRIEVAL_CHECKS - truth
    assert of("derive_backlog") == RETRIEVAL_CHECKS - truth - slow
    assert of("harvest") == truth
    assert of("assess_judge") == {CANARY_CHECK}


def test_every_asset_says_what_it_is_and_every_table_shows_its_columns(graph: dg.Definitions) -> None:
    for spec in graph.resolve_all_asset_specs():
        assert spec.description, spec.key
        assert spec.owners, spec.key
        assert spec.kinds, spec.key
        assert spec.group_name in {"kb_source", "grading", "retrieval", "trust", "maintenance", "alerts"}
        if str(spec.metadata.get("dagster/table_name", "")).startswith("public."):
            columns = spec.metadata["dagster/column_schema"].columns
            assert columns
            assert all(column.description for column in columns), spec.key
        else:
            assert spec.group_name in {"kb_source", "maintenance"} or spec.key.path == ["corrections"]


def test_what_others_write_has_a_freshness_policy(graph: dg.Definitions) -> None:
    watched = {spec.key.to_user_string() for spec in graph.resolve_all_asset_specs() if spec.freshness_policy}
    assert watched == {"retrieval_events", "search_events", "corrections"}


def test_without_a_judge_there_is_nothing_to_assess() -> None:
    without = graph_of(judge_model=None)
    assert edges(without).keys() == (GRADING.keys() | RETRIEVAL.keys()) - {"judge_canary"}
    assert checks(without) == GRADING_CHECKS | RETRIEVAL_CHECKS
    assert not parts(without) & TRUST_PARTS
    dg.Definitions.validate_loadable(without)


def test_the_definitions_load_as_dagster_loads_them(graph: dg.Definitions) -> None:
    dg.Definitions.validate_loadable(graph)


def test_the_sensor_ticks_as_often_as_configured() -> None:
    repository = graph_of(retrieval=False, eval_interval_s=30).get_repository_def()
    assert repository.get_sensor_def("grading_backlog").minimum_interval_seconds == 30


def test_a_dormant_pipeline_has_no_asset_job_schedule_or_sensor() -> None:
    for settings in (Settings(), Settings.model_validate({"rag_quality": {"enabled": False}})):
        dormant = build_definitions(settings)
        assert list(dormant.resolve_all_asset_specs()) == []
        repository = dormant.get_repository_def()
        assert [job.name for job in repository.get_all_jobs()] == []
        assert repository.schedule_defs == []
        assert repository.sensor_defs == []


def test_an_earlier_start_moves_the_first_partition_back_and_a_later_one_leaves_it() -> None:
    def first(start_at: str) -> str | None:
        graph = graph_of(start_at=start_at).resolve_asset_graph()
        partitions = graph.get(dg.AssetKey("triads")).partitions_def
        return partitions.get_first_partition_key() if partitions else None

    assert first("2019-03-01T00:30:00+00:00") == "2019-03-01-00:00"
    assert first("2026-03-01T00:30:00+00:00") == "2024-01-01-00:00"


def test_a_copy_in_clickhouse_is_an_asset_with_a_schedule_of_its_own() -> None:
    queue = QUEUE | {"clickhouse_url": "http://clickhouse.internal:8123/analytics"}
    with_copy = build_definitions(Settings.model_validate({"retrieval": queue}))
    copied = with_copy.resolve_asset_graph().get(dg.AssetKey("clickhouse_events"))
    assert copied.parent_keys == {dg.AssetKey("retrieval_events")}
    assert "copy_events_hourly" in {schedule.name for schedule in with_copy.schedules or []}
    without = build_definitions(Settings.model_validate({"retrieval": QUEUE}))
    assert not without.resolve_asset_graph().has(dg.AssetKey("clickhouse_events"))
