"""The nouns of the retrieval street: events, drafts and their outcomes, evidence, judgments, gaps.

Belongs here: data that crosses rooms. Does not: behaviour beyond a derived property, I/O, a clock, a framework.
Every datetime is timezone-aware. Tenancy is Org × Specialist: whatever belongs to a tenant carries a `Tenant`, and
nothing is ever joined, counted or judged across tenants.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import UUID


@dataclass(frozen=True, kw_only=True, slots=True, order=True)
class Tenant:
    """Org × Specialist: the first half of every key of the retrieval street."""

    org_id: UUID
    specialist_id: UUID


@dataclass(frozen=True, kw_only=True, slots=True)
class RetrievedDocument:
    """One result of a retrieval, in the order shown; an element of `kb_retrieval_event.retrieved`.

    `rank` counts from 1. Scores are finite, of the engine's own scale, or None where the engine has none.
    `used_in_final`: whether the answer cites it; None where the producer could not tell.
    """

    doc_id: str
    chunk_id: str | None = None
    rank: int
    score: float | None = None
    bm25_score: float | None = None
    vector_similarity: float | None = None
    pre_rerank_rank: int | None = None
    rerank_score: float | None = None
    used_in_final: bool | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Candidate:
    """One document that was considered before the re-ranker; `pre_rank` counts from 1."""

    doc_id: str
    chunk_id: str | None = None
    pre_rank: int


@dataclass(frozen=True, kw_only=True, slots=True)
class RetrievalEvent:
    """One retrieval (table kb_retrieval_event). Tenancy: Org × Specialist.

    `id` is made by the producer. `engine` is of the configured list, or "other". `result_count` is the number of
    results before the list was cut to 50. `retrieved` is sorted by rank, each document and chunk once. `latency_ms` is
    whole milliseconds. `message_id` is the draft that the retrieval served, None where no draft was persisted.
    """

    id: UUID
    tenant: Tenant
    conversation_id: UUID
    message_id: UUID | None = None
    engine: str
    query: str
    top_k: int
    result_count: int
    latency_ms: int | None = None
    retrieved: tuple[RetrievedDocument, ...] = ()
    occurred_at: datetime
    query_rewritten: str | None = None
    candidate_pool: tuple[Candidate, ...] = ()
    kb_version: str | None = None
    degraded: bool = False
    shadow: bool = False
    trace_id: str | None = None


class SearchEventType(StrEnum):
    """What an expert did in the workspace's knowledge-base search."""

    PERFORMED = "kb.search.performed"
    CLICKED = "kb.result.clicked"
    CITED = "kb.citation.inserted"


@dataclass(frozen=True, kw_only=True, slots=True)
class SearchEvent:
    """One step of an expert's own search (table kb_search_event). Tenancy: Org × Specialist.

    `search_id` holds the steps of one search together. `query` and `result_count` belong to a performed search,
    `doc_id`, `chunk_id` and `rank` (from 1) to a click or a citation.
    """

    id: UUID
    tenant: Tenant
    expert_id: UUID | None = None
    conversation_id: UUID | None = None
    message_id: UUID | None = None
    search_id: UUID
    event_type: SearchEventType
    query: str | None = None
    doc_id: str | None = None
    chunk_id: str | None = None
    rank: int | None = None
    result_count: int | None = None
    occurred_at: datetime


class Outcome(StrEnum):
    """What became of a draft."""

    ACCEPTED = "accepted"
    """Sent as it was, or with nothing but white space changed."""
    EDITED_LIGHT = "edited_light"
    """Edited, and nothing that asserts something is new or gone."""
    EDITED_HEAVY = "edited_heavy"
    """Edited, and something that asserts something is new or gone."""
    REJECTED = "rejected"
    PENDING = "pending"
    """No decision yet."""
    UNREVIEWED = "unreviewed"
    """Decided within two seconds of being opened: nobody read it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ReviewedDraft:
    """A draft as the source shows it, with the expert's decision and the retrieval that served it.

    `status` is the queue item's word (pending, accepted, edited, rejected) or None where the draft was never queued.
    `final` is what was sent: the newest correction's text, None without a correction. `cited` are the documents that
    the expert cited from a search of his own while working on this draft. `later_queries` are the queries retrieved for
    afterwards in the same conversation, oldest first. `source_state` changes whenever any of this does.
    """

    message_id: UUID
    tenant: Tenant
    conversation_id: UUID
    trace_id: str | None = None
    drafted_at: datetime
    draft: str
    status: str | None = None
    rejection_reason: str | None = None
    opened_at: datetime | None = None
    decided_at: datetime | None = None
    correction_id: UUID | None = None
    final: str | None = None
    event: RetrievalEvent | None = None
    cited: tuple[str, ...] = ()
    later_queries: tuple[str, ...] = ()
    source_state: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Alignment:
    """Draft and final text, sentence by sentence: kept pairs (draft, final), new sentences, removed sentences."""

    kept: tuple[tuple[str, str], ...] = ()
    new: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class DraftOutcome:
    """The outcome of one draft (table kb_draft_outcome): counts of sentences, no text. Tenancy: Org × Specialist.

    `decision_s` is how long the draft was open. `similarity` is that of draft and final text, a fraction; for reading
    only, no rule uses it. `wrong_source`: rejected because its sources were wrong. `suspect`: the retrieval may be bad
    (heavy edit or rejection). `rephrased`: the client asked again after this answer.
    """

    message_id: UUID
    tenant: Tenant
    conversation_id: UUID
    event_id: UUID | None
    trace_id: str | None
    correction_id: UUID | None
    outcome: Outcome
    drafted_at: datetime
    decided_at: datetime | None
    decision_s: float | None
    kept: int
    new: int
    removed: int
    similarity: float | None
    wrong_source: bool
    suspect: bool
    rephrased: bool
    source_state: str


@dataclass(frozen=True, kw_only=True, slots=True)
class KnowledgeChunk:
    """One chunk of a tenant's knowledge base in one version (view kb_source.kb_chunk)."""

    tenant: Tenant
    doc_id: str
    chunk_id: str
    title: str | None = None
    text: str
    valid_from: datetime
    valid_to: datetime | None = None
    source_correction_id: UUID | None = None


