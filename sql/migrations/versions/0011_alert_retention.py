"""Alerts and flips have a retention."""  # noqa: INP001

from alembic import op

from kb_pipeline.adapters.postgres.migrations import run_sql

revision = "0011"
down_revision = "0010"


def upgrade() -> None:
    """Run the SQL file of this revision."""
    run_sql(op.get_bind(), "0011_alert_retention.sql")
