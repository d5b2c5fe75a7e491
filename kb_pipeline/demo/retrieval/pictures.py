"""The retrieval street's summary as a person reads it in a terminal: one sentence, tables, bars.

Belongs here: words, columns, bars. Does not: numbers that the findings have not.
"""

from collections.abc import Mapping

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from kb_pipeline.counting import counted
from kb_pipeline.demo.retrieval.findings import Findings, Rule, Strongest
from kb_pipeline.records import GapKind

BAR = "█"
WIDTH = 24
RULES = {
    "accepted_rank_1": "an accepted draft makes its first result relevant",
    "all_used": "whatever a draft used that was sent is relevant",
}
GAPS = {
    GapKind.KB_GAP: "not in the knowledge base",
    GapKind.RANKING_GAP: "found, ranked too low or not used",
    GapKind.RECALL_GAP: "in the knowledge base, not found",
    GapKind.GENERATION_GAP: "found and used, said wrongly or not at all",
}


def show_retrieval(findings: Findings, console: Console) -> None:
    """Print the findings."""
    console.print()
    console.print(headline(findings), style="bold")
    console.print(bars("Outcomes of the drafts", findings.outcomes))
    console.print(bars("Judgments by grade", _judgments(findings)))
    console.print(_rules(findings))
    console.print(_gaps(findings))
    console.print(_systems(findings))
    if findings.strongest:
        console.print(follow(findings.strongest), soft_wrap=True)


def follow(judgment: Strongest) -> str:
    """How to see the evidence of a judgment."""
    pair = judgment.pair
    return (
        f"Grade {judgment.grade} from {counted(judgment.conversations, 'conversation')}; its evidence: "
        f"ground-truth explain --query {pair.query_sha} --doc {pair.doc_id} --org {pair.tenant.org_id} "
        f"--specialist {pair.tenant.specialist_id}\n"
    )


def headline(findings: Findings) -> str:
    """The street in one sentence."""
    judged, precision = sum(findings.ground_truth.values()), _share(findings.harvested.agreement.precision)
    return (
        f"{counted(findings.events, 'retrieval')} and {counted(findings.searches, 'step')} of experts' searches "
        f"went through the queue; {counted(findings.drafts, 'draft')} gave {counted(judged, 'judgment')}, and "
        f"{precision} of the relevant ones are true."
    )


def bars(title: str, counts: Mapping[str, int]) -> Table:
    """One bar per class, the longest of a fixed width."""
    table = Table(title=title, title_justify="left", box=SIMPLE_HEAD, pad_edge=False, show_header=False)
    most = max(counts.values(), default=0) or 1
    for name, count in counts.items():
        table.add_row(name.replace("_", " "), f"{count:,}", BAR * round(WIDTH * count / most))
    return table


def _judgments(findings: Findings) -> dict[str, int]:
    graded = {f"grade {grade}": count for grade, count in findings.ground_truth.items()}
    return graded | {"conflict": findings.conflicts, "too little evidence": findings.insufficient}


def _rules(findings: Findings) -> Table:
    table = Table(title="Ground truth, beside what was planted", title_justify="left", box=SIMPLE_HEAD, pad_edge=False)
    table.add_column("rule")
    for title in ("precision", "recall", "Kendall's tau"):
        table.add_column(title, justify="right")
    _add_rule(table, "evidence of experts (kb_ground_truth)", findings.harvested)
    for name, rule in findings.naive.items():
        _add_rule(table, f"naive: {RULES.get(name, name)}", rule)
    return table


def _add_rule(table: Table, name: str, rule: Rule) -> None:
    found = rule.agreement
    tau = "–" if rule.kendall_tau is None else f"{rule.kendall_tau:.2f}"
    table.add_row(name, _share(found.precision), _share(found.recall), tau)


def _gaps(findings: Findings) -> Table:
    table = Table(title="Where the information was missing", title_justify="left", box=SIMPLE_HEAD, pad_edge=False)
    table.add_column("kind")
    for title in ("verdicts", "of them true", "planted", "tasks"):
        table.add_column(title, justify="right")
    for kind, gap in findings.gaps.items():
        true = f"{gap.right} ({_share(gap.precision)})" if gap.found else "–"
        table.add_row(GAPS[kind], f"{gap.found}", true, f"{gap.true}", f"{findings.tasks.get(kind, 0)}")
    return table


def _systems(findings: Findings) -> Table:
    table = Table(title="Retrieval configurations by nDCG@10", title_justify="left", box=SIMPLE_HEAD, pad_edge=False)
    table.add_column("configuration")
    for title in ("by the truth", "as harvested"):
        table.add_column(title, justify="right")
    table.add_column("")
    for name, (true, harvested) in findings.systems.items():
        table.add_row(name, f"{true:.3f}", f"{harvested:.3f}", BAR * round(WIDTH * true))
    return table


def _share(value: float | None) -> str:
    return "–" if value is None else f"{value:.1%}"
