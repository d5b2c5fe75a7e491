"""Turns graded again by another judge: beside their scores, unpublished until that judge is the configured one."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from kb_pipeline.adapters.postgres.connection import Database
from kb_pipeline.demo.reference_judge import Faults
from kb_pipeline.errors import JudgeRefused, SettingsError
from kb_pipeline.grading.judging import PROMPT_VERSION
from kb_pipeline.records import JudgeVersion
from kb_pipeline.rejudging import SecondJudge
from kb_pipeline.steps.rejudge import Asked, Stop
from kb_pipeline.windows import HOUR, Window
from kb_pipeline_tests.builders import Upstream, closed_hour, everything, street, table
from kb_pipeline_tests.judges import WatchedJudge
from kb_pipeline_tests.street.recomputation import assert_adds_up
from kb_pipeline_tests.street.test_survival import config_file

PUBLISHED = ("rag_quality", "rag_quality_window", "rag_quality_day", "rag_call_window")
SCORES = "SELECT judge_model, status, provisional, count(*) FROM rag_judge_score GROUP BY 1, 2, 3 ORDER BY 1, 2, 3"
SHOWN = "SELECT judge_model, judge_status, count(*) FROM rag_quality GROUP BY 1, 2 ORDER BY 1, 2"


def lately() -> Window:
    now = datetime.now(UTC)
    return Window(now - timedelta(days=3), now)


def published(database: Database) -> dict[str, list[tuple[Any, ...]]]:
    """The published tables, with the transaction that wrote each row."""
    return {name: rows for name, rows in everything(database).items() if name in PUBLISHED}


@contextmanager
def second(database: Database, model: str | None, **quality: Any) -> Iterator[SecondJudge]:
    """Another judge over a test's database."""
    with street(database, **quality) as grading:
        yield SecondJudge(grading, model=model)


@pytest.fixture
def judge() -> Iterator[WatchedJudge]:
    with WatchedJudge() as watched:
        yield watched


def graded(database: Database, judge: WatchedJudge, turns: int = 12) -> list[str]:
    """Turns of one hour, graded and published under the model `reference`."""
    names = Upstream(database).turns(turns, closed_hour())
    with street(database, judge_base_url=judge.url) as grading:
        grading.grade()
    judge.calls.clear()
    return names


def test_another_models_scores_stand_beside_the_old_ones_and_nothing_published_changes(
    database: Database, judge: WatchedJudge
) -> None:
    names = graded(database, judge)
    before, old = published(database), table(database, "SELECT xmin::text, s.* FROM rag_judge_score AS s ORDER BY 2")
    with second(database, "another", judge_base_url=judge.url) as other:
        done = other.rejudge(Asked(window=lately()))
    assert (done.report.counts["graded"], done.report.stopped, done.rows_changed) == (12, None, 0)
    assert judge.calls.total() == len(names)
    # A gateway may replay the reply to a key that it knows.
    assert not set(judge.calls) & set(names)
    assert table(database, SCORES) == [("another", "ok", True, 12), ("reference", "ok", False, 12)]
    assert table(database, "SELECT xmin::text, s.* FROM rag_judge_score AS s WHERE NOT provisional ORDER BY 2") == old
    with street(database, judge_base_url=judge.url) as grading:
        assert grading.backlog() == [], "the sensor has nothing to do"
        grading.publish(closed_hour())
        grading.aggregate(closed_hour())
        grading.grade(since=closed_hour().start)
    assert published(database) == before
    assert judge.calls.total() == len(names)


def test_a_second_rejudge_calls_nobody_and_touches_no_row(database: Database, judge: WatchedJudge) -> None:
    graded(database, judge)
    with second(database, "another", judge_base_url=judge.url) as other:
        other.rejudge(Asked(window=lately()))
        before, calls = everything(database), judge.calls.total()
        again = other.rejudge(Asked(window=lately()))
    assert again.report.counts == {}
    assert judge.calls.total() == calls
    assert everything(database) == before


def test_what_a_third_judge_gives_is_not_published_where_the_configured_one_has_no_score(
    database: Database, judge: WatchedJudge
) -> None:
    graded(database, judge, 4)
    with second(database, "third", judge_base_url=judge.url, judge_model="configured") as third:
        third.rejudge(Asked(window=lately()))
    with street(database, judge_base_url=judge.url, judge_model="configured") as grading:
        assert grading.backlog() == []
        assert grading.publish(closed_hour()).counts == {"rows_changed": 0}
        assert grading.forecast(since=closed_hour().start).turns == 0
    assert table(database, SHOWN) == [("reference", "ok", 4)]


