"""`kb-pipeline calibrate`: labelled triads in, agreement out, with any judge and no database."""

import json
import os
import re
from pathlib import Path

import pytest

from kb_pipeline.cli import failures
from kb_pipeline.cli.root import kb_pipeline as group

CONTEXT = "Biaya pendaftaran 50 ribu rupiah. Prosesnya tiga hari."
FAITHFUL = {"question": "Berapa biaya?", "passages": [{"text": CONTEXT}], "answer": "Biaya pendaftaran 50 ribu rupiah."}
UNFAITHFUL = FAITHFUL | {"answer": "Gratis untuk semua warga kota Bandung."}
LABELS = {"source": "own", "lang": "id", "meta": {"label_kind": "human"}}


@pytest.fixture
def dataset(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A faithful and an unfaithful triad, with a line separator within a text and a line that is not JSON."""
    monkeypatch.chdir(tmp_path)
    for name in [name for name in os.environ if name.startswith("KB_PIPELINE_")]:
        monkeypatch.delenv(name)
    lines = [
        json.dumps({"id": "1", **FAITHFUL, **LABELS, "label_faithful": 1, "note": "a\u2028b"}, ensure_ascii=False),
        json.dumps({"id": "2", **UNFAITHFUL, **LABELS, "label_faithful": 0}),
        "not JSON",
    ]
    file = tmp_path / "triads.jsonl"
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return file


def test_agreement_is_printed_per_source_and_a_bad_line_is_named(
    dataset: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert failures.run(group, ["calibrate", "--dataset", str(dataset), "--reference-judge"]) == 0
    out = capsys.readouterr().out
    assert re.search(r"^own +id +human +2 +1 +0$", out, re.MULTILINE)
    assert "    Cohen's kappa: 1.000 [1.000, 1.000]" in out
    assert out.count("1.000 [1.000, 1.000]") == 5, "AUC, balanced accuracy, kappa, Spearman, word overlap's AUC"
    assert "left out: triads.jsonl:3" in out


def test_agreement_as_json_carries_judge_and_figures(dataset: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert failures.run(group, ["calibrate", "--dataset", str(dataset), "--reference-judge", "--json"]) == 0
    calibration = json.loads(capsys.readouterr().out)
    assert calibration["version"]["model"].startswith("reference-")
    assert calibration["rows"][0]["auc"]["value"] == 1.0
    assert (
        calibration["rows"][0]["kappa"] == calibration["rows"][0]["spearman"] == {"value": 1.0, "low": 1.0, "high": 1.0}
    )


@pytest.mark.parametrize(
    ("arguments", "exit_code", "words"),
    [
        (["--dataset", "nowhere.jsonl"], 2, "nowhere.jsonl cannot be read"),
        (["--dataset", "triads.jsonl", "--reference-judge", "--model", "m"], 2, "--reference-judge excludes"),
        (["--dataset", "triads.jsonl", "--judge-url", "http://8.8.8.8"], 1, "public address"),
    ],
)
@pytest.mark.usefixtures("dataset")
def test_what_cannot_be_calibrated_is_one_sentence(
    arguments: list[str], exit_code: int, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert failures.run(group, ["calibrate", *arguments]) == exit_code
    assert words in capsys.readouterr().err
