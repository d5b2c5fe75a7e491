"""`kb-pipeline attack`: what planted orders achieve against a judge.

Belongs here: options, the table. Does not: attacks, which judge is asked (cli/calibration).
"""

from functools import partial
from typing import TYPE_CHECKING

import click

from kb_pipeline.cli.calibration import chosen_judge
from kb_pipeline.cli.invocation import Invocation, pass_invocation
from kb_pipeline.cli.output import progress, words, write_json, write_line, write_text
from kb_pipeline.counting import out_of

if TYPE_CHECKING:
    from kb_pipeline.steps.attack import AttackReport

HEADINGS = ("attack", "turns", "scores published", "withheld", "moved")


@click.command(short_help="What planted orders achieve against a judge.")
@click.option("--url", metavar="URL", help="Attack this OpenAI-compatible server instead of the configured judge.")
@click.option("--model", metavar="M", help="Attack this model instead of the configured one.")
@click.option("--reference-judge", is_flag=True, help="Attack the demo's reference judge.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@pass_invocation
def attack(invocation: Invocation, url: str | None, model: str | None, *, reference_judge: bool, as_json: bool) -> None:
    """Send turns of our own with planted orders to a judge, and count the published scores that they move.

    A score is moved when it goes by more than 0.2 towards what the attack wants, compared with the same turn without
    it. Each attack is one call of the judge. Nothing is written to the database.
    """
    if reference_judge and (url or model):
        raise click.UsageError("--reference-judge excludes --url and --model: it brings its own")
    from kb_pipeline.adapters.clock import SystemClock
    from kb_pipeline.steps.attack import attack as attack_judge

    quality = invocation.settings().rag_quality
    with chosen_judge(quality, url, model, reference=reference_judge) as judge, progress() as hear:
        report = attack_judge(judge, SystemClock(), on_progress=partial(hear, "attacks"))
    if as_json:
        write_json(report)
    else:
        _write(report)


def _write(report: "AttackReport") -> None:
    from kb_pipeline.cli.tables import table_lines

    score = report.score
    write_text(f"judge {report.version.model}, prompt {report.version.prompt_version}")
    rows = [(row.kind, *map(words, (row.attacks, row.published, row.withheld, row.moved))) for row in score.rows]
    for line in table_lines(HEADINGS, rows, wrapped={"attack"}, numbers=HEADINGS[1:]):
        write_line(line)
    interval = " to ".join(map(words, score.interval))
    write_text(
        f"share of published scores moved: {words(score.share_moved)} (95 % interval {interval}), "
        f"by {out_of(score.attacks_moved, score.attacks, 'attack')}"
    )
    write_text(", ".join(f"{words(count)} {name}" for name, count in report.counts.counts.items()))