def test_without_a_judge_the_newest_score_that_is_not_provisional_stays_published(
    database: Database, judge: WatchedJudge
) -> None:
    graded(database, judge, 4)
    with second(database, "another", judge_base_url=judge.url, judge_model=None) as other:
        other.rejudge(Asked(window=lately()))
        assert not other.is_configured
    with street(database, judge_model=None) as grading:
        grading.publish(closed_hour())
    assert table(database, SHOWN) == [("reference", "ok", 4)]


def test_after_the_switch_a_rejudge_calls_nobody_and_publishes_what_was_tried(
    database: Database, judge: WatchedJudge
) -> None:
    names = graded(database, judge)
    with second(database, "another", judge_base_url=judge.url) as other:
        other.rejudge(Asked(window=lately()))
    judge.calls.clear()
    with second(database, None, judge_base_url=judge.url, judge_model="another") as switched:
        done = switched.rejudge(Asked(window=lately()))
        assert done.rows_changed == len(names)
        assert switched.rejudge(Asked(window=lately())).rows_changed == 0
    assert judge.calls.total() == 0
    assert table(database, SHOWN) == [("another", "ok", 12)]
    assert table(database, SCORES) == [("another", "ok", False, 12), ("reference", "ok", False, 12)]
    assert table(database, "SELECT judge_model, graded FROM rag_quality_window") == [("another", 12)]
    assert_adds_up(database, rejudged=True)


def test_what_was_published_once_stays_published_when_the_judge_changes_again(
    database: Database, judge: WatchedJudge
) -> None:
    graded(database, judge, 3)
    with second(database, None, judge_base_url=judge.url, judge_model="another") as switched:
        switched.rejudge(Asked(window=lately()))
    assert table(database, SHOWN) == [("another", "ok", 3)]
    with street(database, judge_base_url=judge.url, judge_model="third") as grading:
        assert grading.publish(closed_hour()).counts == {"rows_changed": 0}
    assert table(database, SHOWN) == [("another", "ok", 3)]


def test_a_switch_back_publishes_the_first_judges_scores_again(database: Database, judge: WatchedJudge) -> None:
    graded(database, judge, 3)
    with second(database, None, judge_base_url=judge.url, judge_model="another") as switched:
        switched.rejudge(Asked(window=lately()))
    judge.calls.clear()
    with second(database, None, judge_base_url=judge.url) as back:
        assert back.rejudge(Asked(window=lately())).rows_changed == 3
    assert judge.calls.total() == 0
    assert table(database, SHOWN) == [("reference", "ok", 3)]


def test_only_turns_with_a_score_are_rejudged_and_only_those_of_the_period(
    database: Database, judge: WatchedJudge
) -> None:
    upstream = Upstream(database)
    upstream.turns(3, closed_hour(5), prefix="older")
    graded(database, judge, 4)
    upstream.turns(2, closed_hour(), prefix="waiting")
    with street(database, judge_model=None) as grading:
        grading.grade()
    window = Window(closed_hour().start, closed_hour().end)
    with second(database, "another", judge_base_url=judge.url) as other:
        other.rejudge(Asked(window=window))
    assert table(database, "SELECT event_id FROM rag_judge_score WHERE judge_model = 'another' ORDER BY 1") == [
        (f"turn-{number:04d}",) for number in range(4)
    ]


def test_a_smaller_sample_is_part_of_a_larger_one_and_a_limit_takes_the_oldest(
    database: Database, judge: WatchedJudge
) -> None:
    names = graded(database, judge, 40)
    with second(database, "another", judge_base_url=judge.url) as other:
        other.rejudge(Asked(window=lately(), sample_rate=0.2))
        few = {
            name for (name,) in table(database, "SELECT event_id FROM rag_judge_score WHERE judge_model = 'another'")
        }
        foreseen = other.foresee(Asked(window=lately(), sample_rate=0.5))
        other.rejudge(Asked(window=lately(), sample_rate=0.5))
    many = {name for (name,) in table(database, "SELECT event_id FROM rag_judge_score WHERE judge_model = 'another'")}
    assert 0 < len(few) < len(many) < 40
    assert few < many
    assert foreseen.standings["done"] == len(few)
    assert foreseen.turns == len(many) - len(few)
    with second(database, "third", judge_base_url=judge.url) as third:
        third.rejudge(Asked(window=lately(), limit=5))
    assert table(database, "SELECT event_id FROM rag_judge_score WHERE judge_model = 'third' ORDER BY 1") == [
        (name,) for name in names[:5]
    ]


