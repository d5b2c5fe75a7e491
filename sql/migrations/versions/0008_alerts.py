"""Alerts: states, flips, the outbox, silences."""  # noqa: INP001

from alembic import op

from kb_pipeline.adapters.postgres.migrations import run_sql

revision = "0008"
down_revision = "0007"


def upgrade() -> None:
    """Run the SQL file of this revision."""
    run_sql(op.get_bind(), "0008_alerts.sql")
