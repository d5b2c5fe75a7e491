"""Reads a job off the queue: whatever a producer sent becomes a clean event, or a rejection that says why.

Belongs here: what each property may hold, and what is done where it holds something else. Does not: lists (hits.py),
single values (values.py), the wire form that we write ourselves (wire.py).
"""

from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import datetime
from typing import cast
from uuid import UUID

from kb_pipeline.records.retrieval import RetrievalEvent, SearchEvent, SearchEventType, Tenant
from kb_pipeline.retrieval.events.hits import MAX_HITS, candidates_of, hits_of
from kb_pipeline.retrieval.events.objects import value_of
from kb_pipeline.retrieval.events.times import instant_of
from kb_pipeline.retrieval.events.values import (
    LARGEST_INT,
    Notes,
    flag_of,
    id_of,
    label_of,
    milliseconds_of,
    query_of,
    text_of,
    uuid_of,
    whole_of,
)
from kb_pipeline.retrieval.events.verdict import Note, Read, Reason, Rejected, Unacceptable
from kb_pipeline.retrieval.events.wire import SCHEMA_VERSION, derived_id

OTHER_ENGINE = "other"

# Also what a producer sends who never filled it in: as an id it would be the same for all his events.
_UNSET = UUID(int=0)
_Properties = dict[str, object]


def read_job(data: object, *, received_at: datetime, engines: Collection[str]) -> Read | Rejected:
    """The event in a job's data, as JSON gave it; never raises, whatever that is.

    Properties are looked for as `doc_id` and as `docId`; unknown ones are ignored. `received_at` (aware) stands in for
    a time that is missing or cannot be true. An engine that is not among `engines` becomes "other".
    """
    notes: Notes = set()
    try:
        event = _event(data, received_at, engines, notes)
    except Unacceptable as unacceptable:
        return unacceptable.rejected
    return Read(event, tuple(sorted(notes)))


def _event(data: object, received_at: datetime, engines: Collection[str], notes: Notes) -> RetrievalEvent | SearchEvent:
    if not isinstance(data, dict):
        raise _unacceptable(Reason.NOT_AN_OBJECT, f"The job's data is {_kind(data)}; send one JSON object")
    properties = cast("_Properties", data)
    _require_known_version(properties)
    event = (
        _search(properties, received_at, notes)
        if _is_search(properties)
        else _retrieval(properties, received_at, engines, notes)
    )
    return event if event.id != _UNSET else _with_derived_id(event, notes)


def _retrieval(data: _Properties, received_at: datetime, engines: Collection[str], notes: Notes) -> RetrievalEvent:
    pool, from_zero = candidates_of(value_of(data, "candidate_pool"), notes)
    hits, listed = hits_of(_results(data, notes), notes, from_zero=from_zero)
    result_count = _result_count(data, listed, notes)
    shadow = flag_of(value_of(data, "shadow"), notes) or False
    top_k = whole_of(value_of(data, "top_k"), least=0, notes=notes)
    return RetrievalEvent(
        id=_optional_key(data, Reason.ID) or _UNSET,
        tenant=_tenant(data),
        conversation_id=_key(data, Reason.CONVERSATION_ID),
        message_id=_message(data, notes, shadow=shadow),
        engine=_engine(value_of(data, "engine"), engines, notes),
        query=_query(data, notes),
        top_k=result_count if top_k is None else top_k,
        result_count=result_count,
        latency_ms=milliseconds_of(value_of(data, "latency_ms"), notes),
        retrieved=hits,
        occurred_at=_occurred_at(data, received_at, notes),
        query_rewritten=_rewritten(data, notes),
        candidate_pool=pool,
        kb_version=label_of(value_of(data, "kb_version"), notes),
        degraded=flag_of(value_of(data, "degraded"), notes) or False,
        shadow=shadow,
        trace_id=label_of(value_of(data, "trace_id"), notes),
    )


def _search(data: _Properties, received_at: datetime, notes: Notes) -> SearchEvent:
    event_type = _event_type(value_of(data, "event_type"))
    is_search = event_type is SearchEventType.PERFORMED
    doc_id = id_of(value_of(data, "doc_id"), notes)
    if doc_id is None and not is_search:
        raise _unacceptable(Reason.DOC_ID, f"A {event_type} has no doc_id; name the document clicked or cited")
    has_query = is_search or value_of(data, "query") is not None
    return SearchEvent(
        id=_optional_key(data, Reason.ID) or _UNSET,
        tenant=_tenant(data),
        expert_id=_expert(value_of(data, "expert_id"), notes),
        conversation_id=_optional_key(data, Reason.CONVERSATION_ID),
        message_id=_optional_key(data, Reason.MESSAGE_ID),
        search_id=_key(data, Reason.SEARCH_ID),
        event_type=event_type,
        query=_query(data, notes) if has_query else None,
        doc_id=doc_id,
        chunk_id=id_of(value_of(data, "chunk_id"), notes),
        rank=_clicked_rank(value_of(data, "rank"), notes),
        result_count=whole_of(value_of(data, "result_count"), least=0, notes=notes),
        occurred_at=_occurred_at(data, received_at, notes),
    )


def _require_known_version(data: _Properties) -> None:
    given = value_of(data, "schema_version")
    version = SCHEMA_VERSION if given is None else whole_of(given, least=1, notes=set())
    if version is None:
        detail = f"schema_version is {_kind(given)} that is no version; send {SCHEMA_VERSION}, or leave it out"
        raise _unacceptable(Reason.SCHEMA_VERSION, detail)
    if version > SCHEMA_VERSION:
        detail = f"The job's schema_version is {version}, the newest known here {SCHEMA_VERSION}; update the worker"
        raise _unacceptable(Reason.SCHEMA_VERSION, detail)


