"""harvest on a real database, as a user meets it."""

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from kb_pipeline.adapters.postgres.connection import Database
from kb_pipeline.cli import failures
from kb_pipeline.cli.root import kb_pipeline as group
from kb_pipeline_tests.builders import closed_hour, table
from kb_pipeline_tests.cli.command import assert_one_sentence
from kb_pipeline_tests.retrieval_street.application import PERMIT, QUERY, Application

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(database: Database, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs harvest on the test's database; gives its exit code and what it wrote."""

    def command(*arguments: str, enabled: bool = True, **retrieval: str) -> tuple[int, str, str]:
        given = {
            "retrieval": {"enabled": enabled, "redis_url": "redis://localhost:6379/0", **retrieval},
            "database": {"url": database.url.render_as_string(hide_password=False)},
        }
        (tmp_path / "kb.yaml").write_text(json.dumps(given))
        code = failures.run(group, ["--config", str(tmp_path / "kb.yaml"), "harvest", *arguments])
        return code, *capsys.readouterr()

    return command


def planted(database: Database) -> None:
    ours = Application(database)
    ours.chunk("permit", PERMIT, datetime(2020, 1, 1, tzinfo=UTC))
    for back in (4, 40):
        ours.decide(ours.served(closed_hour(back).start), closed_hour(back).start + timedelta(minutes=5))


def test_a_run_prints_what_each_step_did_and_no_word_of_a_query(database: Database, run: Run) -> None:
    planted(database)
    code, out, err = run("--json")
    assert (code, err) == (0, "")
    report = json.loads(out)
    assert report["hours"] == 2
    assert report["outcomes"]["accepted"] == 2
    assert report["windows"] == {"windows_changed": 2}
    assert report["harvest"]["drafts"] == 2
    code, out, _ = run()
    facts = dict(line.split() for line in out.splitlines())
    assert code == 0
    assert facts["hours"] == "0"
    assert facts["harvest/judgments_changed"] == "0"
    assert QUERY not in out


def test_since_and_until_leave_out_hours(database: Database, run: Run) -> None:
    planted(database)
    code, out, _ = run("--since", "24h", "--json")
    assert (code, json.loads(out)["hours"]) == (0, 1)
    code, out, _ = run("--until", "50h", "--json")
    assert (code, json.loads(out)["hours"]) == (0, 0)


def test_a_copy_that_cannot_be_made_is_told_after_all_else_is_done(database: Database, run: Run) -> None:
    planted(database)
    code, out, err = run("--json", clickhouse_url="http://127.0.0.1:9/default")
    assert code == 1
    assert_one_sentence(err)
    assert "ClickHouse at 127.0.0.1:9 cannot be reached" in err
    report = json.loads(out)
    assert (report["harvest"]["drafts"], report["copy"]) == (2, {})


def test_a_switched_off_street_is_refused_in_a_sentence(database: Database, run: Run) -> None:
    planted(database)
    code, out, err = run(enabled=False)
    assert (code, out) == (2, "")
    assert_one_sentence(err)
    assert "retrieval.enabled is false" in err
    assert table(database, "SELECT count(*) FROM kb_draft_outcome") == [(0,)]


def test_instants_the_wrong_way_round_are_refused(run: Run) -> None:
    code, _, err = run("--since", "1h", "--until", "2h")
    assert code == 2
    assert "is not after --since" in err


def test_a_database_that_is_not_migrated_is_refused_with_the_remedy(
    empty_database: Database, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = {
        "retrieval": {"enabled": True, "redis_url": "redis://localhost:6379/0"},
        "database": {"url": empty_database.url.render_as_string(hide_password=False)},
    }
    (tmp_path / "kb.yaml").write_text(json.dumps(given))
    assert failures.run(group, ["--config", str(tmp_path / "kb.yaml"), "harvest"]) == 1
    err = capsys.readouterr().err
    assert_one_sentence(err)
    assert "kb-pipeline migrate" in err