def test_a_forecast_counts_what_the_run_then_does_and_writes_nothing(database: Database, judge: WatchedJudge) -> None:
    graded(database, judge, 6)
    with database.connect() as connection:
        connection.execute(
            "UPDATE rag_triad SET text_expired_at = now(), question = NULL, context = NULL, passages = NULL,"
            " history = NULL, answer = NULL WHERE event_id = 'turn-0000'"
        )
        connection.execute("UPDATE rag_metric SET context_chars = 10000000 WHERE event_id = 'turn-0001'")
    before = everything(database)
    with second(database, "another", judge_base_url=judge.url) as other:
        forecast = other.foresee(Asked(window=lately()))
        assert everything(database) == before
        assert judge.calls.total() == 0
        report = other.rejudge(Asked(window=lately())).report
    assert forecast.turns == report.counts["graded"] == 4
    assert forecast.standings == {"open": 4, "done": 0, "failed": 0, "held": 0, "no_text": 1, "too_long": 1}
    # The reference judge reports words; a token is a part of one.
    assert 1 < forecast.prompt_tokens / report.counts["prompt_tokens"] < 3


def test_a_spent_budget_stops_it_and_the_next_day_goes_on_where_it_stopped(
    database: Database, judge: WatchedJudge
) -> None:
    graded(database, judge)
    ((spent, dearest),) = table(
        database,
        "SELECT sum(prompt_tokens + completion_tokens), max(prompt_tokens + completion_tokens) FROM rag_judge_score",
    )
    budget = spent + 3 * dearest
    with second(database, "another", judge_base_url=judge.url, judge_daily_tokens=budget) as other:
        done = other.rejudge(Asked(window=lately()))
        assert done.report.stopped is Stop.TOKENS
        ((now,),) = table(database, "SELECT sum(prompt_tokens + completion_tokens) FROM rag_judge_score")
        assert budget <= now < budget + dearest
        calls = judge.calls.total()
        assert 0 < calls < 12
        assert other.foresee(Asked(window=lately())).turns == 12 - calls
        assert other.rejudge(Asked(window=lately())).report.stopped is Stop.TOKENS
        assert judge.calls.total() == calls
        with database.connect() as connection:
            connection.execute("UPDATE rag_judge_score SET judged_at = judged_at - interval '1 day'")
    with second(database, "another", judge_base_url=judge.url, judge_daily_tokens=10_000_000) as other:
        assert other.rejudge(Asked(window=lately())).report.stopped is None
    assert judge.calls.total() == 12


def test_a_judge_that_is_down_stops_it_soon_and_nothing_published_changes(
    database: Database, judge: WatchedJudge
) -> None:
    graded(database, judge, 30)
    before = published(database)
    faulty = WatchedJudge(Faults(server_error=1.0))
    with faulty as broken, second(database, "another", judge_base_url=broken.url, max_batch=4) as other:
        done = other.rejudge(Asked(window=lately()))
    assert done.report.stopped is Stop.OUTAGE
    assert faulty.calls.total() < 30
    assert published(database) == before
    with street(database, judge_base_url=judge.url) as grading:
        assert grading.backlog() == []
        # A trial of another judge is no alarm about the one that works.
        assert grading.publication.scored(closed_hour()) == (30, 0)
    with second(database, "another", judge_base_url=judge.url) as other:
        other.rejudge(Asked(window=lately()))
    assert table(database, SCORES) == [("another", "ok", True, 30), ("reference", "ok", False, 30)]


