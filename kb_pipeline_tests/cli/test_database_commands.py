"""migrate, check, grade and explain on a real database, as a user meets them."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from kb_pipeline.adapters.clock import SystemClock
from kb_pipeline.adapters.gateway import GatewayJudge
from kb_pipeline.adapters.postgres.connection import Database
from kb_pipeline.cli import failures
from kb_pipeline.cli.root import kb_pipeline as group
from kb_pipeline.demo.reference_judge import MODEL, ReferenceJudge
from kb_pipeline_tests.judges import WatchedJudge

REQUEST = {
    "messages": [
        {"role": "system", "content": "Susun jawaban dari HASIL ALAT."},
        {
            "role": "user",
            "content": "PERTANYAAN: Berapa biaya?\n\nHASIL ALAT:\n[RAG-1] (skor 0,79) Biaya 50 ribu rupiah.",
        },
    ]
}
RESPONSE = {
    "choices": [{"finish_reason": "stop", "message": {"role": "assistant", "content": "Biaya 50 ribu rupiah."}}]
}


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What a command left: its exit code and what it wrote."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        assert self.code == 0 or self.out, self.err
        return json.loads(self.out)


Run = Callable[..., Outcome]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs a command on a database, with the sections given; by default the judge and retrieval are off."""

    def command(
        database: Database,
        *arguments: str,
        quality: dict[str, Any] | None = None,
        retrieval: dict[str, Any] | None = None,
    ) -> Outcome:
        url = database.url.render_as_string(hide_password=False)
        section = {"enabled": True, "judge_model": None, **(quality or {})}
        config = {"rag_quality": section, "retrieval": retrieval or {}, "database": {"url": url}}
        (tmp_path / "kb.yaml").write_text(json.dumps(config))
        code = failures.run(group, ["--config", str(tmp_path / "kb.yaml"), *arguments])
        out, err = capsys.readouterr()
        return Outcome(code=code, out=out, err=err)

    monkeypatch.chdir(tmp_path)
    return command


def plant_turn(database: Database, event_id: str, completed_at: datetime) -> None:
    """One synthesis call in the example audit trail."""
    bodies = (json.dumps(REQUEST).encode(), json.dumps(RESPONSE).encode())
    with database.connect() as connection:
        connection.execute(
            "INSERT INTO upstream.ai_calls (event_id, completed_at, surface, tenant_id)"
            " VALUES (%s, %s, 'public', 'bot')",
            (event_id, completed_at),
        )
        connection.execute(
            "INSERT INTO upstream.ai_call_bodies (event_id, request_body, response_body, prev_hash, body_hash)"
            " VALUES (%s, %s, %s, %s, %s)",
            (event_id, *bodies, bytes(32), sha256(bytes(32) + event_id.encode() + b"".join(bodies)).digest()),
        )


def test_migrate_applies_what_is_pending_and_then_nothing(run: Run, empty_database: Database) -> None:
    first = run(empty_database, "migrate")
    assert first.code == 0
    assert "applied 0001" in first.out
    again = run(empty_database, "migrate", "--json")
    assert (again.code, again.json["applied"]) == (0, [])


def test_check_names_what_is_missing_and_how_to_mend_it(run: Run, empty_database: Database) -> None:
    checked = run(empty_database, "check")
    assert checked.code == 1
    assert "PROBLEM  migrations" in checked.out
    assert "mend: run kb-pipeline migrate" in checked.out


def test_check_of_a_server_that_does_not_answer_says_so_once(run: Run) -> None:
    nowhere = Database("postgresql://nobody@127.0.0.1:9/nothing")
    checked = run(nowhere, "check", "--json")
    assert checked.code == 1
    assert [each["name"] for each in checked.json["checks"] if not each["ok"]] == ["database"]


def test_check_is_content_with_a_mapped_database_and_a_judge_that_answers(run: Run, database: Database) -> None:
    with ReferenceJudge() as judge:
        checked = run(database, "check", quality={"judge_base_url": judge.base_url, "judge_model": MODEL})
    assert checked.code == 0, checked.out
    assert checked.out.splitlines()[-1] == "everything is as it should be"
    assert "context window 32,768 tokens, as configured" in checked.out


def test_check_says_where_it_has_the_judges_window_from(run: Run, database: Database) -> None:
    with WatchedJudge(window=8_192) as judge:
        quality = {"judge_base_url": judge.url, "judge_model": "reference", "judge_context_tokens": None}
        checked = run(database, "check", quality=quality)
    assert "context window 8,192 tokens, told by the server at /v1/models" in checked.out


