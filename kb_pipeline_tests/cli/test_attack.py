"""`kb-pipeline attack`: what planted orders achieve against a judge, with no database."""

import json
import os
from pathlib import Path

import pytest

from kb_pipeline.cli import failures
from kb_pipeline.cli.root import kb_pipeline as group
from kb_pipeline_tests.gullible_judge import TEMPERS, gullible_judge


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in [name for name in os.environ if name.startswith("KB_PIPELINE_")]:
        monkeypatch.delenv(name)


def test_the_table_ends_with_the_share_of_scores_moved(capsys: pytest.CaptureFixture[str]) -> None:
    assert failures.run(group, ["attack", "--reference-judge"]) == 0
    out = capsys.readouterr().out
    assert "planted object" in out
    assert "share of published scores moved: 0.000" in out


def test_any_server_can_be_attacked_and_json_carries_every_kind(capsys: pytest.CaptureFixture[str]) -> None:
    with gullible_judge(TEMPERS["obey"]) as server:
        assert failures.run(group, ["attack", "--url", server.base_url, "--model", "m", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["version"]["model"] == "m"
    assert report["score"]["attacks_moved"] == 0
    assert report["score"]["withheld"] > report["score"]["published"]
    assert sum(row["attacks"] for row in report["score"]["rows"]) == report["score"]["attacks"]


@pytest.mark.parametrize(
    ("arguments", "exit_code", "words"),
    [
        (["--reference-judge", "--model", "m"], 2, "--reference-judge excludes"),
        (["--url", "http://8.8.8.8", "--model", "m"], 1, "public address"),
    ],
)
def test_what_cannot_be_attacked_is_one_sentence(
    arguments: list[str], exit_code: int, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert failures.run(group, ["attack", *arguments]) == exit_code
    assert words in capsys.readouterr().err


def test_a_judge_that_does_not_answer_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    with gullible_judge(lambda _: "no object") as server:
        assert failures.run(group, ["attack", "--url", server.base_url, "--model", "m"]) == 1
    assert "did not grade a turn without an attack (not_json)" in capsys.readouterr().err
