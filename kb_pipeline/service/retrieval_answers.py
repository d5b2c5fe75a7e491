"""The JSON answers of the API on retrieval, gaps and ground truth, as OpenAPI describes them.

Belongs here: names of fields. Does not: numbers, routes, answers on turns and alerts (answers.py).
"""

from datetime import datetime
from typing import Self
from uuid import UUID

from pydantic import BaseModel, Field

from kb_pipeline.dashboard.retrieval_words import EngineHealth
from kb_pipeline.service.answers import Sentence, Share, Span
from kb_pipeline.service.retrieval_reading import RetrievalSummary


class Engine(BaseModel):
    """One engine; quantiles are read off histograms."""

    engine: str
    found_nothing: Share
    per_day: list[int] = Field(description="Of each day of the zone; beyond 31 days, of each UTC day.")
    top_score_median: float | None
    latency_p50_ms: float | None
    latency_p95_ms: float | None
    latency_p99_ms: float | None

    @classmethod
    def of(cls, health: EngineHealth) -> Self:
        """From an engine's health."""
        return cls(
            engine=health.name,
            found_nothing=Share.of(health.found_nothing),
            per_day=[day.whole for day in health.per_day],
            top_score_median=health.median_score,
            latency_p50_ms=health.p50,
            latency_p95_ms=health.p95,
            latency_p99_ms=health.p99,
        )


class Grade(BaseModel):
    """How many judgments have a status and grade."""

    status: str
    grade: int | None
    pairs: int


class RetrievalAnswer(BaseModel):
    """How search does; the first engine is all of them."""

    period: Span
    verdict: Sentence
    empty_share_warn: float
    engines: list[Engine]
    gaps: dict[str, int]
    judgments: list[Grade]
    queries: int
    covered_queries: int

    @classmethod
    def of(cls, found: RetrievalSummary) -> Self:
        """From what the read service says."""
        counts = sorted(found.judgments.counts.items(), key=lambda each: (each[0][0], -(each[0][1] or 0)))
        return cls(
            period=Span.of(found.period),
            verdict=Sentence.of(found.verdict),
            empty_share_warn=found.limit,
            engines=[Engine.of(health) for health in found.engines],
            gaps={kind: count for kind, (count, _) in found.gaps.items()},
            judgments=[Grade(status=status, grade=grade, pairs=pairs) for (status, grade), pairs in counts],
            queries=found.judgments.queries,
            covered_queries=found.judgments.covered,
        )


class Gap(BaseModel):
    """One corrected draft and where the right information went missing."""

    message_id: UUID
    decided_at: datetime
    org_id: UUID
    specialist_id: UUID
    conversation_id: UUID
    engine: str
    kind: str
    is_deep: bool
    support: float | None
    doc_id: str | None
    rank: int | None
    pool_rank: int | None
    subject: str | None
    query_sha: str
    query_preview: str | None


class Gaps(BaseModel):
    """Some gaps; `next` leads on, null at the end."""

    items: list[Gap]
    next: str | None


class Task(BaseModel):
    """What gaps of several conversations have in common; `subject` is a document, else a query's hash."""

    org_id: UUID
    specialist_id: UUID
    kind: str
    subject: str
    query_preview: str | None
    conversations: int
    gaps: int
    last_seen_at: datetime


class Tasks(BaseModel):
    """The most frequent tasks."""

    items: list[Task]


class Judged(BaseModel):
    """One judgment of a tenant's query and document."""

    org_id: UUID
    specialist_id: UUID
    query_sha: str
    query_preview: str | None
    doc_id: str
    status: str
    grade: int | None
    p: float
    positive: float
    negative: float
    conversations: int
    evidence_count: int
    kinds: list[str]
    last_observed_at: datetime


class JudgedList(BaseModel):
    """Some judgments; `next` leads on, null at the end."""

    items: list[Judged]
    next: str | None


class SettleRequest(BaseModel):
    """A person's word on a document and a query; the author is whoever holds the token."""

    org_id: UUID
    specialist_id: UUID
    query_sha: str = Field(pattern=r"^[0-9a-f]{64}$")
    doc_id: str = Field(min_length=1, max_length=512)
    relevant: bool
    reason: str = Field(min_length=1, max_length=500)


class Settled(BaseModel):
    """What was noted; it counts from the next harvest on."""

    query_sha: str
    doc_id: str
    relevant: bool
    author: str
