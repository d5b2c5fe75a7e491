"""Everything at once: what the steps do beside each other equals what they would do one after the other."""

import random
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial

import pytest

from kb_pipeline.adapters.postgres.claims import claim_book
from kb_pipeline.adapters.postgres.connection import Database
from kb_pipeline.adapters.postgres.publication import lock_hour
from kb_pipeline.adapters.postgres.retention import PostgresRetention
from kb_pipeline.demo.reference_judge import Faults
from kb_pipeline.errors import DatabaseError
from kb_pipeline.grading_street import GradingStreet
from kb_pipeline.records import JudgeVersion
from kb_pipeline_tests.builders import Upstream, closed_hour, request_body, response_body, stored, street, table
from kb_pipeline_tests.judges import WatchedJudge
from kb_pipeline_tests.street.recomputation import assert_adds_up

HOURS = (closed_hour(1), closed_hour(2), closed_hour(25))


def delete_at_source(database: Database, event_id: str) -> None:
    with database.connect() as connection:
        connection.execute("DELETE FROM upstream.ai_call_bodies WHERE event_id = %s", (event_id,))
        connection.execute("DELETE FROM upstream.ai_calls WHERE event_id = %s", (event_id,))


def steps_at_random(grading: GradingStreet, seed: int, until: float) -> None:
    chance = random.Random(seed)
    by_hour = (grading.collect, grading.judge, grading.publish, grading.aggregate)
    steps: list[Callable[[], object]] = [grading.grade, grading.expire]
    steps += [partial(step, hour) for hour in HOURS for step in by_hour]
    while time.monotonic() < until:
        chance.choice(steps)()


@pytest.mark.slow
def test_every_step_of_every_hour_at_once_loses_nothing_and_repeats_no_call(database: Database) -> None:
    upstream = Upstream(database)
    for number, hour in enumerate(HOURS):
        upstream.turns(20, hour, prefix=f"first-{number}")
    with (
        WatchedJudge(Faults(latency_s=0.02)) as judge,
        street(database, judge_base_url=judge.url) as grading,
        ThreadPoolExecutor(5) as pool,
    ):
        until = time.monotonic() + 5
        work = [pool.submit(steps_at_random, grading, seed, until) for seed in range(5)]
        late = 0
        while time.monotonic() < until:
            upstream.turns(3, HOURS[late % 3], prefix=f"late-{late}")
            delete_at_source(database, f"late-{late}-0001")
            late += 1
            time.sleep(0.1)
        for each in work:
            each.result()
        grading.expire()
        grading.grade()
        assert grading.backlog() == []
    assert table(database, "SELECT DISTINCT judge_status FROM rag_quality") == [("ok",)]
    assert max(judge.calls.values()) == 1
    assert_adds_up(database)


def test_publishers_that_need_the_same_new_month_make_it_once(database: Database) -> None:
    months = [datetime(2011, month, 1, tzinfo=UTC) for month in range(1, 9)]

    def make(seed: int) -> int:
        retention = PostgresRetention(database)
        mine = random.Random(seed).sample(months, len(months)) if seed % 2 else months
        return sum(retention.ensure_partitions(month, month) for month in mine)

    with ThreadPoolExecutor(6) as pool:
        assert sum(pool.map(make, range(6))) == len(months)


def test_a_publisher_that_read_a_turn_before_it_was_erased_does_not_bring_it_back(database: Database) -> None:
    Upstream(database).turns(3, closed_hour())
    with WatchedJudge() as judge, street(database, judge_base_url=judge.url) as grading:
        grading.grade()
        delete_at_source(database, "turn-0001")
        with database.connect() as publisher:
            lock_hour(publisher, closed_hour(), "publish")
            erasing = threading.Thread(target=grading.expire)
            erasing.start()
            time.sleep(0.3)
            assert erasing.is_alive(), "whoever erases waits for whoever publishes"
        erasing.join()
        grading.grade()
    assert_adds_up(database)
    for name in ("rag_triad", "rag_metric", "rag_judge_score", "rag_quality"):
        assert table(database, f"SELECT count(*) FROM {name} WHERE event_id = 'turn-0001'") == [(0,)], name


