"""Events that tests record, and what a registry counted of them.

Belongs here: making and counting. Does not: assertions.
"""

from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4

from prometheus_client import CollectorRegistry

from kb_pipeline.records.retrieval import RetrievalEvent, RetrievedDocument, SearchEvent, SearchEventType, Tenant

TENANT = Tenant(org_id=UUID(int=1), specialist_id=UUID(int=2))
QUERY = "Bolehkah barang pecah belah dikembalikan?"


def retrieval(**changes: Any) -> RetrievalEvent:
    """A retrieval of two documents for a draft of its own."""
    values: dict[str, Any] = {
        "id": uuid4(),
        "tenant": TENANT,
        "conversation_id": uuid4(),
        "message_id": uuid4(),
        "engine": "hybrid",
        "query": QUERY,
        "top_k": 5,
        "result_count": 2,
        "latency_ms": 35,
        "retrieved": (
            RetrievedDocument(doc_id="pengembalian", rank=1, score=0.83),
            RetrievedDocument(doc_id="garansi", rank=2, score=0.31),
        ),
        "occurred_at": datetime.now(UTC),
    }
    return RetrievalEvent(**values | changes)


def click(**changes: Any) -> SearchEvent:
    """A click in an expert's search."""
    values: dict[str, Any] = {
        "id": uuid4(),
        "tenant": TENANT,
        "search_id": uuid4(),
        "event_type": SearchEventType.CLICKED,
        "doc_id": "pengembalian",
        "occurred_at": datetime.now(UTC),
    }
    return SearchEvent(**values | changes)


def counted(registry: CollectorRegistry, name: str, **labels: str) -> float:
    """The value of a series; 0 where there is none."""
    return registry.get_sample_value(name, labels) or 0.0


def drops(registry: CollectorRegistry) -> dict[str, float]:
    """Events dropped by reason, reasons that did not occur left out."""
    samples = [sample for metric in registry.collect() for sample in metric.samples]
    return {
        sample.labels["reason"]: sample.value
        for sample in samples
        if sample.name == "kb_retrieval_events_dropped_total" and sample.value
    }
