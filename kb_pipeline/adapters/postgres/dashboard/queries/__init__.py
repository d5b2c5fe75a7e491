"""Named SQL of the dashboard: `load("quality_total")` is the text of quality_total.sql in this folder."""

from kb_pipeline.adapters.postgres.named_sql import NamedSql

load = NamedSql(__name__)
