"""Columns and comments of our tables as sql/schema.sql states them, without a database.

Belongs here: reading that one file, which pg_dump wrote. Does not: any other SQL.
"""

import re
from dataclasses import dataclass
from functools import cache

from kb_pipeline.adapters.postgres.sql_files import sql_folder

_TABLE = re.compile(r"^CREATE TABLE public\.(\w+) \(\n(.*?)^\)", re.MULTILINE | re.DOTALL)
# Key words are in capitals there, also those that begin a line of a CASE within a CHECK.
_COLUMN = re.compile(r"^    \"?([a-z_]\w*)\"? (.+?)(?: DEFAULT .*?)?(?: CONSTRAINT \w+)?( NOT NULL)?,?$", re.MULTILINE)
_COMMENT = re.compile(r"^COMMENT ON COLUMN public\.(\w+)\.\"?(\w+)\"? IS '((?:[^']|'')*)';", re.MULTILINE)


@dataclass(frozen=True, kw_only=True, slots=True)
class Column:
    """One column: its PostgreSQL type and its comment."""

    name: str
    type: str
    nullable: bool
    description: str


def columns(table: str) -> tuple[Column, ...]:
    """The columns of a table in their order; raises KeyError for a table that the schema has not."""
    return _tables()[table]


@cache
def _tables() -> dict[str, tuple[Column, ...]]:
    schema = (sql_folder() / "schema.sql").read_text(encoding="utf-8")
    comments = {(table, column): text.replace("''", "'") for table, column, text in _COMMENT.findall(schema)}
    return {
        table: tuple(
            Column(name=name, type=kind, nullable=not required, description=comments.get((table, name), ""))
            for name, kind, required in _COLUMN.findall(body)
        )
        for table, body in _TABLE.findall(schema)
    }
