"""The nouns of the grading street: frozen, keyword-only records and their closed vocabularies.

Belongs here: data that crosses rooms. Does not: behaviour beyond a derived property, I/O, a clock, a framework.
Every datetime is timezone-aware; scores are fractions in [0, 1]; sizes are characters unless a name says bytes.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

import msgspec


class Verdict(StrEnum):
    """What the ledger says of one examined call."""

    SYNTHESIS = "synthesis"
    OTHER = "other"
    SAMPLED_OUT = "sampled_out"
    SELF = "self"
    UNREADABLE = "unreadable"


class ParseStatus(StrEnum):
    """What became of reading one stored pair; the vocabulary of docs/reference/parse-status.md."""

    OK = "ok"
    OK_LENGTH = "ok_length"
    CONTEXT_FALLBACK = "context_fallback"
    NO_QUESTION = "no_question"
    TRUNCATED_PROMPT = "truncated_prompt"
    TOOL_CALLS = "tool_calls"
    REFUSAL = "refusal"
    CONTENT_FILTER = "content_filter"
    EMPTY_ANSWER = "empty_answer"
    NO_CHOICES = "no_choices"
    ERROR = "error"
    STREAM_ERROR = "stream_error"
    STREAM_INCOMPLETE = "stream_incomplete"
    EMPTY = "empty"
    NOT_JSON = "not_json"
    TRUNCATED_JSON = "truncated_json"
    UNDECODABLE = "undecodable"
    REDACTED = "redacted"
    NOT_CHAT = "not_chat"
    TOO_LARGE = "too_large"
    MISSING_BODY = "missing_body"

    @property
    def is_judged(self) -> bool:
        """Whether a turn with this status goes to the judge."""
        return self in JUDGED_STATUSES


JUDGED_STATUSES = frozenset({ParseStatus.OK, ParseStatus.OK_LENGTH, ParseStatus.CONTEXT_FALLBACK})
PARSED_STATUSES = frozenset({ParseStatus.OK, ParseStatus.OK_LENGTH})
# Only what a change of the prompt template can cause counts against the parse-success rate.
TEMPLATE_STATUSES = PARSED_STATUSES | {
    ParseStatus.CONTEXT_FALLBACK,
    ParseStatus.NO_QUESTION,
    ParseStatus.TRUNCATED_PROMPT,
}


class JudgeStatus(StrEnum):
    """Where a published turn stands with the judge."""

    OK = "ok"
    PENDING = "pending"
    ERROR = "error"
    FAILED = "failed"
    SKIPPED = "skipped"
    DISABLED = "disabled"


class ErrorClass(StrEnum):
    """Why a judge call gave no scores."""

    TIMEOUT = "timeout"
    CONNECTION = "connection"
    RATE_LIMITED = "rate_limited"
    HTTP_4XX = "http_4xx"
    HTTP_5XX = "http_5xx"
    NOT_JSON = "not_json"
    BAD_SCHEMA = "bad_schema"
    OUT_OF_RANGE = "out_of_range"
    TRUNCATED_REPLY = "truncated_reply"
    EMPTY_REPLY = "empty_reply"

    @property
    def is_outage(self) -> bool:
        """An outage says nothing of the turn, so it uses up no attempt."""
        return self in {ErrorClass.TIMEOUT, ErrorClass.CONNECTION, ErrorClass.RATE_LIMITED, ErrorClass.HTTP_5XX}


@dataclass(frozen=True, kw_only=True, slots=True)
class AuditedCall:
    """One row of the gateway's audit trail (view kb_source.ai_call); `ts` is the call's completion."""

    event_id: str
    ts: datetime
    trace_id: str | None = None
    surface: str = ""
    tenant: str = ""
    operation: str | None = None
    engine: str = ""
    model: str | None = None
    http_status: int | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class StoredBody:
    """The stored bytes of one call, as compressed by the gateway; None where the gateway kept nothing."""

    request: bytes | None
    response: bytes | None
    prev_hash: bytes | None = None
    body_hash: bytes | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class UnparsedCall:
    """One call whose prompt may be in a template that the configured markers do not fit.

    `verdict` is the ledger's, None where the call was not examined yet; `request` are the stored bytes.
    """

    ts: datetime
    verdict: Verdict | None
    request: bytes


@dataclass(frozen=True, kw_only=True, slots=True)
class Message:
    """One earlier message of the conversation, as plain text."""

    role: str
    text: str


class Passage(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One retrieved passage as the prompt shows it; rank and score are None where the header gives none.

    A struct, because a turn has a dozen of them and a frozen dataclass takes four times as long to make.
    """

    rank: int | None
    score: float | None
    text: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Triad:
    """Question, retrieved context and answer of one turn, with how well they could be read.

    `context` is "" when nothing was retrieved; `answer` is "" when the response carries none; `history` are the
    messages before the question, oldest first.
    """

    parse_status: ParseStatus
    question: str = ""
    context: str = ""
    passages: tuple[Passage, ...] = ()
    answer: str = ""
    finish_reason: str | None = None
    history: tuple[Message, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Metrics:
    """The deterministic metrics of one turn; formulas in docs/reference/metrics.md."""

    had_context: bool
    num_passages: int
    top_score: float | None
    mean_score: float | None
    context_chars: int
    answer_chars: int
    refused: bool
    answer_truncated: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class Examination:
    """What one pass over one audited call found: a ledger row and, for a synthesis call, its triad and metrics.

    `parse_status` is set for `synthesis` and `unreadable`; `triad` and `metrics` for `synthesis` alone;
    `evidence_intact` is None where the audit trail maps no hash chain.
    """

    call: AuditedCall
    verdict: Verdict
    parse_status: ParseStatus | None = None
    triad: Triad | None = None
    metrics: Metrics | None = None
    evidence_intact: bool | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class JudgeVersion:
    """What a score belongs to: scores of two versions are never averaged together."""

    model: str
    prompt_version: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Claim:
    """The right to judge one turn until `lease_until`; the key is stored, so a crash repeats the same call.

    `calls` counts the calls made before this claim, over all versions of the judge; `failed_runs` the runs in a row
    that got no scores. `planned_calls` are those that grading it is foreseen to take. `part` is which part of a turn
    the triad is, as 2/3; empty where it is the whole.
    """

    event_id: str
    ts: datetime
    version: JudgeVersion
    idempotency_key: str
    calls: int
    attempts: int
    triad: Triad
    metrics: Metrics
    failed_runs: int = 0
    planned_calls: int = 1
    part: str = ""


class Standing(StrEnum):
    """Where a turn that another judge version scored stands with this one."""

    OPEN = "open"
    DONE = "done"
    FAILED = "failed"
    HELD = "held"
    NO_TEXT = "no_text"
    TOO_LONG = "too_long"


@dataclass(frozen=True, kw_only=True, slots=True)
class RejudgeableTurn:
    """A turn that another judge version scored; `characters` is what its call would carry."""

    ts: datetime
    event_id: str
    standing: Standing
    characters: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Score:
    """One graded aspect: a fraction in [0, 1], or None with the reason why there is no such score."""

    value: float | None
    reason: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Usage:
    """What one turn cost at the judge."""

    calls: int = 0
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    latency_ms: int | None = None
    response_format: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Shown:
    """What the judge was shown of a turn.

    `parts` is None where it was shown whole, else how many parts were graded; `context_shown` is the fraction of the
    context's characters that some part shows; `history_left_out` counts the oldest messages that no call shows.
    """

    parts: int | None = None
    context_shown: float = 1.0
    history_left_out: int = 0


@dataclass(frozen=True, kw_only=True, slots=True)
class Graded:
    """The judge's scores of one turn; at least one of them has a value."""

    faithfulness: Score
    answer_relevance: Score
    context_relevance: Score
    usage: Usage = field(default_factory=Usage)
    shown: Shown = field(default_factory=Shown)


@dataclass(frozen=True, kw_only=True, slots=True)
class Ungraded:
    """Why a judge call gave no scores. `detail` never carries text of the turn or of the reply.

    `retry_after` is the server's own word, in seconds. `refuses_all` is set where the server would refuse any turn: a
    key, a model or an address is wrong. `too_long` is set where the server said that the call exceeds its context
    window, `window_tokens` where it said how large that is.
    """

    error_class: ErrorClass
    detail: str = ""
    retry_after: float | None = None
    refuses_all: bool = False
    too_long: bool = False
    window_tokens: int | None = None
    usage: Usage = field(default_factory=Usage)

    @property
    def uses_attempt(self) -> bool:
        """Whether it says something of the turn: an outage or a wrong configuration does not."""
        return not (self.error_class.is_outage or self.refuses_all)


Judgement = Graded | Ungraded


@dataclass(frozen=True, kw_only=True, slots=True)
class StepReport:
    """What a step did, as counts; these become the asset's metadata. Never text of a turn.

    `notes` are sentences for people: what it left undone and when that is done.
    """

    counts: Mapping[str, int | float]
    notes: tuple[str, ...] = ()
