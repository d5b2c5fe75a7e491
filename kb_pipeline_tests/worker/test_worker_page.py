"""docs/how-to/run-the-worker.md has every metric, every reason of /healthz and every result, and no other."""

import re

from kb_pipeline.adapters.postgres.retrieval.events import Kept
from kb_pipeline.retrieval.events import Reason
from kb_pipeline.worker.faults import FaultKind
from kb_pipeline.worker.metrics import STATES, WorkerMetrics
from kb_pipeline_tests.docs_pages import page, table_rows

PAGE = "docs/how-to/run-the-worker.md"


def names(rows: list[list[str]]) -> set[str]:
    return {row[0].strip("`") for row in rows}


def section(title: str) -> str:
    """The part of the page under a heading."""
    return page(PAGE).partition(f"\n## {title}\n")[2].partition("\n## ")[0]


def test_every_metric_is_documented_with_its_type_and_labels_and_no_other() -> None:
    documented = {row[0].strip("`"): row[1:] for row in table_rows(section("Watch it")) if row[0].startswith("`kb_")}
    metrics = {
        family.name + ("_total" if family.type == "counter" else ""): family
        for family in WorkerMetrics().registry.collect()
    }
    assert {name: row[0] for name, row in documented.items()} == {name: each.type for name, each in metrics.items()}
    for name, (_, meaning) in documented.items():
        labels = {label for sample in metrics[name].samples for label in sample.labels} - {"le"}
        assert labels <= set(re.findall(r"`(\w+)`", meaning)), name


def test_every_kind_of_fault_is_a_documented_reason() -> None:
    reasons = names([row for row in table_rows(section("Watch it")) if not row[0].startswith("`kb_")]) - {
        "reason",
        "metric",
    }
    assert reasons == {*FaultKind, "silent", "stopping"}
    [kinds] = re.findall(r"by `kind` \(([^)]+)\)", page(PAGE))
    assert set(kinds.split(", ")) == set(FaultKind)
    [states] = re.findall(r"by `state` \(([^)]+)\)", page(PAGE))
    assert tuple(states.split(", ")) == STATES


def test_every_result_of_a_job_is_documented() -> None:
    text = section("What becomes of a job")
    assert names(table_rows(text)) - {"result"} == {*Kept, "rejected"} - {Kept.ID_TAKEN}
    assert {"unstorable", "id_taken"} <= set(re.findall(r"`(\w+)`", text))
    assert not {"unstorable", "id_taken"} & set(Reason)
