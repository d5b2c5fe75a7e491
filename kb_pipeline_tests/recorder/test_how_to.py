"""The how-to says what is so: its Python code runs, its tables name what there is."""

import re
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any
from uuid import uuid4

from prometheus_client import CollectorRegistry

from kb_pipeline.recorder import DropReason, RetrievalMetrics
from kb_pipeline.recorder.metrics import DeliveryMetrics
from kb_pipeline.records.retrieval import SearchEvent, SearchEventType
from kb_pipeline.retrieval.events import Read, read_job
from kb_pipeline_tests.docs_pages import page, table_rows
from kb_pipeline_tests.queue_servers import QueueServer

PAGE = "docs/how-to/record-retrievals.md"


def rows() -> list[list[str]]:
    return [[cell.strip("`") for cell in row] for row in table_rows(page(PAGE)) if row[0].startswith("`")]


def example(function: str, server: QueueServer) -> dict[str, Any]:
    """The names that the page's example defining this function makes."""
    [code] = [each for each in re.findall(r"```python\n(.*?)```", page(PAGE), re.DOTALL) if f"def {function}(" in each]
    names: dict[str, Any] = {}
    exec(code.replace("redis://queue:6379/0", server.url), names)  # noqa: S102 our own page
    return names


def test_the_code_for_python_records_what_an_expert_cited(server: QueueServer) -> None:
    names = example("expert_cited", server)
    draft = SimpleNamespace(id=uuid4(), org_id=uuid4(), specialist_id=uuid4(), conversation_id=uuid4())
    search = SimpleNamespace(id=uuid4(), expert_id=uuid4())
    names["expert_cited"](draft, search, SimpleNamespace(doc_id="alamat", chunk_id="alamat#2", rank=3))
    names["recorder"].close(60)
    [job] = [each for each in server.jobs("kb-retrieval-event") if each.data.get("search_id") == str(search.id)]
    got = read_job(job.data, received_at=datetime.now(UTC), engines=[])
    assert isinstance(got, Read)
    assert isinstance(got.event, SearchEvent)
    assert got.notes == ()
    assert (got.event.event_type, got.event.doc_id, got.event.rank) == (SearchEventType.CITED, "alamat", 3)
    assert got.event.message_id == draft.id


def test_the_code_for_python_records_a_saved_draft(server: QueueServer) -> None:
    names = example("draft_was_saved", server)
    draft = SimpleNamespace(
        id=uuid4(), org_id=uuid4(), specialist_id=uuid4(), conversation_id=uuid4(), trace_id="t-1",
        content="Alamat diganti di menu pesanan [RAG-2].",
    )  # fmt: skip
    retrieval = SimpleNamespace(
        engine="keyword", query="Bagaimana cara mengganti alamat pengiriman?", top_k=5, latency_ms=12.3,
        results=[{"doc_id": "akun", "score": 0.6}, {"doc_id": "alamat", "score": 0.5}], finished_at=datetime.now(UTC),
    )  # fmt: skip
    names["draft_was_saved"](draft, retrieval)
    names["recorder"].close(60)
    [job] = [job for job in server.jobs("kb-retrieval-event") if job.job_id == f"m-{draft.id}"]
    got = read_job(job.data, received_at=datetime.now(UTC), engines=["hybrid", "keyword"])
    assert isinstance(got, Read)
    assert got.notes == ()
    assert [(hit["doc_id"], hit["used_in_final"]) for hit in job.data["retrieved"]] == [
        ("akun", False),
        ("alamat", True),
    ]


def test_the_page_names_every_metric_and_every_reason_of_the_recorder(registry: CollectorRegistry) -> None:
    RetrievalMetrics(engines=["hybrid"], registry=registry)
    DeliveryMetrics(registry)
    metrics = {
        (f"{metric.name}_total" if metric.type == "counter" else metric.name, metric.type)
        for metric in registry.collect()
    }
    listed = rows()
    assert {(row[0], row[1]) for row in listed if row[0].startswith("kb_")} == metrics
    assert [row[0] for row in listed if len(row) == 2] == [*DropReason, "rejected:…"]
