"""The recorder of events as the database sees it: a name and a role of its own, and sessions that notice a lost server.

Belongs here: who adds events. Does not: what the role may do (sql/roles.sql), how events are kept.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy.engine import make_url

from kb_pipeline.adapters.postgres.connection import Database
from kb_pipeline.adapters.postgres.retrieval.queries import load

ACTOR = "kb_pipeline_worker"
ROLES = ("kb_recorder", "kb_grader")
# A server that vanished without a word is given up after some 20 seconds, not after the two hours of most systems.
WATCHFUL = {"keepalives_idle": "10", "keepalives_interval": "3", "keepalives_count": "3", "tcp_user_timeout": "20000"}


@contextmanager
def recorder_database(url: str) -> Iterator[Database]:
    """The database under the role kb_recorder where the user may take it, else kb_grader, else its own rights.

    Raises DatabaseError when it does not answer. Its connections are closed at the end of the block.
    """
    parsed = make_url(url)
    missing = {name: value for name, value in WATCHFUL.items() if name not in parsed.query}
    watchful = parsed.update_query_dict(missing).render_as_string(hide_password=False)
    database = Database(watchful, application_name=ACTOR)
    role = _role(database)
    if role is not None:
        database.dispose()
        database = Database(watchful, application_name=ACTOR, role=role)
    try:
        yield database
    finally:
        database.dispose()


def _role(database: Database) -> str | None:
    with database.connect() as connection:
        row = connection.execute(load("may_act_as_recorder"), {"roles": list(ROLES)}).fetchone()
    return str(row[0]) if row else None
