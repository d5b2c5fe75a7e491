"""Connections of our pool, lent to a library that wants to open its own.

Belongs here: lending, one snapshot for all, what the driver said. Does not: Great Expectations.
"""

from datetime import datetime
from types import TracebackType
from typing import Any, Self, cast

import psycopg
from psycopg import sql
from sqlalchemy import Connection as EngineConnection
from sqlalchemy import Engine, event
from sqlalchemy.engine import ExceptionContext
from sqlalchemy.exc import SQLAlchemyError

from kb_pipeline.adapters.expectations.counting import UNREADABLE
from kb_pipeline.adapters.expectations.subject import Subject
from kb_pipeline.adapters.postgres import failures, queries
from kb_pipeline.adapters.postgres.connection import Connection, Database
from kb_pipeline.errors import DatabaseError
from kb_pipeline.windows import Window


def _rows_query(subject: Subject, start: datetime, end: datetime) -> str:
    parameters = {**subject.constants, "window_start": start, "window_end": end}
    literals = {name: sql.Literal(value) for name, value in parameters.items()}
    return sql.SQL(subject.load(subject.rows)).format(**literals).as_string(None)


class LentConnections:
    """Connections for the engine of a borrower that keeps the driver's errors to itself; a context manager.

    They carry our pool's user, role and session state, so the borrower never sees an address or a password. At the end
    they are closed, and DatabaseError is raised for the first error that says nothing of the table's own columns;
    `unreadable` has the first that does.
    """

    def __init__(self, database: Database, subject: Subject, window: Window, snapshot: str) -> None:
        self.rows = _rows_query(subject, window.start, window.end)
        self.unreadable: psycopg.Error | None = None
        self._no_rows = _rows_query(subject, window.start, window.start)
        self._join = sql.SQL(queries.load("expect_join_snapshot")).format(snapshot=sql.Literal(snapshot))
        self._database = database
        self._lent: list[Connection] = []
        self._refusal: DatabaseError | None = None

    def lend(self) -> Connection:
        """One connection, no longer the pool's to count or to take back."""
        try:
            pooled = self._database.engine.raw_connection()
        except (SQLAlchemyError, psycopg.Error) as error:
            cause = getattr(error, "orig", None) or error
            self._refusal = failures.unreachable(self._database.address, cause)
            raise
        connection = cast(Connection, pooled.driver_connection)
        pooled.detach()
        self._lent.append(connection)
        return connection

    def attend(self, engine: Engine) -> None:
        """Have the borrower's engine read our snapshot, probe for columns cheaply, and tell of its errors."""
        event.listen(engine, "begin", self._join_snapshot)
        event.listen(engine, "before_cursor_execute", self._spare_rows, retval=True)
        event.listen(engine, "handle_error", self._hear)

    def refuse(self, error: psycopg.Error) -> None:
        """Have the error raised at the end, unless an earlier one is."""
        self._refusal = self._refusal or failures.refused(self._database.address, error)

    def _join_snapshot(self, connection: EngineConnection) -> None:
        try:
            cast(Connection, connection.connection.driver_connection).execute(self._join)
        except psycopg.Error as error:
            self.refuse(error)
            raise

    def _spare_rows(self, _connection: object, _cursor: object, statement: str, parameters: Any, *_: object) -> Any:
        # To learn the columns of a query, Great Expectations runs it and throws all its rows away, a dozen times.
        return (self._no_rows if statement == self.rows else statement), parameters

    def _hear(self, context: ExceptionContext) -> None:
        error = context.original_exception
        if isinstance(error, UNREADABLE):
            self.unreadable = self.unreadable or error
        elif isinstance(error, psycopg.Error):
            self.refuse(error)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for connection in self._lent:
            connection.close()
        if self._refusal is not None and (error is None or isinstance(error, Exception)):
            raise self._refusal from None