def test_two_rejudges_at_once_make_one_call_a_turn(database: Database, judge: WatchedJudge) -> None:
    graded(database, judge, 40)

    def run() -> None:
        with second(database, "another", judge_base_url=judge.url, max_batch=5, judge_concurrency=2) as other:
            other.rejudge(Asked(window=lately()))

    threads = [threading.Thread(target=run) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert judge.calls.total() == 40
    assert table(database, SCORES)[0] == ("another", "ok", True, 40)


@pytest.mark.parametrize("stop", [signal.SIGKILL, signal.SIGINT])
def test_a_run_that_is_stopped_keeps_what_came_back_and_the_next_one_does_the_rest(
    database: Database, tmp_path: Path, judge: WatchedJudge, stop: signal.Signals
) -> None:
    graded(database, judge, 24)
    before = published(database)
    kept = "SELECT count(*) FROM rag_judge_score WHERE judge_model = 'another' AND status = 'ok'"
    with WatchedJudge(Faults(latency_s=0.15)) as slow:
        config = config_file(tmp_path, database, judge_base_url=slow.url, judge_concurrency=4)
        command = [sys.executable, "-m", "kb_pipeline.cli", "--config", str(config)]
        run = subprocess.Popen(
            [*command, "rejudge", "--since", "2d", "--model", "another"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        while table(database, kept)[0][0] < 6:
            time.sleep(0.01)
        os.kill(run.pid, stop)
        _, said = run.communicate()
        came_back = table(database, kept)[0][0]
        assert 6 <= came_back < 24
        if stop is signal.SIGINT:
            assert (run.returncode, said) == (130, b"kb-pipeline: interrupted\n")
        assert published(database) == before
    with second(database, "another", judge_base_url=judge.url) as other:
        report = other.rejudge(Asked(window=lately())).report
    assert report.counts["graded"] == 24 - came_back
    assert table(database, SCORES) == [("another", "ok", True, 24), ("reference", "ok", False, 24)]


def test_a_turn_read_anew_outdates_provisional_scores_too(database: Database, judge: WatchedJudge) -> None:
    graded(database, judge, 3)
    with second(database, "another", judge_base_url=judge.url) as other:
        other.rejudge(Asked(window=lately()))
        with database.connect() as connection:
            connection.execute(
                "UPDATE rag_judge_score SET status = 'outdated', faithfulness = NULL, answer_relevance = NULL,"
                " context_relevance = NULL, faithfulness_reason = NULL, answer_relevance_reason = NULL,"
                " context_relevance_reason = NULL WHERE event_id = 'turn-0001'"
            )
        assert other.foresee(Asked(window=lately())).standings["done"] == 2
    with street(database, judge_base_url=judge.url) as grading:
        grading.publish(closed_hour())
        grading.grade()
    assert table(database, SHOWN) == [("reference", "ok", 3)]


def test_a_turn_that_has_provisional_scores_alone_is_still_graded(database: Database, judge: WatchedJudge) -> None:
    graded(database, judge, 2)
    with second(database, "another", judge_base_url=judge.url) as other:
        other.rejudge(Asked(window=lately()))
    with database.connect() as connection:
        connection.execute("DELETE FROM rag_judge_score WHERE judge_model = 'reference'")
    with street(database, judge_base_url=judge.url) as grading:
        grading.publish(closed_hour())
        assert table(database, SHOWN) == [("reference", "pending", 2)]
        grading.grade()
    assert table(database, SHOWN) == [("reference", "ok", 2)]


def test_a_public_host_is_refused_before_a_claim_is_made(database: Database, judge: WatchedJudge) -> None:
    graded(database, judge, 2)
    with street(database, judge_base_url=judge.url) as grading, pytest.raises(JudgeRefused, match="allow_external"):
        SecondJudge(grading, model="another", base_url="https://93.184.216.34").rejudge(Asked(window=lately()))
    assert table(database, SCORES) == [("reference", "ok", False, 2)]


def test_a_dormant_street_and_one_without_a_judge_refuse(database: Database) -> None:
    with street(database, enabled=False) as dormant, pytest.raises(SettingsError, match="enabled"):
        SecondJudge(dormant, model="another")
    with street(database, judge_model=None) as judgeless, pytest.raises(SettingsError, match="judge_model"):
        SecondJudge(judgeless)


def test_a_named_model_that_is_the_configured_one_is_published(database: Database, judge: WatchedJudge) -> None:
    graded(database, judge, 2)
    with second(database, "another", judge_base_url=judge.url, judge_model="another") as configured:
        assert configured.version == JudgeVersion(model="another", prompt_version=PROMPT_VERSION)
        assert configured.rejudge(Asked(window=Window(closed_hour().start - HOUR, closed_hour().end))).rows_changed == 2
    assert table(database, SHOWN) == [("another", "ok", 2)]
