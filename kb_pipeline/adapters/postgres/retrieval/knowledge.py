"""Reading the tenants' knowledge bases through the operator's view kb_source.kb_chunk.

Belongs here: chunks of one tenant, in all their versions. Does not: searching them (retrieval/knowledge).
"""

from collections.abc import Sequence
from typing import Any

from psycopg.rows import TupleRow

from kb_pipeline.adapters.postgres.connection import Database
from kb_pipeline.adapters.postgres.retrieval.queries import load
from kb_pipeline.adapters.postgres.retrieval.views import mapped_views
from kb_pipeline.records import KnowledgeChunk, Tenant

KNOWLEDGE = "kb_chunk"


class PostgresKnowledge:
    """The knowledge bases as the source shows them now; the view is optional."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def is_mapped(self) -> bool:
        """Whether the operator mapped it."""
        return KNOWLEDGE in mapped_views(self._database)

    def chunks(self, tenant: Tenant) -> Sequence[KnowledgeChunk]:
        """Every chunk of one tenant in every version, streamed; a chunk without text says nothing and is there.

        A row without doc_id is left out: nothing can refer to it. A chunk that does not say since when it is valid has
        always been.
        """
        parameters = {"org_id": tenant.org_id, "specialist_id": tenant.specialist_id}
        with self._database.connect() as connection, connection.cursor() as cursor:
            rows = cursor.stream(load("chunks_of_tenant"), parameters, binary=True)
            return [_chunk(tenant, row) for row in rows]


def _chunk(tenant: Tenant, row: TupleRow) -> KnowledgeChunk:
    columns: tuple[Any, ...] = row
    doc_id, chunk_id, title, text, valid_from, valid_to, source_correction_id = columns
    return KnowledgeChunk(
        tenant=tenant,
        doc_id=doc_id,
        chunk_id=chunk_id,
        title=title,
        text=text,
        valid_from=valid_from,
        valid_to=valid_to,
        source_correction_id=source_correction_id,
    )
