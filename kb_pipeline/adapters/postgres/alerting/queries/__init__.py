"""Named SQL: `load("save_state")` is the text of save_state.sql in this folder."""

from kb_pipeline.adapters.postgres.named_sql import NamedSql

load = NamedSql(__name__)
