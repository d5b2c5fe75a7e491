"""The grading street: ledger, triads, metrics, judge scores, the published row, hourly windows."""  # noqa: INP001

from alembic import op

from kb_pipeline.adapters.postgres.migrations import run_sql

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Run the SQL file of this revision."""
    run_sql(op.get_bind(), "0001_grading_street.sql")
