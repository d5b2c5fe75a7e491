"""A judge that can be trusted: the second opinion, canaries, calibration."""  # noqa: INP001

from alembic import op

from kb_pipeline.adapters.postgres.migrations import run_sql

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Run the SQL file of this revision."""
    run_sql(op.get_bind(), "0003_trustworthy_judge.sql")
