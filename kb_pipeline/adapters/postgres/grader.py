"""The grader as the database sees it: an application_name and a role of its own.

Belongs here: who reads stored bodies. Does not: what the role may do (sql/roles.sql).
"""

from collections.abc import Iterator
from contextlib import contextmanager

from kb_pipeline.adapters.postgres.bounds import Bounds
from kb_pipeline.adapters.postgres.connection import Database
from kb_pipeline.adapters.postgres.queries import load

ACTOR = "kb_pipeline_grader"
ROLE = "kb_grader"


@contextmanager
def grader_database(url: str, *, bounds: Bounds | None = None) -> Iterator[Database]:
    """The database under the role kb_grader where the user may take it, else under the user's own rights.

    Raises DatabaseError when it does not answer. Its connections are closed at the end of the block.
    """
    database = Database(url, application_name=ACTOR, bounds=bounds)
    if _may_act(database):
        database.dispose()
        database = Database(url, application_name=ACTOR, role=ROLE, bounds=bounds)
    try:
        yield database
    finally:
        database.dispose()


def _may_act(database: Database) -> bool:
    with database.connect() as connection:
        row = connection.execute(load("may_act_as_grader")).fetchone()
    return bool(row and row[0])
