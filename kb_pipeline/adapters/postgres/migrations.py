"""Bringing a database up to date: the SQL files of sql/migrations in order, all of them or none.

Belongs here: migrations, roles, the turn to a hypertable. Does not: checking a database (server_check, source_check).
Migrations only go forward; a database is taken back by restoring its backup.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import cast

import psycopg
import sqlalchemy
from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from alembic.script.revision import RevisionError
from alembic.util import CommandError
from sqlalchemy.exc import SQLAlchemyError

from kb_pipeline.adapters.postgres import failures, queries
from kb_pipeline.adapters.postgres.connection import Connection, Database
from kb_pipeline.adapters.postgres.sql_files import read_sql, sql_folder
from kb_pipeline.errors import DatabaseError

VERSION_TABLE = "kb_alembic_version"
ROLES = ("kb_source_reader", "kb_writer", "kb_grader", "kb_recorder", "kb_api_reader", "kb_auditor")


def migrate(database: Database, *, timescale: bool = False) -> list[str]:
    """Apply every pending migration in one transaction; with `timescale`, also turn rag_quality into a hypertable.

    Returns the revisions applied, oldest first. Processes that migrate together take turns, and all but the first find
    nothing to do. Raises DatabaseError, and then nothing was changed.
    """
    with _transaction(database) as connection:
        driver(connection).execute(queries.load("lock_migrations"))
        revisions = _pending(connection)
        if revisions:
            command.upgrade(_config(connection), "head")
        if timescale:
            _make_hypertable(driver(connection))
    return revisions


def current_revision(database: Database) -> str | None:
    """The newest revision applied; None for a database that was never migrated."""
    with _transaction(database) as connection:
        return _current(connection)


def pending(database: Database) -> list[str]:
    """The revisions still to be applied, oldest first; raises DatabaseError when the database is newer than us."""
    with _transaction(database) as connection:
        return _pending(connection)


def apply_roles(database: Database) -> bool:
    """Make the roles of sql/roles.sql and give them exactly the rights named there.

    False, and nothing is changed, where roles are missing and this user may not create any.
    """
    with database.connect() as connection:
        connection.execute(queries.load("lock_migrations"))
        allowed = connection.execute(queries.load("may_apply_roles"), {"roles": list(ROLES)}).fetchone()
        if allowed != (True,):
            return False
        connection.execute(read_sql("roles.sql"))
    return True


def run_sql(connection: sqlalchemy.Connection, name: str) -> None:
    """Run a file of sql/migrations as it stands, on behalf of a revision."""
    try:
        driver(connection).execute(read_sql(f"migrations/{name}"))
    except psycopg.Error as error:
        raise DatabaseError(
            f"the migration {name} failed: the database {failures.complaint(error)}; nothing was changed: "
            f"{failures.remedy(error)}"
        ) from None


def driver(connection: sqlalchemy.Connection) -> Connection:
    """The psycopg connection below a SQLAlchemy one, in the same transaction."""
    return cast(Connection, connection.connection.driver_connection)


@contextmanager
def _transaction(database: Database) -> Iterator[sqlalchemy.Connection]:
    try:
        with database.engine.begin() as connection:
            yield connection
    except psycopg.Error as error:
        raise failures.refused(database.address, error) from None
    except SQLAlchemyError as error:
        raise failures.unreachable(database.address, getattr(error, "orig", None) or error) from None


def _config(connection: sqlalchemy.Connection | None = None) -> Config:
    config = Config()
    # A percent sign in the path would be taken for an interpolation.
    config.set_main_option("script_location", str(sql_folder() / "migrations").replace("%", "%%"))
    config.attributes["connection"] = connection
    return config


def _current(connection: sqlalchemy.Connection) -> str | None:
    return MigrationContext.configure(connection, opts={"version_table": VERSION_TABLE}).get_current_revision()


def _pending(connection: sqlalchemy.Connection) -> list[str]:
    current = _current(connection)
    try:
        script = ScriptDirectory.from_config(_config())
        return [step.revision for step in script.iterate_revisions("head", current or "base")][::-1]
    except (CommandError, RevisionError):
        raise DatabaseError(
            f"the database is at revision {current}, which this version of kb_pipeline does not know; install the "
            "version that migrated it, or a newer one"
        ) from None


def _make_hypertable(connection: Connection) -> None:
    available = connection.execute(queries.load("timescale_available")).fetchone()
    if available != (True,):
        raise DatabaseError(
            "this PostgreSQL server has no TimescaleDB extension; install it on the server, or run kb-pipeline migrate "
            "without --timescale: rag_quality is then partitioned by month, which serves as well"
        )
    connection.execute(read_sql("timescale.sql"))
