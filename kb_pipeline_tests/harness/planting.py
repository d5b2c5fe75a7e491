"""Ground truth, knowledge and retrievals that harness tests put into a database.

Belongs here: rows of our tables and of the example source. Does not: assertions.
"""

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from uuid import UUID, uuid5

from kb_pipeline.adapters.postgres.connection import Database
from kb_pipeline.records import Tenant
from kb_pipeline.retrieval.queries import query_sha

NOTARY = Tenant(org_id=UUID(int=1), specialist_id=UUID(int=11))
CUSTOMS = Tenant(org_id=UUID(int=2), specialist_id=UUID(int=22))
AS_OF = datetime(2026, 7, 1, tzinfo=UTC)
OBSERVED = datetime(2026, 6, 1, 9, tzinfo=UTC)
FEE = "Berapa biaya pendaftaran yayasan?"
DEED = "Who signs the deed of a foundation?"


def plant_query(
    database: Database, tenant: Tenant, query: str, *, expired: bool = False, seen_at: datetime = OBSERVED
) -> str:
    """A query of a tenant, or its tombstone; returns its query_sha."""
    sha = query_sha(query)
    with database.connect() as connection:
        connection.execute(
            "INSERT INTO kb_query (org_id, specialist_id, query_sha, query, first_seen_at, last_seen_at,"
            " text_expired_at) VALUES (%s, %s, %s, %s, %s, %s, %s) ON CONFLICT DO NOTHING",
            (
                tenant.org_id,
                tenant.specialist_id,
                sha,
                None if expired else query,
                seen_at,
                seen_at,
                AS_OF if expired else None,
            ),
        )
    return sha


def plant_judgment(
    database: Database,
    tenant: Tenant,
    sha: str,
    document: str,
    grade: int | None,
    *,
    status: str = "judged",
    self_made: bool = False,
    observed: tuple[datetime, datetime] = (OBSERVED, OBSERVED),
    kinds: Sequence[str] = ("cited",),
) -> None:
    """One judgment as the harvest leaves it."""
    with database.connect() as connection:
        connection.execute(
            "INSERT INTO kb_ground_truth (org_id, specialist_id, query_sha, doc_id, status, grade, p, positive,"
            " negative, conversations, evidence_count, kinds, self_made, first_observed_at, last_observed_at, as_of,"
            " rule_version) VALUES (%s, %s, %s, %s, %s, %s, .9, 1, 0, 2, 2, %s, %s, %s, %s, %s, 'labels-1')",
            (
                tenant.org_id,
                tenant.specialist_id,
                sha,
                document,
                status,
                grade,
                list(kinds),
                self_made,
                *observed,
                AS_OF,
            ),
        )


def plant(database: Database, tenant: Tenant, query: str, grades: Mapping[str, int], *, expired: bool = False) -> str:
    """A query with its judgments; returns its query_sha."""
    sha = plant_query(database, tenant, query, expired=expired)
    for document, grade in grades.items():
        plant_judgment(database, tenant, sha, document, grade)
    return sha


def plant_chunk(
    database: Database,
    tenant: Tenant,
    document: str,
    chunk: str,
    text: str,
    *,
    title: str | None = None,
    since: datetime = OBSERVED,
    until: datetime | None = None,
) -> None:
    """One version of one chunk in the example knowledge base."""
    with database.connect() as connection:
        connection.execute(
            "INSERT INTO upstream.kb_chunks"
            " (org_id, specialist_id, doc_id, chunk_id, title, body, valid_from, valid_to)"
            " VALUES (%s, %s, %s, %s, %s, %s, %s, %s)",
            (tenant.org_id, tenant.specialist_id, document, chunk, title, text, since, until),
        )


def plant_retrieval(
    database: Database,
    tenant: Tenant,
    query: str,
    engine: str,
    results: object,
    *,
    at: datetime = OBSERVED,
    shadow: bool = False,
) -> None:
    """One recorded retrieval; `results` are document ids, or the list of results as it is stored."""
    hits = (
        [{"doc_id": each, "rank": rank} if isinstance(each, str) else each for rank, each in enumerate(results, 1)]
        if isinstance(results, list)
        else results
    )
    with database.connect() as connection:
        connection.execute(
            "INSERT INTO kb_retrieval_event (id, org_id, specialist_id, conversation_id, engine, query, top_k,"
            " result_count, retrieved, occurred_at, query_sha, shadow)"
            " VALUES (%s, %s, %s, %s, %s, %s, 10, 50, %s, %s, %s, %s)",
            (
                uuid5(tenant.org_id, f"{tenant.specialist_id} {query} {engine} {at} {shadow}"),
                tenant.org_id,
                tenant.specialist_id,
                UUID(int=7),
                engine,
                query,
                json.dumps(hits),
                at,
                query_sha(query),
                shadow,
            ),
        )


def observe(
    database: Database,
    tenant: Tenant,
    sha: str,
    document: str,
    says: tuple[str, float],
    *,
    at: datetime = OBSERVED,
    conversation: int = 1,
) -> None:
    """One piece of evidence, of a kind and weight, as a harvest notes it."""
    with database.connect() as connection:
        connection.execute(
            "INSERT INTO kb_evidence (org_id, specialist_id, query_sha, doc_id, kind, weight, conversation_id,"
            " observed_at, rule_version) VALUES (%s, %s, %s, %s, %s, %s, %s, %s, 'evidence-1')",
            (tenant.org_id, tenant.specialist_id, sha, document, *says, UUID(int=conversation), at),
        )
