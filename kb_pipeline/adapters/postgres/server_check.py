"""Whether the database can be worked with: its version, encoding, migrations and our rights in it.

Belongs here: facts of the server and of our schema. Does not: the operator's views (source_check).
"""

from kb_pipeline.adapters.postgres import queries
from kb_pipeline.adapters.postgres.connection import Connection, Database
from kb_pipeline.adapters.postgres.migrations import current_revision, pending
from kb_pipeline.adapters.postgres.source_check import Finding
from kb_pipeline.errors import DatabaseError

OLDEST, NEWEST = 14, 18
NAMED = 4


def check_server(database: Database) -> list[Finding]:
    """One finding per point; the first alone when the server does not answer."""
    try:
        with database.connect() as connection:
            findings = _facts(connection) + _foreign_tables(connection)
    except DatabaseError as error:
        return [_answer(str(error))]
    migrations = _migrations(database)
    findings.append(migrations)
    if migrations.ok:
        with database.connect() as connection:
            findings.append(_privileges(connection))
    return findings


def _facts(connection: Connection) -> list[Finding]:
    row = connection.execute(queries.load("server_facts")).fetchone()
    major, version, encoding, read_only = row or (0, "unknown", "unknown", True)
    return [_version(major, version), _encoding(encoding), _write_access(read_only=read_only)]


def _answer(sentence: str) -> Finding:
    message, _, remedy = sentence.rpartition("; ")
    return Finding(name="database", ok=False, message=message, remedy=remedy)


def _version(major: int, version: str) -> Finding:
    if OLDEST <= major <= NEWEST:
        return Finding(name="database", ok=True, message=f"answers, PostgreSQL {version}")
    return Finding(
        name="database",
        ok=False,
        message=f"answers, but PostgreSQL {version} is not supported: {OLDEST} to {NEWEST} are",
        remedy="upgrade the server" if major < OLDEST else "upgrade kb_pipeline, or use an older server",
    )


def _encoding(encoding: str) -> Finding:
    if encoding == "UTF8":
        return Finding(name="encoding", ok=True, message="the database stores UTF-8")
    return Finding(
        name="encoding",
        ok=False,
        message=f"the database stores {encoding}, which does not hold every character of a turn",
        remedy="create a database with ENCODING 'UTF8' TEMPLATE template0 and move to it",
    )


def _write_access(*, read_only: bool) -> Finding:
    if not read_only:
        return Finding(name="write access", ok=True, message="the server takes writes")
    return Finding(
        name="write access",
        ok=False,
        message="the server takes no writes from this user: it is a standby, or transactions are read-only by default",
        remedy="point database.url at the primary server, or set default_transaction_read_only = off for this user",
    )


def _migrations(database: Database) -> Finding:
    try:
        missing, current = pending(database), current_revision(database)
    except DatabaseError as error:
        message, _, remedy = str(error).rpartition("; ")
        return Finding(name="migrations", ok=False, message=message, remedy=remedy)
    if not missing:
        return Finding(name="migrations", ok=True, message=f"up to date, at revision {current}")
    return Finding(
        name="migrations",
        ok=False,
        message=f"at revision {current or 'none'}; still to be applied: {', '.join(missing)}",
        remedy="run kb-pipeline migrate",
    )


def _foreign_tables(connection: Connection) -> list[Finding]:
    row = connection.execute(queries.load("dagster_tables")).fetchone()
    if not row or not row[0]:
        return []
    finding = Finding(
        name="dagster storage",
        ok=False,
        message="Dagster keeps its own storage in this database, beside the text of turns",
        remedy="create a database of its own, and name it in KB_PIPELINE_DAGSTER_URL",
    )
    return [finding]


def _privileges(connection: Connection) -> Finding:
    missing = [row[0] for row in connection.execute(queries.load("missing_privileges"))]
    if not missing:
        return Finding(name="privileges", ok=True, message="this user may read and write what it needs")
    shown = ", ".join(missing[:NAMED]) + (f" and {len(missing) - NAMED} more" if len(missing) > NAMED else "")
    return Finding(
        name="privileges",
        ok=False,
        message=f"this user lacks {shown}",
        remedy="grant it kb_grader (sql/roles.sql), which kb-pipeline migrate makes where it may create roles",
    )
