"""Whether the configured surfaces are the ones that the audit trail knows.

Belongs here: names of surfaces with their calls of the last week. Does not: what a call of a surface holds.
"""

from collections.abc import Collection

from kb_pipeline.adapters.postgres.connection import Database
from kb_pipeline.adapters.postgres.queries import load
from kb_pipeline.adapters.postgres.source_check import Finding


def check_surfaces(database: Database, configured: Collection[str]) -> Finding:
    """One finding: a problem where the last week has calls and none of them is of a configured surface."""
    with database.connect() as connection:
        seen: dict[str, int] = dict(connection.execute(load("surfaces_seen")).fetchall())
    graded = {name: calls for name, calls in seen.items() if name in configured}
    others = {name: calls for name, calls in seen.items() if name not in configured}
    if not seen:
        return Finding(name="surfaces", ok=True, message="no call within the last seven days", remedy="")
    if not graded:
        return Finding(
            name="surfaces",
            ok=False,
            message=f"no call of the last week is of a configured surface ({_listed(dict.fromkeys(configured, 0))}); "
            f"the audit trail has {_listed(others)}",
            remedy="name the surface under rag_quality.surfaces as the audit trail does; a call examined under a wrong "
            "configuration keeps its verdict",
        )
    left_out = f"; not graded: {_listed(others)}" if others else ""
    return Finding(name="surfaces", ok=True, message=f"calls of the last week: {_listed(graded)}{left_out}", remedy="")


def _listed(surfaces: dict[str, int]) -> str:
    return ", ".join(f"{name or '(empty)'}{f' {calls:,}' if calls else ''}" for name, calls in surfaces.items())
