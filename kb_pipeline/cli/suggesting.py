"""`kb-pipeline suggest-template`: what the markers probably are, now that the configured ones do not fit.

Belongs here: options, surfaces, words and YAML. Does not: reading prompts, looking for markers.
"""

from collections.abc import Mapping
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from kb_pipeline.cli.extracting import unknown_surface
from kb_pipeline.cli.invocation import Invocation, pass_invocation
from kb_pipeline.cli.output import progress, words, write_json, write_line
from kb_pipeline.cli.times import Instant, window_until_now
from kb_pipeline.counting import counted
from kb_pipeline.errors import KbPipelineError

if TYPE_CHECKING:
    from kb_pipeline.settings import Settings
    from kb_pipeline.steps.suggest import Suggested, Suggestion
    from kb_pipeline.windows import Window

KEYS = ("synthesis_markers", "question_marker", "context_marker", "passage_pattern")


@click.command(name="suggest-template", short_help="What the new markers probably are, after the template changed.")
@click.option("--since", type=Instant(), metavar="T", required=True, help="Look through calls completed from T on.")
@click.option("--surface", metavar="S", help="Look at this surface alone.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@pass_invocation
def suggest_template(invocation: Invocation, since: datetime, surface: str | None, *, as_json: bool) -> None:
    """Markers that fit the prompts which the configured ones do not fit, with the share that would parse.

    T is a time with its zone (2026-07-09T14:00+07:00) or how long ago (90m, 24h, 7d). Stored requests are read, so the
    reading is recorded in kb_access_record. No text that only some turns have is shown.
    """
    settings = invocation.settings()
    configured = settings.rag_quality.surfaces
    if surface is not None and surface not in configured:
        raise click.UsageError(unknown_surface(surface, list(configured)))
    window = window_until_now(since)
    found = _suggestions(settings, [surface] if surface is not None else sorted(configured), window)
    if as_json:
        write_json(
            {"since": window.start, "until": window.end, "surfaces": [_object(each, settings) for each in found]}
        )
    else:
        for suggestion in found:
            _write(suggestion, window, settings)
    problems = [f"surface {each.surface}: {each.problem}" for each in found if each.problem]
    if problems:
        raise KbPipelineError("; ".join(problems))


def _suggestions(settings: "Settings", names: list[str], window: "Window") -> "list[Suggestion]":
    from kb_pipeline.template_advice import suggested_templates

    with progress() as hear:
        return suggested_templates(settings, names, window, on_progress=partial(hear, "calls"))


def _markers(suggested: "Suggested") -> dict[str, Any]:
    """The keys of a surface that make it fit."""
    template = suggested.proposal.template
    return {
        "synthesis_markers": list(template.synthesis_markers),
        "question_marker": template.question_marker,
        "context_marker": template.context_marker,
        "passage_pattern": template.passage_pattern.pattern,
    }


def _changed(markers: Mapping[str, Any], surface: str, settings: "Settings") -> list[str]:
    configured = settings.rag_quality.surfaces[surface].model_dump(mode="json")
    return [key for key in KEYS if markers[key] != configured[key]]


def _object(suggestion: "Suggestion", settings: "Settings") -> dict[str, Any]:
    proposals = []
    for each in suggestion.suggested:
        markers, proposal = _markers(each), each.proposal
        proposals.append(
            {
                "bodies": proposal.bodies,
                "parses": proposal.parses,
                "share": round(proposal.share, 4),
                "questions": proposal.questions,
                "unparsed": proposal.unparsed,
                "turns": each.turns,
                "parsed_beside": each.parsed_beside,
                "changed": _changed(markers, suggestion.surface, settings),
                "settings": markers,
            }
        )
    return {
        "surface": suggestion.surface,
        "counts": suggestion.counts,
        "proposals": proposals,
        "problem": suggestion.problem,
    }


def _write(suggestion: "Suggestion", window: "Window", settings: "Settings") -> None:
    counts, since = suggestion.counts, window.start.isoformat(timespec="seconds")
    write_line(
        f"# surface {suggestion.surface}, since {since}: {counted(counts['read'], 'call')} read, "
        f"{counted(counts['turns'], 'unparsed turn')}, {counted(counts['others'], 'other call')}"
    )
    if counts["parse_already"]:
        write_line(
            f"# {words(counts['parse_already'])} parse with the markers as they are configured now: "
            f"kb-pipeline grade --since {since} reads them anew"
        )
    unreadable = {name.partition("/")[2]: count for name, count in counts.items() if "/" in name}
    if unreadable:
        write_line(f"# could not be read: {_listed(unreadable)}")
    if not suggestion.suggested and not suggestion.problem:
        write_line("# all is well: no turn is unparsed for want of a marker")
    for each in suggestion.suggested:
        _write_proposal(each, suggestion.surface, settings)


def _write_proposal(suggested: "Suggested", surface: str, settings: "Settings") -> None:
    import yaml

    proposal, markers = suggested.proposal, _markers(suggested)
    write_line(
        f"# {proposal.share:.2f} of {counted(proposal.bodies, 'body', 'bodies')} would parse, with "
        f"{counted(proposal.questions, 'different question')}; new: {', '.join(_changed(markers, surface, settings))}"
    )
    if proposal.unparsed:
        missing = words(proposal.bodies - proposal.parses)
        write_line(f"# {missing} would stay unparsed: {_listed(proposal.unparsed)}")
    if not suggested.turns:
        beside = suggested.parsed_beside
        doubt = "; they may be calls of another kind" if beside else ""
        write_line(f"# none of them is a turn by the ledger; turns parsed in the same time: {words(beside)}{doubt}")
    block = {"rag_quality": {"surfaces": {surface: markers}}}
    text = yaml.safe_dump(block, allow_unicode=True, sort_keys=False, width=1_000_000)
    for line in text.splitlines():
        write_line(line)


def _listed(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {words(count)}" for name, count in counts.items())
