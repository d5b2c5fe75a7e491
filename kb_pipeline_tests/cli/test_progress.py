"""Long commands say how far they are where no terminal shows a moving line."""

import re
import time
from functools import partial

import pytest

from kb_pipeline.adapters.postgres.connection import Database
from kb_pipeline.cli.output import progress
from kb_pipeline.heartbeat import heartbeat
from kb_pipeline_tests.builders import Upstream, closed_hour
from kb_pipeline_tests.cli.test_database_commands import Run
from kb_pipeline_tests.judges import WatchedJudge


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kb_pipeline.heartbeat.EVERY_S", 0.02)


@pytest.mark.usefixtures("quick")
def test_a_long_command_writes_plain_lines_with_counts_to_stderr(capsys: pytest.CaptureFixture[str]) -> None:
    with progress() as hear:
        time.sleep(0.1)
        hear("judged", 1_200)
        hear("judged", 34)
        time.sleep(0.1)
    out, err = capsys.readouterr()
    assert out == ""
    first, *_, last = err.splitlines()
    assert first == "kb-pipeline: 0 s: working"
    assert last == "kb-pipeline: 0 s: 1,234 judged"


def test_a_command_that_is_soon_done_says_nothing_more(capsys: pytest.CaptureFixture[str]) -> None:
    with progress() as hear:
        hear("judged", 1)
    assert capsys.readouterr() == ("", "")


@pytest.mark.usefixtures("quick")
def test_a_grading_run_tells_how_many_turns_are_judged(database: Database, run: Run) -> None:
    Upstream(database).turns(6, closed_hour())
    with WatchedJudge() as judge:
        quality = {"judge_model": "reference", "judge_base_url": judge.url}
        left = run(database, "grade", "--since", "1d", "--json", quality=quality)
    assert left.json["graded"] == 6
    assert all(re.fullmatch(r"kb-pipeline: [0-9]+ s: .+", line) for line in left.err.splitlines())
    assert "6 examined" in left.err


def test_a_stream_that_nobody_reads_ends_the_sign_of_life_and_not_the_work() -> None:
    def closed(said: list[str], line: str) -> None:
        said.append(line)
        raise BrokenPipeError

    said: list[str] = []
    with heartbeat(partial(closed, said), lambda: "working", every_s=0.01):
        time.sleep(0.1)
    assert said == ["0 s: working"]
