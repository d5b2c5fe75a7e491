"""Keeping diagnoses and what they have in common.

Belongs here: kb_retrieval_gap. Does not: the diagnosis and the subjects (retrieval/gaps), deletion by age or source.
"""

from collections.abc import Sequence
from typing import Any

from psycopg.types.json import Jsonb

from kb_pipeline.adapters.postgres.connection import Connection, Database
from kb_pipeline.adapters.postgres.retrieval.queries import load
from kb_pipeline.records import GapKind, GapStatement, RetrievalGap, ReviewedDraft, Tenant
from kb_pipeline.retrieval.gaps import AskedGap, subjects

SUBJECT_DAYS = 180
"""Subjects are named among the diagnoses of so many days, up to the newest one; older ones keep theirs."""


class PostgresGaps:
    """The book of gaps. Whoever names subjects waits for whoever does so already."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def save(self, gaps: Sequence[tuple[ReviewedDraft, RetrievalGap]], rules: str) -> int:
        """Upsert in one transaction; returns how many rows were added or changed. The same again touches no row.

        A row whose diagnosis changed has no subject until they are named again.
        """
        rows = [_row(draft, gap, rules) for draft, gap in sorted(gaps, key=lambda each: each[1].message_id)]
        if not rows:
            return 0
        with self._database.connect() as connection, connection.cursor() as cursor:
            connection.execute(load("lock_harvest"))
            cursor.executemany(load("save_gap"), rows)
            return cursor.rowcount

    def withdraw(self, drafts: Sequence[ReviewedDraft]) -> int:
        """Delete the diagnoses of these drafts; returns how many there were."""
        if not drafts:
            return 0
        with self._database.connect() as connection:
            parameters = {"message_ids": sorted(draft.message_id for draft in drafts)}
            return connection.execute(load("forget_gaps"), parameters).rowcount

    def name_subjects(self) -> int:
        """Name the subjects of the last SUBJECT_DAYS anew; returns how many rows changed."""
        with self._database.connect() as connection:
            connection.execute(load("lock_subjects"))
            named = subjects(_asked_gaps(connection))
            parameters = {"message_ids": list(named), "subjects": list(named.values())}
            return connection.execute(load("name_subjects"), parameters).rowcount

    def tasks(self) -> int:
        """How many gaps with one subject are seen from two conversations on."""
        with self._database.connect() as connection:
            row = connection.execute(load("count_gap_tasks")).fetchone()
        return int(row[0]) if row else 0


def _asked_gaps(connection: Connection) -> list[AskedGap]:
    rows = connection.execute(load("asked_gaps"), {"days": SUBJECT_DAYS}).fetchall()
    return [
        AskedGap(
            message_id=message_id,
            tenant=Tenant(org_id=org_id, specialist_id=specialist_id),
            kind=GapKind(kind),
            doc_id=doc_id,
            query_sha=query_sha,
            query=query,
            decided_at=decided_at,
        )
        for message_id, org_id, specialist_id, kind, doc_id, query_sha, query, decided_at in rows
    ]


def _row(draft: ReviewedDraft, gap: RetrievalGap, rules: str) -> dict[str, Any]:
    worst = gap.statement
    return {
        "message_id": gap.message_id,
        "org_id": gap.tenant.org_id,
        "specialist_id": gap.tenant.specialist_id,
        "conversation_id": gap.conversation_id,
        "event_id": gap.event_id,
        "correction_id": gap.correction_id,
        "query_sha": gap.query_sha,
        "engine": gap.engine,
        "kind": str(gap.kind),
        "is_deep": gap.is_deep,
        "decided_at": gap.decided_at,
        "support": worst.support if worst else None,
        "doc_id": worst.doc_id if worst else None,
        "chunk_id": worst.chunk_id if worst else None,
        "rank": worst.rank if worst else None,
        "pool_rank": worst.pool_rank if worst else None,
        "statements": Jsonb([_statement(each) for each in gap.statements]),
        "source_state": draft.source_state,
        "rule_version": rules,
    }


def _statement(each: GapStatement) -> dict[str, Any]:
    return {
        "position": each.position,
        "kind": str(each.kind),
        "support": each.support,
        "doc_id": each.doc_id,
        "chunk_id": each.chunk_id,
        "rank": each.rank,
        "pool_rank": each.pool_rank,
    }