class EvidenceKind(StrEnum):
    """Why a document is, or is not, relevant to a query."""

    CITED = "cited"
    """The expert cited it, or the final text does."""
    SUPPORTS_NEW = "supports_new"
    """It supports what the expert added."""
    LIGHT_EDIT = "light_edit"
    """Used, and supports a sentence that a light edit kept."""
    ACCEPTED = "accepted"
    """Used, and supports a sentence of a draft accepted as it was."""
    KEPT_ONLY = "kept_only"
    """Supports only sentences that a heavy edit kept."""
    CLICKED = "clicked"
    """Clicked in the expert's search, and not cited."""
    REMOVED_ONLY = "removed_only"
    """A removed sentence stood on this document alone."""
    WRONG_SOURCE = "wrong_source"
    """The draft was rejected for its sources."""
    SETTLED = "settled"
    """A person said so, with name and reason."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Evidence:
    """One observation for or against a document of a query (table kb_evidence). Tenancy: Org × Specialist.

    `weight` is signed, in [-1, 1] and not 0. `document_from` is the start of the document version it speaks of, None
    where the knowledge base is not mapped. `facts` explains it in counts and scores, never in words of a text.
    """

    tenant: Tenant
    query_sha: str
    doc_id: str
    chunk_id: str | None = None
    kind: EvidenceKind
    weight: float
    conversation_id: UUID | None
    event_id: UUID | None = None
    message_id: UUID | None = None
    correction_id: UUID | None = None
    search_event_id: UUID | None = None
    document_from: datetime | None = None
    observed_at: datetime
    facts: Mapping[str, Any] = field(default_factory=dict)


class JudgmentStatus(StrEnum):
    """How far the evidence of one document and query goes."""

    JUDGED = "judged"
    INSUFFICIENT = "insufficient"
    CONFLICT = "conflict"
    """Quarantined for a person: much speaks for it and much against it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Judgment:
    """What the evidence says of one document and query at one time (table kb_ground_truth).

    `grade` is 0 to 3, None unless judged. `positive` and `negative` are decayed masses, at most one vote a conversation
    and polarity; `p` = (positive + .1) / (positive + negative + .2).
    """

    status: JudgmentStatus
    grade: int | None
    p: float
    positive: float
    negative: float
    conversations: int


class GapKind(StrEnum):
    """Where the right information went missing."""

    KB_GAP = "kb_gap"
    """Nothing in the knowledge base says it."""
    RANKING_GAP = "ranking_gap"
    """Found and not used, or only in the candidate pool."""
    RECALL_GAP = "recall_gap"
    """In the knowledge base, and not among the candidates."""
    GENERATION_GAP = "generation_gap"
    """Retrieved, used, and still said wrongly or not at all."""
    UNDETERMINED = "undetermined"
    NONE = "none"
    """The expert added nothing that asserts something."""


@dataclass(frozen=True, kw_only=True, slots=True)
class GapStatement:
    """One sentence the expert added and where its support stands; no words of it.

    `position` counts the new sentences from 0; `support` is a fraction; `rank` is that of the supporting document in
    the retrieved list, `pool_rank` in the candidate pool, each None where it is not in there.
    """

    position: int
    kind: GapKind
    support: float
    doc_id: str | None = None
    chunk_id: str | None = None
    rank: int | None = None
    pool_rank: int | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class RetrievalGap:
    """The diagnosis of one corrected draft (table kb_retrieval_gap); its verdict is that of its worst statement.

    `is_deep`: a ranking gap whose document was in the candidate pool only. Tenancy: Org × Specialist.
    """

    message_id: UUID
    tenant: Tenant
    conversation_id: UUID
    event_id: UUID
    correction_id: UUID | None
    query_sha: str
    engine: str
    kind: GapKind
    is_deep: bool
    decided_at: datetime
    statement: GapStatement | None
    statements: tuple[GapStatement, ...]
