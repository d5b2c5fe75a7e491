"""The chat application in front of the pipeline: drafts, decisions, corrections and retrievals in the example tables.

Belongs here: planting rows as an application and the worker write them. Does not: assertions.
"""

import json
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

from psycopg import sql

from kb_pipeline.adapters.postgres.connection import Database
from kb_pipeline.records import Tenant
from kb_pipeline.settings import Settings

TENANT = Tenant(org_id=UUID(int=1), specialist_id=UUID(int=2))
OTHER = Tenant(org_id=UUID(int=3), specialist_id=UUID(int=4))
QUERY = "Berapa lama izin keluar negeri berlaku?"
DRAFT = "Izin keluar berlaku selama tiga puluh hari. Izin diajukan lewat loket di kantor wilayah."
WRONG = "Izin keluar berlaku selama sembilan puluh hari. Izin diajukan lewat loket di kantor wilayah."
PERMIT = "Izin keluar berlaku selama tiga puluh hari sejak tanggal terbit. Izin diajukan lewat loket di kantor wilayah."
READING = timedelta(minutes=2)


def settings(database: Database, **retrieval: Any) -> Settings:
    """Settings with the retrieval street on, and grading off."""
    url = database.url.render_as_string(hide_password=False)
    given = {"enabled": True, "redis_url": "redis://localhost:6379/0", **retrieval}
    return Settings.model_validate({"retrieval": given, "database": {"url": url}})


class Application:
    """One tenant's corner of the application; `tenant` may be given for each row."""

    def __init__(self, database: Database, tenant: Tenant = TENANT) -> None:
        self._database = database
        self.tenant = tenant

    def chunk(self, doc_id: str, text: str, valid_from: datetime, **changes: Any) -> None:
        """A document of one chunk in the knowledge base."""
        chunk = {"doc_id": doc_id, "chunk_id": f"{doc_id}-1", "body": text, "valid_from": valid_from, **changes}
        self._insert("upstream.kb_chunks", **chunk)

    def draft(self, at: datetime, text: str = DRAFT, **changes: Any) -> UUID:
        """A draft that waits for its expert."""
        message_id = uuid4()
        self._insert(
            "upstream.messages",
            **{
                "id": message_id,
                "conversation_id": uuid4(),
                "role": "draft",
                "content": text,
                "created_at": at,
                **changes,
            },
        )
        self._insert("upstream.expert_queue_items", tenanted=False, message_id=message_id, created_at=at, updated_at=at)
        return message_id

    def decide(self, message_id: UUID, at: datetime, status: str = "accepted", reason: str | None = None) -> None:
        """What the expert decided, two minutes after opening the draft."""
        with self._database.connect() as connection:
            connection.execute(
                "UPDATE upstream.expert_queue_items SET status = %s, rejection_reason = %s, opened_at = %s,"
                " decided_at = %s, updated_at = %s WHERE message_id = %s",
                [status, reason, at - READING, at, at, message_id],
            )

    def correct(self, message_id: UUID, at: datetime, text: str) -> None:
        """An edit: the decision, and what was sent."""
        self.decide(message_id, at, "edited")
        self._insert(
            "upstream.corrections",
            tenanted=False,
            message_id=message_id,
            original_text="",
            corrected_text=text,
            created_at=at,
        )

    def retrieval(self, at: datetime, retrieved: Sequence[str] = ("permit",), **changes: Any) -> UUID:
        """A retrieval event as the worker writes it; of the documents named, the first is used."""
        hits = [
            {"doc_id": doc_id, "chunk_id": f"{doc_id}-1", "rank": rank, "score": 1 / rank, "used_in_final": rank == 1}
            for rank, doc_id in enumerate(retrieved, 1)
        ]
        event_id: UUID = changes.setdefault("id", uuid4())
        self._insert(
            "kb_retrieval_event",
            **{
                "conversation_id": uuid4(),
                "engine": "hybrid",
                "query": QUERY,
                "top_k": 5,
                "result_count": len(hits),
                "latency_ms": 20,
                "retrieved": json.dumps(hits),
                "occurred_at": at,
                **changes,
            },
        )
        return event_id

    def served(self, at: datetime, text: str = DRAFT, retrieved: Sequence[str] = ("permit",), **changes: Any) -> UUID:
        """A draft with its retrieval, and the audit log's word of it."""
        conversation_id = uuid4()
        message_id = self.draft(at, text, conversation_id=conversation_id)
        self.retrieval(at, retrieved, conversation_id=conversation_id, message_id=message_id, **changes)
        self.loaded(at, message_id=message_id, conversation_id=conversation_id)
        return message_id

    def loaded(self, at: datetime, **changes: Any) -> None:
        """The audit log's entry of a retrieval."""
        self._insert(
            "upstream.audit_log", tenanted=False, event_type="kb.retrieval.context_loaded", created_at=at, **changes
        )

    def outcome(self, message_id: UUID, at: datetime, **changes: Any) -> None:
        """The outcome of a draft as the street keeps it."""
        row = {
            "message_id": message_id,
            "conversation_id": uuid4(),
            "outcome": "accepted",
            "drafted_at": at,
            "decided_at": at,
            "kept_sentences": 1,
            "new_sentences": 0,
            "removed_sentences": 0,
            "source_state": "state",
            "rule_version": "rules",
            **changes,
        }
        self._insert("kb_draft_outcome", **row)

    def search(self, at: datetime, event_type: str = "kb.search.performed", **changes: Any) -> UUID:
        """A step of an expert's search as the worker writes it."""
        event_id = uuid4()
        row = {
            "id": event_id,
            "search_id": uuid4(),
            "event_type": event_type,
            "query": QUERY,
            "occurred_at": at,
            **changes,
        }
        self._insert("kb_search_event", **row)
        return event_id

    def _insert(self, table: str, *, tenanted: bool = True, **row: Any) -> None:
        if tenanted:
            row = {"org_id": self.tenant.org_id, "specialist_id": self.tenant.specialist_id, **row}
        statement = sql.SQL("INSERT INTO {} ({}) VALUES ({})").format(
            sql.Identifier(*table.split(".")),
            sql.SQL(", ").join(map(sql.Identifier, row)),
            sql.SQL(", ").join(sql.Placeholder() * len(row)),
        )
        with self._database.connect() as connection:
            connection.execute(statement, list(row.values()))
