"""The rule file: valid, each alert once, over metrics that there are, and it fires when it should."""

import ast
import importlib.util
import re
import shutil
import subprocess
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import yaml
from prometheus_client import generate_latest
from prometheus_client.parser import text_string_to_metric_families
from prometheus_client.registry import Collector, CollectorRegistry

from kb_pipeline.adapters.notify import delivery_families
from kb_pipeline.prometheus import RULES
from kb_pipeline.records import OutboxHealth
from kb_pipeline.worker.metrics import WorkerMetrics
from kb_pipeline_tests.test_layout import PACKAGE

NAME = re.compile(r"\bkb_pipeline_\w+")
HEALTH = [
    OutboxHealth(
        destination="keep", pending=3, dead=1, oldest_pending_s=7.5, failures=2,
        last_confirmed_at=datetime(2026, 3, 4, 12, tzinfo=UTC),
    ),
    OutboxHealth(destination="apprise-1"),
]  # fmt: skip
NEEDS_PROMTOOL = pytest.mark.skipif(
    shutil.which("promtool") is None, reason="promtool is not installed (Debian package prometheus)"
)


def rules() -> list[dict[str, Any]]:
    groups = yaml.safe_load(RULES.read_text(encoding="utf-8"))["groups"]
    return [rule for group in groups for rule in group["rules"]]


class Outbox(Collector):
    def collect(self) -> Any:
        yield from delivery_families(HEALTH)


def exposed() -> bytes:
    """What the worker shows, and the gauges of the outbox."""
    registry = CollectorRegistry()
    registry.register(Outbox())
    return generate_latest(WorkerMetrics().registry) + generate_latest(registry)


