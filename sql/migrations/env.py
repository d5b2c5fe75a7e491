# noqa: INP001 - Alembic runs this file by its path
"""Alembic's entry: runs the revisions on the connection that kb_pipeline hands over.

Belongs here: the version table's name. Does not: URLs, locks, error texts (kb_pipeline.adapters.postgres.migrations).
"""

from alembic import context

context.configure(connection=context.config.attributes["connection"], version_table="kb_alembic_version")
with context.begin_transaction():
    context.run_migrations()
