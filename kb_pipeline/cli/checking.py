"""`kb-pipeline check`: whether everything the pipeline needs is as it should be, and how to mend what is not.

Belongs here: the list of checks and its words. Does not: the checks of a server.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from kb_pipeline.cli.invocation import Invocation, pass_invocation
from kb_pipeline.cli.output import write_json, write_line
from kb_pipeline.counting import counted, out_of
from kb_pipeline.errors import KbPipelineError

if TYPE_CHECKING:
    from kb_pipeline.adapters.postgres.source_check import Finding
    from kb_pipeline.settings import AlertSettings, RagQualitySettings, RetrievalSettings, Settings

ASKED_S = 10.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Outcome:
    """What one check found; a check that could not be made for want of another is a problem too."""

    name: str
    ok: bool
    message: str
    remedy: str = ""


@click.command(short_help="Say what is wrong and how to mend it.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@pass_invocation
@click.pass_context
def check(ctx: click.Context, invocation: Invocation, *, as_json: bool) -> None:
    """Verify configuration, database, source views, judge, queue and Keep, and say how to mend what is wrong.

    Where grading is enabled the judge is asked to grade one built-in turn, where retrieval is the queue server to
    answer, where Keep is configured Keep whether it takes our keys. Exits with 1 if there is any problem.
    """
    settings = invocation.settings()
    outcomes: list[Outcome] = []
    for outcome in _outcomes(settings, invocation):
        outcomes.append(outcome)
        if not as_json:
            _write(outcome)
    problems = sum(not outcome.ok for outcome in outcomes)
    if as_json:
        write_json({"ok": not problems, "checks": outcomes})
    else:
        write_line(
            "everything is as it should be" if not problems else f"{out_of(problems, len(outcomes), 'check')} failed"
        )
    ctx.exit(1 if problems else 0)


def _write(outcome: Outcome) -> None:
    write_line(f"{'ok     ' if outcome.ok else 'PROBLEM'}  {outcome.name}: {outcome.message}")
    if outcome.remedy and not outcome.ok:
        write_line(f"         mend: {outcome.remedy}")


def _outcomes(settings: "Settings", invocation: Invocation) -> Iterator[Outcome]:
    yield _configuration(settings, invocation)
    yield from _guarded("database", _database(settings))
    yield from _guarded("judge", _judge(settings.rag_quality))
    if settings.retrieval.enabled:
        yield from _guarded("queue", _queue(settings.retrieval))
    yield from _alerts(settings.alerts)


def _guarded(name: str, outcomes: Iterable[Outcome]) -> Iterator[Outcome]:
    """The outcomes, up to a failure that makes the rest pointless, which is an outcome too."""
    try:
        yield from outcomes
    except KbPipelineError as error:
        message, remedy = _parts(str(error))
        yield Outcome(name=name, ok=False, message=message, remedy=remedy)


def _parts(sentence: str) -> tuple[str, str]:
    """What is wrong, and what to do: an error's sentence has both, parted by its last semicolon."""
    message, _, remedy = sentence.rpartition("; ")
    return (message, remedy) if message else (remedy, "")


def _configuration(settings: "Settings", invocation: Invocation) -> Outcome:
    from kb_pipeline.settings import find_config

    file = find_config(invocation.config)
    state = (
        "grading is enabled" if settings.rag_quality.enabled else "grading is dormant (rag_quality.enabled is false)"
    )
    return Outcome(name="configuration", ok=True, message=f"{file or 'no file, defaults'}; {state}")


def _database(settings: "Settings") -> Iterator[Outcome]:
    from kb_pipeline.adapters.postgres.connection import Database
    from kb_pipeline.adapters.postgres.plan_check import check_plans
    from kb_pipeline.adapters.postgres.retrieval.views import mapped_views
    from kb_pipeline.adapters.postgres.server_check import check_server
    from kb_pipeline.adapters.postgres.source_check import GRADED_VIEWS, check_source_views
    from kb_pipeline.adapters.postgres.surface_check import check_surfaces

    database = Database(settings.database_url, application_name="kb_pipeline_check")
    try:
        findings = check_server(database)
        yield from map(_outcome, findings)
        # A server that does not answer gives one finding, and has no views to look at.
        if len(findings) > 1:
            # Where neither street is on, grading is what the user is on his way to.
            views = check_source_views(database, grading=settings.rag_quality.enabled or not settings.retrieval.enabled)
            yield from map(_outcome, views)
            if all(view.ok for view in views) and mapped_views(database).issuperset(GRADED_VIEWS):
                yield _outcome(check_surfaces(database, settings.rag_quality.surfaces))
                yield from map(_outcome, check_plans(database))
    finally:
        database.dispose()


def _outcome(finding: "Finding") -> Outcome:
    return Outcome(name=finding.name, ok=finding.ok, message=finding.message, remedy=finding.remedy)


def _judge(quality: "RagQualitySettings") -> Iterator[Outcome]:
    if not quality.enabled:
        yield Outcome(
            name="judge",
            ok=True,
            message="not called: not needed while grading is dormant (rag_quality.enabled is false)",
        )
        return
    if quality.judge_model is None:
        yield Outcome(
            name="judge", ok=True, message="off (rag_quality.judge_model is null); deterministic metrics only"
        )
        return
    from kb_pipeline.adapters.gateway import GatewayJudge, context_window

    window = context_window(
        quality.judge_context_tokens,
        base_url=quality.judge_base_url,
        model=quality.judge_model,
        tenant=quality.judge_tenant,
        allow_external=quality.allow_external_judge,
    )
    judge = GatewayJudge(
        base_url=quality.judge_base_url,
        model=quality.judge_model,
        tenant=quality.judge_tenant,
        timeout_s=quality.judge_timeout_s,
        allow_external=quality.allow_external_judge,
        context_tokens=window.tokens,
    )
    probe = judge.probe()
    sentence = f"{probe.sentence}; context window {counted(window.tokens, 'token')}, {window.origin}"
    message, remedy = (sentence, "") if probe.ok else _parts(probe.sentence)
    yield Outcome(name="judge", ok=probe.ok, message=message, remedy=remedy)


def _queue(retrieval: "RetrievalSettings") -> Iterator[Outcome]:
    from kb_pipeline.worker import QueueServer, probe_now

    answer = probe_now(QueueServer.configured(retrieval))
    message, remedy = _parts(answer.objection) if answer.objection else (answer.description, "")
    yield Outcome(name="queue", ok=not answer.objection, message=message, remedy=remedy)


def _alerts(alerts: "AlertSettings") -> Iterator[Outcome]:
    """Keep is asked with nothing that it would store; a webhook and Apprise cannot be asked without an alert."""
    from kb_pipeline.adapters.notify import AppriseService, KeepServer

    if alerts.keep_url:
        with KeepServer(alerts.keep_url, key=alerts.keep_api_key, read_key=alerts.keep_read_key) as keep:
            for found in keep.check(within_s=ASKED_S):
                yield Outcome(name="alerts", ok=found.ok, message=found.message, remedy=found.remedy)
    for place, url in enumerate(alerts.apprise_urls, start=1):
        if objection := AppriseService(url, place=place).objection():
            message, remedy = _parts(objection)
            yield Outcome(name="alerts", ok=False, message=message, remedy=remedy)
