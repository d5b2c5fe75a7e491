"""Ticks of the retrieval street: which hours are asked for, what is reported as arrived."""

import asyncio
from datetime import UTC, datetime, timedelta
from typing import cast

import dagster as dg
import pytest
from dagster._core.definitions.freshness import FreshnessState
from dagster._core.definitions.freshness_evaluator import TimeWindowFreshnessPolicyEvaluator
from dagster._core.loader import LoadingContextForTest

from kb_pipeline.adapters.postgres.connection import Database
from kb_pipeline.definitions import build_definitions
from kb_pipeline.defs.in_flight import PARTITION_TAG, hours_in_flight
from kb_pipeline.defs.partitions import FIRST_HOUR
from kb_pipeline.defs.schedules import hourly_schedule
from kb_pipeline.defs.streets import GRADING, RETRIEVAL
from kb_pipeline.settings import Settings
from kb_pipeline.windows import HOUR, partition_key
from kb_pipeline_tests.builders import closed_hour, table
from kb_pipeline_tests.defs.runs import run, succeeded, ticked
from kb_pipeline_tests.retrieval_street.application import Application, settings

ARRIVALS = "retrieval_arrivals"


def asked(given: Settings, instance: dg.DagsterInstance, cursor: str | None = None) -> dict[str, str]:
    """The run key by the hour that one tick of the backlog sensor asks for."""
    requests = ticked(given, instance, RETRIEVAL.sensor, cursor).run_requests or []
    return {str(each.partition_key): str(each.run_key) for each in requests}


def test_the_sensor_asks_for_the_hours_of_late_events_and_late_decisions_and_for_no_other(
    database: Database, instance: dg.DagsterInstance
) -> None:
    ours, given = Application(database), settings(database)
    draft = ours.served(closed_hour(30).start)
    old = partition_key(closed_hour(30))
    first = asked(given, instance)
    assert set(first) == {old}
    assert asked(given, instance) == first, "without progress the run key stays, so nothing runs twice"
    assert succeeded(run(given, instance, RETRIEVAL.backlog_job, old))
    assert asked(given, instance) == {}
    ours.decide(draft, closed_hour(2).start)
    ours.retrieval(closed_hour(30).start)
    assert set(asked(given, instance)) == {partition_key(closed_hour(2)), old}


def test_what_is_weeks_late_is_looked_for_once_an_hour_and_what_is_months_late_at_night(
    database: Database, instance: dg.DagsterInstance
) -> None:
    ours, given = Application(database), settings(database)
    after_a_far_look = ticked(given, instance, RETRIEVAL.sensor).cursor
    for days in (20, 70):
        ours.served(closed_hour(24 * days).start)
    assert asked(given, instance, after_a_far_look) == {}
    an_hour_later = (after_a_far_look or "")[:-1] + "x"
    assert set(asked(given, instance, an_hour_later)) == {partition_key(closed_hour(24 * 20))}


def test_a_run_of_one_street_keeps_no_hour_of_the_other_busy(database: Database, instance: dg.DagsterInstance) -> None:
    given = settings(database).model_copy(
        update={"rag_quality": Settings.model_validate({"rag_quality": {"enabled": True}}).rag_quality}
    )
    key = partition_key(closed_hour())
    definitions = build_definitions(given)
    Application(database).served(closed_hour().start)
    job = definitions.resolve_job_def(GRADING.hourly_job)
    instance.create_run_for_job(job, tags={PARTITION_TAG: key}, status=dg.DagsterRunStatus.STARTED)
    assert hours_in_flight(instance, GRADING) == {key}
    assert set(asked(given, instance)) == {key}
    by_hand = definitions.resolve_implicit_global_asset_job_def()
    instance.create_run_for_job(by_hand, tags={PARTITION_TAG: key}, status=dg.DagsterRunStatus.STARTED)
    assert asked(given, instance) == {}, "a run put together by hand may be of any street"


