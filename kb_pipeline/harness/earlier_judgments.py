"""The ground truth as it would have been at an earlier instant, by today's rules.

Belongs here: judging the evidence that stood then. Does not: the rules (retrieval/labels.py), the ground truth of now.

What counts is when something was observed, not when a harvest noted it: what is harvested late belongs to its own
time. What has been superseded since is gone, for the draft it came from is read differently now.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from operator import itemgetter
from typing import Any

from kb_pipeline.adapters.postgres.connection import Database
from kb_pipeline.adapters.postgres.retrieval.currency import EVERYTHING, stage_knowledge, stage_outdated
from kb_pipeline.adapters.postgres.retrieval.evidence import midnight
from kb_pipeline.adapters.postgres.retrieval.views import mapped_views
from kb_pipeline.harness.labelled import Provenance
from kb_pipeline.harness.queries import load
from kb_pipeline.records import Evidence, EvidenceKind, Judgment, Tenant
from kb_pipeline.retrieval.labels import RULE_VERSION, judge

FETCHED_AT_ONCE = 5_000


@dataclass(frozen=True, kw_only=True, slots=True)
class EarlierJudgment:
    """One document and query at the instant; `text` is None where words were not wanted, or have expired."""

    query_sha: str
    text: str | None
    doc_id: str
    is_self_made: bool
    judgment: Judgment
    provenance: Provenance


def judgments_at(
    database: Database, tenant: Tenant, as_of: datetime, *, with_words: bool, with_tombstones: bool
) -> Iterator[EarlierJudgment]:
    """Every judgment of the tenant, whatever its status, by query and document; raises DatabaseError.

    As the harvest does, it lets weights decay by whole UTC days, and leaves out evidence of documents that were changed
    or removed by then.
    """
    views = mapped_views(database)
    wanted = {"with_words": with_words, "with_tombstones": with_tombstones, "as_of": as_of}
    key = {"org_id": tenant.org_id, "specialist_id": tenant.specialist_id}
    with database.connect() as connection:
        stage_knowledge(connection, views, as_of, EVERYTHING | key)
        stage_outdated(connection, EVERYTHING | key)
        with connection.cursor("evidence", binary=True) as cursor:
            cursor.itersize = FETCHED_AT_ONCE
            cursor.execute(load("evidence_until"), wanted | key)
            for (query, text, document, is_self_made), rows in groupby(cursor, key=itemgetter(0, 1, 2, 3)):
                evidence = [_evidence(tenant, row) for row in rows]
                yield EarlierJudgment(
                    query_sha=query,
                    text=text,
                    doc_id=document,
                    is_self_made=is_self_made,
                    judgment=(judgment := judge(evidence, midnight(as_of))),
                    provenance=_provenance(evidence, judgment, as_of),
                )


def _evidence(tenant: Tenant, row: tuple[Any, ...]) -> Evidence:
    query, _, document, _, kind, weight, conversation_id, observed_at = row
    return Evidence(
        tenant=tenant,
        query_sha=query,
        doc_id=document,
        kind=EvidenceKind(kind),
        weight=weight,
        conversation_id=conversation_id,
        observed_at=observed_at,
    )


def _provenance(evidence: list[Evidence], judgment: Judgment, as_of: datetime) -> Provenance:
    return Provenance(
        as_of=as_of,
        rule_version=RULE_VERSION,
        conversations=judgment.conversations,
        kinds=tuple(sorted({each.kind.value for each in evidence})),
        first_observed_at=min(each.observed_at for each in evidence),
        last_observed_at=max(each.observed_at for each in evidence),
    )
