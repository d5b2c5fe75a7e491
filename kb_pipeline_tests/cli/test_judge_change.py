"""rejudge and compare-judges on a real database, as whoever wants to change the judge meets them."""

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from kb_pipeline.adapters.postgres.connection import Database
from kb_pipeline.cli import failures
from kb_pipeline.cli.root import kb_pipeline as group
from kb_pipeline.grading.judging import PROMPT_VERSION
from kb_pipeline_tests.builders import Upstream, closed_hour, everything, request_body, settings, street, table
from kb_pipeline_tests.cli.in_process import Left
from kb_pipeline_tests.http_servers import ScriptedServer, http
from kb_pipeline_tests.judges import WatchedJudge

Run = Callable[..., Left]
LOWER = (
    "UPDATE rag_judge_score SET faithfulness = faithfulness - %s, judged_at = now() + interval '1 minute'"
    " WHERE judge_model = 'another' AND faithfulness >= %s"
)


@pytest.fixture
def judge() -> Iterator[WatchedJudge]:
    with WatchedJudge() as watched:
        yield watched


@pytest.fixture
def run(database: Database, tmp_path: Path, capsys: pytest.CaptureFixture[str], judge: WatchedJudge) -> Run:
    """Runs a command on the test's database and judge; keys of rag_quality by name."""

    def command(*arguments: str, **quality: Any) -> Left:
        given = settings(database, **{"judge_base_url": judge.url, **quality})
        content = given.model_dump(mode="json", include={"rag_quality"}, exclude_defaults=True)
        content["database"] = {"url": database.url.render_as_string(hide_password=False)}
        (tmp_path / "kb.yaml").write_text(json.dumps(content))
        code = failures.run(group, ["--config", str(tmp_path / "kb.yaml"), *arguments])
        out, err = capsys.readouterr()
        return Left(code=code, out=out, err=err)

    return command


def graded(database: Database, judge: WatchedJudge, turns: int = 6) -> None:
    Upstream(database).turns(turns, closed_hour())
    with street(database, judge_base_url=judge.url) as grading:
        grading.grade()
    judge.calls.clear()


def both_judged(database: Database, judge: WatchedJudge, run: Run, turns: int, *, lower: float = 0.0) -> None:
    """Turns with scores of `reference`, and of `another`, which gives less."""
    graded(database, judge, turns)
    assert run("rejudge", "--since", "2d", "--model", "another").code == 0
    table_update(database, LOWER, lower, lower)


def table_update(database: Database, statement: str, *values: object) -> None:
    with database.connect() as connection:
        connection.execute(statement.encode(), values)


def test_a_dry_run_tells_turns_calls_and_tokens_and_writes_nothing(
    database: Database, judge: WatchedJudge, run: Run
) -> None:
    graded(database, judge)
    before = everything(database)
    left = run("rejudge", "--since", "2d", "--model", "another", "--dry-run", "--json", judge_daily_tokens=1_000_000)
    assert (left.code, left.err) == (0, "")
    facts = left.json
    assert (facts["judge_model"], facts["prompt_version"], facts["published"]) == ("another", PROMPT_VERSION, False)
    assert facts["turns"] == facts["judge_calls"] == facts["open"] == 6
    assert facts["prompt_tokens"] > 1_000
    assert facts["tokens_left_today"] == 1_000_000 - facts["tokens_spent_today"]
    assert 0 < facts["tokens_spent_today"] < 1_000_000
    assert (facts["tokens_needed"], facts["measured_turns"]) == (facts["prompt_tokens"], 0)
    assert "this judge has no history" in facts["notes"][1]
    assert everything(database) == before
    assert judge.calls.total() == 0


