"""Which evidence still speaks of its document as it is: what the knowledge base says, staged for one transaction.

Belongs here: temporary tables that judging, explaining and the harness read. Does not: judgments.
"""

from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Any, LiteralString

from psycopg import sql

from kb_pipeline.adapters.postgres.connection import Connection
from kb_pipeline.adapters.postgres.retrieval.queries import load

# No tenant, query and document in particular.
EVERYTHING: dict[str, Any] = dict.fromkeys(("org_id", "specialist_id", "query_sha", "doc_id"))


def stage_knowledge(
    connection: Connection, views: Collection[str], as_of: datetime, only: Mapping[str, Any] = EVERYTHING
) -> None:
    """Fill stage_document and stage_self_made as of the instant; both are empty where the views are not mapped.

    `only` names one tenant by org_id and specialist_id, or one pair by query_sha and doc_id too.
    """
    connection.execute(load("stage_judging"))
    if "kb_chunk" in views:
        connection.execute(load("stage_known_tenants"))
        connection.execute(load("stage_documents"), {**only, "as_of": as_of})
        connection.execute(load("analyze_documents"))
    if {"kb_chunk", "correction"} <= set(views):
        connection.execute(load("find_self_made"), {"as_of": as_of})


def stage_outdated(connection: Connection, only: Mapping[str, Any] = EVERYTHING) -> None:
    """Fill stage_outdated with the evidence that speaks of its document as it is no more; after `stage_knowledge`."""
    connection.execute(of_today("find_outdated"), only)


def of_today(name: LiteralString) -> sql.Composed:
    """A named query with the one rule of what evidence speaks of today's documents put in where it asks for it."""
    return sql.SQL(load(name)).format(is_of_today=sql.SQL(load("evidence_is_of_today")))
