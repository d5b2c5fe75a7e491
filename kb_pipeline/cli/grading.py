"""`kb-pipeline grade`: one grading run, or what it would cost.

Belongs here: options, progress, words. Does not: grading.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING

import click

from kb_pipeline.cli.invocation import Invocation, pass_invocation
from kb_pipeline.cli.output import progress, write_facts, write_json, write_text
from kb_pipeline.cli.times import Instant, check_order
from kb_pipeline.counting import counted, form
from kb_pipeline.errors import KbPipelineError

if TYPE_CHECKING:
    from kb_pipeline.grading_street import GradingStreet


@click.command(short_help="One grading run, or what it would cost.")
@click.option(
    "--since",
    type=Instant(),
    metavar="T",
    help="Grade turns completed from T on, older than start_at too; what other markers decided is read anew.",
)
@click.option("--until", type=Instant(), metavar="T", help="Grade hours that began before T.")
@click.option(
    "--dry-run",
    is_flag=True,
    help="Count turns, judge calls and tokens; call nobody, write nothing but the access record.",
)
@click.option("--retry-failed", is_flag=True, help="Open turns again that failed or were too long.")
@click.option(
    "--retry-now", is_flag=True, help="Call for turns at once that wait after a failure, or for a judge that was down."
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@pass_invocation
def grade(
    invocation: Invocation,
    since: datetime | None,
    until: datetime | None,
    *,
    dry_run: bool,
    retry_failed: bool,
    retry_now: bool,
    as_json: bool,
) -> None:
    """One grading run over every hour with work: a fifth for the newest closed hour, the rest oldest first.

    T is a time with its zone (2026-07-09T14:00+07:00) or how long ago (90m, 24h, 7d). One run judges at most
    rag_quality.max_batch turns; run it again for the rest.
    """
    check_order(since, until)
    if dry_run and (retry_failed or retry_now):
        other = "--retry-failed" if retry_failed else "--retry-now"
        raise click.UsageError(f"--dry-run and {other} exclude each other: a dry run changes nothing")
    settings = invocation.settings()
    from kb_pipeline.grading_street import GradingStreet

    with GradingStreet.open(settings) as street:
        if dry_run:
            facts = _foreseen(street, since, until)
        else:
            facts = _done(street, since, until, retry_failed=retry_failed, ignore_waits=retry_now)
    if as_json:
        write_json(facts)
    else:
        notes = facts.pop("notes", ())
        write_facts(_flat(facts))
        for note in notes if isinstance(notes, list) else ():
            write_text(note)
    if not dry_run:
        _refuse_an_outage(facts)


def _done(
    street: "GradingStreet",
    since: datetime | None,
    until: datetime | None,
    *,
    retry_failed: bool,
    ignore_waits: bool,
) -> dict[str, object]:
    from kb_pipeline.records import ParseStatus, Verdict

    with progress() as hear:
        report = street.grade(
            since=since, until=until, retry_failed=retry_failed, ignore_waits=ignore_waits, on_progress=hear
        )
    counts = dict(report.counts)
    examined = counts.pop("examined", 0)
    return {
        "hours": report.hours,
        "examined": examined,
        "verdicts": {str(verdict): counts.pop(verdict) for verdict in Verdict if verdict in counts},
        "parse_statuses": {
            str(status): counts.pop(f"parse_status/{status}")
            for status in ParseStatus
            if f"parse_status/{status}" in counts
        },
        **counts,
        "notes": list(report.notes),
    }


def _refuse_an_outage(facts: Mapping[str, object]) -> None:
    """A run that could not judge has failed, although every turn stands with its metrics and waits."""
    if facts.get("stopped_early") or (facts.get("errors") and not facts.get("graded")):
        classes = ", ".join(name.removeprefix("error_") for name in facts if name.startswith("error_"))
        errors = int(str(facts.get("errors") or 0))
        raise KbPipelineError(
            f"the judge gave no scores for {counted(errors, 'turn')} ({classes}); "
            f"{form(errors, 'it waits, with its', 'they wait, with their')} metrics: "
            "kb-pipeline check tells whether the judge answers, then run this again"
        )


def _foreseen(street: "GradingStreet", since: datetime | None, until: datetime | None) -> dict[str, object]:
    with progress():
        forecast = street.forecast(since=since, until=until)
    needed = street.tokens_needed(turns=forecast.turns, prompt_tokens=forecast.prompt_tokens)
    today, most = street.tokens_today(), street.settings.rag_quality.max_batch
    notes = [today.sentence(), needed.sentence(), *street.standing().sentences()]
    if forecast.judge_calls > most:
        notes.append(f"one run makes about {counted(most, 'call')} (rag_quality.max_batch); run it again for the rest")
    if today.left is not None and needed.tokens > today.left:
        notes.append("that is more than today has left; the rest waits until midnight UTC")
    return {
        "hours": forecast.hours,
        "examined": forecast.calls,
        "verdicts": forecast.verdicts,
        "parse_statuses": forecast.parse_statuses,
        "turns": forecast.turns,
        "judge_calls": forecast.judge_calls,
        "prompt_tokens": forecast.prompt_tokens,
        "tokens_needed": needed.tokens,
        "measured_turns": needed.measured_turns,
        "judge_daily_tokens": today.daily,
        "tokens_spent_today": today.spent,
        "tokens_left_today": today.left,
        "notes": notes,
    }


def _flat(facts: dict[str, object]) -> dict[str, object]:
    flat: dict[str, object] = {}
    for name, value in facts.items():
        if isinstance(value, dict):
            flat.update({f"{name}/{below}": count for below, count in value.items()})
        else:
            flat[name] = value
    return flat
