"""/metrics, its page of names and the shipped Grafana dashboard speak of the same metrics."""

import inspect
import json
import re
from importlib.resources import files

import httpx
import yaml

from kb_pipeline.service.monitoring import healthz
from kb_pipeline_tests.docs_pages import page

# Known only where a judge was asked, experts decided, a run read bodies or alerts were evaluated.
SOMETIMES = {
    "kb_pipeline_judge_canary_healthy", "kb_pipeline_judge_agreement_kappa",
    "kb_pipeline_last_reading_timestamp_seconds",
}  # fmt: skip
SUFFIX = re.compile(r"_(total|bucket|sum|count|created)$")


def families(text: str) -> set[str]:
    return {line.split()[2] for line in text.splitlines() if line.startswith("# TYPE")}


def test_every_family_is_documented_and_every_documented_one_is_there(operator: httpx.Client) -> None:
    found = {SUFFIX.sub("", name) for name in families(operator.get("/metrics").text)}
    table = page("docs/reference/http-api.md").partition("## Metrics")[2]
    documented = {SUFFIX.sub("", name) for name in re.findall(r"`(kb_pipeline_\w+)`", table)}
    assert found == documented


def test_the_grafana_dashboard_asks_for_nothing_that_is_not_there(operator: httpx.Client) -> None:
    text = files("kb_pipeline.service").joinpath("grafana/dashboard.json").read_text(encoding="utf-8")
    asked = {SUFFIX.sub("", name) for name in re.findall(r"\bkb_pipeline_\w+", " ".join(expressions(json.loads(text))))}
    assert len(asked) > 10
    assert asked <= {SUFFIX.sub("", name) for name in families(operator.get("/metrics").text)}


def test_what_is_not_known_has_no_sample(operator: httpx.Client) -> None:
    samples = {line.split("{")[0].split()[0] for line in operator.get("/metrics").text.splitlines() if line[:1] != "#"}
    assert not samples & SOMETIMES


def test_every_metric_of_the_shipped_alert_rules_is_there(operator: httpx.Client) -> None:
    rules = files("kb_pipeline.prometheus").joinpath("kb_pipeline.rules.yaml").read_text(encoding="utf-8")
    asked_in = [rule["expr"] for group in yaml.safe_load(rules)["groups"] for rule in group["rules"]]
    asked = {SUFFIX.sub("", name) for name in re.findall(r"\bkb_pipeline_\w+", " ".join(asked_in))}
    of_others = {name for name in asked if name.startswith("kb_pipeline_worker_")}
    assert len(asked - of_others) > 8
    assert asked - of_others <= {SUFFIX.sub("", name) for name in families(operator.get("/metrics").text)}


def expressions(dashboard: dict[str, object]) -> list[str]:
    panels = dashboard["panels"]
    assert isinstance(panels, list)
    return [target["expr"] for panel in panels for target in panel["targets"]]


def test_healthz_needs_none_of_the_threads_that_wait_for_a_database() -> None:
    assert inspect.iscoroutinefunction(healthz)
