"""The knowledge base behind kb_source.kb_chunk as a corpus.

Belongs here: documents out of chunks. Does not: whose judgments they serve, files.
"""

import re
from collections.abc import Collection, Generator, Iterator
from contextlib import closing
from datetime import datetime
from itertools import groupby
from operator import itemgetter
from typing import Any

from kb_pipeline.adapters.postgres.connection import Database
from kb_pipeline.adapters.postgres.text import storable
from kb_pipeline.harness.documents import CorpusDocument
from kb_pipeline.harness.queries import load
from kb_pipeline.records import Tenant

FETCHED_AT_ONCE = 2_000
_DIGITS = re.compile(r"([0-9]+)")


class PostgresCorpus:
    """A CorpusProvider over the operator's view; raises DatabaseError where it is not mapped."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def is_mapped(self) -> bool:
        """Whether the operator mapped a knowledge base at all."""
        with self._database.connect() as connection:
            row = connection.execute(load("knowledge_is_mapped")).fetchone()
        return bool(row and row[0])

    def documents(self, tenant: Tenant, as_of: datetime) -> Iterator[CorpusDocument]:
        """Each document with chunks in force at `as_of`, by id: chunks in the order of the numbers in their ids.

        The title is the first chunk's that has one; `valid_from` is that of the newest chunk.
        """
        with closing(self._rows(tenant, as_of)) as rows:
            for document, chunks in groupby(rows, key=itemgetter(0)):
                ordered = sorted(chunks, key=lambda chunk: _natural(chunk[1]))
                yield CorpusDocument(
                    doc_id=document,
                    title=next((title for _, _, title, _, _ in ordered if title), ""),
                    text="\n\n".join(text for _, _, _, text, _ in ordered),
                    valid_from=max(valid_from for *_, valid_from in ordered),
                )

    def document_of(self, tenant: Tenant) -> dict[str, str]:
        """Document ids by chunk id, of every version; for runs that rank chunks."""
        keys = {"org_id": tenant.org_id, "specialist_id": tenant.specialist_id}
        with self._database.connect() as connection:
            rows = connection.execute(load("documents_of_chunks"), keys).fetchall()
        return dict(rows)

    def stored(self, tenant: Tenant, identifiers: Collection[str]) -> set[str]:
        """Those of the document ids that the tenant's knowledge base has, in any version."""
        # An id that no column can hold is the id of nothing.
        wanted = [each for each in identifiers if storable(each) == each]
        keys = {"org_id": tenant.org_id, "specialist_id": tenant.specialist_id, "doc_ids": wanted}
        with self._database.connect() as connection:
            rows = connection.execute(load("stored_documents"), keys).fetchall()
        return {row[0] for row in rows}

    def _rows(self, tenant: Tenant, as_of: datetime) -> Generator[tuple[Any, ...], None, None]:
        parameters = {"org_id": tenant.org_id, "specialist_id": tenant.specialist_id, "as_of": as_of}
        with self._database.connect() as connection, connection.cursor("corpus", binary=True) as cursor:
            cursor.itersize = FETCHED_AT_ONCE
            cursor.execute(load("chunks_in_force"), parameters)
            yield from cursor


def _natural(identifier: str) -> list[tuple[int, str]]:
    """A key under which chunk 2 comes before chunk 10."""
    return [(int(part), "") if part.isdigit() else (-1, part) for part in _DIGITS.split(identifier) if part]
