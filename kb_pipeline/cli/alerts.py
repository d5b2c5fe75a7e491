"""`kb-pipeline alerts …`: evaluate the rules, see, silence, try again, and replay a rule with other thresholds.

Belongs here: options. Does not: how alerts are shown (alert_table.py), rules.
"""

from datetime import datetime, timedelta
from typing import Any

import click

from kb_pipeline.cli.commands import Commands
from kb_pipeline.cli.invocation import Invocation, pass_invocation
from kb_pipeline.cli.output import progress, write_facts, write_json, write_text
from kb_pipeline.cli.times import AGO, UNITS, Instant, refuse_future, window_until_now
from kb_pipeline.errors import KbPipelineError

json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
MONTHS = 40
LONGEST_SILENCE = timedelta(days=366)


class Lasting(click.ParamType[timedelta]):
    """How long, as 90m, 24h, 7d or 2w."""

    name = "T"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> timedelta:
        if isinstance(value, timedelta):
            return value
        found = AGO.fullmatch(str(value).strip())
        lasting = timedelta(**{UNITS[found["unit"]]: int(found["count"])}) if found else timedelta()
        if not timedelta() < lasting <= LONGEST_SILENCE:
            self.fail(f"{value!r} is not accepted; give how long, such as 90m, 24h or 7d, at most a year", param, ctx)
        return lasting


@click.group(cls=Commands, short_help="Evaluate alert rules; list, silence, retry and simulate alerts.")
def alerts() -> None:
    """Alerts: where every rule stands, what goes out, and what would go out with other thresholds."""


@alerts.command(short_help="Evaluate every rule once.")
@json_option
@pass_invocation
def evaluate(invocation: Invocation, *, as_json: bool) -> None:
    """Evaluate every rule over the hourly windows; what follows from it is in the outbox afterwards.

    Dagster does the same by itself. Evaluating again without new data changes nothing.
    """
    settings = invocation.settings()
    from kb_pipeline.alert_desk import AlertDesk

    with AlertDesk.open(settings) as desk, progress():
        report = desk.evaluate()
        verdict = desk.verdict()
        active = [state for state in desk.states() if state.status.is_active]
    if as_json:
        write_json({"counts": report.counts, "verdict": verdict, "active": [state.fingerprint for state in active]})
        return
    write_text(verdict.sentence)
    write_facts(report.counts)


@alerts.command(name="list", short_help="Where every rule stands, and what is to be delivered.")
@click.option("--active", "only_active", is_flag=True, help="Only what fires.")
@click.option("--history", type=Instant(), help="Also flips since then: a time, or how long ago, such as 7d.")
@click.option("--fingerprint", metavar="F", help="Only this alert.")
@json_option
@pass_invocation
def list_alerts(
    invocation: Invocation, *, only_active: bool, history: datetime | None, fingerprint: str | None, as_json: bool
) -> None:
    """Current states, silences, how delivery to each destination stands, and dead letters with their reasons."""
    refuse_future(history, "--history")
    settings = invocation.settings()
    from kb_pipeline.alert_desk import AlertDesk
    from kb_pipeline.cli.alert_table import overview, write_overview

    with AlertDesk.open(settings) as desk:
        found = overview(desk, only_active=only_active, history=history, fingerprint=fingerprint)
    if fingerprint and not any(found[name] for name in ("states", "waiting", "dead", "history")) and not only_active:
        raise KbPipelineError(f"there is no alert {fingerprint!r}; kb-pipeline alerts list shows every one there is")
    if as_json:
        write_json(found)
    else:
        write_overview(found)