def test_a_turn_that_is_erased_while_the_judge_reads_it_keeps_no_score(database: Database) -> None:
    Upstream(database).turns(2, closed_hour())
    with (
        WatchedJudge(Faults(latency_s=0.6)) as judge,
        street(database, judge_base_url=judge.url) as grading,
        ThreadPoolExecutor(1) as pool,
    ):
        run = pool.submit(grading.grade)
        while judge.calls.total() < 2:
            time.sleep(0.01)
        delete_at_source(database, "turn-0001")
        grading.expire()
        run.result()
        grading.grade()
    assert table(database, "SELECT event_id, status FROM rag_judge_score") == [("turn-0000", "ok")]
    assert_adds_up(database)


def test_a_run_that_loses_the_session_of_its_claims_ends_without_calling_its_own_turns_twice(
    database: Database,
) -> None:
    Upstream(database).turns(24, closed_hour())
    with (
        WatchedJudge(Faults(latency_s=0.1)) as judge,
        street(database, judge_base_url=judge.url, judge_concurrency=4) as grading,
        ThreadPoolExecutor(1) as pool,
    ):
        run = pool.submit(grading.grade)
        while judge.calls.total() < 6:
            time.sleep(0.01)
        with database.connect() as connection:
            connection.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND classid = 1801606505"
            )
        with suppress(DatabaseError):
            run.result()
        assert max(judge.calls.values()) == 1
        assert judge.calls.total() < 24
        grading.grade()
    assert max(judge.calls.values()) == 1
    assert judge.calls.total() == 24
    assert_adds_up(database)


def test_a_connection_that_the_server_ends_gives_one_sentence_and_no_traceback(
    database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    def ask_on_an_ended_connection() -> None:
        with database.connect() as connection:
            with database.connect() as other:
                other.execute("SELECT pg_terminate_backend(%s)", (connection.info.backend_pid,))
            connection.execute("SELECT 1")

    with pytest.raises(DatabaseError, match="run the command again"):
        ask_on_an_ended_connection()
    assert caplog.records == []
    with database.connect() as connection:
        connection.execute("SELECT 1")


def test_a_late_body_that_changes_the_verdict_leaves_no_row_behind(database: Database) -> None:
    """The request came first, the answer after the turn had been given up; meanwhile fewer turns are sampled."""
    upstream, hour = Upstream(database), closed_hour()
    upstream.call("late", hour.start)
    upstream.body("late", stored(request_body()), None)
    with street(database, judge_model=None) as grading:
        grading.grade()
    assert table(database, "SELECT verdict, parse_status FROM rag_call") == [("synthesis", "missing_body")]
    with database.connect() as connection:
        connection.execute("UPDATE upstream.ai_call_bodies SET response_body = %s", (stored(response_body()),))
    with street(database, judge_model=None, sample_rate=0.000001) as grading:
        grading.grade()
        assert grading.publication.coverage(hour).adds_up
    assert table(database, "SELECT verdict FROM rag_call") == [("sampled_out",)]
    assert table(database, "SELECT count(*) FROM rag_triad") == [(0,)]
    assert_adds_up(database)


def test_a_run_never_claims_its_own_turns_again_and_another_run_does_once_the_lease_has_ended(
    database: Database,
) -> None:
    names = Upstream(database).turns(3, closed_hour())
    with street(database, judge_model=None) as grading:
        grading.grade()
    version, ended = JudgeVersion(model="reference", prompt_version="v1"), -1.0
    with (
        claim_book(database, lease_s=ended, max_attempts=3, judge_chars=10_000) as mine,
        claim_book(database, lease_s=60, max_attempts=3, judge_chars=10_000) as other,
    ):
        claimed = [claim.event_id for claim in mine.claim(closed_hour(), version, limit=9)]
        assert claimed == names
        assert mine.claim(closed_hour(), version, limit=9) == []
        assert [claim.event_id for claim in other.claim(closed_hour(), version, limit=9)] == names
