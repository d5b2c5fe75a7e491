"""Whether schema kb_source is mapped as kb_pipeline reads it, and how to mend what is not.

Belongs here: names and types of the views' columns. Does not: what is in the rows, checks of our own tables.
"""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

import psycopg
from psycopg import sql

from kb_pipeline.adapters.postgres import failures, queries
from kb_pipeline.adapters.postgres.connection import Connection, Database
from kb_pipeline.counting import counted

SCHEMA = "kb_source"
MAPPING = "sql/source_views.sql"


@dataclass(frozen=True, kw_only=True, slots=True)
class Finding:
    """One verified point: `message` says how it stands; `remedy`, empty when it is ok, what to do."""

    name: str
    ok: bool
    message: str
    remedy: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class SourceView:
    """A view that operators map. `without` says what does without it; `graded` ones are required where turns are."""

    name: str
    columns: Mapping[str, str]
    without: str
    graded: bool = False


# Types as PostgreSQL names them; those of ACCEPTED serve as well as the one they stand under.
TEXT, INTEGER, UUID, BYTES, TIME, TEXTS = "text", "integer", "uuid", "bytea", "timestamp with time zone", "text[]"
ACCEPTED = {
    TEXT: {"character varying"},
    INTEGER: {"smallint", "bigint"},
    TEXTS: {"character varying[]"},
}
CONVERSIONS = {
    (TIME, "timestamp without time zone"): "{column} AT TIME ZONE 'UTC'",
    (TIME, "bigint"): "to_timestamp({column} / 1000.0)",
    (BYTES, TEXT): "convert_to({column}, 'UTF8')",
    (BYTES, "jsonb"): "convert_to({column}::text, 'UTF8')",
    (BYTES, "json"): "convert_to({column}::text, 'UTF8')",
    (TEXTS, "jsonb"): "ARRAY(SELECT jsonb_array_elements_text({column}))",
    (TEXTS, "json"): "ARRAY(SELECT json_array_elements_text({column}))",
}
NOTES = {
    (TIME, "timestamp without time zone"): ", with the zone that it is kept in",
    (TIME, "bigint"): " if it counts milliseconds, without the division if it counts seconds",
}

SOURCE_VIEWS = (
    SourceView(
        name="ai_call",
        columns={
            "event_id": TEXT, "trace_id": TEXT, "ts": TIME, "surface": TEXT, "tenant": TEXT, "operation": TEXT,
            "engine": TEXT, "model": TEXT, "http_status": INTEGER,
        },
        without="grading, which is dormant, cannot be switched on; retrieval does without it",
        graded=True,
    ),
    SourceView(
        name="ai_call_body",
        columns={
            "event_id": TEXT, "request_body": BYTES, "response_body": BYTES, "prev_hash": BYTES, "body_hash": BYTES,
        },
        without="grading, which is dormant, cannot be switched on; retrieval does without it",
        graded=True,
    ),
    SourceView(
        name="audit_log",
        columns={
            "event_type": TEXT, "message_id": UUID, "conversation_id": UUID, "trace_id": TEXT, "query_hash": TEXT,
            "doc_ids": TEXTS, "created_at": TIME,
        },
        without="the completeness check of retrieval_events does without it",
    ),
    SourceView(
        name="message",
        columns={
            "message_id": UUID, "conversation_id": UUID, "org_id": UUID, "specialist_id": UUID, "role": TEXT,
            "content": TEXT, "trace_id": TEXT, "created_at": TIME,
        },
        without="draft_outcomes, ground_truth, retrieval_gaps and the experts' part of judge_calibration stay empty",
    ),
    SourceView(
        name="expert_queue_item",
        columns={
            "message_id": UUID, "status": TEXT, "rejection_reason": TEXT, "opened_at": TIME, "decided_at": TIME,
            "updated_at": TIME,
        },
        without="draft_outcomes knows no decision, so ground_truth and retrieval_gaps stay empty",
    ),
    SourceView(
        name="correction",
        columns={
            "correction_id": UUID, "message_id": UUID, "expert_id": UUID, "original_text": TEXT, "corrected_text": TEXT,
            "created_at": TIME,
        },
        without="draft_outcomes knows no edits, and retrieval_gaps stays empty",
    ),
    SourceView(
        name="kb_chunk",
        columns={
            "org_id": UUID, "specialist_id": UUID, "doc_id": TEXT, "chunk_id": TEXT, "title": TEXT, "text": TEXT,
            "valid_from": TIME, "valid_to": TIME, "source_correction_id": UUID,
        },
        without="ground_truth has no labels from support scores, and retrieval_gaps stays empty",
    ),
)  # fmt: skip