def test_check_reports_a_judge_that_may_not_be_called(run: Run, database: Database) -> None:
    checked = run(database, "check", "--json", quality={"judge_base_url": "http://8.8.8.8", "judge_model": "m"})
    assert checked.code == 1
    [problem] = [each for each in checked.json["checks"] if not each["ok"]]
    assert problem["name"] == "judge"
    assert "allow_external_judge" in problem["remedy"]


def test_check_calls_no_judge_while_grading_is_dormant(
    run: Run, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    def called(_: GatewayJudge) -> None:
        raise AssertionError

    monkeypatch.setattr(GatewayJudge, "probe", called)
    checked = run(database, "check", quality={"enabled": False, "judge_model": MODEL})
    assert checked.code == 0, checked.out
    assert "judge: not called: not needed while grading is dormant (rag_quality.enabled is false)" in checked.out


@pytest.mark.parametrize(
    ("grading", "retrieval", "required"),
    [(True, True, True), (True, False, True), (False, False, True), (False, True, False)],
)
def test_check_requires_the_views_of_calls_unless_retrieval_runs_alone(
    run: Run, database: Database, *, grading: bool, retrieval: bool, required: bool
) -> None:
    with database.connect() as connection:
        connection.execute("DROP VIEW kb_source.ai_call, kb_source.ai_call_body")
    section = {"enabled": retrieval, "redis_url": "redis://127.0.0.1:9/0"}
    checked = run(database, "check", "--json", quality={"enabled": grading}, retrieval=section)
    problems = {each["name"] for each in checked.json["checks"] if not each["ok"]}
    assert problems - {"queue"} == ({"kb_source.ai_call", "kb_source.ai_call_body"} if required else set())


def test_grading_that_is_switched_off_is_refused_with_the_key(run: Run, database: Database) -> None:
    graded = run(database, "grade", quality={"enabled": False})
    assert graded.code == 2
    assert "rag_quality.enabled is false" in graded.err


def test_a_dry_run_counts_and_writes_no_turn_and_a_run_grades_them_once(run: Run, database: Database) -> None:
    plant_turn(database, "e1", SystemClock().now())
    with ReferenceJudge() as judge:
        quality = {"judge_base_url": judge.base_url, "judge_model": MODEL, "start_at": "2020-01-01T00:00:00Z"}
        dry = run(database, "grade", "--dry-run", "--json", quality=quality)
        assert (dry.code, dry.json["turns"], dry.json["judge_calls"]) == (0, 1, 1)
        first = run(database, "grade", "--json", quality=quality)
        assert (first.code, first.json["examined"], first.json["claimed"]) == (0, 1, 1)
        second = run(database, "grade", "--json", quality=quality)
        assert (second.code, second.json.get("examined", 0), second.json.get("claimed", 0)) == (0, 0, 0)
        in_words = run(database, "grade", "--dry-run", quality=quality)
    assert in_words.code == 0
    assert "judge_calls" in in_words.out
    assert first.err == ""


def test_nothing_older_than_the_first_run_is_graded_unless_asked(run: Run, database: Database) -> None:
    plant_turn(database, "old", datetime(2026, 1, 1, 10, tzinfo=UTC))
    assert run(database, "grade", "--json").json.get("examined", 0) == 0
    asked = run(database, "grade", "--since", "2026-01-01T00:00:00Z", "--until", "2026-01-02T00:00:00Z", "--json")
    assert asked.json["examined"] == 1


def test_explain_tells_every_fact_of_a_turn_and_leaves_a_record(run: Run, database: Database) -> None:
    plant_turn(database, "e1", datetime(2026, 1, 1, 10, tzinfo=UTC))
    assert run(database, "grade", "--since", "2026-01-01T00:00:00Z").code == 0
    explained = run(database, "explain", "e1")
    assert explained.code == 0
    assert "from rag_call" in explained.out
    assert "Berapa biaya?" in explained.out
    assert run(database, "explain", "e1", "--json").json["turn"]["verdict"] == "synthesis"
    with database.connect() as connection:
        records = connection.execute("SELECT count(*) FROM kb_access_record WHERE purpose = 'explain'").fetchone()
    assert records == (2,)


def test_explain_of_an_unknown_call_fails_with_a_sentence(run: Run, database: Database) -> None:
    explained = run(database, "explain", "nobody")
    assert explained.code == 1
    assert "the ledger has no such call" in explained.err
