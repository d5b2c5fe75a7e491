"""Named SQL: `load("save_calls")` is the text of save_calls.sql in this folder."""

from kb_pipeline.adapters.postgres.named_sql import NamedSql

load = NamedSql(__name__)
