"""What the lineage shows of a table: its name and its columns.

Belongs here: table metadata. Does not: row counts, which a run knows.
"""

from typing import Any

import dagster as dg

from kb_pipeline.adapters.postgres.schema_file import Column, columns


def table_metadata(table: str) -> dict[str, Any]:
    """The metadata of an asset that is kept in `public.<table>`."""
    return {
        "dagster/table_name": f"public.{table}",
        "dagster/column_schema": dg.TableSchema(columns=[_column(each) for each in columns(table)]),
    }


def _column(column: Column) -> dg.TableColumn:
    return dg.TableColumn(
        name=column.name,
        type=column.type,
        description=column.description or None,
        constraints=dg.TableColumnConstraints(nullable=column.nullable),
    )