@alerts.command(short_help="Tell nobody of an alert for a while.")
@click.argument("pattern", metavar="ALERT")
@click.option("--for", "lasting", type=Lasting(), help="How long, such as 90m, 24h or 7d.")
@click.option("--author", metavar="NAME", help="Who says so.")
@click.option("--reason", metavar="TEXT", help="Why.")
@click.option("--end", "is_end", is_flag=True, help="End the silences of ALERT now.")
@json_option
@pass_invocation
def silence(
    invocation: Invocation,
    *,
    pattern: str,
    lasting: timedelta | None,
    author: str | None,
    reason: str | None,
    is_end: bool,
    as_json: bool,
) -> None:
    """Tell nobody of ALERT: a fingerprint, a rule, or the beginning of fingerprints with a final *.

    States go on meanwhile. What still fires when the silence ends is told then; a resolve is told to whoever was told
    of the fire.
    """
    if is_end == (lasting is not None):
        raise click.UsageError("give --for how long, with --author and --reason, or --end")
    if lasting and not (author and reason):
        raise click.UsageError("an alert is silenced by somebody, for a reason: give both --author and --reason")
    settings = invocation.settings()
    from kb_pipeline.alert_desk import AlertDesk

    with AlertDesk.open(settings) as desk:
        if lasting is None:
            facts: dict[str, Any] = {"pattern": pattern, "ended": desk.end_silences(pattern)}
        else:
            until = desk.silence(pattern, lasting=lasting, author=author or "", reason=reason or "")
            facts = {"pattern": pattern, "until": until, "alerts_matched": desk.matching(pattern)}
    if as_json:
        write_json(facts)
    else:
        write_facts(facts)


@alerts.command(short_help="Try dead letters and held destinations again.")
@click.option("--destination", metavar="D", help="Only this one, by its name in the list.")
@click.option("--fingerprint", metavar="F", help="Only this alert.")
@json_option
@pass_invocation
def retry(invocation: Invocation, *, destination: str | None, fingerprint: str | None, as_json: bool) -> None:
    """Put dead letters back into the outbox and let held destinations be tried at once.

    An alert behind which a later one of its fingerprint was delivered stays dead: what stands there would go back.
    """
    settings = invocation.settings()
    from kb_pipeline.alert_desk import AlertDesk

    with AlertDesk.open(settings) as desk:
        facts = {"alerts_waiting_again": desk.retry(destination=destination, fingerprint=fingerprint)}
    if as_json:
        write_json(facts)
    else:
        write_facts(facts)


@alerts.command(short_help="When a rule would have fired with other thresholds.")
@click.option("--rule", metavar="NAME", required=True, help="The rule, for example rag_low_faithfulness.")
@click.option("--since", type=Instant(), required=True, help="From when: a time, or how long ago, such as 30d.")
@click.option("--threshold", type=click.FloatRange(0, 1), help="In place of the configured one.")
@click.option("--confidence-z", type=click.FloatRange(0, 5), help="In place of thresholds.confidence_z.")
@click.option("--min-graded", type=click.IntRange(1), help="In place of thresholds.min_graded.")
@click.option("--months", type=click.IntRange(1, 1000), default=MONTHS, show_default=True, help="Months to make up.")
@click.option("--seed", type=click.IntRange(0), default=1, show_default=True, help="The same seed, the same months.")
@json_option
@pass_invocation
def simulate(
    invocation: Invocation,
    *,
    rule: str,
    since: datetime,
    threshold: float | None,
    confidence_z: float | None,
    min_graded: int | None,
    months: int,
    seed: int,
    as_json: bool,
) -> None:
    """Replay stored windows: when the rule would have fired and resolved, evaluated at the end of each hour.

    And play it over made-up months in which nothing is wrong, with the volume and the level of that time: how many
    false alarms to expect. Nothing is written and nobody is told.
    """
    from kb_pipeline.alerting.catalogue import RULE_NAMES

    if rule not in RULE_NAMES:
        raise click.UsageError(f"there is no rule {rule!r}; known are {', '.join(RULE_NAMES)}")
    window_until_now(since)
    settings = invocation.settings()
    given = {"z": confidence_z, "min_graded": min_graded}
    changes = {name: value for name, value in given.items() if value is not None}
    from kb_pipeline.alert_desk import AlertDesk
    from kb_pipeline.cli.alert_table import replay_facts, write_replay

    with AlertDesk.open(settings) as desk, progress():
        found = desk.simulate(rule, since=since, threshold=threshold, changes=changes, months=months, seed=seed)
    if as_json:
        write_json(replay_facts(found))
    else:
        write_replay(replay_facts(found))
