"""review: which turns a person should look at first, as that person meets them."""

import re
from pathlib import Path

import pytest

from kb_pipeline.adapters.postgres.connection import Database
from kb_pipeline_tests.builders import Upstream, closed_hour, response_body, street
from kb_pipeline_tests.cli.in_process import Terminal
from kb_pipeline_tests.judges import WatchedJudge

WRONG = "Biaya pendaftaran yayasan adalah Rp275.000."


@pytest.fixture
def terminal(database: Database, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Terminal:
    upstream, hour = Upstream(database), closed_hour()
    upstream.turn("right", hour.start)
    upstream.turn("wrong", hour.start, response=response_body(WRONG))
    with WatchedJudge() as judge, street(database, judge_base_url=judge.url) as grading:
        grading.grade()
    with database.connect() as connection:
        connection.execute("UPDATE rag_judge_score SET faithfulness = 1")
    with street(database) as grading:
        grading.publish(hour)
    return Terminal(tmp_path, capsys, database)


def test_the_turn_whose_wrong_amount_the_judge_overlooked_comes_first_with_the_reason(terminal: Terminal) -> None:
    shown = terminal.run("review")
    lines = shown.out.splitlines()
    assert (shown.code, shown.err) == (0, "")
    assert "wrong" in lines[2]
    assert "the judge trusts" in lines[3]
    assert "amount" in shown.out
    assert WRONG not in shown.out
    first, second = terminal.run("review", "--json").json
    assert (first["event_id"], first["disagrees"], first["doubted"]) == ("wrong", True, ["amount"])
    assert (second["event_id"], second["disagrees"], second["doubted"]) == ("right", False, [])


def test_a_limit_and_a_surface_are_kept(terminal: Terminal) -> None:
    assert [turn["event_id"] for turn in terminal.run("review", "--limit", "1", "--json").json] == ["wrong"]
    assert terminal.run("review", "--surface", "staff", "--json").json == []
    assert "no turn was graded since" in terminal.run("review", "--surface", "staff").out
    assert terminal.run("review", "--limit", "0").code == 2
    assert "lies in the future" in terminal.run("review", "--since", "2999-01-01T00:00Z").sentence


def test_explain_shows_the_second_opinion_in_words(terminal: Terminal) -> None:
    said = terminal.run("explain", "wrong")
    assert "second opinion    Disagrees: 1 of 1 amount is in no passage; check by hand" in said.out
    assert re.search(r"of it found .*0 of 1 amount,", said.prose)
    assert "{" not in said.out
    shown = terminal.run("explain", "wrong", "--json").json["turn"]
    assert shown["opinion"]["kind"] == "amount"
    assert shown["disagreement"] > 0.7
