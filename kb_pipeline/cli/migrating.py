"""`kb-pipeline migrate`: bring the database up to date.

Belongs here: the command. Does not: migrations.
"""

import click

from kb_pipeline.cli.invocation import Invocation, pass_invocation
from kb_pipeline.cli.output import progress, write_json, write_line


@click.command(short_help="Bring the database up to date.")
@click.option(
    "--timescale", is_flag=True, help="Make rag_quality a TimescaleDB hypertable instead of monthly partitions."
)
@click.option("--json", "as_json", is_flag=True, help="Print the applied migrations as one JSON object.")
@pass_invocation
def migrate(invocation: Invocation, *, timescale: bool, as_json: bool) -> None:
    """Bring the database up to date; running it again changes nothing."""
    settings = invocation.settings()
    from kb_pipeline.adapters.postgres.connection import Database
    from kb_pipeline.adapters.postgres.migrations import apply_roles
    from kb_pipeline.adapters.postgres.migrations import migrate as apply_migrations

    database = Database(settings.database_url, application_name="kb_pipeline_migrate")
    try:
        with progress():
            applied = apply_migrations(database, timescale=timescale)
            has_roles = apply_roles(database)
    finally:
        database.dispose()
    if as_json:
        write_json({"applied": applied, "roles": has_roles})
        return
    for revision in applied:
        write_line(f"applied {revision}")
    write_line("the database is up to date")
    if not has_roles:
        write_line("roles are missing and this user may not create them: have an administrator run sql/roles.sql")
