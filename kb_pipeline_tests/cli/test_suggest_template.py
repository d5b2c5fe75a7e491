"""suggest-template on a real database: a template changes, and its new markers are told."""

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml

from kb_pipeline.adapters.postgres.connection import Database
from kb_pipeline.cli import failures
from kb_pipeline.cli.root import kb_pipeline as group
from kb_pipeline.demo.knowledge import load
from kb_pipeline.demo.traffic import Effect, Incident, Traffic, generate
from kb_pipeline.demo.upstream import plant
from kb_pipeline.settings import Settings, load_settings
from kb_pipeline.windows import HOUR, Window
from kb_pipeline_tests.builders import Upstream, closed_hour, request_body, street, table
from kb_pipeline_tests.cli.in_process import Left
from kb_pipeline_tests.demo.overlap import overlap

Run = Callable[..., Left]


@pytest.fixture
def run(database: Database, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs suggest-template on the test's database, with the sections of the configuration that are given."""

    def command(*arguments: str, **sections: Any) -> Left:
        given = {"database": {"url": database.url.render_as_string(hide_password=False)}, **sections}
        (tmp_path / "kb.yaml").write_text(json.dumps(given))
        code = failures.run(group, ["--config", str(tmp_path / "kb.yaml"), "suggest-template", *arguments])
        out, err = capsys.readouterr()
        return Left(code=code, out=out, err=err)

    return command


def planted_day(database: Database, *effects: Effect, examined: bool = True) -> None:
    """A day of the demo's traffic, its template changed by the effects from its beginning on."""
    end = datetime.now(UTC) - timedelta(minutes=1)
    day = Window(end - 12 * HOUR, end)
    incidents = tuple(Incident(effect=effect, window=day) for effect in effects)
    plant(database, generate(Traffic(end=end, turns=120, hours=12, incidents=incidents), load(), overlap))
    if examined:
        with street(database, judge_model=None) as grading:
            grading.grade()


def pasted(tmp_path: Path, block: str) -> Settings:
    """What the configuration is once the suggested block is in it."""
    (tmp_path / "pasted.yaml").write_text(block, encoding="utf-8")
    return load_settings(tmp_path / "pasted.yaml", environ={})


CHANGES: dict[tuple[Effect, ...], dict[str, str]] = {
    (Effect.QUESTION_RENAMED,): {"question_marker": "TANYA:"},
    (Effect.CONTEXT_RENAMED,): {"context_marker": "TEMUAN:"},
    (Effect.SIGNATURE_CHANGED,): {"synthesis_markers": ""},
    (Effect.SIGNATURE_CHANGED, Effect.QUESTION_RENAMED, Effect.CONTEXT_RENAMED): {
        "synthesis_markers": "",
        "question_marker": "TANYA:",
        "context_marker": "TEMUAN:",
    },
}


@pytest.mark.parametrize("effects", CHANGES, ids="+".join)
def test_each_change_of_the_demos_template_is_found_and_the_printed_markers_read_the_turns(
    effects: tuple[Effect, ...], database: Database, run: Run, tmp_path: Path
) -> None:
    planted_day(database, *effects)
    left = run("--since", "24h", "--json")
    assert (left.code, left.err) == (0, "")
    [surface] = left.json["surfaces"]
    [proposal] = surface["proposals"]
    changes = CHANGES[effects]
    assert set(proposal["changed"]) == set(changes)
    renamed = {key: marker for key, marker in changes.items() if marker}
    assert proposal["settings"].items() >= renamed.items()
    assert proposal["share"] >= 0.95
    assert proposal["bodies"] >= 100
    block = run("--since", "24h").out
    settings = pasted(tmp_path, block)
    assert settings.rag_quality.surfaces["public"].model_dump().items() >= renamed.items()
    surfaces = yaml.safe_load(block)["rag_quality"]["surfaces"]
    with street(database, judge_model=None, surfaces=surfaces) as grading:
        grading.grade(since=datetime.now(UTC) - timedelta(days=1))
    [(unparsed, parsed)] = table(
        database,
        "SELECT count(*) FILTER (WHERE parse_status IN ('no_question', 'context_fallback')),"
        " count(*) FILTER (WHERE parse_status = 'ok') FROM rag_call WHERE verdict = 'synthesis'",
    )
    assert unparsed == 0
    assert parsed >= 80


def test_a_day_without_a_change_is_well_and_no_other_kind_of_call_is_taken_for_a_template(
    database: Database, run: Run
) -> None:
    planted_day(database)
    left = run("--since", "24h")
    assert (left.code, left.err) == (0, "")
    assert "all is well" in left.out
    assert "rag_quality" not in left.out
    assert table(database, "SELECT count(*) FROM kb_source.ai_call WHERE surface = 'public'")[0][0] > 150


def test_prompts_that_were_never_examined_are_read_too(database: Database, run: Run) -> None:
    planted_day(database, Effect.CONTEXT_RENAMED, examined=False)
    [surface] = run("--since", "24h", "--json").json["surfaces"]
    assert [proposal["settings"]["context_marker"] for proposal in surface["proposals"]] == ["TEMUAN:"]
    assert surface["proposals"][0]["turns"] == 0


def test_turns_whose_markers_were_mended_meanwhile_are_told_to_wait_for_a_run(database: Database, run: Run) -> None:
    planted_day(database, Effect.CONTEXT_RENAMED)
    left = run("--since", "24h", rag_quality={"surfaces": {"public": {"context_marker": "TEMUAN:"}}})
    assert left.code == 0
    assert "parse with the markers as they are configured now: kb-pipeline grade --since" in left.out
    assert "all is well" in left.out


def changed_turns(upstream: Upstream, count: int, window: Window, *, surface: str = "public", context: str) -> None:
    """Turns whose context is called something else."""
    for number in range(count):
        found = f"[RAG-1] (skor 0.82) Biaya layanan ke-{number} tertera di loket.\n[RAG-2] (skor 0.41) Loket buka pagi."
        asked = request_body(question=f"Berapa biaya layanan ke-{number}?", context=found)
        body = asked.replace(b"HASIL ALAT:", context.encode())
        upstream.turn(f"{surface}-{context}-{number}", window.start, request=body, surface=surface)


def test_too_few_unparsed_turns_are_one_sentence(database: Database, run: Run) -> None:
    changed_turns(Upstream(database), 3, closed_hour(), context="SUMBER:")
    with street(database, judge_model=None) as grading:
        grading.grade()
    left = run("--since", "24h")
    assert left.code == 1
    assert "only 3 unparsed turns; markers are suggested from 5 on" in left.sentence


def test_prompts_that_the_gateway_cut_are_told_from_those_of_another_template(database: Database, run: Run) -> None:
    upstream, hour = Upstream(database), closed_hour()
    for number in range(6):
        cut = f"[RAG-1] (skor 0.8) Akta {number} ... (litellm_truncated skipped 912 chars) ..."
        upstream.turn(f"cut-{number}", hour.start, request=request_body(question=f"Apa {number}?", context=cut))
    with street(database, judge_model=None) as grading:
        grading.grade()
    left = run("--since", "24h")
    assert left.code == 1
    assert "6 of 6 unparsed turns were cut before they were stored" in left.sentence


def test_each_surface_has_its_own_proposal_and_one_may_be_asked_for_alone(database: Database, run: Run) -> None:
    upstream, hour = Upstream(database), closed_hour()
    changed_turns(upstream, 12, hour, context="SUMBER:")
    changed_turns(upstream, 14, hour, surface="staff", context="BAHAN:")
    surfaces: dict[str, Any] = {"public": {}, "staff": {}}
    with street(database, judge_model=None, surfaces=surfaces) as grading:
        grading.grade()
    quality = {"surfaces": surfaces}
    found = run("--since", "24h", "--json", rag_quality=quality).json["surfaces"]
    markers = {each["surface"]: [p["settings"]["context_marker"] for p in each["proposals"]] for each in found}
    assert markers == {"public": ["SUMBER:"], "staff": ["BAHAN:"]}
    [alone] = run("--since", "24h", "--surface", "staff", "--json", rag_quality=quality).json["surfaces"]
    assert (alone["surface"], alone["proposals"][0]["parses"]) == ("staff", 14)
    unknown = run("--since", "24h", "--surface", "stuff", rag_quality=quality)
    assert unknown.code == 2
    assert "did you mean staff?" in unknown.sentence


def test_every_reading_of_stored_requests_is_recorded_before_anything_is_said(database: Database, run: Run) -> None:
    changed_turns(Upstream(database), 12, closed_hour(), context="SUMBER:")
    with street(database, judge_model=None) as grading:
        grading.grade()
    run("--since", "24h")
    recorded = table(
        database, "SELECT actor, sum(bodies) FROM kb_access_record WHERE purpose = 'suggest-template' GROUP BY actor"
    )
    assert recorded == [("kb_pipeline_grader", 12)]


def test_hostile_bodies_are_counted_and_hinder_nobody(database: Database, run: Run) -> None:
    upstream, hour = Upstream(database), closed_hour()
    changed_turns(upstream, 12, hour, context="SUMBER (.*) [+:")
    hostile = {
        "huge": b'{"messages": "' + b"x" * 2_000_000 + b'"}',
        "damaged": b"\x28\xb5\x2f\xfd" + b"\xff" * 40,
        "prose": b"<html>502</html>",
        "deep": b"[" * 50_000,
        "long": json.dumps({"messages": [{"role": "user", "content": "A: [1] " * 90_000}]}).encode(),
    }
    for name, body in hostile.items():
        upstream.call(name, hour.start)
        upstream.body(name, body, b"{}")
    with street(database, judge_model=None) as grading:
        grading.grade()
    left = run("--since", "24h", "--json")
    assert left.code == 0
    [surface] = left.json["surfaces"]
    assert [each["settings"]["context_marker"] for each in surface["proposals"]] == ["SUMBER (.*) [+:"]
    assert run("--since", "24h").code == 0


def test_a_time_to_come_is_refused(run: Run) -> None:
    left = run("--since", "2999-01-01T00:00Z")
    assert left.code == 2
    assert "lies in the future" in left.sentence
