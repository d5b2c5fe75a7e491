"""Evidence as tests plant it, and strategies for any evidence at all.

Belongs here: building Evidence. Does not: assertions.
"""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from hypothesis import strategies as st

from kb_pipeline.records import Evidence, EvidenceKind, Tenant
from kb_pipeline.retrieval.queries import query_sha

TENANT = Tenant(org_id=UUID(int=1), specialist_id=UUID(int=2))
AS_OF = datetime(2026, 7, 1, tzinfo=UTC)
SHA = query_sha("Berapa lama izin keluar berlaku?")
AGAINST = frozenset({EvidenceKind.REMOVED_ONLY, EvidenceKind.WRONG_SOURCE})


def evidence(kind: EvidenceKind, weight: float, *, conversation: int | None = None, **changes: Any) -> Evidence:
    """Evidence of one document and query, observed at AS_OF unless said otherwise."""
    given: dict[str, Any] = {
        "tenant": TENANT,
        "query_sha": SHA,
        "doc_id": "izin",
        "kind": kind,
        "weight": weight,
        "conversation_id": None if conversation is None else UUID(int=conversation),
        "observed_at": AS_OF,
        **changes,
    }
    return Evidence(**given)


def ago(days: float) -> datetime:
    """So many days before AS_OF."""
    return AS_OF - timedelta(days=days)


@st.composite
def pieces(draw: st.DrawFn) -> Evidence:
    """Any evidence a rule or a person may make, from three years ago to a day ahead."""
    kind = draw(st.sampled_from(EvidenceKind))
    size = 1.0 if kind is EvidenceKind.SETTLED else draw(st.integers(1, 1000)) / 1000
    against = kind in AGAINST or (kind is EvidenceKind.SETTLED and draw(st.booleans()))
    hours = draw(st.one_of(st.integers(-24, 48), st.integers(-24, 26_000)))
    return evidence(
        kind,
        -size if against else size,
        conversation=draw(st.one_of(st.none(), st.integers(1, 4))),
        observed_at=AS_OF - timedelta(hours=hours),
    )
