"""Which tenant, query and document a person means.

Belongs here: finding the one that is meant, and a sentence where there is none, or more than one. Does not: what is
known of it.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from psycopg.rows import dict_row

from kb_pipeline.adapters.postgres.connection import Connection
from kb_pipeline.adapters.postgres.retrieval.queries import load
from kb_pipeline.adapters.postgres.text import storable
from kb_pipeline.counting import counted
from kb_pipeline.errors import KbPipelineError
from kb_pipeline.records import Tenant
from kb_pipeline.retrieval.queries import query_sha

SHA = re.compile(r"[0-9a-f]{64}")
SHORTENED = re.compile(r"[0-9a-f]{6,63}")
NAMED_DOCUMENTS = 5


class UnknownPair(KbPipelineError):
    """Nothing is known of this query, or of this document for it, or several tenants know it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Pair:
    """A query and a document of one tenant; `words` are the query's row of kb_query."""

    tenant: Tenant
    query_sha: str
    doc_id: str
    words: dict[str, Any]

    @property
    def key(self) -> dict[str, Any]:
        """Its columns by name."""
        return {
            "org_id": self.tenant.org_id,
            "specialist_id": self.tenant.specialist_id,
            "query_sha": self.query_sha,
            "doc_id": self.doc_id,
        }


def key_of(query: str) -> str:
    """The query_sha of a query's words, or the query_sha itself where it is given instead of them."""
    return query if SHA.fullmatch(query) else query_sha(storable(query))


def meant_key(connection: Connection, query: str, tenant: Tenant | None) -> str:
    """The query_sha of a query given by its words, its query_sha, or the first 6 or more digits of it.

    Words go first, for some are digits too. Raises UnknownPair where several queries begin with the digits.
    """
    key = key_of(query)
    if not SHORTENED.fullmatch(query) or _tenants(connection, key, tenant):
        return key
    found = connection.execute(load("queries_beginning_with"), {"prefix": query, **_scope(tenant)}).fetchall()
    if len(found) > 1:
        raise UnknownPair("several queries have a query_sha that begins with these digits; give more of them")
    return str(found[0][0]) if found else key


def find_pair(connection: Connection, sha: str, doc_id: str, tenant: Tenant | None) -> Pair:
    """The pair that is meant; raises UnknownPair where the query is unknown, or several tenants have it.

    Without a tenant it is the only one that was asked the query, or the only one of those that has evidence of the
    document.
    """
    doc_id = storable(doc_id)
    asked = _tenants(connection, sha, tenant)
    if not asked:
        raise UnknownPair(
            "kb_query has no such query of this tenant; case, white space and punctuation at its ends do not matter, "
            "every other character does: take it from kb_query, or run the harvest if it was asked since"
            if tenant
            else "kb_query has no such query; case, white space and punctuation at its ends do not matter, every other "
            "character does: take it from kb_query, or run the harvest if it was asked since"
        )
    if len(asked) > 1:
        asked = _with_evidence(connection, asked, sha, doc_id) or asked
    if len(asked) > 1:
        raise UnknownPair(
            f"{counted(len(asked), 'tenant')} were asked this query, and their judgments have nothing to do with each "
            "other; name one by its organisation and specialist"
        )
    row = asked[0]
    found = Tenant(org_id=row["org_id"], specialist_id=row["specialist_id"])
    return Pair(tenant=found, query_sha=sha, doc_id=doc_id, words=row)


def known_documents(connection: Connection, pair: Pair) -> str:
    """A few documents with evidence for the query, as words for an error."""
    rows = connection.execute(load("documents_with_evidence"), pair.key | {"limit": NAMED_DOCUMENTS}).fetchall()
    if not rows:
        return "it has evidence of no document yet"
    return f"it has evidence of {', '.join(row[0] for row in rows)}"


def _tenants(connection: Connection, sha: str, tenant: Tenant | None) -> list[dict[str, Any]]:
    with connection.cursor(row_factory=dict_row) as cursor:
        return cursor.execute(load("tenants_of_query"), {"query_sha": sha, **_scope(tenant)}).fetchall()


def _scope(tenant: Tenant | None) -> dict[str, Any]:
    return {
        "org_id": tenant.org_id if tenant else None,
        "specialist_id": tenant.specialist_id if tenant else None,
    }


def _with_evidence(
    connection: Connection, asked: Sequence[dict[str, Any]], sha: str, doc_id: str
) -> list[dict[str, Any]]:
    parameters = {
        "query_sha": sha,
        "doc_id": doc_id,
        "org_ids": [row["org_id"] for row in asked],
        "specialist_ids": [row["specialist_id"] for row in asked],
    }
    found = set(connection.execute(load("tenants_with_evidence"), parameters).fetchall())
    return [row for row in asked if (row["org_id"], row["specialist_id"]) in found]
