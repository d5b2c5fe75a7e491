"""The book of evidence as tests use it, and rows of it put there directly.

Belongs here: opening a book, planting and reading evidence and judgments. Does not: assertions.
"""

import threading
from collections.abc import Callable, Iterable
from datetime import datetime
from typing import Any
from uuid import UUID

from psycopg.rows import dict_row

from kb_pipeline.adapters.postgres.connection import Database
from kb_pipeline.adapters.postgres.retrieval.evidence import PostgresEvidence
from kb_pipeline.grading.extraction import question_preview
from kb_pipeline.records import Evidence, EvidenceKind, ReviewedDraft
from kb_pipeline_tests.retrieval.pieces import AS_OF

RULES = "labels-test"


def book(database: Database) -> PostgresEvidence:
    """A book over a test's database."""
    return PostgresEvidence(database, preview=question_preview)


def keep(database: Database, evidence: Iterable[Evidence]) -> None:
    """Append evidence as it is, whatever made it."""
    with database.connect() as connection:
        connection.cursor().executemany(
            "INSERT INTO kb_evidence (org_id, specialist_id, query_sha, doc_id, kind, weight, conversation_id,"
            " document_from, observed_at, message_id, rule_version, author, reason)"
            " VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, 'test', %s, %s)",
            [
                (
                    each.tenant.org_id,
                    each.tenant.specialist_id,
                    each.query_sha,
                    each.doc_id,
                    each.kind.value,
                    each.weight,
                    each.conversation_id,
                    each.document_from,
                    each.observed_at,
                    each.message_id,
                    *(("Ratna", "read it") if each.kind is EvidenceKind.SETTLED else (None, None)),
                )
                for each in evidence
            ],
        )


def judge(database: Database, as_of: datetime = AS_OF) -> int:
    """One judging run."""
    return book(database).judge(as_of, RULES)


def judgments(database: Database) -> dict[tuple[UUID, str, str], dict[str, Any]]:
    """Every row of kb_ground_truth by organisation, query and document."""
    with database.connect() as connection, connection.cursor(row_factory=dict_row) as cursor:
        rows = cursor.execute("SELECT xmin::text, * FROM kb_ground_truth").fetchall()
    return {(row["org_id"], row["query_sha"], row["doc_id"]): row for row in rows}


def standing(database: Database) -> list[tuple[Any, ...]]:
    """What stands of the evidence: document, kind, weight, in order."""
    with database.connect() as connection:
        return connection.execute(
            "SELECT doc_id, kind, weight FROM kb_evidence WHERE superseded_at IS NULL ORDER BY 1, 2, 3"
        ).fetchall()


def harvested(database: Database, draft: ReviewedDraft, evidence: Iterable[Evidence], rules: str = RULES) -> int:
    """Make this the evidence of the draft."""
    return book(database).replace(rules, [(draft, list(evidence))])


def race(work: Callable[[], int]) -> list[int]:
    """What two threads returned that began the same work together."""
    start, results = threading.Barrier(2), list[int]()

    def one() -> None:
        start.wait()
        results.append(work())

    threads = [threading.Thread(target=one) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results