def of_the_service() -> set[str]:
    """The names that the service gives its gauges, read from its source: with the prefix, or as its makers add it."""
    found = set()
    for module in (PACKAGE / "service").glob("*.py"):
        for node in ast.walk(ast.parse(module.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.isidentifier():
                found |= {node.value, f"kb_pipeline_{node.value}"}
    return found


def used() -> set[str]:
    return {name for rule in rules() for name in NAME.findall(rule["expr"])}


def test_each_alert_is_there_once_and_says_what_it_is() -> None:
    names = Counter(rule["alert"] for rule in rules())
    assert [name for name, count in names.items() if count > 1] == []
    assert [name for name in names if not name.startswith("KbPipeline")] == []
    for rule in rules():
        assert rule["labels"]["severity"] in {"critical", "high", "warning"}
        assert {"summary", "description"} <= set(rule["annotations"])


def test_every_metric_of_the_rules_is_exposed() -> None:
    sampled = {
        sample.name for family in text_string_to_metric_families(exposed().decode()) for sample in family.samples
    }
    # A gauge without a sample is named all the same.
    sampled |= {line.split()[2] for line in exposed().decode().splitlines() if line.startswith("# TYPE")}
    missing = used() - sampled
    if missing and importlib.util.find_spec("kb_pipeline.service") is None:
        pytest.skip(f"the service is not part of this version; {len(used()) - len(missing)} names were found")
    assert missing - of_the_service() == set()


def test_no_series_is_exposed_twice() -> None:
    lines = [line for line in exposed().decode().splitlines() if line and not line.startswith("#")]
    series = Counter(line.rpartition(" ")[0] for line in lines)
    assert [name for name, count in series.items() if count > 1] == []
    types = Counter(line.split()[2] for line in exposed().decode().splitlines() if line.startswith("# TYPE"))
    assert [name for name, count in types.items() if count > 1] == []


def test_the_gauges_of_the_outbox_tell_how_each_destination_stands() -> None:
    text = exposed().decode()
    for line in (
        'kb_pipeline_alert_outbox_pending{destination="keep"} 3.0',
        'kb_pipeline_alert_outbox_dead{destination="keep"} 1.0',
        'kb_pipeline_alert_outbox_oldest_pending_seconds{destination="apprise-1"} 0.0',
        'kb_pipeline_alert_outbox_last_confirmed_timestamp_seconds{destination="keep"} 1.7726256e+09',
    ):
        assert line in text
    assert 'last_confirmed_timestamp_seconds{destination="apprise-1"}' not in text


@NEEDS_PROMTOOL
def test_promtool_finds_nothing_wrong_with_rules_and_metrics() -> None:
    for command, given in ((["rules", str(RULES)], b""), (["metrics"], exposed())):
        done = subprocess.run(["promtool", "check", *command], input=given, capture_output=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        assert done.stderr == b""


# Series as they stand for three hours, and what fires at the end; every alert is in one of them.
SCENES: list[tuple[dict[str, str], set[str]]] = [
    (
        {
            'kb_pipeline_score_bound{surface="public", aspect="faithfulness", bound="high"}': "0.6",
            'kb_pipeline_score_bound{surface="public", aspect="faithfulness", bound="low"}': "0.3",
            'kb_pipeline_turns{surface="public", state="graded"}': "24",
        },
        {"KbPipelineLowFaithfulness"},
    ),
    (
        {
            'kb_pipeline_score_bound{surface="public", aspect="faithfulness", bound="high"}': "0.5",
            'kb_pipeline_turns{surface="public", state="graded"}': "24",
            'kb_pipeline_parse_success_ratio{surface="public"}': "0.5",
        },
        {"KbPipelineLowFaithfulness", "KbPipelineVeryLowFaithfulness", "KbPipelineTurnsUnread"},
    ),
    (
        {
            'kb_pipeline_score_bound{surface="public", aspect="faithfulness", bound="high"}': "0.1",
            'kb_pipeline_turns{surface="public", state="graded"}': "3",
            'kb_pipeline_parse_success_ratio{surface="public"}': "0",
            'kb_pipeline_retrieval_empty_ratio{engine="hybrid"}': "1",
            'kb_pipeline_retrievals{engine="hybrid"}': "3",
        },
        set(),
    ),
    (
        {
            'kb_pipeline_retrieval_empty_ratio{engine="hybrid"}': "0.5",
            'kb_pipeline_retrievals{engine="hybrid"}': "90",
            "kb_pipeline_judge_canary_healthy": "0",
            "kb_pipeline_backlog_oldest_seconds": "20000",
            "kb_pipeline_backlog_turns": "4",
            "kb_pipeline_last_reading_timestamp_seconds": "-30000",
        },
        {"KbPipelineEmptyRetrievals", "KbPipelineJudgeUnhealthy", "KbPipelineBacklog", "KbPipelineStandsStill"},
    ),
    (
        {
            'kb_pipeline_alerts{state="firing"}': "2",
            'kb_pipeline_alerts{state="ok"}': "9",
            'kb_pipeline_alert_outbox_oldest_pending_seconds{destination="keep"}': "1000",
            'kb_pipeline_alert_outbox_unconfirmed{destination="keep"}': "1",
            'kb_pipeline_alert_outbox_dead{destination="keep"}': "1",
            'kb_pipeline_alert_outbox_failures{destination="keep"}': "9",
        },
        {
            "KbPipelineAlertStates",
            "KbPipelineAlertsUndelivered",
            "KbPipelineAlertsUnconfirmed",
            "KbPipelineAlertsDead",
            "KbPipelineAlertDestinationFails",
        },
    ),
    (
        {
            'kb_pipeline_worker_fault{kind="database"}': "1",
            "kb_pipeline_worker_oldest_waiting_seconds": "1000",
            'kb_pipeline_worker_rejected_total{reason="no_id"}': "0+1",
            'kb_pipeline_worker_events_total{type="retrieval", result="written"}': "0+2",
        },
        {"KbPipelineWorkerFault", "KbPipelineWorkerBehind", "KbPipelineWorkerRejects"},
    ),
    (
        {
            'kb_pipeline_worker_fault{kind="database"}': "0",
            'kb_pipeline_worker_rejected_total{reason="no_id"}': "0+1",
            'kb_pipeline_worker_events_total{type="retrieval", result="written"}': "0+99",
            'kb_pipeline_alert_outbox_failures{destination="keep"}': "0",
            'kb_pipeline_alert_outbox_dead{destination="keep"}': "0",
        },
        set(),
    ),
]


def test_every_alert_is_in_a_scene() -> None:
    assert set().union(*(expected for _, expected in SCENES)) == {rule["alert"] for rule in rules()}


@NEEDS_PROMTOOL
@pytest.mark.parametrize(("series", "expected"), SCENES)
def test_an_alert_fires_when_it_should_and_no_other(tmp_path: Path, series: dict[str, str], expected: set[str]) -> None:
    count = 'count by (alertname) (ALERTS{alertstate="firing"})'
    scene = {
        "rule_files": [str(RULES)],
        "evaluation_interval": "1m",
        "tests": [
            {
                "interval": "1m",
                "input_series": [
                    {"series": name, "values": f"{value}x180" if "+" in value else f"{value}+0x180"}
                    for name, value in series.items()
                ],
                "promql_expr_test": [
                    {
                        "expr": count,
                        "eval_time": "3h",
                        "exp_samples": [{"labels": f'{{alertname="{name}"}}', "value": 1} for name in sorted(expected)],
                    }
                ],
            }
        ],
    }
    file = tmp_path / "scene.yaml"
    file.write_text(yaml.safe_dump(scene), encoding="utf-8")
    done = subprocess.run(["promtool", "test", "rules", str(file)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
