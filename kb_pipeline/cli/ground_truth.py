"""`kb-pipeline ground-truth …`: what experts' work says of documents and queries.

Belongs here: the group. Does not: its commands, which attach themselves in kb_pipeline/cli/root.py.
"""

import click

from kb_pipeline.cli.commands import Commands


@click.group(cls=Commands, name="ground-truth", short_help="Explain or settle a judgment, export them for a harness.")
def ground_truth() -> None:
    """What experts' work says of documents and queries: judgments with a grade from 0 to 3."""
