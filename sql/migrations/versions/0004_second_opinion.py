"""The second opinion, counted for every turn and held against the judge's score."""  # noqa: INP001

from alembic import op

from kb_pipeline.adapters.postgres.migrations import run_sql

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    """Run the SQL file of this revision."""
    run_sql(op.get_bind(), "0004_second_opinion.sql")
