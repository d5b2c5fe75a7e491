"""`kb-pipeline eval` as a user meets it."""

import contextlib
import gzip
from datetime import timedelta
from pathlib import Path

import pytest

from kb_pipeline.adapters.postgres.connection import Database
from kb_pipeline.cli.evaluation_table import bar
from kb_pipeline_tests.cli.command import kb_pipeline
from kb_pipeline_tests.cli.in_process import Terminal
from kb_pipeline_tests.harness.planting import (
    CUSTOMS,
    DEED,
    FEE,
    NOTARY,
    OBSERVED,
    plant,
    plant_chunk,
    plant_judgment,
    plant_retrieval,
)

QRELS = "".join(f"q{number} 0 a 1\nq{number} 0 b 0\n" for number in range(40))
GOOD = "".join(f"q{number} Q0 a 1 2 good\nq{number} Q0 b 2 1 good\n" for number in range(40))
BAD = "".join(f"q{number} Q0 b 1 2 bad\nq{number} Q0 a 2 1 bad\n" for number in range(40))
STRANGE = "".join(f"q{number} Q0 u{number} 1 2 strange\n" for number in range(40))


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """A folder with judgments and three runs."""
    for name, content in {"qrels": QRELS, "good.run": GOOD, "bad.run": BAD, "strange.run": STRANGE}.items():
        (tmp_path / name).write_text(content)
    return tmp_path


@pytest.fixture
def terminal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Terminal:
    return Terminal(tmp_path, capsys)


def test_a_run_against_a_file_of_judgments_needs_no_database(terminal: Terminal, files: Path) -> None:
    shown = terminal.run("eval", "--run", files / "bad.run", "--qrels", files / "qrels")
    assert (shown.code, shown.err) == (0, "")
    assert "run bad.run" in shown.out
    assert "40 judged queries; 80 results; 80 of them judged" in shown.out
    lines = [line.split() for line in shown.out.splitlines() if " to " in line and "measure" not in line]
    rows = {name: figures[:4] for name, *figures in lines}
    assert rows == {
        "nDCG@10": ["0.631", "0.631", "to", "0.631"],
        "Recall@10": ["1.000", "1.000", "to", "1.000"],
        "MRR": ["0.500", "0.500", "to", "0.500"],
        "Success@5": ["1.000", "1.000", "to", "1.000"],
        "Judged@10": ["1.000", "1.000", "to", "1.000"],
    }


def test_as_json_it_is_one_object_with_everything(terminal: Terminal, files: Path) -> None:
    arguments = ("--qrels", files / "qrels", "--measures", "MRR, Success@1", "--seed", "7", "--json")
    [result] = terminal.run("eval", "--run", files / "bad.run", "--run", files / "good.run", *arguments).json["results"]
    assert result["tenant"] is None
    assert [run["name"] for run in result["runs"]] == ["bad.run", "good.run"]
    assert list(result["runs"][0]["measures"]) == ["MRR", "Success@1", "Judged@10"]
    assert result["runs"][0]["measures"]["MRR"] == {"mean": 0.5, "low": 0.5, "high": 0.5, "n": 40}
    assert result["runs"][0]["counts"]["judged_results"] == 80
    [comparison] = result["comparisons"]
    assert (comparison["first"], comparison["second"], comparison["refused"]) == ("bad.run", "good.run", None)
    assert comparison["differences"]["MRR"]["difference"] == 0.5


def test_further_runs_are_compared_with_the_first(terminal: Terminal, files: Path) -> None:
    shown = terminal.run("eval", "--run", files / "bad.run", "--run", files / "good.run", "--qrels", files / "qrels")
    assert "good.run minus bad.run, query by query" in shown.out
    assert "+0.500 to +0.500" in shown.out


