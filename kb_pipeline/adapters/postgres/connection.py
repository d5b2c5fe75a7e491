"""One way to our database: SQLAlchemy pools, psycopg does the work.

Belongs here: the pool, the state every session starts in. Does not: queries, the wording of errors.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, cast

import psycopg
from sqlalchemy import URL, Engine, create_engine, event
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError, SQLAlchemyError
from sqlalchemy.exc import TimeoutError as PoolIsEmpty
from sqlalchemy.pool import PoolProxiedConnection

from kb_pipeline.adapters.postgres import failures, queries
from kb_pipeline.adapters.postgres.bounds import Bounds, BreakerOpen, ImpatientConnection
from kb_pipeline.errors import DatabaseError

DRIVER = "postgresql+psycopg"
CONNECT_SECONDS = 10
POOL_SECONDS = 30
POOLED, OVERFLOW = 4, 8
ROLE_REFUSED = (psycopg.errors.InvalidParameterValue, psycopg.errors.InsufficientPrivilege)
Connection = psycopg.Connection[tuple[Any, ...]]


class Database:
    """A pool of psycopg connections that all carry one application_name and, if given, one role.

    Every session speaks UTC and finds our tables in schema public, whatever the user's own defaults are.
    Raises DatabaseError when the URL cannot be used, the server does not answer or refuses a statement. With `bounds`
    it raises DatabaseAway soon for a server that says nothing, and at once for a while after that.
    """

    def __init__(
        self,
        url: str,
        *,
        application_name: str = "kb_pipeline",
        role: str | None = None,
        bounds: Bounds | None = None,
    ) -> None:
        self.url = _checked(url)
        self.application_name = application_name
        self.role = role
        self.bounds = bounds
        arguments: dict[str, Any] = {"application_name": application_name}
        if "connect_timeout" not in self.url.query:
            arguments["connect_timeout"] = bounds.connect_s if bounds else CONNECT_SECONDS
        self.engine: Engine = create_engine(
            self.url,
            pool_size=POOLED,
            max_overflow=OVERFLOW,
            pool_timeout=bounds.pool_s if bounds else POOL_SECONDS,
            pool_pre_ping=True,
            connect_args=arguments,
        )
        if bounds:
            event.listen(
                self.engine,
                "do_connect",
                lambda _, __, words, named: ImpatientConnection.within(bounds, *words, **named),
            )
        event.listen(self.engine, "connect", self._start_session)

    @contextmanager
    def connect(self) -> Iterator[Connection]:
        """A connection in a transaction: committed at the end of the block, rolled back when it raises.

        An error of the driver leaves the block as DatabaseError, without any value of a row.
        """
        pooled = self._checked_out()
        connection = cast(Connection, pooled.driver_connection)
        try:
            yield connection
            connection.commit()
        except BaseException as error:
            _undo(pooled, connection)
            if isinstance(error, psycopg.Error):
                raise failures.refused(self.address, error) from None
            raise
        finally:
            if isinstance(connection, ImpatientConnection):
                connection.be_greeted()
            pooled.close()

    @contextmanager
    def session(self) -> Iterator[Connection]:
        """A connection outside the pool, without transactions, closed at the end of the block with all it holds."""
        pooled = self._checked_out()
        connection = cast(Connection, pooled.driver_connection)
        pooled.detach()
        try:
            connection.autocommit = True
            yield connection
        except psycopg.Error as error:
            raise failures.refused(self.address, error) from None
        finally:
            connection.close()

    @property
    def address(self) -> str:
        """Host and database, without user and password."""
        return f"{self.url.host or self.url.query.get('host', 'localhost')}/{self.url.database}"

    def dispose(self) -> None:
        """Close every pooled connection."""
        self.engine.dispose()

    def _checked_out(self) -> PoolProxiedConnection:
        try:
            pooled = self.engine.raw_connection()
        except PoolIsEmpty:
            raise failures.all_busy(self.address, POOLED + OVERFLOW) from None
        except BreakerOpen as pause:
            raise failures.paused(self.address, pause.left_s) from None
        except SQLAlchemyError as error:
            raise failures.unreachable(self.address, getattr(error, "orig", None) or error) from None
        except psycopg.Error as error:
            raise failures.unreachable(self.address, error) from None
        if isinstance(pooled.driver_connection, ImpatientConnection):
            pooled.driver_connection.be_worked_with()
        return pooled

    def _start_session(self, connection: Connection, _record: object) -> None:
        timeout = f"{self.bounds.statement_s:g}s" if self.bounds else None
        try:
            connection.execute(queries.load("start_session"), {"role": self.role, "statement_timeout": timeout})
            connection.commit()
        except psycopg.Error as error:
            connection.close()
            if self.role and isinstance(error, ROLE_REFUSED):
                raise failures.role_refused(self.address, self.role, error) from None
            raise


def _undo(pooled: PoolProxiedConnection, connection: Connection) -> None:
    # The first error is the one to tell; a session that is lost, or in an unknown state, must not return to the pool,
    # which would log a traceback over it.
    if connection.closed:
        pooled.invalidate()
        return
    try:
        connection.rollback()
    except psycopg.Error:
        pooled.invalidate()


def _checked(url: str) -> URL:
    try:
        parsed = make_url(url)
    except ArgumentError:
        raise DatabaseError(f"database.url is not a database URL; write {DRIVER}://user@host:5432/name") from None
    if parsed.get_backend_name() != "postgresql":
        raise DatabaseError(
            f"database.url names {parsed.get_backend_name()!r}; only PostgreSQL 14 to 18 is supported: "
            f"write {DRIVER}://user@host:5432/name"
        )
    return parsed.set(drivername=DRIVER)
