"""`kb-pipeline serve`: the dashboard, the API and /metrics.

Belongs here: options, where its words go. Does not: serving.
"""

import click

from kb_pipeline.cli.invocation import Invocation, pass_invocation
from kb_pipeline.cli.working import announce, log_to_stderr


@click.command(short_help="Dashboard, JSON API and /metrics.")
@click.option("--no-auth", is_flag=True, help="Without tokens: everybody is an auditor. On the loopback address only.")
@pass_invocation
def serve(invocation: Invocation, *, no_auth: bool) -> None:
    """Serve the dashboard, the JSON API and /metrics on service.host and service.port until SIGTERM or Ctrl-C.

    Who may see what is in service.tokens; without any it refuses to start. It logs one line per incident to stderr.
    """
    settings = invocation.settings()
    from kb_pipeline.service.serving import run_service

    log_to_stderr()
    run_service(settings, no_auth=no_auth, announce=announce)