GRADED_VIEWS = tuple(view.name for view in SOURCE_VIEWS if view.graded)
"""The views that turns are read from."""


def check_source_views(database: Database, *, grading: bool = True) -> list[Finding]:
    """One finding per view of SOURCE_VIEWS, in their order; raises DatabaseError when the server is away.

    Without `grading` no view is required.
    """
    with database.connect() as connection:
        found = _columns(connection)
        return [_check(connection, view, found.get(view.name), grading=grading) for view in SOURCE_VIEWS]


def _columns(connection: Connection) -> dict[str, dict[str, str]]:
    columns: dict[str, dict[str, str]] = defaultdict(dict)
    for view, column, kind in connection.execute(queries.load("source_columns")):
        columns[view][column] = kind
    return columns


def _check(connection: Connection, view: SourceView, found: Mapping[str, str] | None, *, grading: bool) -> Finding:
    name = f"{SCHEMA}.{view.name}"
    if found is None:
        return _absent(view, name, is_required=grading and view.graded)
    faults = _faults(view, found)
    if faults:
        message = "; ".join(complaint for complaint, _ in faults)
        remedies = "; ".join(remedy for _, remedy in faults)
        return Finding(name=name, ok=False, message=message, remedy=f"in {MAPPING}: {remedies}")
    refusal = _refusal(connection, view)
    if refusal is not None:
        message = f"cannot be read: the database {refusal}"
        return Finding(name=name, ok=False, message=message, remedy=_how_to_grant(name))
    return Finding(name=name, ok=True, message=f"is there, with its {counted(len(view.columns), 'column')}")


def _absent(view: SourceView, name: str, *, is_required: bool) -> Finding:
    if not is_required:
        return Finding(name=name, ok=True, message=f"is not mapped: {view.without}")
    remedy = f"map your table to it in {MAPPING}, with the columns {', '.join(view.columns)}"
    return Finding(name=name, ok=False, message="is missing", remedy=remedy)


def _faults(view: SourceView, found: Mapping[str, str]) -> list[tuple[str, str]]:
    """What is wrong and how to mend it, per column; more columns, and any order of them, are harmless."""
    faults = []
    for column, wanted in view.columns.items():
        kind = found.get(column)
        if kind is None:
            faults.append((f"lacks column {column}", f"add it, or NULL::{wanted} AS {column} where you have none"))
        elif kind != wanted and kind not in ACCEPTED.get(wanted, ()):
            mended = CONVERSIONS.get((wanted, kind), f"{{column}}::{wanted}").format(column=column)
            remedy = f"write {mended} AS {column}{NOTES.get((wanted, kind), '')}"
            faults.append((f"column {column} is {kind}, not {wanted}", remedy))
    return faults


def _refusal(connection: Connection, view: SourceView) -> str | None:
    probe = sql.SQL(queries.load("probe_source_view")).format(view=sql.Identifier(SCHEMA, view.name))
    try:
        with connection.transaction():
            connection.execute(probe)
    except psycopg.Error as error:
        return failures.complaint(error)
    return None


def _how_to_grant(name: str) -> str:
    return (
        f"grant this user kb_source_reader (sql/roles.sql), and see that the owner of {name} may SELECT from the "
        "tables below it"
    )
