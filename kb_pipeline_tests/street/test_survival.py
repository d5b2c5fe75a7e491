"""What must survive: a killed run, a judge that is down, a crash between two steps."""

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
import yaml

from kb_pipeline.adapters.postgres.connection import Database
from kb_pipeline.demo.reference_judge import Faults
from kb_pipeline_tests.builders import Upstream, closed_hour, everything, settings, street, table
from kb_pipeline_tests.http_servers import ScriptedServer, http
from kb_pipeline_tests.judges import WatchedJudge


def judged(database: Database) -> int:
    return int(table(database, "SELECT count(*) FROM rag_judge_score WHERE status = 'ok'")[0][0])


def config_file(folder: Path, database: Database, **quality: object) -> Path:
    path = folder / "kb_pipeline.yaml"
    content = settings(database, **quality).model_dump(mode="json", include={"rag_quality"}, exclude_defaults=True)
    content["database"] = {"url": database.url.render_as_string(hide_password=False)}
    path.write_text(yaml.safe_dump(content), encoding="utf-8")
    return path


@pytest.mark.parametrize("moment", [1, 6, 15])
def test_a_run_killed_in_the_middle_of_judging_loses_no_turn_and_grades_none_twice(
    database: Database, tmp_path: Path, moment: int
) -> None:
    names = Upstream(database).turns(24, closed_hour())
    with WatchedJudge(Faults(latency_s=0.15)) as judge:
        config = config_file(tmp_path, database, judge_base_url=judge.url, judge_concurrency=4)
        command = [sys.executable, "-m", "kb_pipeline.cli", "--config", str(config), "grade"]
        run = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while judged(database) < moment:
            time.sleep(0.01)
        os.kill(run.pid, signal.SIGKILL)
        run.wait()
        before = judged(database)
        assert before < len(names)
        with street(database, judge_base_url=judge.url) as grading:
            grading.grade()
    statuses = table(database, "SELECT judge_status, count(*) FROM rag_quality GROUP BY 1")
    assert statuses == [("ok", 24)]
    assert table(database, "SELECT max(calls) FROM rag_judge_score") == [(1,)]
    # A call whose reply was not recorded at the kill is repeated under its own key: the gateway can replay its reply.
    assert set(judge.calls) == set(names)
    assert max(judge.calls.values()) <= 2
    assert judge.calls.total() <= len(names) + 2 * 4


def test_a_judge_that_is_down_ends_the_run_in_time_and_the_next_tick_catches_up(database: Database) -> None:
    Upstream(database).turns(20, closed_hour())
    with socket.create_server(("127.0.0.1", 0)) as silent:
        # It accepts and never answers.
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        with street(database, judge_base_url=url, judge_timeout_s=1, judge_concurrency=4) as grading:
            began = time.monotonic()
            grading.grade()
            assert time.monotonic() - began < 2 * 1 + 10
            rows = dict(table(database, "SELECT judge_status, count(*) FROM rag_quality GROUP BY 1"))
            assert rows["error"] + rows["pending"] == 20
            assert rows["pending"] > 0
            assert table(database, "SELECT count(*) FROM rag_quality WHERE num_passages = 2 AND answer_chars > 0") == [
                (20,)
            ]
            assert table(database, "SELECT DISTINCT error_class, attempts FROM rag_judge_score") == [("timeout", 0)]
            assert grading.backlog() == [], "nothing asks at once for a judge that was just found down"
            (first,) = grading.backlog(ignore_waits=True)
            assert first.waiting == 20
            grading.grade(ignore_waits=True)
            assert grading.backlog(ignore_waits=True)[0].progress != first.progress
    with WatchedJudge() as judge, street(database, judge_base_url=judge.url) as grading:
        grading.grade(ignore_waits=True)
    assert table(database, "SELECT judge_status, count(*) FROM rag_quality GROUP BY 1") == [("ok", 20)]


def test_unusable_replies_use_up_the_attempts_and_retry_failed_opens_the_turn_again(database: Database) -> None:
    Upstream(database).turns(2, closed_hour())
    faulty = WatchedJudge(Faults(malformed=1.0))
    with faulty as judge, street(database, judge_base_url=judge.url, judge_max_attempts=2) as grading:
        for _ in range(4):
            grading.grade()
    assert judge.calls.total() == 4
    assert table(database, "SELECT DISTINCT judge_status FROM rag_quality") == [("failed",)]
    assert len(set(judge.calls)) == 4, "a repeated call must carry a key of its own"
    with WatchedJudge() as judge, street(database, judge_base_url=judge.url) as grading:
        grading.grade()
        assert judge.calls.total() == 0
        grading.grade(retry_failed=True)
    assert table(database, "SELECT DISTINCT judge_status FROM rag_quality") == [("ok",)]


def test_a_wrong_key_or_model_name_spares_the_attempts_of_every_turn(database: Database) -> None:
    Upstream(database).turns(4, closed_hour())
    refusing = ScriptedServer(script=lambda _: [http(404, {"error": {"message": "no such model"}})])
    with refusing as server, street(database, judge_base_url=server.base_url, judge_max_attempts=1) as grading:
        grading.grade()
        grading.grade(ignore_waits=True)
    found = table(database, "SELECT DISTINCT status, error_class, error_detail, attempts FROM rag_judge_score")
    assert found == [("error", "http_4xx", "HTTP 404", 0)]
    with WatchedJudge() as judge, street(database, judge_base_url=judge.url) as grading:
        grading.grade(ignore_waits=True)
    assert table(database, "SELECT judge_status, count(*) FROM rag_quality GROUP BY 1") == [("ok", 4)]


def test_a_crash_between_judging_and_publishing_leaves_the_hour_in_the_backlog(database: Database) -> None:
    Upstream(database).turns(4, closed_hour())
    with WatchedJudge() as judge, street(database, judge_base_url=judge.url) as grading:
        grading.collect(closed_hour())
        grading.publish(closed_hour())
        grading.judge(closed_hour())
        assert [each.stale for each in grading.backlog()] == [True]
        grading.publish(closed_hour())
        assert [each.stale for each in grading.backlog()] == [True], "the windows lag behind"
        grading.aggregate(closed_hour())
        assert grading.backlog() == []
        before = everything(database)
        grading.grade()
        assert everything(database) == before
    assert judge.calls.total() == 4


def test_a_gateway_that_fails_now_and_then_ends_with_every_turn_graded_in_one_run(database: Database) -> None:
    Upstream(database).turns(60, closed_hour())
    faults = Faults(rate_limited=0.05, server_error=0.05, hang=0.02, malformed=0.05, hang_s=30, retry_after=0.2, seed=3)
    with (
        WatchedJudge(faults) as judge,
        street(database, judge_base_url=judge.url, judge_timeout_s=1, judge_concurrency=8) as grading,
    ):
        grading.grade()
    assert table(database, "SELECT judge_status, count(*) FROM rag_quality GROUP BY 1") == [("ok", 60)]
    assert judge.calls.total() <= 1.3 * 60
    assert table(database, "SELECT sum(calls) FROM rag_judge_score") == [(judge.calls.total(),)]
