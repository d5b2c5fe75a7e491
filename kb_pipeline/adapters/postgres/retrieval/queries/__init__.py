"""Named SQL of the retrieval street: `load("save_outcomes")` is the text of save_outcomes.sql in this folder."""

from kb_pipeline.adapters.postgres.named_sql import NamedSql

load = NamedSql(__name__)
