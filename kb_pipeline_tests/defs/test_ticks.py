"""Ticks: which hours the sensor and the schedule ask for."""

from datetime import UTC, datetime, timedelta
from typing import cast

import dagster as dg
import pytest
from dagster._core.definitions.sensor_definition import SensorExecutionData

from kb_pipeline.adapters.clock import SystemClock
from kb_pipeline.adapters.postgres.backlog import HourlyBacklog
from kb_pipeline.adapters.postgres.connection import Database
from kb_pipeline.definitions import build_definitions
from kb_pipeline.defs.in_flight import PARTITION_TAG, hours_that_wait
from kb_pipeline.defs.jobs import BACKLOG_JOB
from kb_pipeline.defs.partitions import FIRST_HOUR
from kb_pipeline.defs.schedules import hourly_schedule
from kb_pipeline.defs.sensors import MAX_IN_FLIGHT, requested
from kb_pipeline.defs.streets import GRADING, RETRIEVAL
from kb_pipeline.settings import Settings
from kb_pipeline.windows import HOUR, Window, partition_key
from kb_pipeline_tests.builders import Upstream, closed_hour, settings
from kb_pipeline_tests.defs import runs
from kb_pipeline_tests.defs.runs import run
from kb_pipeline_tests.judges import WatchedJudge


def ticked(given: Settings, instance: dg.DagsterInstance, cursor: str | None = None) -> SensorExecutionData:
    return runs.ticked(given, instance, GRADING.sensor, cursor)


def tick(given: Settings, instance: dg.DagsterInstance) -> dict[str, str]:
    return {str(each.partition_key): str(each.run_key) for each in ticked(given, instance).run_requests or []}


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


def fail(given: Settings, instance: dg.DagsterInstance, hour: Window) -> None:
    job = build_definitions(given).resolve_job_def(BACKLOG_JOB)
    instance.create_run_for_job(job, tags={PARTITION_TAG: partition_key(hour)}, status=dg.DagsterRunStatus.FAILURE)


def test_a_run_that_failed_is_asked_for_again_after_a_wait(
    database: Database, judge: WatchedJudge, instance: dg.DagsterInstance, monkeypatch: pytest.MonkeyPatch
) -> None:
    Upstream(database).turns(1, closed_hour())
    given = settings(database, judge_base_url=judge.url)
    before = tick(given, instance)
    fail(given, instance, closed_hour())
    now = datetime.now(UTC)
    assert tick(given, instance) == {}
    assert "1 wait after a failed run" in str(ticked(given, instance).skip_message)
    monkeypatch.setattr(SystemClock, "now", lambda _: now + timedelta(minutes=1))
    after = tick(given, instance)
    assert set(after) == set(before)
    assert after != before


def test_an_hour_that_fails_again_and_again_is_asked_for_ever_less_often_but_at_least_hourly(
    database: Database, instance: dg.DagsterInstance
) -> None:
    given, key = settings(database, judge_model=None), partition_key(closed_hour())
    for minutes in (1, 2, 4, 8, 16, 32, 60, 60):
        fail(given, instance, closed_hour())
        now = datetime.now(UTC)
        assert hours_that_wait(instance, GRADING, now + timedelta(minutes=minutes, seconds=-40)) == {key}
        assert hours_that_wait(instance, GRADING, now + timedelta(minutes=minutes)) == set()
    now = datetime.now(UTC)
    assert hours_that_wait(instance, RETRIEVAL, now) == set(), "the other street's hour did not fail"
    job = build_definitions(given).resolve_job_def(BACKLOG_JOB)
    instance.create_run_for_job(job, tags={PARTITION_TAG: key}, status=dg.DagsterRunStatus.SUCCESS)
    assert hours_that_wait(instance, GRADING, now) == set(), "a run that succeeds ends it"