def test_rejudge_tells_what_it_did_and_a_second_one_that_nothing_is_left(
    database: Database, judge: WatchedJudge, run: Run
) -> None:
    graded(database, judge)
    facts = run("rejudge", "--since", "2d", "--model", "another", "--json").json
    assert (facts["graded"], facts["judge_calls"], facts["left"], facts["done"]) == (6, 6, 0, 6)
    assert (facts["rows_changed"], facts["stopped"]) == (0, None)
    again = run("rejudge", "--since", "2d", "--model", "another")
    assert again.code == 0
    assert re.search(r"^turns left to grade +0$", again.out, re.MULTILINE)
    assert "_" not in again.out.replace(PROMPT_VERSION, ""), "every count is said in words"
    assert judge.calls.total() == 6


def test_what_a_judge_needs_is_measured_by_what_it_reported_so_far(
    database: Database, judge: WatchedJudge, run: Run
) -> None:
    graded(database, judge, 8)
    assert run("rejudge", "--since", "2d", "--model", "another", "--limit", "2").code == 0
    table_update(
        database,
        "UPDATE rag_judge_score SET prompt_tokens = 300, completion_tokens = 20 WHERE judge_model = 'another'",
    )
    asked = ("rejudge", "--since", "2d", "--model", "another", "--dry-run")
    facts = run(*asked, "--json").json
    assert (facts["turns"], facts["tokens_needed"], facts["measured_turns"]) == (6, 6 * 320, 2)
    assert "6 turns will need about 1,920 tokens: 320 each" in run(*asked).prose


def test_a_dry_run_of_grade_sets_what_it_needs_beside_what_the_day_has_left(
    database: Database, judge: WatchedJudge, run: Run
) -> None:
    graded(database, judge, 2)
    table_update(database, "UPDATE rag_judge_score SET prompt_tokens = 300, completion_tokens = 20")
    Upstream(database).turns(3, closed_hour(), prefix="newer")
    facts = run("grade", "--dry-run", "--json", judge_daily_tokens=1_000).json
    assert (facts["turns"], facts["tokens_needed"], facts["measured_turns"]) == (3, 960, 2)
    assert [facts[name] for name in ("judge_daily_tokens", "tokens_spent_today", "tokens_left_today")] == [
        1000,
        640,
        360,
    ]
    shown = run("grade", "--dry-run", judge_daily_tokens=1_000).prose
    assert "640 of today's judge_daily_tokens of 1,000 are spent, 360 are left" in shown
    assert "that is more than today has left; the rest waits until midnight UTC" in shown
    assert "640 tokens are spent today; no judge_daily_tokens are set" in run("grade", "--dry-run").prose
    assert judge.calls.total() == 0


def test_a_dry_run_and_a_run_of_grade_name_the_same_things_the_same(database: Database, run: Run) -> None:
    Upstream(database).turns(3, closed_hour())
    foreseen = run("grade", "--dry-run", "--json").json
    done = run("grade", "--json").json
    for name in ("hours", "examined", "parse_statuses", "judge_calls"):
        assert foreseen[name] == done[name]
    assert foreseen["parse_statuses"] == {"ok": 3}
    assert {name: count for name, count in done["verdicts"].items() if count} == foreseen["verdicts"]


def test_a_spent_budget_stops_it_with_a_sentence_that_says_what_is_left(
    database: Database, judge: WatchedJudge, run: Run
) -> None:
    graded(database, judge)
    left = run("rejudge", "--since", "2d", "--model", "another", "--json", judge_daily_tokens=1)
    assert left.code == 1
    assert "stopped, 6 turns are left" in left.sentence
    assert "judge_daily_tokens, 1)" in left.sentence
    assert (left.json["stopped"], left.json["left"]) == ("tokens", 6)
    assert judge.calls.total() == 0


