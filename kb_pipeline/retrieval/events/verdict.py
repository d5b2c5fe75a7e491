"""What became of reading a job: an event with notes on what was cleaned, or a rejection with its reason.

Belongs here: those values and their closed vocabularies, which metrics use as labels. Does not: how a job is read.
"""

from dataclasses import dataclass
from enum import StrEnum

from kb_pipeline.records.retrieval import RetrievalEvent, SearchEvent


class Note(StrEnum):
    """Something that was cleaned, or filled in, in an accepted job."""

    ENGINE_UNKNOWN = "engine_unknown"
    """The engine is not of the configured list; kept as "other"."""
    FLAG_DROPPED = "flag_dropped"
    """A flag that is neither true nor false; read as its default."""
    HIT_DROPPED = "hit_dropped"
    """A result that is no object or has no document id."""
    HITS_CUT = "hits_cut"
    """More than 50 results; the best 50 are kept, all are counted."""
    HITS_MERGED = "hits_merged"
    """The same document and chunk twice; its best rank is kept."""
    ID_CUT = "id_cut"
    """A document or chunk id over its limit; cut, with a hash that keeps two of them apart."""
    ID_DERIVED = "id_derived"
    """No event id; derived from the content, so that a repetition has the same."""
    NUMBER_DROPPED = "number_dropped"
    """A rank, a count or a latency that is no such number, or out of range."""
    POOL_CLEANED = "pool_cleaned"
    """A candidate pool with repeated, unusable or more than 50 candidates."""
    QUERY_CUT = "query_cut"
    """A query over 8 kB of UTF-8; cut at a character."""
    QUERY_EMPTY = "query_empty"
    """A query without a character in it."""
    RANKS_RENUMBERED = "ranks_renumbered"
    """Ranks that do not count 1, 2, 3, …; renumbered in their order."""
    RESULT_COUNT_CORRECTED = "result_count_corrected"
    """The sender counted other than the results that he listed."""
    RETRIEVED_MISSING = "retrieved_missing"
    """No list of results; read as an empty one."""
    SCORE_DROPPED = "score_dropped"
    """A score that is no finite number; read as null."""
    SHADOW_MESSAGE_DROPPED = "shadow_message_dropped"
    """A shadow run that names a message; it served none."""
    TEXT_CLEANED = "text_cleaned"
    """NUL, lone surrogates (in ids: control characters) became U+FFFD."""
    TEXT_CUT = "text_cut"
    """A trace id or a version over 200 characters, or a rewritten query over 8 kB."""
    TEXT_DROPPED = "text_dropped"
    """An optional text or key of the wrong type; read as null."""
    TIME_EPOCH = "time_epoch"
    """A number as the time: seconds, or by its size milli-, micro- or nanoseconds, since 1970."""
    TIME_MISSING = "time_missing"
    """No time; read as the time of arrival."""
    TIME_NAIVE = "time_naive"
    """A time without a zone; read as UTC."""
    TIME_REPLACED = "time_replaced"
    """No time at all, or one before 2020 or after tomorrow; read as the time of arrival."""


class Reason(StrEnum):
    """Why a job was rejected; most are named after the property that is to blame."""

    CONVERSATION_ID = "conversation_id"
    DOC_ID = "doc_id"
    EVENT_TYPE = "event_type"
    ID = "id"
    MESSAGE_ID = "message_id"
    NOT_AN_OBJECT = "not_an_object"
    ORG_ID = "org_id"
    QUERY = "query"
    RETRIEVED = "retrieved"
    SCHEMA_VERSION = "schema_version"
    SEARCH_ID = "search_id"
    SPECIALIST_ID = "specialist_id"
    TYPE = "type"


@dataclass(frozen=True, slots=True)
class Read:
    """An accepted job: its event, and what had to be cleaned, each note once, in alphabetical order."""

    event: RetrievalEvent | SearchEvent
    notes: tuple[Note, ...] = ()


@dataclass(frozen=True, slots=True)
class Rejected:
    """A job that cannot be kept. `detail` is one sentence for the producer's developer, without any of the text."""

    reason: Reason
    detail: str


class Unacceptable(Exception):
    """Ends the reading of a job; `read_job` turns it into a `Rejected`."""

    def __init__(self, rejected: Rejected) -> None:
        super().__init__(rejected.detail)
        self.rejected = rejected
