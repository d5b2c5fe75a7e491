"""Scores of a judge that is tried beside another one."""  # noqa: INP001

from alembic import op

from kb_pipeline.adapters.postgres.migrations import run_sql

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    """Run the SQL file of this revision."""
    run_sql(op.get_bind(), "0006_provisional_scores.sql")