def test_a_judge_that_does_not_know_the_model_is_named(database: Database, judge: WatchedJudge, run: Run) -> None:
    graded(database, judge)
    with ScriptedServer(script=lambda _: [http(404, {"error": {"message": "no such model"}})]) as server:
        left = run("rejudge", "--since", "2d", "--model", "anotherr", "--judge-url", server.base_url)
    assert left.code == 1
    assert "http_4xx" in left.sentence
    assert "has the model anotherr" in left.sentence
    assert table(database, "SELECT DISTINCT judge_model FROM rag_quality") == [("reference",)]


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["rejudge", "--model", "x"], 2, "--since"),
        (["rejudge", "--since", "2999-01-01T00:00Z"], 2, "lies in the future"),
        (["rejudge", "--since", "2d", "--until", "3d"], 2, "is not after --since"),
        (["rejudge", "--since", "2d", "--model", " "], 2, "no name of a model"),
        (["rejudge", "--since", "2d", "--sample", "0"], 2, "--sample"),
        (["rejudge", "--since", "2d", "--sample", "nan"], 2, "not a number"),
        (["rejudge", "--since", "2d", "--limit", "0"], 2, "--limit"),
        (["rejudge", "--since", "2d", "--model", "x"], 1, "no turn that is asked for has a score"),
        (["compare-judges", "--since", "2d"], 1, "has a score; grade some first"),
        (["compare-judges", "--since", "2d", "--from", "gemma"], 2, "known here: none"),
    ],
)
def test_what_cannot_be_done_is_said_in_one_sentence(run: Run, arguments: list[str], code: int, words: str) -> None:
    left = run(*arguments)
    assert left.code == code
    assert words in left.sentence


def test_one_version_alone_and_versions_without_a_common_turn_cannot_be_compared(
    database: Database, judge: WatchedJudge, run: Run
) -> None:
    graded(database, judge, 3)
    alone = run("compare-judges", "--since", "2d")
    assert alone.code == 1
    assert f"reference@{PROMPT_VERSION} alone has scores" in alone.sentence
    unknown = run("compare-judges", "--since", "2d", "--to", "gemma")
    assert unknown.code == 2
    assert f"'gemma' has no scores in this period; known here: reference@{PROMPT_VERSION}" in unknown.sentence
    Upstream(database).turns(2, closed_hour(), prefix="newer")
    with street(database, judge_base_url=judge.url, judge_model="another") as grading:
        grading.grade()
    apart = run("compare-judges", "--since", "2d")
    assert apart.code == 1
    assert "no turn has scores of both" in apart.sentence


def test_a_comparison_shows_the_shift_who_crossed_and_what_to_do(
    database: Database, judge: WatchedJudge, run: Run
) -> None:
    both_judged(database, judge, run, 40, lower=0.4)
    before = everything(database)
    found = run("compare-judges", "--since", "2d", "--json").json
    assert (found["from"]["name"], found["to"]["name"]) == (f"reference@{PROMPT_VERSION}", f"another@{PROMPT_VERSION}")
    faithfulness = found["scores"]["faithfulness"]
    assert (found["turns"], faithfulness["n"]) == (40, 40)
    assert faithfulness["shift"]["value"] == pytest.approx(-0.4)
    assert found["scores"]["answer_relevance"]["shift"] == {"value": 0.0, "low": 0.0, "high": 0.0}
    warning, critical = faithfulness["thresholds"]
    assert (warning["threshold"], warning["fell"], warning["rose"]) == (0.7, 40, 0)
    assert (critical["threshold"], critical["fell"]) == (0.55, 0)
    assert found["verdict"]["finding"] == "shifted"
    assert "set thresholds anew before switching" in found["verdict"]["sentence"]
    assert found["languages"]["id"]["n"] == 40
    assert found["from"]["tokens"] > 0
    first = found["largest_differences"][0]
    assert first["preview"].startswith("Berapa biaya pendaftaran yayasan nomor")
    assert first["faithfulness"]["to"] == pytest.approx(first["faithfulness"]["from"] - 0.4)
    assert everything(database) == before
    turned = run("compare-judges", "--since", "2d", "--from", "another", "--json").json
    assert turned["scores"]["faithfulness"]["shift"]["value"] == pytest.approx(0.4)


def test_the_table_begins_with_the_verdict_and_shows_previews_alone(
    database: Database, judge: WatchedJudge, run: Run
) -> None:
    both_judged(database, judge, run, 12, lower=0.4)
    out = run("compare-judges", "--since", "2d").out
    assert out.startswith("no difference shown; n=12 is too few")
    assert re.search(r"^ *faithfulness +12 +1\.000 +0\.600 +-0\.400", out, re.MULTILINE)
    assert "Rp250.000" not in out