def test_the_schedule_asks_for_the_last_closed_hour_and_the_running_one(instance: dg.DagsterInstance) -> None:
    at = FIRST_HOUR + HOUR * 5 + timedelta(minutes=4)
    with dg.build_schedule_context(instance=instance, scheduled_execution_time=at) as context:
        requests = cast(list[dg.RunRequest], hourly_schedule(RETRIEVAL)(context))
        assert [each.partition_key for each in requests] == ["2024-01-01-04:00", "2024-01-01-05:00"]


def reported(
    given: Settings, instance: dg.DagsterInstance, cursor: str | None = None
) -> tuple[dict[str, object], str | None]:
    """How many rows one tick reports by asset, as the daemon keeps the reports; and the cursor it leaves."""
    result = ticked(given, instance, ARRIVALS, cursor)
    found: dict[str, object] = {}
    for event in result.asset_events:
        instance.report_runless_asset_event(event)
        found[event.asset_key.to_user_string()] = event.metadata["rows_arrived"].value
    return found, result.cursor


def freshness(given: Settings, instance: dg.DagsterInstance, asset: str) -> FreshnessState:
    node = build_definitions(given).resolve_asset_graph().get(dg.AssetKey(asset))
    evaluation = TimeWindowFreshnessPolicyEvaluator().evaluate_freshness(LoadingContextForTest(instance), node)
    return asyncio.run(evaluation)


def test_what_arrives_is_reported_once_and_makes_its_asset_fresh(
    database: Database, instance: dg.DagsterInstance
) -> None:
    ours, given = Application(database), settings(database)
    now = datetime.now(UTC)
    assert reported(given, instance) == ({}, None)
    assert freshness(given, instance, "retrieval_events") is FreshnessState.UNKNOWN
    draft = ours.served(now)
    ours.retrieval(now)
    ours.search(now)
    found, cursor = reported(given, instance)
    assert found == {"retrieval_events": 2, "search_events": 1}
    assert freshness(given, instance, "retrieval_events") is FreshnessState.PASS
    assert freshness(given, instance, "corrections") is FreshnessState.UNKNOWN
    ours.decide(draft, datetime.now(UTC))
    found, cursor = reported(given, instance, cursor)
    assert found == {"corrections": 1}
    assert freshness(given, instance, "corrections") is FreshnessState.PASS
    ours.retrieval(now - timedelta(days=2))
    found, cursor = reported(given, instance, cursor)
    assert found == {"retrieval_events": 1}, "a late event arrives now, whenever it happened"
    assert reported(given, instance, cursor) == ({}, cursor)


def test_an_asset_of_which_nothing_arrives_any_more_goes_stale(
    database: Database, instance: dg.DagsterInstance, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = settings(database)
    Application(database).retrieval(datetime.now(UTC))
    assert reported(given, instance)[0] == {"retrieval_events": 1}
    for days, state in ((0.9, FreshnessState.PASS), (1.1, FreshnessState.WARN), (3.1, FreshnessState.FAIL)):
        later = (datetime.now(UTC) + timedelta(days=days)).timestamp()
        monkeypatch.setattr("dagster._core.definitions.freshness_evaluator.get_current_timestamp", lambda at=later: at)
        assert freshness(given, instance, "retrieval_events") is state


def test_a_cursor_that_cannot_be_read_begins_anew(database: Database, instance: dg.DagsterInstance) -> None:
    given = settings(database)
    Application(database).retrieval(datetime.now(UTC))
    for cursor in ("", "no json", "[]", '{"retrieval_events": 3}'):
        assert reported(given, instance, cursor)[0] == {"retrieval_events": 1}


def test_without_a_queue_corrections_tell_of_decisions(database: Database, instance: dg.DagsterInstance) -> None:
    ours, given = Application(database), settings(database)
    ours.correct(ours.draft(datetime.now(UTC)), datetime.now(UTC) - timedelta(minutes=1), "Lain.")
    table(database, "SELECT 1")
    with database.connect() as connection:
        connection.execute("DROP VIEW kb_source.expert_queue_item")
    assert reported(given, instance)[0] == {"corrections": 1}
    with database.connect() as connection:
        connection.execute("DROP VIEW kb_source.correction")
    assert reported(given, instance)[0] == {}
