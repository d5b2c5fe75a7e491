"""`kb-pipeline review`: the turns that a person should look at first.

Belongs here: options and the table. Does not: which turns those are.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING

import click

from kb_pipeline.cli.invocation import Invocation, pass_invocation
from kb_pipeline.cli.output import words, write_json, write_line, write_text
from kb_pipeline.cli.times import Instant, window_until_now

if TYPE_CHECKING:
    from kb_pipeline.adapters.postgres.review import TurnToReview

DEFAULT_LIMIT = 20
MOST = 1000
TITLES = ("completed", "event_id", "judge", "second", "why", "question")


@click.command(short_help="The turns that a person should look at first.")
@click.option(
    "--since", type=Instant(), metavar="T", default="7d", show_default=True, help="Turns completed from T on."
)
@click.option("--surface", metavar="S", help="Turns of this surface alone.")
@click.option(
    "--limit",
    type=click.IntRange(1, MOST),
    default=DEFAULT_LIMIT,
    show_default=True,
    metavar="N",
    help="At most N turns.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON array.")
@pass_invocation
def review(invocation: Invocation, since: datetime, surface: str | None, limit: int, *, as_json: bool) -> None:
    """Graded turns for human eyes: where judge and second opinion disagree strongly first, then the least faithful.

    T is a time with its zone (2026-07-09T14:00+07:00) or how long ago (90m, 24h, 7d). Previews alone are shown;
    kb-pipeline explain shows a turn's text.
    """
    window = window_until_now(since)
    settings = invocation.settings()
    from kb_pipeline.adapters.postgres.review import turns_to_review
    from kb_pipeline.grading_street import GradingStreet

    with GradingStreet.open(settings) as street:
        turns = turns_to_review(street.database, window, limit=limit, surface=surface)
    if as_json:
        write_json(turns)
    elif turns:
        _write_table(turns)
    else:
        write_text(f"no turn was graded since {words(window.start)}" + (f" on surface {surface}" if surface else ""))


def _write_table(turns: "Sequence[TurnToReview]") -> None:
    from kb_pipeline.cli.tables import table_lines

    for line in table_lines(TITLES, map(_cells, turns), numbers={"judge", "second"}, sinking={"why", "question"}):
        write_line(line)


def _cells(turn: "TurnToReview") -> tuple[str, ...]:
    return (
        f"{turn.ts:%Y-%m-%d %H:%M}",
        turn.event_id,
        _score(turn.faithfulness),
        _score(turn.support_score),
        _why(turn),
        turn.question_preview or "-",
    )


def _score(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"


def _why(turn: "TurnToReview") -> str:
    doubted = ", ".join(turn.doubted)
    if turn.disagrees and doubted:
        return f"the judge trusts it; not in the context: {doubted}"
    if turn.disagrees:
        return "the judge distrusts it; the context has it all"
    return f"not in the context: {doubted}" if doubted else "least faithful"
