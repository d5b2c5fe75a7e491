"""Which of the operator's views exist.

Belongs here: their names. Does not: whether their columns are right (source_check).
"""

from kb_pipeline.adapters.postgres.connection import Database
from kb_pipeline.adapters.postgres.retrieval.queries import load


def mapped_views(database: Database) -> frozenset[str]:
    """The names of the views of schema kb_source, without the schema."""
    with database.connect() as connection:
        return frozenset(row[0] for row in connection.execute(load("mapped_views")))
