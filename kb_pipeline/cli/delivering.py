"""`kb-pipeline alerts deliver`: send what waits in the outbox.

Belongs here: its options, how long it goes on, its words. Does not: order, retries.
"""

import time
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from kb_pipeline.cli.alerts import json_option
from kb_pipeline.cli.invocation import Invocation, pass_invocation
from kb_pipeline.cli.output import Hear, progress, words, write_facts, write_json, write_line, write_text
from kb_pipeline.counting import counted
from kb_pipeline.errors import SettingsError

if TYPE_CHECKING:
    from kb_pipeline.alert_desk import AlertDesk
    from kb_pipeline.records import OutboxHealth

WITHIN_S = 300.0
PAUSE_S = 0.5


@click.command(short_help="Send what waits in the outbox.")
@click.option("--once", is_flag=True, help="One bounded round (the default).")
@click.option("--until-empty", is_flag=True, help="Go on until nothing waits or is unconfirmed.")
@click.option(
    "--within",
    type=click.FloatRange(0),
    metavar="SECONDS",
    default=WITHIN_S,
    show_default=True,
    help="With --until-empty: how long at most.",
)
@json_option
@pass_invocation
@click.pass_context
def deliver(
    ctx: click.Context, invocation: Invocation, *, once: bool, until_empty: bool, within: float, as_json: bool
) -> None:
    """Send what waits in the outbox to every configured destination, and see what arrived.

    Dagster does the same by itself. A destination that fails is tried again later and keeps everything. With
    --until-empty the exit code is 1 when something still waits at the end.
    """
    if once and until_empty:
        raise click.UsageError("give --once or --until-empty, not both")
    settings = invocation.settings()
    from kb_pipeline.alert_desk import AlertDesk

    with AlertDesk.open(settings) as desk:
        if not desk.destinations:
            raise SettingsError(
                "no destination is configured; set alerts.keep_url, alerts.webhook_url or alerts.apprise_urls"
            )
        with progress() as hear:
            counts, notes = _delivered(desk, within if until_empty else None, hear)
        health = desk.delivery()
    if as_json:
        write_json({"counts": counts, "notes": notes, "destinations": health})
    else:
        _write(counts, notes, health)
    ctx.exit(1 if until_empty and _waiting(health) else 0)


def _delivered(desk: "AlertDesk", within: float | None, hear: Hear) -> tuple[dict[str, Counter[str]], list[str]]:
    """What all rounds did by destination, and their notes, each once."""
    counts = {name: Counter[str]() for name in desk.destinations}
    notes: dict[str, None] = {}
    deadline = desk.clock.monotonic() + (within or 0.0)
    while True:
        for name, report in desk.deliver().items():
            counts[name].update({key: int(value) for key, value in report.counts.items()})
            hear("confirmed", int(report.counts.get("confirmed", 0)))
            notes.update(dict.fromkeys(report.notes))
        if within is None or not _waiting(desk.delivery()) or desk.clock.monotonic() >= deadline:
            return counts, list(notes)
        time.sleep(PAUSE_S)


def _waiting(health: Sequence["OutboxHealth"]) -> int:
    return sum(each.pending + each.unconfirmed for each in health)


def _write(counts: dict[str, Counter[str]], notes: Sequence[str], health: Sequence["OutboxHealth"]) -> None:
    for each in health:
        write_line(each.destination)
        facts: dict[str, object] = {f"  {name}": value for name, value in counts[each.destination].items()}
        stands = {"waiting": each.pending, "unconfirmed": each.unconfirmed, "dead in all": each.dead}
        write_facts(facts | {f"  {name}": value for name, value in stands.items()})
        if each.reason:
            held = f"  held until {words(each.next_try_at)} after {counted(each.failures, 'failure')}: {each.reason}"
            write_text(held, hanging=4)
    for note in notes:
        write_text(note)
