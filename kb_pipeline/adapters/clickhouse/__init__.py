"""The copy of retrieval events in ClickHouse.

Belongs here: one server's HTTP interface. Does not: what is copied, when.
"""

from kb_pipeline.adapters.clickhouse.server import ClickHouse, ClickHouseFailed

__all__ = ["ClickHouse", "ClickHouseFailed"]
