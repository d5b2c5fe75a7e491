"""`kb-pipeline extract`: files in, one JSON document out, no database."""

import gzip
import json
from pathlib import Path

import pytest
import zstandard

from kb_pipeline_tests.cli.command import kb_pipeline
from kb_pipeline_tests.cli.test_database_commands import REQUEST, RESPONSE


@pytest.fixture
def pair(tmp_path: Path) -> Path:
    """A folder with one stored pair, compressed in two ways."""
    (tmp_path / "request.zst").write_bytes(zstandard.compress(json.dumps(REQUEST).encode()))
    (tmp_path / "response.gz").write_bytes(gzip.compress(json.dumps(RESPONSE).encode()))
    return tmp_path


def test_a_stored_pair_becomes_its_triad(pair: Path) -> None:
    done = kb_pipeline("extract", "--request", "request.zst", "--response", "response.gz", cwd=pair)
    assert (done.returncode, done.stderr) == (0, "")
    triad = json.loads(done.stdout)
    assert triad["parse_status"] == "ok"
    assert triad["question"] == "Berapa biaya?"
    assert triad["answer"] == "Biaya 50 ribu rupiah."
    assert triad["passages"][0]["score"] == 0.79
    assert triad["metrics"]["num_passages"] == 1


def test_a_response_alone_is_reported_from_standard_input(tmp_path: Path) -> None:
    done = kb_pipeline("extract", "--response", "-", cwd=tmp_path, stdin=json.dumps(RESPONSE).encode())
    assert done.returncode == 0
    assert json.loads(done.stdout)["answer"] == "Biaya 50 ribu rupiah."


def test_markers_come_from_the_configured_surface(pair: Path) -> None:
    surface = {"question_marker": "SOAL:", "context_marker": "BAHAN:", "synthesis_markers": ["Jawab"]}
    (pair / "kb_pipeline.yaml").write_text(json.dumps({"rag_quality": {"surfaces": {"staff": surface}}}))
    request = {
        "messages": [{"role": "system", "content": "Jawab."}, {"role": "user", "content": "SOAL: Apa?\nBAHAN: x"}]
    }
    (pair / "request.json").write_text(json.dumps(request))
    done = kb_pipeline("extract", "--request", "request.json", "--response", "response.gz", cwd=pair)
    assert json.loads(done.stdout)["question"] == "Apa?"


def test_a_terminal_without_the_characters_gets_them_escaped(tmp_path: Path) -> None:
    response = {"choices": [{"finish_reason": "stop", "message": {"content": "Ya – 50 €"}}]}
    done = kb_pipeline(
        "extract",
        "--response",
        "-",
        cwd=tmp_path,
        stdin=json.dumps(response).encode(),
        environment={"PYTHONIOENCODING": "ascii"},
    )
    assert done.returncode == 0
    assert json.loads(done.stdout)["answer"] == "Ya – 50 €"


@pytest.mark.parametrize("content", [b"", b"\x28\xb5\x2f\xfd broken", b"{"])
def test_any_bytes_are_reported_and_never_a_failure(tmp_path: Path, content: bytes) -> None:
    done = kb_pipeline("extract", "--response", "-", cwd=tmp_path, stdin=content)
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["parse_status"]
