"""Where a harness gets its documents.

Belongs here: a document, the protocol. Does not: databases, files.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from kb_pipeline.records import Tenant


@dataclass(frozen=True, kw_only=True, slots=True)
class CorpusDocument:
    """One document of a knowledge base in the version in force, its chunks joined in their order.

    `valid_from` is the start of that version; None where a file does not say.
    """

    doc_id: str
    title: str
    text: str
    valid_from: datetime | None = None


class CorpusProvider(Protocol):
    """The documents of a tenant as they stood at a time."""

    def documents(self, tenant: Tenant, as_of: datetime) -> Iterator[CorpusDocument]:
        """Each document once, in an order that does not change from one reading to the next."""
        ...
