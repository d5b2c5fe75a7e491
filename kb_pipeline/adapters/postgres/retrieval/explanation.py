"""One judgment with all of its evidence, and what each piece of it counts for.

Belongs here: the facts, for a person who may see a query's words; each reading is recorded. Does not: formatting.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, cast

from psycopg.rows import dict_row

from kb_pipeline.adapters.postgres import queries as shared
from kb_pipeline.adapters.postgres.connection import Connection, Database
from kb_pipeline.adapters.postgres.retrieval.currency import stage_knowledge, stage_outdated
from kb_pipeline.adapters.postgres.retrieval.evidence import midnight
from kb_pipeline.adapters.postgres.retrieval.pairs import Pair, UnknownPair, find_pair, known_documents, meant_key
from kb_pipeline.adapters.postgres.retrieval.queries import load
from kb_pipeline.adapters.postgres.retrieval.views import mapped_views
from kb_pipeline.records import Evidence, EvidenceKind, Judgment, Tenant
from kb_pipeline.retrieval.labels import decayed, judge, votes


class Standing(StrEnum):
    """What a piece of evidence counts for."""

    COUNTS = "counts"
    WEAKER = "weaker"
    """The same conversation has a heavier vote of the same polarity."""
    OLDER_WORD = "older_word"
    """A person has said otherwise, or the same again, since."""
    OUTDATED = "outdated"
    """The document was changed or removed since."""
    SUPERSEDED = "superseded"
    """Its draft or search was read anew and says something else."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ExplainedEvidence:
    """One row of kb_evidence: what it says, its decayed mass, and whether it counts."""

    evidence_id: int
    standing: Standing
    mass: float
    evidence: Evidence
    rule_version: str
    author: str | None
    reason: str | None
    recorded_at: datetime
    superseded_at: datetime | None


@dataclass(frozen=True, kw_only=True, slots=True)
class JudgmentExplanation:
    """A judgment of one tenant's query and document with its evidence, oldest first.

    `query` is None once its words have expired. `stored` is the row of kb_ground_truth, None where there is none.
    `current` is what the evidence says by now as of `as_of`, the day of the stored row; where it differs from the row,
    the next harvest writes it.
    """

    tenant: Tenant
    query: str | None
    query_sha: str
    doc_id: str
    stored: dict[str, Any] | None
    current: Judgment
    as_of: datetime
    is_up_to_date: bool
    evidence: tuple[ExplainedEvidence, ...]


def explain_judgment(
    database: Database,
    *,
    doc_id: str,
    query: str | None = None,
    query_sha: str | None = None,
    tenant: Tenant | None = None,
    purpose: str = "ground-truth explain",
) -> JudgmentExplanation:
    """The judgment of a document for a query, given by its words or its hash; reading the words is recorded.

    As `query` also counts a query_sha, or the first 6 or more digits of one.

    Raises UnknownPair (one sentence) where nothing is known of the pair, or where without a `tenant` several are meant.
    """
    if (query is None) == (query_sha is None):
        raise ValueError("give either the query's words or its query_sha")
    views = mapped_views(database)
    with database.connect() as connection:
        pair = find_pair(connection, query_sha or meant_key(connection, query or "", tenant), doc_id, tenant)
        now = _instant(connection)
        stage_knowledge(connection, views, now, pair.key)
        stage_outdated(connection, pair.key)
        rows = _rows(connection, "explain_evidence", pair)
        if not rows:
            raise UnknownPair(f"nothing is known of this document for this query: {known_documents(connection, pair)}")
        stored = next(iter(_rows(connection, "explain_judgment", pair)), None)
        if pair.words["query"] is not None:
            connection.execute(shared.load("record_access"), _reading(database, pair, purpose))
    return _explanation(pair, rows, stored, now)


def _explanation(
    pair: Pair, rows: Sequence[dict[str, Any]], stored: dict[str, Any] | None, now: datetime
) -> JudgmentExplanation:
    as_of = stored["as_of"] if stored else midnight(now)
    standing = [_evidence(row, pair.tenant) for row in rows if _stands(row)]
    current = judge(standing, as_of)
    return JudgmentExplanation(
        tenant=pair.tenant,
        query=pair.words["query"],
        query_sha=pair.query_sha,
        doc_id=pair.doc_id,
        stored=stored,
        current=current,
        as_of=as_of,
        is_up_to_date=_agrees(stored, current) if standing else stored is None,
        evidence=_explained(rows, pair.tenant, as_of),
    )


def _explained(rows: Sequence[dict[str, Any]], tenant: Tenant, as_of: datetime) -> tuple[ExplainedEvidence, ...]:
    evidence = {row["evidence_id"]: _evidence(row, tenant) for row in rows}
    standing = [evidence[row["evidence_id"]] for row in rows if _stands(row)]
    counting = {id(vote.evidence) for vote in votes(standing, as_of)}
    return tuple(
        ExplainedEvidence(
            evidence_id=row["evidence_id"],
            standing=_standing(row, counts=id(evidence[row["evidence_id"]]) in counting),
            mass=decayed(row["weight"], row["observed_at"], as_of),
            evidence=evidence[row["evidence_id"]],
            **{name: row[name] for name in ("rule_version", "author", "reason", "recorded_at", "superseded_at")},
        )
        for row in rows
    )


def _stands(row: dict[str, Any]) -> bool:
    return row["superseded_at"] is None and not row["is_outdated"]


def _standing(row: dict[str, Any], *, counts: bool) -> Standing:
    if row["superseded_at"] is not None:
        return Standing.SUPERSEDED
    if row["is_outdated"]:
        return Standing.OUTDATED
    if counts:
        return Standing.COUNTS
    return Standing.OLDER_WORD if row["kind"] == EvidenceKind.SETTLED else Standing.WEAKER


def _evidence(row: dict[str, Any], tenant: Tenant) -> Evidence:
    given = (
        "query_sha", "doc_id", "chunk_id", "weight", "conversation_id", "event_id", "message_id", "correction_id",
        "search_event_id", "document_from", "observed_at", "facts",
    )  # fmt: skip
    return Evidence(tenant=tenant, kind=EvidenceKind(row["kind"]), **{name: row[name] for name in given})


def _agrees(stored: dict[str, Any] | None, current: Judgment) -> bool:
    names = ("status", "grade", "p", "positive", "negative", "conversations")
    return stored is not None and all(stored[name] == getattr(current, name) for name in names)


def _rows(connection: Connection, name: str, pair: Pair) -> list[dict[str, Any]]:
    with connection.cursor(row_factory=dict_row) as cursor:
        return cursor.execute(load(name), pair.key).fetchall()


def _instant(connection: Connection) -> datetime:
    return cast(tuple[datetime], connection.execute(load("current_instant")).fetchone())[0]


def _reading(database: Database, pair: Pair, purpose: str) -> dict[str, Any]:
    return {
        "actor": database.application_name,
        "purpose": purpose,
        "run_id": None,
        "ts_from": pair.words["first_seen_at"],
        "ts_to": pair.words["last_seen_at"],
        "bodies": 1,
        "body_bytes": len(pair.words["query"].encode()),
    }
