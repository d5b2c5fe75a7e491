"""Keeping events: a batch in one transaction, each event once, and never one dropped in silence.

Belongs here: what becomes of an event that meets another of its id or its message. Does not: reading jobs, batching.

An event is known by its id, and a retrieval also by its message, of which the table holds one. Whatever meets another
is compared with it, the times and the latency aside: two dispatches of one draft may differ in those.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import compress
from typing import Any, LiteralString
from uuid import UUID

import msgspec
import psycopg

from kb_pipeline.adapters.postgres import failures
from kb_pipeline.adapters.postgres.connection import Connection, Database
from kb_pipeline.adapters.postgres.retrieval.queries import load
from kb_pipeline.errors import DatabaseError
from kb_pipeline.records.retrieval import RetrievalEvent, SearchEvent
from kb_pipeline.retrieval.queries import query_sha

Event = RetrievalEvent | SearchEvent
Row = dict[str, Any]

# Classes of SQLSTATE that blame the data of a row: data exception, constraint, program limit. Without a state it is
# the driver, which could not turn a value into a parameter.
_OF_DATA = frozenset({"22", "23", "54"})
_encode = msgspec.json.Encoder().encode


class Kept(StrEnum):
    """What became of one event."""

    WRITTEN = "written"
    DUPLICATE = "duplicate"
    """Kept already, under its id or its message, with the same content."""
    CONFLICT = "conflict"
    """A second, different event of its message; kept in kb_retrieval_event_conflict."""
    ID_TAKEN = "id_taken"
    """A different event is kept under its id; this one is not kept."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Stored:
    """What became of a batch, event by event in the order given."""

    kept: tuple[Kept, ...]

    @property
    def written(self) -> int:
        return self.kept.count(Kept.WRITTEN)

    @property
    def duplicates(self) -> int:
        return self.kept.count(Kept.DUPLICATE)

    @property
    def conflicts(self) -> int:
        return self.kept.count(Kept.CONFLICT)


class EventsRefused(DatabaseError):
    """The database refuses the data of at least one event of the batch; nothing of the batch was kept."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Table:
    """The statements of one kind of event."""

    save: LiteralString
    compare: LiteralString


_RETRIEVALS = _Table(save="save_retrieval_events", compare="compare_retrieval_events")
_SEARCHES = _Table(save="save_search_events", compare="compare_search_events")


class PostgresEventStore:
    """The two event tables and the conflicts; safe to call from several processes at once, and to repeat."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def check(self) -> None:
        """Raise DatabaseError where the tables are missing, or this user may not use them."""
        with self._database.connect() as connection:
            connection.execute(load("look_at_event_tables"))

    def save(self, events: Sequence[Event]) -> Stored:
        """Keep the events in one transaction.

        Raises EventsRefused where the data of one cannot be stored, and DatabaseError where the database cannot be
        used now; then nothing was kept.
        """
        kept: list[Kept] = [Kept.WRITTEN] * len(events)
        retrievals = [place for place, event in enumerate(events) if isinstance(event, RetrievalEvent)]
        searches = [place for place, event in enumerate(events) if isinstance(event, SearchEvent)]
        with self._database.connect() as connection:
            try:
                for table, places in ((_RETRIEVALS, retrievals), (_SEARCHES, searches)):
                    # Everybody takes the locks of the unique indexes in one order, or two writers wait for each other.
                    places.sort(key=lambda place: _place_in_queue(events[place]))
                    rows = [_row(events[place]) for place in places]
                    for place, verdict in zip(places, _saved(connection, table, rows), strict=True):
                        kept[place] = verdict
            except (psycopg.Error, UnicodeEncodeError) as error:
                if _is_of_data(error):
                    raise EventsRefused(_sentence(error)) from None
                raise
        return Stored(kept=tuple(kept))


