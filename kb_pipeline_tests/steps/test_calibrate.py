"""A calibration run."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from kb_pipeline.adapters.clock import SystemClock
from kb_pipeline.adapters.gateway import DialectMemory, GatewayJudge
from kb_pipeline.demo.reference_judge import MODEL, Faults, ReferenceJudge
from kb_pipeline.errors import KbPipelineError
from kb_pipeline.records import StepReport
from kb_pipeline.steps.calibrate import Calibration, calibrate


def row(answer: str, label: float | None, **fields: Any) -> str:
    whole = {
        "question": "Berapa biaya pendaftaran?",
        "passages": ["Biaya pendaftaran yayasan adalah Rp250.000 dan prosesnya tiga hari."],
        "answer": answer,
        "label_faithful": label,
        "source": "ours",
        "lang": "id",
        "meta": {"label_kind": "constructed"},
    }
    return json.dumps(whole | fields)


LINES = [
    row("Biaya pendaftaran yayasan adalah Rp250.000.", 1),
    row("Prosesnya tiga hari.", 1),
    row("Biaya pendaftaran yayasan adalah Rp900.000.", 0),
    row("Presiden meresmikan gedung baru.", 0),
]


def calibrated(lines: list[str], faults: Faults | None = None, **options: Any) -> Calibration:
    with ReferenceJudge(faults or Faults()) as reference:
        judge = GatewayJudge(
            base_url=reference.base_url, model=MODEL, tenant="t", timeout_s=5, concurrency=4, dialects=DialectMemory()
        )
        settings: dict[str, Any] = {
            "name": "set.jsonl",
            "clock": SystemClock(),
            "concurrency": 4,
            "timeout_s": 5.0,
        } | options
        return calibrate(lines, judge, **settings)


def test_scores_are_set_beside_labels_by_source_language_and_kind() -> None:
    found = calibrated([*LINES, row("Prosesnya tiga hari.", 1, source="other", lang="en")])
    assert [(each.source, each.language, each.label_kind, each.n) for each in found.rows] == [
        ("other", "en", "constructed", 1),
        ("ours", "id", "constructed", 4),
    ]
    assert found.rows[1].auc is not None
    assert found.rows[1].auc.value == 1.0
    assert found.version.model == MODEL


def test_the_baseline_is_measured_on_the_same_triads() -> None:
    found = calibrated([*LINES, row("👍", 1)])
    assert (
        [(each.n, each.ungraded) for each in found.rows]
        == [(each.n, each.ungraded) for each in found.baseline]
        == [(4, 1)]
    )
    assert found.baseline[0].auc is not None


def test_lines_without_a_whole_label_are_counted_and_not_sent() -> None:
    found = calibrated([*LINES, row("Satu.", None), row("Dua.", 0.5), "", "{", row("Tiga.", 7)])
    counts = found.counts.counts
    assert (counts["lines"], counts["unlabelled"], counts["partial"], counts["unusable"]) == (8, 1, 1, 2)
    assert counts["calls"] == 4
    assert [problem.split(":")[1] for problem in found.problems] == ["8", "9"]


def test_calls_that_fail_are_made_again() -> None:
    found = calibrated(LINES, Faults(server_error=1.0, only_first=1))
    assert found.counts.counts["calls"] == 8
    assert found.rows[0].n == 4


def test_a_set_without_usable_triads_is_told_with_its_first_problem() -> None:
    with pytest.raises(KbPipelineError, match=r"set\.jsonl holds no triad.*set\.jsonl:1: the line is not JSON"):
        calibrated(["{"])


def test_a_judge_that_is_down_ends_the_calibration() -> None:
    with pytest.raises(KbPipelineError, match="gave no scores"):
        calibrated(LINES * 20, Faults(server_error=1.0))


def test_lines_are_read_as_slots_free() -> None:
    read = graded = ahead = 0

    def lines() -> Iterator[str]:
        nonlocal read, ahead
        for line in LINES * 10:
            read += 1
            ahead = max(ahead, read - graded)
            yield line

    def progress(report: StepReport) -> None:
        nonlocal graded
        graded = int(report.counts["graded"])

    with ReferenceJudge() as reference:
        judge = GatewayJudge(
            base_url=reference.base_url, model=MODEL, tenant="t", concurrency=4, dialects=DialectMemory()
        )
        calibrate(lines(), judge, name="set", clock=SystemClock(), concurrency=4, timeout_s=5.0, on_progress=progress)
    assert read == 40
    assert ahead <= 5
