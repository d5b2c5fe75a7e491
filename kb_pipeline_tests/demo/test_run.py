"""The demo as a user runs it: a process of its own, with nothing prepared."""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

KEYS = {
    "calls",
    "synthesis_calls",
    "graded",
    "ungraded",
    "parse_success_rate",
    "judge_calls",
    "hours",
    "mean_faithfulness",
    "grounded_rate",
    "refusal_rate",
    "planted",
    "retrieval",
    "judge",
    "incidents",
    "alerts",
    "checks",
    "seconds",
}
RETRIEVAL_KEYS = {
    "events",
    "outcomes",
    "ground_truth",
    "precision",
    "recall",
    "kendall_tau",
    "gap_precision",
    "naive",
}
pytestmark = [pytest.mark.slow, pytest.mark.postgres]


def start(cache: Path, *arguments: str) -> subprocess.Popen[str]:
    command = ["env", f"XDG_CACHE_HOME={cache}", sys.executable, "-m", "kb_pipeline.cli", "demo", *arguments]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def processes_of(cache: Path) -> list[str]:
    listed = subprocess.run(["ps", "-Awwo", "args="], capture_output=True, text=True, check=True)
    return [line for line in listed.stdout.splitlines() if str(cache) in line]


def test_once_prints_one_object_that_adds_up_and_leaves_no_process(servers_folder: Path) -> None:
    cache = servers_folder / "once"
    with start(cache, "--turns", "72", "--hours", "8", "--once", "--json") as demo:
        output, errors = demo.communicate(timeout=300)
    assert demo.returncode == 0, errors
    found = json.loads(output)
    assert set(found) == KEYS
    assert found["graded"] + sum(found["ungraded"].values()) == found["synthesis_calls"] == 72
    assert found["judge_calls"] == found["judge"]["calls"] >= found["graded"]
    assert found["hours"] == 8
    assert found["planted"]["parse_status_agreement"] == 1.0
    assert found["planted"]["auc_faithfulness"] > 0.8
    assert_incidents_are_told(found)
    assert_retrieval_adds_up(found["retrieval"])
    assert processes_of(cache) == []


def assert_incidents_are_told(found: dict[str, Any]) -> None:
    judge, incidents = found["judge"], {each["kind"]: each for each in found["incidents"]}
    assert {name for name, level in found["checks"].items() if level != "passed"} <= {
        "parse_success",
        "judge_answers",
        "coverage",
    }
    assert found["checks"]["parse_success"] != "passed"
    changed, outage, budget = (incidents[kind] for kind in ("template_change", "judge_outage", "budget_spent"))
    assert changed["unparsed"] > 0
    assert changed["advice"] == {"question_marker": "TANYA:", "context_marker": "HASIL ALAT:", "share": 1.0}
    assert judge["errors"]["connection"] > 0
    assert outage["graded"] == outage["judgeable"] > 0
    assert budget["pending"] == judge["pending"] > 0
    assert budget["graded"] > 0
    assert judge["attacks_moved"] == 0
    assert judge["tokens"] > 0
    assert judge["calibration"]["n"] > 0
    fired = found["alerts"]["fired"]
    rules = ("rag_low_faithfulness", "kb_empty_result_spike", "rag_parse_success_drop", "rag_judge_outage")
    # In eight hours of the night too few turns come in for the rules of template and judge.
    assert {*rules[:2]} <= {name.partition("|")[0] for name in fired} <= {*rules}
    # The day is too short for the last ones to resolve.
    assert {name.partition("|")[0] for name in found["alerts"]["resolved"]} >= set(rules[:2])
    assert found["alerts"]["dead"] == 0


def assert_retrieval_adds_up(found: dict[str, Any]) -> None:
    assert set(found) == RETRIEVAL_KEYS
    # Five simulated drafts a turn and the turns themselves, shadow runs beside them.
    assert sum(found["outcomes"].values()) > 150
    assert found["events"] > sum(found["outcomes"].values())
    assert set(found["outcomes"]) == {"accepted", "edited_light", "edited_heavy", "rejected", "pending", "unreviewed"}
    assert set(found["ground_truth"]) == {"0", "1", "2", "3"}
    assert found["ground_truth"]["3"] > 0
    assert found["precision"] > 0.8
    assert 0 < found["recall"] < 1
    assert -1 <= found["kendall_tau"] <= 1
    assert set(found["gap_precision"]) == {"kb_gap", "ranking_gap", "recall_gap", "generation_gap"}
    assert set(found["naive"]) == {"accepted_rank_1", "all_used"}
    for rule in found["naive"].values():
        assert set(rule) == {"precision", "kendall_tau"}


def test_an_interrupt_in_the_middle_leaves_no_process_and_a_second_demo_is_told_to_wait(servers_folder: Path) -> None:
    cache = servers_folder / "interrupted"
    with start(cache, "--turns", "400", "--hours", "12") as first:
        deadline = time.monotonic() + 60
        while not any("postgres" in line for line in processes_of(cache)) and time.monotonic() < deadline:
            time.sleep(0.1)
        with start(cache, "--once") as second:
            _, errors = second.communicate(timeout=60)
        assert second.returncode == 1
        assert "another demo" in errors
        first.send_signal(signal.SIGINT)
        first.communicate(timeout=60)
    assert first.returncode == 130
    assert processes_of(cache) == []