def _is_search(data: _Properties) -> bool:
    """By `type`; without one, a job with an `event_type` is a step of a search."""
    kind = value_of(data, "type")
    if kind is None:
        return value_of(data, "event_type") is not None
    if kind not in ("retrieval", "search"):
        raise _unacceptable(Reason.TYPE, "The job's type is unknown; it is retrieval or search")
    return kind == "search"


def _event_type(value: object) -> SearchEventType:
    try:
        return SearchEventType(str(value))
    except ValueError:
        detail = f"event_type is missing or unknown; it is one of {', '.join(SearchEventType)}"
        raise _unacceptable(Reason.EVENT_TYPE, detail) from None


def _tenant(data: _Properties) -> Tenant:
    return Tenant(org_id=_key(data, Reason.ORG_ID), specialist_id=_key(data, Reason.SPECIALIST_ID))


def _key(data: _Properties, name: Reason) -> UUID:
    key = _optional_key(data, name)
    if key is None:
        raise _unacceptable(name, f"{name} is missing; send a UUID")
    return key


def _optional_key(data: _Properties, name: Reason) -> UUID | None:
    """None where it is missing, null or empty; a malformed one is a bug of the producer that must not go unseen."""
    value = value_of(data, name)
    if value is None or value == "":
        return None
    key = uuid_of(value)
    if key is None:
        raise _unacceptable(name, f"{name} is {_kind(value)} that is no UUID; send 32 hexadecimal digits with hyphens")
    return key


def _message(data: _Properties, notes: Notes, *, shadow: bool) -> UUID | None:
    """The draft that was served; a shadow run beside it would take the place of the one event a message may have."""
    message_id = _optional_key(data, Reason.MESSAGE_ID)
    if shadow and message_id is not None:
        notes.add(Note.SHADOW_MESSAGE_DROPPED)
        return None
    return message_id


def _expert(value: object, notes: Notes) -> UUID | None:
    expert_id = uuid_of(value)
    if expert_id is None and value is not None:
        notes.add(Note.TEXT_DROPPED)
    return expert_id


def _engine(value: object, engines: Collection[str], notes: Notes) -> str:
    named = value.strip() if isinstance(value, str) else ""
    if named in engines or named == OTHER_ENGINE:
        return named
    by_folded = {engine.casefold(): engine for engine in engines}
    if named.casefold() in by_folded:
        return by_folded[named.casefold()]
    notes.add(Note.ENGINE_UNKNOWN)
    return OTHER_ENGINE


def _query(data: _Properties, notes: Notes) -> str:
    value = value_of(data, "query")
    text = text_of(value)
    if text is None:
        raise _unacceptable(Reason.QUERY, f"query is {_kind(value)}; send the text that was searched for")
    query = query_of(text, notes, cut=Note.QUERY_CUT)
    if not query.strip():
        notes.add(Note.QUERY_EMPTY)
    return query


def _rewritten(data: _Properties, notes: Notes) -> str | None:
    value = value_of(data, "query_rewritten")
    text = text_of(value)
    if text is not None:
        return query_of(text, notes, cut=Note.TEXT_CUT)
    if value is not None:
        notes.add(Note.TEXT_DROPPED)
    return None


def _results(data: _Properties, notes: Notes) -> Sequence[object]:
    value = value_of(data, "retrieved")
    if value is None:
        notes.add(Note.RETRIEVED_MISSING)
        return ()
    if not isinstance(value, list):
        # Read as empty it would count as a retrieval that found nothing.
        raise _unacceptable(
            Reason.RETRIEVED, f"retrieved is {_kind(value)}; send a list, empty where nothing was found"
        )
    return value


def _result_count(data: _Properties, listed: int, notes: Notes) -> int:
    """What is listed; the sender's figure only tells how long a list was that he cut to 50 himself."""
    sent = whole_of(value_of(data, "result_count"), least=0, notes=notes)
    if sent is None or sent == listed:
        return min(listed, LARGEST_INT)
    if listed >= MAX_HITS and sent > listed:
        return sent
    notes.add(Note.RESULT_COUNT_CORRECTED)
    return listed


def _clicked_rank(value: object, notes: Notes) -> int | None:
    rank = whole_of(value, least=0, notes=notes)
    if rank == 0:
        notes.add(Note.RANKS_RENUMBERED)
        return 1
    return rank


def _occurred_at(data: _Properties, received_at: datetime, notes: Notes) -> datetime:
    value = value_of(data, "occurred_at")
    return instant_of(value_of(data, "created_at") if value is None else value, received_at=received_at, notes=notes)


def _with_derived_id(event: RetrievalEvent | SearchEvent, notes: Notes) -> RetrievalEvent | SearchEvent:
    notes.add(Note.ID_DERIVED)
    is_timed = not {Note.TIME_MISSING, Note.TIME_REPLACED} & notes
    return replace(event, id=derived_id(event, is_timed=is_timed))


def _unacceptable(reason: Reason, detail: str) -> Unacceptable:
    return Unacceptable(Rejected(reason, f"{detail}."))


def _kind(value: object) -> str:
    """What JSON calls a value, for a sentence that must not repeat it."""
    match value:
        case None:
            return "missing"
        case bool():
            return "a boolean"
        case int() | float():
            return "a number"
        case str():
            return "a text"
        case list():
            return "a list"
        case _:
            return "an object"
