"""`kb-pipeline worker`: the consumer of the queue of retrieval events.

Belongs here: where its words go. Does not: consuming.
"""

import logging
import sys
import time

import click

from kb_pipeline.cli.invocation import Invocation, pass_invocation
from kb_pipeline.cli.output import write_line


@click.command(short_help="Consume the queue of retrieval events.")
@pass_invocation
def worker(invocation: Invocation) -> None:
    """Consume the queue of retrieval events until SIGTERM or Ctrl-C.

    Run as many as you like, on several machines. Each listens on retrieval.worker_host and worker_port for /metrics and
    /healthz, and logs one line per incident to stderr. A second signal ends it at once.
    """
    settings = invocation.settings()
    from kb_pipeline.worker import run_worker

    log_to_stderr()
    run_worker(settings, announce=announce)


def announce(sentence: str) -> None:
    """A sentence on stdout, at once."""
    write_line(sentence)
    sys.stdout.flush()


def log_to_stderr() -> None:
    """Plain lines with the time in UTC; of libraries warnings only."""
    formatter = logging.Formatter("%(asctime)s %(levelname)s %(message)s", "%Y-%m-%dT%H:%M:%SZ")
    formatter.converter = time.gmtime
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(formatter)
    logging.basicConfig(level=logging.WARNING, handlers=[handler])
    logging.getLogger("kb_pipeline").setLevel(logging.INFO)
