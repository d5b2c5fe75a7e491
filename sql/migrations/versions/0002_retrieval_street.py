"""The retrieval street: events, outcomes, evidence, ground truth, gaps, hourly windows."""  # noqa: INP001

from alembic import op

from kb_pipeline.adapters.postgres.migrations import run_sql

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Run the SQL file of this revision."""
    run_sql(op.get_bind(), "0002_retrieval_street.sql")
