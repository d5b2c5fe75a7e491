"""What a database error says to the user: one sentence with a remedy, and never a value of a row.

Belongs here: driver errors → DatabaseError. Does not: connections, retries, errors of other services.

A server repeats row values in DETAIL (constraints) and in the message itself (data exceptions), so only messages of
kinds that speak of names and states are passed on; of all others the sentence has the kind and the names alone.
"""

import psycopg
from psycopg import errors

from kb_pipeline.errors import DatabaseAway, DatabaseError, DatabaseSlow, DatabaseUnprepared, DatabaseUnwritable

LONGEST_REASON = 300
# Classes of SQLSTATE whose primary message names objects, settings and states, never values of rows.
SPEAKING_CLASSES = frozenset({"08", "0A", "0L", "25", "28", "2B", "3D", "3F", "40", "42", "53", "54", "55", "57", "58"})
MISSING_OBJECT = (errors.UndefinedTable, errors.UndefinedColumn, errors.UndefinedFunction, errors.InvalidSchemaName)
AGAIN = "run the command again: what was finished is kept, the rest starts anew"

_REMEDIES: tuple[tuple[tuple[type[psycopg.Error], ...], str], ...] = (
    (
        (errors.InsufficientPrivilege,),
        "grant the role what sql/roles.sql names (kb-pipeline migrate applies it where it may create roles)",
    ),
    ((errors.ReadOnlySqlTransaction,), "point database.url at the primary server, with write access"),
    ((errors.QueryCanceled,), "raise statement_timeout for this user, or take a smaller window"),
    ((errors.DiskFull,), "free disk space on the database server, then run the command again"),
    ((errors.TooManyConnections,), "raise max_connections of the server, or run fewer processes"),
    ((errors.SerializationFailure, errors.DeadlockDetected, errors.LockNotAvailable), AGAIN),
    ((errors.AdminShutdown, errors.CrashShutdown, errors.CannotConnectNow), AGAIN),
)


_KINDS: tuple[tuple[type[DatabaseError], tuple[type[psycopg.Error], ...]], ...] = (
    (DatabaseUnprepared, (*MISSING_OBJECT, errors.InsufficientPrivilege)),
    (DatabaseUnwritable, (errors.ReadOnlySqlTransaction, errors.DiskFull)),
    (DatabaseSlow, (errors.QueryCanceled,)),
    (DatabaseAway, (errors.AdminShutdown, errors.CrashShutdown, errors.CannotConnectNow, errors.TooManyConnections)),
)


def unreachable(address: str, error: BaseException | None) -> DatabaseError:
    """The sentence for a connection that could not be made."""
    reason = _reason(error)
    return DatabaseAway(f"the database at {address} cannot be used: {reason}; check database.url and the server")


def refused(address: str, error: psycopg.Error) -> DatabaseError:
    """The sentence for a statement that failed, or for a connection lost on the way."""
    return _kind(error)(f"the database at {address} {complaint(error)}; {remedy(error)}")


def all_busy(address: str, connections: int) -> DatabaseError:
    """The sentence for a pool that had no connection to give in time."""
    return DatabaseAway(f"the database at {address} is busy: all {connections} connections are in use; ask again later")


def paused(address: str, left_s: float) -> DatabaseError:
    """The sentence for a database that did not answer a moment ago, and is not asked again yet."""
    return DatabaseAway(
        f"the database at {address} did not answer a moment ago; it is asked again in {max(left_s, 0):.0f} seconds"
    )


def role_refused(address: str, role: str, error: psycopg.Error) -> DatabaseError:
    """The sentence for a role that a session could not take."""
    return DatabaseUnprepared(
        f"the database at {address} does not let this user take the role {role}: {_reason(error)}; run kb-pipeline "
        f"migrate where it may create roles, or let an administrator run sql/roles.sql and GRANT {role} to this user"
    )


def complaint(error: psycopg.Error) -> str:
    """What the server says, as the rest of a sentence that begins with "the database"."""
    state = error.sqlstate
    if state is None:
        lost = isinstance(error, psycopg.OperationalError)
        return f"was lost: {_reason(error)}" if lost else f"could not be asked ({type(error).__name__})"
    if state[:2] in SPEAKING_CLASSES:
        return f"refuses: {error.diag.message_primary}"
    names = (("table", error.diag.table_name), ("column", error.diag.column_name), ("rule", error.diag.constraint_name))
    where = ", ".join(f"{kind} {name}" for kind, name in names if name)
    return f"refuses a statement: {type(error).__name__} (SQLSTATE {state}){f', {where}' if where else ''}"


def remedy(error: psycopg.Error) -> str:
    """What to do about it, as the second half of a sentence."""
    if isinstance(error, MISSING_OBJECT):
        return _remedy_of_missing(error)
    for kinds, remedy in _REMEDIES:
        if isinstance(error, kinds):
            return remedy
    if isinstance(error, psycopg.OperationalError):
        return AGAIN
    return "nothing of this batch was kept; kb-pipeline check tells whether tables and views are as they should be"


def _kind(error: psycopg.Error) -> type[DatabaseError]:
    if isinstance(error, psycopg.OperationalError) and error.sqlstate is None:
        return DatabaseAway
    return next((kind for kind, errors_of in _KINDS if isinstance(error, errors_of)), DatabaseError)


def _remedy_of_missing(error: psycopg.Error) -> str:
    if "kb_source" in (error.diag.message_primary or ""):
        return "map your tables in sql/source_views.sql, then run kb-pipeline check"
    return "run kb-pipeline migrate, then kb-pipeline check"


def _reason(error: BaseException | None) -> str:
    lines = [line.strip() for line in str(error or "").splitlines() if line.strip()]
    return "; ".join(lines)[:LONGEST_REASON] or "no reason given"