def hours_with_work(count: int) -> list[HourlyBacklog]:
    return [
        HourlyBacklog(
            hour=Window(FIRST_HOUR + HOUR * n, FIRST_HOUR + HOUR * (n + 1)),
            unexamined=1,
            waiting=0,
            stale=False,
            progress="x",
        )
        for n in range(count)
    ]


def test_a_long_backlog_is_taken_oldest_first_and_starves_no_new_hour() -> None:
    hours = hours_with_work(100)
    newest, older = requested(hours, set(), FIRST_HOUR)
    assert newest == [hours[99], hours[98]]
    assert older == hours[: MAX_IN_FLIGHT - 2]
    assert requested(hours[:1], set(), FIRST_HOUR) == (hours[:1], [])
    assert requested(hours[:1], set(), FIRST_HOUR + HOUR) == ([], [])


def test_a_long_queue_gets_no_longer_and_new_hours_are_asked_for_beside_it() -> None:
    hours = hours_with_work(100)
    waiting = {partition_key(each.hour) for each in hours[:MAX_IN_FLIGHT]}
    assert requested(hours, waiting, FIRST_HOUR) == ([hours[99], hours[98]], [])
    four_left = {partition_key(each.hour) for each in hours[:4]}
    assert len(requested(hours, four_left, FIRST_HOUR)[1]) == MAX_IN_FLIGHT - 4 - 2


def test_hours_that_fail_at_every_tick_starve_no_other() -> None:
    hours = hours_with_work(100)
    asked, after = set(), ""
    for _ in range(5):
        _, older = requested(hours, set(), FIRST_HOUR, after=after)
        asked |= {each.hour for each in older}
        after = partition_key(older[-1].hour)
    assert asked == {each.hour for each in hours[:98]}
    assert requested(hours, set(), FIRST_HOUR, after=after)[1][0] == hours[12], "and around"


def test_a_trail_of_years_is_looked_through_once_an_hour_and_as_long_as_hours_are_left_over(
    database: Database, instance: dg.DagsterInstance
) -> None:
    upstream = Upstream(database)
    given = settings(database, judge_model=None)
    after_a_whole_look = ticked(given, instance).cursor
    upstream.call("late", closed_hour(24 * 20).start, surface="staff")
    upstream.call("new", closed_hour().start, surface="staff")
    asked = ticked(given, instance, after_a_whole_look).run_requests or []
    assert [each.partition_key for each in asked] == [partition_key(closed_hour())]
    an_hour_later = (after_a_whole_look or "")[:-1] + "x"
    asked = ticked(given, instance, an_hour_later).run_requests or []
    assert [each.partition_key for each in asked] == [partition_key(closed_hour(n)) for n in (1, 24 * 20)]
    for back in range(24 * 8, 24 * 8 + MAX_IN_FLIGHT + 1):
        upstream.call(f"old-{back}", closed_hour(back).start, surface="staff")
    first = ticked(given, instance, an_hour_later)
    second = ticked(given, instance, first.cursor)
    both = {each.partition_key for tick in (first, second) for each in tick.run_requests or []}
    assert len(both) == MAX_IN_FLIGHT + 3


def test_new_hours_go_before_the_queue(database: Database, judge: WatchedJudge, instance: dg.DagsterInstance) -> None:
    upstream = Upstream(database)
    for back in (2, 3, 30):
        upstream.turns(1, closed_hour(back), prefix=f"back-{back}")
    requests = ticked(settings(database, judge_base_url=judge.url), instance).run_requests or []
    assert [each.tags.get("dagster/priority") for each in requests] == ["1", "1", None]


def test_the_schedule_asks_for_the_last_closed_hour_and_the_running_one(instance: dg.DagsterInstance) -> None:
    at = FIRST_HOUR + HOUR * 5 + timedelta(minutes=2)
    with dg.build_schedule_context(instance=instance, scheduled_execution_time=at) as context:
        asked = [each.partition_key for each in cast(list[dg.RunRequest], hourly_schedule(GRADING)(context))]
    assert asked == ["2024-01-01-04:00", "2024-01-01-05:00"]
