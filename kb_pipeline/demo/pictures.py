"""The summary as a person reads it in a terminal: one sentence, tables, a line of hours.

Belongs here: words, columns, bars. Does not: numbers that the summary has not.
"""

from collections.abc import Iterable, Iterator, Mapping

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from kb_pipeline.counting import counted, out_of
from kb_pipeline.demo.alarms import AlertFacts
from kb_pipeline.demo.judged import IncidentReport, JudgeFacts
from kb_pipeline.demo.retrieval.pictures import show_retrieval
from kb_pipeline.demo.summary import Hour, Summary, Worst
from kb_pipeline.demo.truth import KindResult
from kb_pipeline.verdicts import Level

BARS = "▁▂▃▄▅▆▇█"
STYLES = {Level.PASSED: "green", Level.WARNED: "yellow", Level.FAILED: "red"}


def show(summary: Summary, console: Console) -> None:
    """Print the summary."""
    console.print()
    console.print(headline(summary), style="bold")
    console.print()
    console.print(_numbers(summary))
    console.print(_kinds(summary.planted.kinds))
    console.print(f"Faithfulness by hour  {sparkline(summary.hours)}  (one bar an hour, · none)")
    for line in incident_lines(summary.incidents):
        console.print(line)
    console.print()
    console.print(_alerts(summary.alerts))
    console.print()
    console.print(_judge(summary.judge))
    console.print(_worst(summary.worst))
    show_retrieval(summary.retrieval, console)
    console.print(_checks(summary.checks))


def _worst(turns: Iterable[Worst]) -> Table:
    table = Table(title="Worst answers", title_justify="left", box=SIMPLE_HEAD, pad_edge=False)
    for title in ("completed (UTC)", "event_id", "faithful", "relevant"):
        table.add_column(title, no_wrap=True)
    for turn in turns:
        scores = _score(turn.faithfulness), _score(turn.answer_relevance)
        table.add_row(f"{turn.ts:%Y-%m-%d %H:%M}", turn.event_id, *scores)
    return table


def _checks(checks: Mapping[str, Level]) -> Table:
    table = Table(box=None, pad_edge=False, show_header=False)
    for name, level in checks.items():
        table.add_row(f"check {name}", f"[{STYLES[level]}]{level}[/]")
    return table


def incident_lines(incidents: Iterable[IncidentReport]) -> Iterator[str]:
    """What went wrong, a sentence each."""
    for each in incidents:
        at = f"{each.start:%H:%M} UTC"
        match each.kind:
            case "template_change":
                yield (
                    f"{at}  the template changed: {out_of(each.unparsed, each.turns, 'turn')} were not parsed; "
                    f"{_advised(each)}"
                )
            case "judge_outage":
                graded = out_of(each.graded, each.judgeable, "turn")
                yield f"{at}  the judge was away: {graded} were graded after it came back"
            case "budget_spent":
                yield (
                    f"{at}  the day's judge tokens came to their end: of {counted(each.judgeable, 'turn')} since then "
                    f"{counted(each.pending, 'waits', 'wait')} until midnight UTC"
                )


def _advised(report: IncidentReport) -> str:
    if report.advice is None:
        return "suggest-template has no proposal"
    return (
        f"suggest-template proposes the question marker {report.advice['question_marker']!r}, "
        f"which fits {_percent(report.advice['share'])} of them"
    )


def _alerts(alerts: AlertFacts) -> Table:
    delivered = counted(alerts.delivered, "notice")
    title = f"Alerts: {len(alerts.fired)} fired, {len(alerts.resolved)} resolved, {delivered} delivered"
    table = Table(title=title, title_justify="left", box=None, pad_edge=False, show_header=False)
    for name in alerts.fired:
        table.add_row(name, "resolved" if name in alerts.resolved else "fires")
    return table


def _judge(judge: JudgeFacts) -> Table:
    table = Table(title="The judge", title_justify="left", box=None, pad_edge=False, show_header=False)
    table.add_row("calls, tokens", f"{judge.calls:,}, {judge.tokens:,}")
    for error, turns in judge.errors.items():
        table.add_row(f"turns that a run left without scores ({error})", f"{turns:,}")
    table.add_row("turns that wait", f"{judge.pending:,}")
    table.add_row(
        "attacks that moved a score", "not tried" if judge.attacks_moved is None else f"{judge.attacks_moved}"
    )
    for name in ("balanced_accuracy", "auc", "kappa", "spearman"):
        figure = judge.calibration.get(name)
        if figure and figure["value"] is not None:
            decisions = counted(figure["n"], "expert's decision", "experts' decisions")
            span = f"{_score(figure['low'])} to {_score(figure['high'])}"
            table.add_row(
                f"against {decisions}: {name.replace('_', ' ')}",
                f"{_score(figure['value'])} ({span})",
            )
    return table


def headline(summary: Summary) -> str:
    """The day in one sentence."""
    return (
        f"{out_of(summary.graded, summary.synthesis_calls, 'answer')} were graded in "
        f"{counted(len(summary.hours), 'hour')}; "
        f"mean faithfulness {_score(summary.mean_faithfulness)}, {_percent(summary.grounded_rate)} grounded."
    )


def sparkline(hours: Iterable[Hour]) -> str:
    """One bar per hour from 0.5 (and below) to 1.0; a dot where no turn has a faithfulness."""
    return "".join(_bar(hour.mean_faithfulness) for hour in hours)


def _bar(mean: float | None) -> str:
    if mean is None:
        return "·"
    return BARS[round(max(0.0, min(1.0, (mean - 0.5) / 0.5)) * (len(BARS) - 1))]


def _numbers(summary: Summary) -> Table:
    table = Table("", "found", box=None, pad_edge=False, show_header=False)
    table.add_row("calls examined", f"{summary.calls:,}")
    table.add_row("of them synthesis calls", f"{summary.synthesis_calls:,}")
    table.add_row("graded", f"{summary.graded:,}")
    for reason, count in summary.ungraded.items():
        table.add_row(f"  not graded: {reason}", f"{count:,}")
    table.add_row("judge calls", f"{summary.judge_calls:,}")
    table.add_row("parse success", _percent(summary.parse_success_rate))
    table.add_row("refusals", _percent(summary.refusal_rate))
    table.add_row("AUC of faithfulness against the planted truth", _score(summary.planted.auc_faithfulness))
    table.add_row("parse status as planted", _percent(summary.planted.parse_status_agreement))
    table.add_row("seconds", f"{summary.seconds:.1f}")
    return table


def _kinds(kinds: Iterable[KindResult]) -> Table:
    table = Table(title="What was planted, and what was found", title_justify="left", box=SIMPLE_HEAD, pad_edge=False)
    table.add_column("planted", no_wrap=True)
    for title in ("calls", "as planted", "graded", "faithful", "relevant"):
        table.add_column(title, justify="right")
    for kind in sorted(kinds, key=lambda each: (not each.is_turn, -each.planted)):
        table.add_row(
            kind.kind,
            str(kind.planted),
            f"{kind.verdict_agrees} of {kind.examined}",
            str(kind.graded),
            _score(kind.mean_faithfulness),
            _score(kind.mean_answer_relevance),
        )
    return table


def _score(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"


def _percent(value: float | None) -> str:
    return "–" if value is None else f"{value:.1%}"
