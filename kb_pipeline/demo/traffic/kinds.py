"""What is planted: the kinds of turns and of other calls, their shares, and the truth that goes with each call.

Belongs here: closed vocabularies and the truth record. Does not: how a call of a kind is made.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from kb_pipeline.records import AuditedCall, ParseStatus, StoredBody, Verdict


class Kind(StrEnum):
    """What a planted call is."""

    GROUNDED = "grounded"
    """Every claim stands in the retrieved passages."""
    PARTLY_UNGROUNDED = "partly_ungrounded"
    """A grounded answer with a claim added that no passage supports."""
    UNGROUNDED = "ungrounded"
    """Nothing but unsupported claims."""
    CONTRADICTED = "contradicted"
    """A grounded answer with one fee, deadline, quorum or name changed."""
    IRRELEVANT = "irrelevant"
    """Answers another question, from the passages or from elsewhere."""
    REFUSED = "refused"
    """Passages were retrieved, none holds the answer, and the answer says so."""
    NO_CONTEXT_REFUSED = "no_context_refused"
    """Nothing was retrieved, and the answer says so."""
    NO_CONTEXT_ASSERTED = "no_context_asserted"
    """Nothing was retrieved, and the answer asserts something all the same."""
    CUT = "cut"
    """A grounded answer cut by the length limit."""
    TOOL_CALLS = "tool_calls"
    """The model asks for a tool instead of answering."""
    FAILED = "failed"
    """An error body."""
    STREAM_CUT = "stream_cut"
    """A stream that was stored without its end."""
    ROUTER = "router"
    REWRITE = "rewrite"
    SUMMARY = "summary"
    """Quotes a whole synthesis prompt in its user message; its own instruction is another."""
    SEARCH = "search"
    EMBEDDING = "embedding"
    STAFF = "staff"
    """A synthesis call of a surface that is not configured."""
    JUDGE = "judge"
    """A call of the grading pipeline itself, which quotes the markers."""

    @property
    def is_turn(self) -> bool:
        """Whether it is a synthesis call of the public surface."""
        return self in DEFAULT_MIX


DEFAULT_MIX: Mapping[Kind, float] = {
    Kind.GROUNDED: 0.60,
    Kind.PARTLY_UNGROUNDED: 0.05,
    Kind.UNGROUNDED: 0.02,
    Kind.CONTRADICTED: 0.05,
    Kind.IRRELEVANT: 0.05,
    Kind.REFUSED: 0.06,
    Kind.NO_CONTEXT_REFUSED: 0.03,
    Kind.NO_CONTEXT_ASSERTED: 0.02,
    Kind.CUT: 0.04,
    Kind.TOOL_CALLS: 0.03,
    Kind.FAILED: 0.03,
    Kind.STREAM_CUT: 0.02,
}
# How many calls of a kind go with one turn, on average.
COMPANIONS: Mapping[Kind, float] = {
    Kind.ROUTER: 0.45,
    Kind.REWRITE: 0.10,
    Kind.SUMMARY: 0.06,
    Kind.SEARCH: 0.30,
    Kind.EMBEDDING: 0.30,
    Kind.STAFF: 0.10,
    Kind.JUDGE: 0.10,
}


@dataclass(frozen=True, kw_only=True, slots=True)
class PlantedTruth:
    """What is known of one planted call because it was planted; None where a fact is undefined or not to be compared.

    `parse_status` is None for what is no turn; `question_sha` is the SHA-256 (hex) of the question as asked.
    """

    kind: Kind
    verdict: Verdict
    parse_status: ParseStatus | None = None
    faithful: bool | None = None
    relevant: bool | None = None
    refused: bool | None = None
    had_context: bool | None = None
    passages: int | None = None
    question_sha: str | None = None
    streamed: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class PlantedCall:
    """One audited call as the gateway stores it, and the truth about it.

    `body_arrives` is when its body row arrives; None when it arrives with the call.
    """

    call: AuditedCall
    body: StoredBody
    truth: PlantedTruth
    body_arrives: datetime | None = None