def test_runs_judged_to_different_extents_are_shown_and_not_compared(terminal: Terminal, files: Path) -> None:
    arguments = ("--run", files / "good.run", "--run", files / "strange.run", "--qrels", files / "qrels")
    shown = terminal.run("eval", *arguments)
    assert shown.code == 1
    warned, refused = shown.err.splitlines()
    assert "only 0 of 40 documents of strange.run in the top 10 are known" in warned
    assert "Judged@10 is 1.000 for good.run and 0.000 for strange.run" in refused
    assert "run strange.run" in shown.out
    assert "minus good.run" not in shown.out
    [comparison] = terminal.run("eval", *arguments, "--json").json["results"][0]["comparisons"]
    assert (comparison["differences"], "judge more" in comparison["refused"]) == ({}, True)


def test_a_run_comes_from_a_pipe_compressed_or_not(files: Path) -> None:
    for content in (GOOD.encode(), gzip.compress(GOOD.encode())):
        done = kb_pipeline("eval", "--run", "-", "--qrels", "qrels", "--json", cwd=files, stdin=content)
        assert done.returncode == 0, done.stderr
        assert '"mean": 1.0' in done.stdout


def test_a_map_turns_what_the_run_ranks_into_documents(terminal: Terminal, files: Path) -> None:
    (files / "chunks.run").write_text(
        "".join(f"q{n} Q0 b#1 1 3 c\nq{n} Q0 b#2 2 2 c\nq{n} Q0 a#1 3 1 c\n" for n in range(40))
    )
    (files / "map.tsv").write_text("b#1\tb\nb#2\tb\na#1\ta\n")
    shown = terminal.run(
        "eval", "--run", files / "chunks.run", "--qrels", files / "qrels", "--id-map", files / "map.tsv", "--json"
    )
    [run] = shown.json["results"][0]["runs"]
    assert run["measures"]["MRR"]["mean"] == 0.5
    assert run["counts"]["duplicates"] == 40


