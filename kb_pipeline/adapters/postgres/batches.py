"""Deleting by age in transactions of at most 5,000 rows, so that nobody waits long.

Belongs here: the loop. Does not: statements, ages.
"""

from datetime import datetime
from typing import LiteralString

from kb_pipeline.adapters.postgres.connection import Database

BATCH = 5_000


def in_batches(database: Database, statement: LiteralString, before: datetime) -> int:
    """Run a statement with the parameters `before` and `limit` until it finds less than that; returns rows touched."""
    total = 0
    while True:
        with database.connect() as connection:
            touched = connection.execute(statement, {"before": before, "limit": BATCH}).rowcount
        total += touched
        if touched < BATCH:
            return total
