"""A database under one of our roles, where the configured user may take it.

Belongs here: choosing the role. Does not: what a role may do (sql/roles.sql).
"""

from kb_pipeline.adapters.postgres.bounds import Bounds
from kb_pipeline.adapters.postgres.connection import Database
from kb_pipeline.adapters.postgres.dashboard.queries import load

READER, AUDITOR = "kb_api_reader", "kb_auditor"


def database_as(url: str, role: str, *, application_name: str, bounds: Bounds | None = None) -> Database:
    """The database under the role where the user may take it, else under the user's own rights; dispose of it."""
    database = Database(url, application_name=application_name, bounds=bounds)
    with database.connect() as connection:
        row = connection.execute(load("may_act_as"), {"role": role}).fetchone()
    if not (row and row[0]):
        return database
    database.dispose()
    return Database(url, application_name=application_name, role=role, bounds=bounds)