def test_what_was_exported_is_what_a_run_is_evaluated_against(
    database: Database, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One run with the ids of the export, held against the export and against the database."""
    odd = "Biaya 2026.pdf"
    sha = plant(database, NOTARY, FEE, {odd: 3, "deeds": 0})
    plant_judgment(database, NOTARY, sha, "made-for-it", 3, self_made=True)
    plant_chunk(database, NOTARY, odd, "c1", "Rp250.000")
    terminal = Terminal(tmp_path, capsys, database)
    tenant = ("--org", str(NOTARY.org_id), "--specialist", str(NOTARY.specialist_id))
    assert terminal.run("ground-truth", "export", "--format", "beir", "--out", tmp_path / "out", *tenant).code == 0
    (tmp_path / "my.run").write_text(
        f"{sha} Q0 made-for-it 1 3 x\n{sha} Q0 deeds 2 2 x\n{sha} Q0 Biaya%202026.pdf 3 1 x\n"
    )
    for judgments in (("--beir", tmp_path / "out"), ("--id-map", tmp_path / "out" / "id_map.jsonl")):
        shown = terminal.run("eval", "--run", tmp_path / "my.run", *judgments, "--json")
        [result] = shown.json["results"]
        assert result["runs"][0]["measures"]["MRR"]["mean"] == 0.5
        assert result["runs"][0]["counts"]["excluded_results"] == 1
        mine = {"org_id": str(NOTARY.org_id), "specialist_id": str(NOTARY.specialist_id)}
        assert result["tenant"] == (None if "--beir" in judgments else mine)


def test_recorded_engines_are_evaluated_and_compared_tenant_by_tenant(
    database: Database, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for tenant in (NOTARY, CUSTOMS):
        for query in (FEE, DEED):
            plant(database, tenant, query, {"right": 3, "wrong": 0})
            plant_retrieval(database, tenant, query, "keyword", ["wrong", "right"])
    for query in (FEE, DEED):
        plant_retrieval(database, NOTARY, query, "hybrid", ["wrong"])
        plant_retrieval(database, NOTARY, query, "hybrid", ["right"], at=OBSERVED + timedelta(hours=1), shadow=True)
    terminal = Terminal(tmp_path, capsys, database)
    mine, theirs = terminal.run("eval", "--engine", "keyword", "--engine", "hybrid", "--json").json["results"]
    assert mine["tenant"]["org_id"] == str(NOTARY.org_id)
    assert [run["measures"]["MRR"]["mean"] for run in mine["runs"]] == [0.5, 1.0]
    assert mine["comparisons"][0]["differences"]["MRR"]["difference"] == 0.5
    assert [run["name"] for run in theirs["runs"]] == ["keyword"]
    until = (OBSERVED + timedelta(minutes=1)).isoformat()
    earlier = terminal.run("eval", "--engine", "hybrid", "--until", until, "--json").json["results"][0]
    assert earlier["runs"][0]["measures"]["MRR"]["mean"] == 0.0
    shown = terminal.run("eval", "--engine", "hybrid")
    assert f"organisation {NOTARY.org_id}, specialist {NOTARY.specialist_id}" in shown.prose
    assert FEE not in shown.out


def test_chunks_of_the_knowledge_base_lead_to_their_documents(
    database: Database, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sha = plant(database, NOTARY, FEE, {"fees": 3})
    plant_chunk(database, NOTARY, "fees", "fees-1", "Rp250.000")
    (tmp_path / "my.run").write_text(f"{sha} Q0 fees-1 1 1 x\n")
    terminal = Terminal(tmp_path, capsys, database)
    [result] = terminal.run("eval", "--run", tmp_path / "my.run", "--chunks", "--json").json["results"]
    assert result["runs"][0]["measures"]["MRR"]["mean"] == 1.0


def test_ids_as_an_export_encodes_them_are_noticed_without_their_map(
    database: Database, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sha = plant(database, NOTARY, FEE, {"Biaya 2026.pdf": 3, "deeds": 0})
    plant_chunk(database, NOTARY, "Surat kuasa.pdf", "c1", "Kuasa")
    run, map_file = tmp_path / "my.run", tmp_path / "id_map.jsonl"
    ranked = ("Biaya%202026.pdf", "Surat%20kuasa.pdf", "deeds", "gone")
    run.write_text("".join(f"{sha} Q0 {each} {rank} 1 x\n" for rank, each in enumerate(ranked, 1)))
    map_file.write_text(
        '{"id": "Biaya%202026.pdf", "original": "Biaya 2026.pdf"}\n'
        '{"id": "Surat%20kuasa.pdf", "original": "Surat kuasa.pdf"}\n'
    )
    terminal = Terminal(tmp_path, capsys, database)
    blind = terminal.run("eval", "--run", run, "--json")
    assert "only 1 of 4 documents of my.run in the top 10 are known; 2 have percent-encoded ids" in blind.err
    assert "--id-map" in blind.err
    counts = blind.json["results"][0]["runs"][0]["counts"]
    assert (counts["documents_at_10"], counts["known_at_10"], counts["percent_encoded_at_10"]) == (4, 1, 2)
    mapped = terminal.run("eval", "--run", run, "--id-map", map_file)
    assert "only 3 of 4 documents of my.run in the top 10 are known by judgments or knowledge base" in mapped.err
    assert "4 documents in the top 10 places; 3 of them known" in mapped.prose


def test_a_run_of_known_documents_raises_no_warning(
    database: Database, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A percent sign of the document's own id, a document that is only stored, one beyond the top 10."""
    sha = plant(database, NOTARY, FEE, {"50%20.pdf": 3, **{f"d{number}": 0 for number in range(8)}})
    plant_chunk(database, NOTARY, "stored", "c1", "Kuasa")
    ranked = ("50%20.pdf", "stored", *(f"d{number}" for number in range(8)), "gone")
    (tmp_path / "my.run").write_text("".join(f"{sha} Q0 {each} {rank} 1 x\n" for rank, each in enumerate(ranked, 1)))
    shown = Terminal(tmp_path, capsys, database).run("eval", "--run", tmp_path / "my.run", "--json")
    assert (shown.code, shown.err) == (0, "")
    assert shown.json["results"][0]["runs"][0]["counts"]["known_at_10"] == 10


def test_ids_that_are_no_chunks_are_counted(
    database: Database, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sha = plant(database, NOTARY, FEE, {"fees": 3})
    plant_chunk(database, NOTARY, "fees", "fees#1", "Rp250.000")
    (tmp_path / "my.run").write_text(f"{sha} Q0 fees 1 2 x\n{sha} Q0 fees#1 2 1 x\n{sha} Q0 none#1 3 0 x\n")
    terminal = Terminal(tmp_path, capsys, database)
    shown = terminal.run("eval", "--run", tmp_path / "my.run", "--chunks", "--json")
    assert "my.run ranks 2 ids that are no chunks of the knowledge base" in shown.err
    assert "only 1 of 2 documents" in shown.err
    assert shown.json["results"][0]["runs"][0]["counts"]["not_chunks_at_10"] == 2
    assert "2 ids that are no chunks" in terminal.run("eval", "--run", tmp_path / "my.run", "--chunks").out


def test_of_several_tenants_one_is_to_be_named(
    database: Database, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "my.run").write_text("q Q0 a 1 1 x\n")
    terminal = Terminal(tmp_path, capsys, database)
    assert "there is no ground truth" in terminal.run("eval", "--run", tmp_path / "my.run").sentence
    for tenant in (NOTARY, CUSTOMS):
        plant(database, tenant, FEE, {"fees": 3})
    sentence = terminal.run("eval", "--run", tmp_path / "my.run").sentence
    assert "2 tenants have ground truth" in sentence
    assert f"--org {NOTARY.org_id} --specialist {NOTARY.specialist_id}" in sentence
    named = ("--org", str(NOTARY.org_id))
    assert "no query of my.run, of 1" in terminal.run("eval", "--run", tmp_path / "my.run", *named).sentence
    unknown = terminal.run("eval", "--engine", "vector", *named).sentence
    assert "no retrieval of engine 'vector' is recorded" in unknown
    nowhere = terminal.run("eval", "--engine", "vector").sentence
    assert "no retrieval of vector is recorded for any judged query" in nowhere


@pytest.mark.parametrize(
    ("arguments", "code", "sentence"),
    [
        ((), 2, "nothing to evaluate; name a run file"),
        (("--run", "good.run", "--qrels", "qrels", "--beir", "."), 2, "exclude each other"),
        (("--engine", "hybrid", "--qrels", "qrels"), 2, "need the database"),
        (("--run", "good.run", "--qrels", "qrels", "--part", "test"), 2, "--part belongs to --beir"),
        (("--run", "good.run", "--qrels", "qrels", "--since", "7d"), 2, "belong to --engine"),
        (("--run", "good.run", "--qrels", "qrels", "--measures", "nDGC@10"), 2, "'nDGC@10' is no measure"),
        (("--run", "good.run", "--qrels", "qrels", "--measures", " "), 2, "no measure is named"),
        (("--run", "missing.run", "--qrels", "qrels"), 2, "missing.run cannot be read"),
        (("--run", "good.run", "--qrels", "missing"), 2, "missing cannot be read"),
        (("--run", "good.run", "--beir", "missing"), 2, "missing cannot be read"),
        (("--run", "good.run", "--qrels", "qrels", "--id-map", "missing"), 2, "missing cannot be read"),
        (("--run", "qrels", "--qrels", "qrels"), 1, "qrels, line 1: 4 columns; a line has six columns"),
        (("--run", "good.run", "--qrels", "good.run"), 1, "good.run, line 1: 6 columns"),
        (("--run", "good.run", "--beir", "."), 1, "has no qrels"),
    ],
)
def test_what_cannot_be_evaluated_is_one_sentence(
    terminal: Terminal, files: Path, arguments: tuple[str, ...], code: int, sentence: str
) -> None:
    with contextlib.chdir(files):
        refused = terminal.run("eval", *arguments)
    assert refused.code == code
    assert sentence in refused.sentence
    assert refused.out == ""


def test_a_bar_shows_what_is_sure_and_what_is_open() -> None:
    assert bar(0.25, 0.5) == "█" * 5 + "▒" * 5 + "·" * 10
    assert bar(1.0, 1.0) == "█" * 20
    assert bar(-3, 7) == "▒" * 20
