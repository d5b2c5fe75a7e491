"""Turns that exceed the judge's context window: graded by parts, or skipped with the reason."""  # noqa: INP001

from alembic import op

from kb_pipeline.adapters.postgres.migrations import run_sql

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    """Run the SQL file of this revision."""
    run_sql(op.get_bind(), "0007_long_turns.sql")
