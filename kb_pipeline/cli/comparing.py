"""`kb-pipeline compare-judges`: how two judge versions differ over the turns that both scored.

Belongs here: options, JSON, the file. Does not: figures, the terminal's table, the page.
"""

from dataclasses import asdict
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kb_pipeline.cli.invocation import Invocation, pass_invocation
from kb_pipeline.cli.output import progress, write_json, write_line
from kb_pipeline.cli.times import Instant, period

if TYPE_CHECKING:
    from kb_pipeline.grading.comparison.figures import Comparison
    from kb_pipeline.grading.comparison.verdict import Verdict
    from kb_pipeline.settings import Settings
    from kb_pipeline.windows import Window


@click.command(name="compare-judges", short_help="How two judges differ over the turns that both scored.")
@click.option("--since", type=Instant(), metavar="T", required=True, help="Turns completed from T on.")
@click.option("--until", type=Instant(), metavar="T", help="Turns completed before T.")
@click.option("--from", "first", metavar="MODEL[@PROMPT]", help="The version to change from.")
@click.option("--to", "second", metavar="MODEL[@PROMPT]", help="The version to change to.")
@click.option("--html", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE", help="Write a page as well.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@pass_invocation
def compare_judges(
    invocation: Invocation,
    since: datetime,
    until: datetime | None,
    first: str | None,
    second: str | None,
    *,
    html: Path | None,
    as_json: bool,
) -> None:
    """Set two judge versions side by side: shift of the means, agreement, turns that cross a threshold, costs.

    A version is a model and a prompt. Left out, they are the two that scored most turns of the period, the older first.
    Nothing is written to the database; of a turn only the redacted preview of its question is shown.

    T is a time with its zone (2026-07-09T14:00+07:00) or how long ago (90m, 24h, 7d).
    """
    window = period(since, until)
    comparison = _compared(invocation.settings(), window, first, second)
    from kb_pipeline.cli.comparison_page import page
    from kb_pipeline.cli.comparison_table import write_comparison
    from kb_pipeline.grading.comparison.verdict import verdict

    found = verdict(comparison)
    if html is not None:
        # Texts of people may hold half of a surrogate pair, which no file can.
        html.write_text(page(comparison, found, window), encoding="utf-8", errors="replace")
    if as_json:
        write_json(_object(comparison, found, window))
    else:
        write_comparison(comparison, found)
        if html is not None:
            write_line(f"written: {html}")


def _compared(settings: "Settings", window: "Window", first: str | None, second: str | None) -> "Comparison":
    from kb_pipeline.grading.comparison import NoSuchVersion
    from kb_pipeline.grading_street import GradingStreet
    from kb_pipeline.rejudging import compared

    with GradingStreet.open(settings) as street, progress() as hear:
        try:
            return compared(
                street,
                window,
                first=first,
                second=second,
                on_progress=partial(hear, "turns"),
            )
        except NoSuchVersion as error:
            raise click.UsageError(str(error)) from None


def _object(comparison: "Comparison", found: "Verdict", window: "Window") -> dict[str, Any]:
    from kb_pipeline.grading.comparison import ASPECTS

    return {
        "since": window.start,
        "until": window.end,
        "verdict": found,
        "from": comparison.first,
        "to": comparison.second,
        "turns": comparison.turns,
        "scores": {each.aspect: _without(asdict(each), "aspect") for each in comparison.aspects},
        "languages": {each.language: _without(asdict(each), "language") for each in comparison.languages},
        "largest_differences": [
            {
                "event_id": turn.event_id,
                "ts": turn.ts,
                "language": turn.language,
                "preview": turn.preview,
                **{
                    name: {"from": first, "to": second}
                    for name, (first, second) in zip(ASPECTS, turn.scores, strict=True)
                },
            }
            for turn in comparison.largest
        ],
    }


def _without(facts: dict[str, Any], name: str) -> dict[str, Any]:
    return {key: value for key, value in facts.items() if key != name}
