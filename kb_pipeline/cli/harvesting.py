"""`kb-pipeline harvest`: one run of the retrieval street.

Belongs here: options, progress, words. Does not: deriving, diagnosing, harvesting.
"""

from dataclasses import asdict
from datetime import datetime

import click

from kb_pipeline.cli.invocation import Invocation, pass_invocation
from kb_pipeline.cli.output import progress, write_facts, write_json
from kb_pipeline.cli.times import Instant, check_order


@click.command(short_help="One run of the retrieval street: outcomes, gaps, windows, ground truth.")
@click.option("--since", type=Instant(), metavar="T", help="Leave out hours that ended before T.")
@click.option("--until", type=Instant(), metavar="T", help="Leave out hours that began at T or after it.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@pass_invocation
def harvest(invocation: Invocation, since: datetime | None, until: datetime | None, *, as_json: bool) -> None:
    """Outcomes of drafts, gaps and windows of every hour with work, oldest first; then the ground truth.

    T is a time with its zone (2026-07-09T14:00+07:00) or how long ago (90m, 24h, 7d). The ground truth has no hours: it
    is made of all evidence as of now, whatever T says.
    """
    check_order(since, until)
    settings = invocation.settings()
    from kb_pipeline.retrieval_street import RetrievalStreet

    with RetrievalStreet.open(settings) as street, progress() as hear:
        report = street.run(since=since, until=until, on_progress=hear)
    if as_json:
        write_json(report)
    else:
        steps = {name: counts for name, counts in asdict(report).items() if name != "hours"}
        flat = {f"{step}/{name}": count for step, counts in steps.items() for name, count in counts.items()}
        write_facts({"hours": report.hours, **flat})
