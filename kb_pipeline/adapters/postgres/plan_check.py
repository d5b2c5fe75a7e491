"""Whether the mapped views can be looked up without reading whole tables.

Belongs here: the plans of the two look-ups of every tick. Does not: plans of our own tables, which tests assert.
"""

from collections.abc import Iterator
from typing import Any

from kb_pipeline.adapters.postgres.connection import Connection, Database
from kb_pipeline.adapters.postgres.queries import load
from kb_pipeline.adapters.postgres.source_check import Finding

# A smaller table is read whole in no time.
LARGE_ROWS = 50_000
LOOKUPS = {
    "calls by time": ("explain_call_lookup", "ts"),
    "bodies by event_id": ("explain_body_lookup", "event_id"),
}


def check_plans(database: Database) -> list[Finding]:
    """One finding per look-up: a problem where it reads a whole table of 50,000 rows or more."""
    with database.connect() as connection:
        return [_finding(connection, name, query, column) for name, (query, column) in LOOKUPS.items()]


def _finding(connection: Connection, name: str, query: str, column: str) -> Finding:
    row = connection.execute(load(query)).fetchone()
    scanned = list(_scanned(row[0][0]["Plan"])) if row else []
    parameters = {"schemas": [s for s, _ in scanned], "tables": [t for _, t in scanned], "rows": LARGE_ROWS}
    large = [table for (table,) in connection.execute(load("large_tables"), parameters).fetchall()]
    if not large:
        return Finding(name=name, ok=True, message="found without reading a whole table", remedy="")
    return Finding(
        name=name,
        ok=False,
        message=f"every look-up reads the whole of {', '.join(large)}",
        remedy=f"make an index on the expression that the view has for {column}, and run ANALYZE on the table",
    )


def _scanned(plan: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Schema and name of the tables that a plan reads from one end to the other."""
    if plan["Node Type"] == "Seq Scan":
        yield plan["Schema"], plan["Relation Name"]
    for below in plan.get("Plans", ()):
        yield from _scanned(below)
