"""A person's word on a document and a query, with name and reason.

Belongs here: appending it. Does not: what it decides (retrieval/labels.py), when (the next harvest).
"""

from datetime import datetime
from typing import cast

from kb_pipeline.adapters.postgres.connection import Connection, Database
from kb_pipeline.adapters.postgres.retrieval.pairs import Pair, UnknownPair, find_pair, known_documents, meant_key
from kb_pipeline.adapters.postgres.retrieval.queries import load
from kb_pipeline.adapters.postgres.retrieval.views import mapped_views
from kb_pipeline.adapters.postgres.text import storable
from kb_pipeline.errors import KbPipelineError
from kb_pipeline.records import Tenant
from kb_pipeline.retrieval.labels import RULE_VERSION


def settle_judgment(
    database: Database,
    *,
    query: str,
    doc_id: str,
    is_relevant: bool,
    author: str,
    reason: str,
    tenant: Tenant | None = None,
) -> Pair:
    """Append what a person says of a document for a query (its words, its query_sha or 6 and more digits of it).

    Nothing earlier is changed.

    The word counts from the next harvest on, until somebody says otherwise or the document changes. Raises UnknownPair
    where the tenant was never asked the query or has no such document, KbPipelineError without author or reason.
    """
    if not author.strip() or not reason.strip():
        raise KbPipelineError("a judgment is settled by somebody, for a reason: give both an author and a reason")
    is_mapped = "kb_chunk" in mapped_views(database)
    with database.connect() as connection:
        pair = find_pair(connection, meant_key(connection, query, tenant), doc_id, tenant)
        word = {
            "weight": 1.0 if is_relevant else -1.0,
            "document_from": _known_version(connection, pair, is_mapped=is_mapped),
            "rules": RULE_VERSION,
            "author": storable(author.strip()),
            "reason": storable(reason.strip()),
        }
        connection.execute(load("settle"), pair.key | word)
    return pair


def _known_version(connection: Connection, pair: Pair, *, is_mapped: bool) -> datetime | None:
    """From when the document stands as it does now, None where nobody can tell; raises UnknownPair for none such."""
    version, is_known = _in_force(connection, pair) if is_mapped else (None, False)
    if is_known and version is None:
        raise UnknownPair(
            "the knowledge base of this tenant has no such document now, so there is nothing to judge; for this query "
            f"{known_documents(connection, pair)}"
        )
    if not is_known and connection.execute(load("document_was_seen"), pair.key).fetchone() != (True,):
        raise UnknownPair(
            "no result and no evidence of this tenant names such a document, and kb_source.kb_chunk shows no documents "
            f"of this tenant; for this query {known_documents(connection, pair)}"
        )
    return version


def _in_force(connection: Connection, pair: Pair) -> tuple[datetime | None, bool]:
    """The version of the document, and whether the knowledge base shows any document of the tenant."""
    return cast(tuple[datetime | None, bool], connection.execute(load("document_in_force"), pair.key).fetchone())
