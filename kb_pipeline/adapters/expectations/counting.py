"""Offending rows counted by SQL of our own: Great Expectations' BOOLEAN_ONLY says which rule broke, never how often.

Belongs here: counts, the instant they are of. Does not: verdicts.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, LiteralString

import psycopg
from psycopg.rows import dict_row

from kb_pipeline.adapters.expectations.subject import Subject
from kb_pipeline.adapters.postgres import queries
from kb_pipeline.adapters.postgres.connection import Connection, Database
from kb_pipeline.windows import Window

# What the server says of a statement whose columns are gone or have another type.
UNREADABLE = (
    psycopg.errors.UndefinedColumn,
    psycopg.errors.UndefinedFunction,
    psycopg.errors.DatatypeMismatch,
    psycopg.errors.InvalidTextRepresentation,
)


@contextmanager
def snapshot(database: Database) -> Iterator[tuple[Connection, str]]:
    """A reading transaction, and the name under which others see the database as of the same instant."""
    with database.connect() as connection:
        connection.execute(queries.load("expect_set_reading"))
        row = connection.execute(queries.load("expect_take_snapshot")).fetchone()
        assert row is not None  # noqa: S101 - a SELECT without FROM
        yield connection, row[0]


def count(connection: Connection, subject: Subject, window: Window) -> dict[str, dict[str, int]]:
    """The counts of each check; empty for rows that cannot be read as those of the table."""
    parameters = {**subject.constants, "window_start": window.start, "window_end": window.end}
    counts = {check: _row(connection, subject.load(name), parameters) for check, name in subject.counts.items()}
    names, types = list(subject.columns), list(subject.columns.values())
    wanted = {"table": subject.table, "names": names, "types": types}
    columns = _row(connection, queries.load("expect_count_columns"), wanted)
    return counts | {subject.schema: columns | counts[subject.schema]}


def _row(connection: Connection, statement: LiteralString, parameters: dict[str, Any]) -> dict[str, int]:
    try:
        with connection.transaction(), connection.cursor(row_factory=dict_row) as cursor:
            return cursor.execute(statement, parameters).fetchone() or {}
    except UNREADABLE:
        return {}
