"""`kb-pipeline rejudge`: turns that have scores, graded by another judge version beside them.

Belongs here: options, progress, words. Does not: grading.
"""

from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING

import click

from kb_pipeline.cli.invocation import Invocation, pass_invocation
from kb_pipeline.cli.output import progress, words, write_facts, write_json, write_text
from kb_pipeline.cli.times import Instant, period
from kb_pipeline.counting import counted
from kb_pipeline.errors import KbPipelineError

if TYPE_CHECKING:
    from kb_pipeline.grading.judging.needs import DayTokens, TokensNeeded
    from kb_pipeline.rejudging import SecondJudge
    from kb_pipeline.settings import Settings
    from kb_pipeline.steps.rejudge import Asked, RejudgeForecast


@click.command(short_help="Grade turns again by another judge, beside their scores.")
@click.option("--since", type=Instant(), metavar="T", required=True, help="Turns completed from T on.")
@click.option("--until", type=Instant(), metavar="T", help="Turns completed before T.")
@click.option("--model", metavar="NAME", help="The judging model; the configured one unless given.")
@click.option("--judge-url", metavar="URL", help="Ask this OpenAI-compatible server instead of the configured one.")
@click.option(
    "--sample",
    type=click.FloatRange(0, 1, min_open=True),
    metavar="RATE",
    default=1.0,
    help="This share of the turns, by hash: a smaller one is part of a larger one.",
)
@click.option("--limit", type=click.IntRange(min=1), metavar="N", help="At most N turns, the oldest first.")
@click.option("--dry-run", is_flag=True, help="Count turns, judge calls and tokens; call nobody, write nothing.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@pass_invocation
def rejudge(
    invocation: Invocation,
    since: datetime,
    until: datetime | None,
    *,
    model: str | None,
    judge_url: str | None,
    sample: float,
    limit: int | None,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Grade turns that have a score by another model, or another prompt, beside that score.

    Old scores stay. Scores of a model that is not the configured one are not published; compare-judges shows how they
    differ. Those of the configured one are. A second run does what is left: nothing, if all was done.

    T is a time with its zone (2026-07-09T14:00+07:00) or how long ago (90m, 24h, 7d).
    """
    _check(model, sample)
    window = period(since, until)
    settings = invocation.settings()
    from kb_pipeline.grading_street import GradingStreet
    from kb_pipeline.rejudging import SecondJudge
    from kb_pipeline.steps.rejudge import Asked

    asked = Asked(window=window, sample_rate=sample, limit=limit)
    with GradingStreet.open(settings) as street:
        judge = SecondJudge(street, model=model, base_url=judge_url)
        forecast = judge.foresee(asked)
        _refuse_nothing(forecast, judge)
        if dry_run:
            needed = street.tokens_needed(
                turns=forecast.turns, prompt_tokens=forecast.prompt_tokens, version=judge.version
            )
            facts, problem = _foreseen(forecast, needed, street.tokens_today()), None
        else:
            facts, problem = _done(judge, asked, settings)
    _write({**_version(judge), **facts}, as_json=as_json)
    if problem:
        raise KbPipelineError(problem)


def _check(model: str | None, sample: float) -> None:
    if model is not None and not (model.strip() and model.isprintable()):
        raise click.UsageError("--model is no name of a model; give the name that the judge's server knows it by")
    if sample != sample:  # noqa: PLR0124 not a number passes for one in every range
        raise click.UsageError("--sample is not a number; give a share such as 0.1")


def _refuse_nothing(forecast: "RejudgeForecast", judge: "SecondJudge") -> None:
    if not any(forecast.standings.values()):
        raise KbPipelineError(
            f"no turn that is asked for has a score of another version than {judge.name}; go back further with "
            "--since, take a larger --sample, or name another model with --model"
        )


def _version(judge: "SecondJudge") -> dict[str, object]:
    version = judge.version
    return {
        "judge_model": version.model,
        "prompt_version": version.prompt_version,
        "published": judge.is_configured,
    }


def _foreseen(forecast: "RejudgeForecast", needed: "TokensNeeded", today: "DayTokens") -> dict[str, object]:
    return {
        "turns": forecast.turns,
        "judge_calls": forecast.turns,
        "prompt_tokens": forecast.prompt_tokens,
        "tokens_needed": needed.tokens,
        "measured_turns": needed.measured_turns,
        **forecast.standings,
        "judge_daily_tokens": today.daily,
        "tokens_spent_today": today.spent,
        "tokens_left_today": today.left,
        "notes": [today.sentence(), needed.sentence()],
    }


def _done(judge: "SecondJudge", asked: "Asked", settings: "Settings") -> tuple[dict[str, object], str | None]:
    """What was done, and what went wrong, if anything, in one sentence."""
    with progress() as hear:
        done = judge.rejudge(asked, on_progress=partial(hear, "judged"))
    left = judge.foresee(replace(asked, limit=None))
    counts = done.report.counts
    facts: dict[str, object] = {
        **{
            "judge_calls" if name == "calls" else name: count
            for name, count in counts.items()
            if name != "stopped_early"  # `stopped` says it
        },
        "rows_changed": done.rows_changed,
        "left": left.turns,
        **{name: count for name, count in left.standings.items() if name != "open"},
        "stopped": done.report.stopped,
    }
    return facts, _problem(facts, judge, settings)


def _problem(facts: "dict[str, object]", judge: "SecondJudge", settings: "Settings") -> str | None:
    left = counted(int(str(facts["left"])), "turn is left", "turns are left")
    if facts["stopped"] == "tokens":
        budget = words(settings.rag_quality.judge_daily_tokens)
        return (
            f"stopped, {left}: the day's tokens (rag_quality.judge_daily_tokens, {budget}) are spent; run this again "
            "after midnight UTC, it goes on where it stopped"
        )
    if facts["stopped"] or (facts.get("errors") and not facts.get("graded")):
        classes = ", ".join(name.removeprefix("error_") for name in facts if name.startswith("error_"))
        return (
            f"stopped, {left}: the judge gave no scores ({classes}); see that its server answers and has the model "
            f"{judge.version.model}, then run this again"
        )
    return None


def _write(facts: dict[str, object], *, as_json: bool) -> None:
    if as_json:
        write_json(facts)
        return
    notes = facts.pop("notes", ())
    write_facts({_label(name): value for name, value in facts.items() if value is not None})
    for note in notes if isinstance(notes, list) else ():
        write_text(note)


def _label(name: str) -> str:
    """What a fact is, in words."""
    return LABELS.get(name) or f"  of these, {name.removeprefix('error_').replace('_', ' ')}"


LABELS = {
    "judge_model": "judge",
    "prompt_version": "prompt",
    "published": "its scores are published",
    "claimed": "turns taken up",
    "graded": "turns that got scores",
    "errors": "turns that got none",
    "released": "turns given back unasked",
    "turns": "turns to grade",
    "judge_calls": "judge calls",
    "planned_calls": "judge calls planned",
    "retries": "judge calls repeated",
    "prompt_tokens": "prompt tokens",
    "completion_tokens": "reply tokens",
    "tokens_needed": "tokens needed",
    "measured_turns": "turns measured for that",
    "rows_changed": "published rows changed",
    "left": "turns left to grade",
    "stopped": "stopped by",
    "open": "asked for, to be graded",
    "done": "asked for, graded by this judge",
    "failed": "asked for, attempts used up",
    "held": "asked for, held by another run",
    "no_text": "asked for, text expired",
    "too_long": "asked for, too long",
    "judge_daily_tokens": "tokens a day",
    "tokens_spent_today": "tokens spent today",
    "tokens_left_today": "tokens left today",
}
