"""The dashboard: the worst answers of any period by an index."""  # noqa: INP001

from alembic import op

from kb_pipeline.adapters.postgres.migrations import run_sql

revision = "0009"
down_revision = "0008"


def upgrade() -> None:
    """Run the SQL file of this revision."""
    run_sql(op.get_bind(), "0009_dashboard.sql")
