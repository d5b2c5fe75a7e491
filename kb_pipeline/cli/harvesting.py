"""`kb-pipeline harvest`: one run of the retrieval street.

Belongs here: options, progress, words. Does not: deriving, diagnosing, harvesting.
"""

from dataclasses import asdict
from datetime import datetime
from functools import partial

import click

from kb_pipeline.cli.invocation import Invocation, pass_invocation
from kb_pipeline.cli.output import progress, write_facts, write_json
from kb_pipeline.cli.times import Instant, check_order
from kb_pipeline.errors import KbPipelineError


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

    copied: dict[str, object] = {}
    refused: KbPipelineError | None = None
    with RetrievalStreet.open(settings) as street, progress() as hear:
        report = asdict(street.run(since=since, until=until, on_progress=hear))
        try:
            copied.update(street.copy_events(partial(hear, "copied")).counts)
        except KbPipelineError as error:
            # What the copy is made of is done, and said, all the same.
            refused = error
    facts = {**report, "copy": copied}
    if as_json:
        write_json(facts)
    else:
        write_facts({"hours": facts.pop("hours"), **_flat(facts)})
    if refused is not None:
        raise refused


def _flat(steps: dict[str, dict[str, object]]) -> dict[str, object]:
    return {f"{step}/{name}": count for step, counts in steps.items() for name, count in counts.items()}