def test_turns_left_ungraded_are_counted_by_class_and_missing_scores_by_side(
    database: Database, judge: WatchedJudge, run: Run
) -> None:
    both_judged(database, judge, run, 4)
    table_update(
        database,
        "UPDATE rag_judge_score SET faithfulness = NULL, faithfulness_reason = 'asserts nothing'"
        " WHERE judge_model = 'another' AND event_id = 'turn-0000'",
    )
    table_update(
        database,
        "UPDATE rag_judge_score SET status = 'failed', error_class = 'bad_schema', faithfulness = NULL,"
        " answer_relevance = NULL, context_relevance = NULL WHERE judge_model = 'another' AND event_id = 'turn-0001'",
    )
    found = run("compare-judges", "--since", "2d", "--json").json
    assert (found["to"]["graded"], found["to"]["ungraded"]) == (3, {"bad_schema": 1})
    assert found["turns"] == 3
    faithfulness = found["scores"]["faithfulness"]
    assert [faithfulness[f"missing_{side}"] for side in ("first", "second", "both")] == [0, 1, 0]


def test_the_page_is_whole_in_itself_and_every_text_in_it_is_escaped(
    database: Database, judge: WatchedJudge, run: Run, tmp_path: Path
) -> None:
    hostile = '<script src="https://example.org/x.js"></script>&"\''
    Upstream(database).turn("<img src=x>", closed_hour().start, request=request_body(f"{hostile} berapa biayanya?"))
    both_judged(database, judge, run, 8)
    table_update(database, "UPDATE rag_judge_score SET judge_model = '<b>x' WHERE judge_model = 'another'")
    table_update(database, "UPDATE rag_judge_score SET faithfulness = 0.1 WHERE judge_model = '<b>x'")
    page = tmp_path / "page.html"
    left = run("compare-judges", "--since", "2d", "--html", str(page))
    assert (left.code, left.err) == (0, "")
    assert f"written: {page}" in left.out
    text = page.read_text(encoding="utf-8")
    assert "&lt;script src=&quot;https://example.org/x.js&quot;&gt;" in text
    assert "&lt;img src=x&gt;" in text
    for sign in ("<script", "<img", "<b>", "<link", "<iframe", "url(", "@import", ' src="', " href="):
        assert sign not in text.replace("&lt;", "")
    assert "default-src 'none'" in text
    svg = ET.fromstring(text[text.index("<svg") : text.index("</svg>") + 6])  # noqa: S314 our own page
    assert svg.findall("circle[@class='turns']")
    assert len(svg.findall("line[@class='shift']")) == 1


def test_a_page_that_cannot_be_written_is_said_in_one_sentence(
    database: Database, judge: WatchedJudge, run: Run, tmp_path: Path
) -> None:
    both_judged(database, judge, run, 2)
    left = run("compare-judges", "--since", "2d", "--html", str(tmp_path / "nowhere" / "page.html"))
    assert left.code == 1
    assert "No such file" in left.sentence


def test_changing_the_judge_step_by_step(database: Database, judge: WatchedJudge, run: Run) -> None:
    """As docs/how-to/change-the-judge.md tells it."""
    graded(database, judge, 8)
    run("rejudge", "--since", "2d", "--model", "another", "--sample", "0.5")
    run("rejudge", "--since", "2d", "--model", "another")
    assert run("compare-judges", "--since", "2d", "--to", "another").code == 0
    calls = judge.calls.total()
    switched = run("rejudge", "--since", "2d", "--json", judge_model="another").json
    assert (switched["published"], switched["rows_changed"]) == (True, 8)
    assert judge.calls.total() == calls == 8
    assert table(database, "SELECT judge_model, count(*) FROM rag_quality GROUP BY 1") == [("another", 8)]
    explained = run("explain", "turn-0000").out
    assert f"rag_judge_score, another, prompt {PROMPT_VERSION}" in explained
    assert f"rag_judge_score, reference, prompt {PROMPT_VERSION}" in explained
