"""`alerts` as a user meets it."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from kb_pipeline.adapters.postgres.connection import Database
from kb_pipeline.windows import HOUR, floor_hour
from kb_pipeline_tests.alert_desk.windows import MODEL, bad_hours, graded
from kb_pipeline_tests.builders import table
from kb_pipeline_tests.cli.in_process import Terminal

pytestmark = pytest.mark.postgres

ON = {"rag_quality": {"enabled": True, "judge_model": MODEL}, "alerts": {"keep_url": "http://keep.example.org"}}
FAITHFULNESS = "rag_low_faithfulness|faithfulness|prod:portal:public:rag"


@pytest.fixture
def terminal(tmp_path: Path, capsys: pytest.CaptureFixture[str], database: Database) -> Terminal:
    return Terminal(tmp_path, capsys, database, ON)


@pytest.fixture
def bad(database: Database) -> None:
    """The last hours are bad."""
    bad_hours(database, until=floor_hour(datetime.now(UTC)))


@pytest.mark.usefixtures("bad")
def test_an_evaluation_says_how_quality_is_and_what_follows(terminal: Terminal) -> None:
    report = terminal.run("alerts", "evaluate", "--json").json
    assert report["counts"]["notices"] == 2
    assert report["verdict"]["level"] == "worse"
    assert FAITHFULNESS in report["active"]
    assert "Quality is below the line" in terminal.run("alerts", "evaluate").out


@pytest.mark.usefixtures("bad")
def test_the_list_shows_states_silences_delivery_the_dead_and_history(terminal: Terminal, database: Database) -> None:
    terminal.run("alerts", "silence", "rag_ungrounded_spike", "--for", "2h", "--author", "ops", "--reason", "known")
    terminal.run("alerts", "evaluate")
    table(
        database,
        "UPDATE kb_alert_outbox SET state = 'dead', reason = '422 labels', settled_at = now() RETURNING 1",
    )
    found = terminal.run("alerts", "list", "--history", "1h", "--json").json
    assert {state["fingerprint"]: state["status"] for state in found["states"]}[FAITHFULNESS] == "firing"
    assert [silence["pattern"] for silence in found["silences"]] == ["rag_ungrounded_spike"]
    assert [entry["reason"] for entry in found["dead"]] == ["422 labels"]
    assert found["destinations"][0]["dead"] == 1
    assert {flip["reason"] for flip in found["history"]} == {"fired", "silenced"}
    shown = terminal.run("alerts", "list", "--active", "--history", "1h").out
    for words in (f"{FAITHFULNESS}  firing critical", "dead  destination=keep", "flip  ", "silence  "):
        assert words in shown
    assert terminal.run("alerts", "retry", "--json").json == {"alerts_waiting_again": 1}


def test_a_list_without_states_says_what_to_do(terminal: Terminal) -> None:
    assert "kb-pipeline alerts evaluate" in terminal.run("alerts", "list").out


def test_an_alert_that_does_not_exist_is_said_to_be_none(terminal: Terminal) -> None:
    assert "there is no alert 'nobody'" in terminal.run("alerts", "list", "--fingerprint", "nobody").sentence


def test_a_silence_can_be_ended(terminal: Terminal) -> None:
    terminal.run("alerts", "silence", "rag_*", "--for", "1d", "--author", "ops", "--reason", "move")
    assert terminal.run("alerts", "silence", "rag_*", "--end", "--json").json == {"pattern": "rag_*", "ended": 1}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["silence", "rag_*"], "give --for how long"),
        (["silence", "rag_*", "--for", "1h", "--end"], "give --for how long"),
        (["silence", "rag_*", "--for", "1h"], "--author and --reason"),
        (["silence", "rag_*", "--for", "0h", "--author", "a", "--reason", "b"], "give how long"),
        (["silence", "Rag !", "--for", "1h", "--author", "a", "--reason", "b"], "names no alert"),
        (["silence", "|", "--for", "1h", "--author", "a", "--reason", "b"], "a whole fingerprint"),
        (["silence", "a" * 10_000, "--for", "1h", "--author", "a", "--reason", "b"], "aaa…' names no alert"),
        (["silence", "rag_low_faithfullness", "--for", "1h", "--author", "a", "--reason", "b"], "a rule (kb_no_data"),
        (["simulate", "--rule", "nobody", "--since", "1d"], "there is no rule 'nobody'"),
        (["simulate", "--rule", "rag_judge_outage", "--since", "1d"], "cannot be replayed"),
        (["simulate", "--rule", "rag_signature_lost", "--since", "1d", "--threshold", "0.1"], "has no threshold"),
    ],
)
def test_what_cannot_be_done_is_said_in_one_sentence(terminal: Terminal, arguments: list[str], words: str) -> None:
    assert words in terminal.run("alerts", *arguments).sentence


def test_without_a_street_there_is_nothing_to_evaluate(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], database: Database
) -> None:
    left = Terminal(tmp_path, capsys, database).run("alerts", "evaluate")
    assert left.code == 2
    assert "nothing to alert on" in left.sentence


def test_a_simulation_tells_when_it_would_have_fired_and_what_to_expect(terminal: Terminal, database: Database) -> None:
    now = floor_hour(datetime.now(UTC))
    for back in range(60):
        graded(database, now - HOUR * back, [0.9] * 4)
    asked = ("alerts", "simulate", "--rule", "rag_low_faithfulness", "--since", "59h", "--months", "2")
    calm = terminal.run(*asked, "--json").json
    assert calm["episodes"] == []
    assert calm["expected"][0]["false_alarms_a_month"] == 0
    assert "it would not have fired" in terminal.run(*asked).out
    strict = terminal.run(*asked, "--threshold", "0.95", "--confidence-z", "0", "--min-graded", "10").out
    assert "still firing" in strict
    assert "an alarm may be right" in strict
