"""`kb-pipeline costs`: what the judge cost, by hour or day and judge version, and what is left of today's tokens.

Belongs here: options, the table. Does not: counting.
"""

from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime
from typing import TYPE_CHECKING, Literal

import click

from kb_pipeline.cli.invocation import Invocation, pass_invocation
from kb_pipeline.cli.output import words, write_json, write_line, write_text
from kb_pipeline.cli.times import Instant, check_order, parse_instant
from kb_pipeline.counting import counted

if TYPE_CHECKING:
    from kb_pipeline.grading.standing import Cost, Standing

NUMBERS = ("turns", "graded", "calls", "prompt tokens", "reply tokens", "seconds", "tokens a turn")
HEADINGS = ("UTC", "judge@prompt", *NUMBERS)
LAST_WEEK = "7d"


@click.command(short_help="What the judge cost, and what is left of today's tokens.")
@click.option("--since", type=Instant(), metavar="T", help="Turns completed from T on; a week ago unless given.")
@click.option("--until", type=Instant(), metavar="T", help="Turns completed before T.")
@click.option("--by", type=click.Choice(["hour", "day"]), default="day", help="One row per UTC hour or day.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@pass_invocation
def costs(
    invocation: Invocation,
    since: datetime | None,
    until: datetime | None,
    *,
    by: Literal["hour", "day"],
    as_json: bool,
) -> None:
    """Judge calls, tokens and seconds of every judge version, with every call that was made for a turn.

    T is a time with its zone (2026-07-09T14:00+07:00) or how long ago (90m, 24h, 7d).
    """
    settings = invocation.settings()
    from kb_pipeline.grading_street import GradingStreet
    from kb_pipeline.windows import Window

    with GradingStreet.open(settings) as street:
        start, end = since or parse_instant(LAST_WEEK), until or street.clock.now()
        check_order(start, end)
        rows, standing = street.costs(Window(start, end), by=by), street.standing()
    if as_json:
        write_json({"by": by, "costs": [_facts(row) for row in rows], "standing": _standing(standing)})
    else:
        _write(rows, standing, by)


def _facts(row: "Cost") -> dict[str, object]:
    return {**asdict(row), "tokens_per_turn": row.tokens_per_turn}


def _standing(standing: "Standing") -> dict[str, object]:
    return {**asdict(standing), "notes": standing.sentences()}


def _write(rows: Sequence["Cost"], standing: "Standing", by: str) -> None:
    from kb_pipeline.cli.tables import table_lines

    if rows:
        cells = (_cells(row, by) for row in rows)
        for line in table_lines(HEADINGS, cells, sinking={"judge@prompt"}, numbers=NUMBERS):
            write_line(line)
    else:
        write_text("no judge was called for a turn of this period")
    for sentence in _sentences(standing):
        write_text(sentence)


def _cells(row: "Cost", by: str) -> tuple[str, ...]:
    start = f"{row.start:%Y-%m-%d}" if by == "day" else f"{row.start:%Y-%m-%d %H:%M}"
    counts = (row.turns, row.graded, row.calls, row.prompt_tokens, row.completion_tokens)
    each = row.tokens_per_turn
    figures = (*map(words, counts), f"{row.seconds:,.1f}", words(None if each is None else round(each)))
    return (start, f"{row.judge_model}@{row.prompt_version}", *figures)


def _sentences(standing: "Standing") -> tuple[str, ...]:
    if standing.daily_tokens is None:
        budget = "no judge_daily_tokens are set"
    else:
        left = max(0, standing.tokens_left or 0)
        budget = f"{words(left)} of today's judge_daily_tokens of {words(standing.daily_tokens)} are left"
    waiting = counted(standing.waiting, "turn waits", "turns wait")
    return (f"{budget}; {waiting} for the judge", *standing.sentences())