def _saved(connection: Connection, table: _Table, rows: Sequence[Row]) -> list[Kept]:
    if not rows:
        return []
    is_new = _added(connection, table.save, rows)
    old = [row for row, new in zip(rows, is_new, strict=True) if not new]
    verdicts = iter(_compared(connection, table, old))
    return [Kept.WRITTEN if new else next(verdicts) for new in is_new]


def _added(connection: Connection, statement: LiteralString, rows: Sequence[Row]) -> list[bool]:
    """Whether each row was added; of two with one id the first."""
    added: set[UUID] = {row[0] for row in connection.execute(load(statement), _array(rows))}
    found = []
    for row in rows:
        found.append(row["id"] in added)
        added.discard(row["id"])
    return found


def _compared(connection: Connection, table: _Table, rows: Sequence[Row]) -> list[Kept]:
    if not rows:
        return []
    verdicts = [_verdict(*found) for found in connection.execute(load(table.compare), _array(rows))]
    conflicts = [verdict is Kept.CONFLICT for verdict in verdicts]
    kept = iter(_conflicting(connection, list(compress(rows, conflicts))))
    return [next(kept) if conflict else verdict for verdict, conflict in zip(verdicts, conflicts, strict=True)]


def _verdict(is_same: bool | None, is_of_same_message: bool) -> Kept:  # noqa: FBT001 a row of the comparison
    if is_same is None:
        raise DatabaseError("an event was deleted while a repetition of it arrived; nothing of this batch was kept")
    if is_same:
        return Kept.DUPLICATE
    return Kept.CONFLICT if is_of_same_message else Kept.ID_TAKEN


def _conflicting(connection: Connection, rows: Sequence[Row]) -> list[Kept]:
    if not rows:
        return []
    is_new = _added(connection, "save_conflicts", rows)
    same = connection.execute(load("compare_conflicts"), _array(rows)).fetchall()
    return [
        Kept.CONFLICT if new else Kept.DUPLICATE if is_same else Kept.ID_TAKEN
        for new, (is_same,) in zip(is_new, same, strict=True)
    ]


def _array(rows: Iterable[Row]) -> dict[str, str]:
    return {"events": _encode(list(rows)).decode()}


def _place_in_queue(event: Event) -> UUID:
    if isinstance(event, RetrievalEvent) and event.message_id is not None:
        return event.message_id
    return event.id


def _row(event: Event) -> Row:
    shared = {
        "id": event.id,
        "org_id": event.tenant.org_id,
        "specialist_id": event.tenant.specialist_id,
        "conversation_id": event.conversation_id,
        "message_id": event.message_id,
        "query": event.query,
        "query_sha": None if event.query is None else query_sha(event.query),
        "result_count": event.result_count,
        "occurred_at": event.occurred_at,
    }
    return shared | (_of_retrieval(event) if isinstance(event, RetrievalEvent) else _of_search(event))


def _of_retrieval(event: RetrievalEvent) -> Row:
    return {
        "engine": event.engine,
        "top_k": event.top_k,
        "latency_ms": event.latency_ms,
        "retrieved": event.retrieved,
        "query_rewritten": event.query_rewritten,
        "candidate_pool": event.candidate_pool,
        "kb_version": event.kb_version,
        "degraded": event.degraded,
        "shadow": event.shadow,
        "trace_id": event.trace_id,
    }


def _of_search(event: SearchEvent) -> Row:
    return {
        "expert_id": event.expert_id,
        "search_id": event.search_id,
        "event_type": event.event_type,
        "doc_id": event.doc_id,
        "chunk_id": event.chunk_id,
        "rank": event.rank,
    }


def _is_of_data(error: psycopg.Error | UnicodeEncodeError) -> bool:
    if isinstance(error, UnicodeEncodeError):
        return True
    return error.sqlstate[:2] in _OF_DATA if error.sqlstate else isinstance(error, psycopg.DataError)


def _sentence(error: psycopg.Error | UnicodeEncodeError) -> str:
    found = "cannot store lone surrogates" if isinstance(error, UnicodeEncodeError) else failures.complaint(error)
    return f"the database {found}; the event was not kept"
