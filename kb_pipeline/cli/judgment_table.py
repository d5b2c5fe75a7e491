"""One judgment as a person reads it: what was decided, then a row per piece of evidence.

Belongs here: columns and words. Does not: facts.
"""

import math
from collections.abc import Sequence

from kb_pipeline.adapters.postgres.retrieval.explanation import ExplainedEvidence, JudgmentExplanation, Standing
from kb_pipeline.cli.output import words, write_facts, write_line, write_text
from kb_pipeline.cli.tables import table_lines
from kb_pipeline.records import Judgment

TITLES = ("observed", "kind", "weight", "by now", "counts", "conversation", "facts")
SHORT_ID = 8
STANDINGS = {
    Standing.COUNTS: "yes",
    Standing.WEAKER: "no, its conversation has a heavier vote",
    Standing.OLDER_WORD: "no, somebody spoke since",
    Standing.OUTDATED: "no, the document changed since",
    Standing.SUPERSEDED: "no, read anew since",
}


def write_judgment(explanation: JudgmentExplanation) -> None:
    """The judgment's facts, the evidence as a table, what people said below their rows."""
    write_facts(_facts(explanation))
    if not explanation.is_up_to_date:
        write_text(f"the evidence has changed since: the next harvest makes it {_verdict(explanation.current)}")
    write_line("")
    _write_table(explanation.evidence)


def _facts(explanation: JudgmentExplanation) -> dict[str, object]:
    stored = explanation.stored
    known = {
        "organisation": explanation.tenant.org_id,
        "specialist": explanation.tenant.specialist_id,
        "query": "(its words have expired)" if explanation.query is None else explanation.query,
        "query_sha": explanation.query_sha,
        "document": explanation.doc_id,
    }
    if stored is None:
        return {**known, "judgment": "none yet"}
    names = ("p", "positive", "negative", "conversations", "self_made", "as_of", "rule_version")
    verdict = stored["status"] if stored["grade"] is None else f"grade {stored['grade']}"
    return {**known, "judgment": verdict, **{name: stored[name] for name in names}}


def _verdict(judgment: Judgment) -> str:
    return str(judgment.status) if judgment.grade is None else f"grade {judgment.grade}"


def _write_table(evidence: Sequence[ExplainedEvidence]) -> None:
    lines = table_lines(
        TITLES,
        map(_cells, evidence),
        wrapped={"observed", "kind", "counts", "conversation", "facts"},
        numbers={"weight", "by now"},
        below=[f"{each.author}: {each.reason}" if each.author else "" for each in evidence],
    )
    for line in lines:
        write_line(line)


def _cells(each: ExplainedEvidence) -> tuple[str, ...]:
    said = each.evidence
    facts = ", ".join(f"{name} {words(value)}" for name, value in said.facts.items())
    return (
        f"{said.observed_at:%Y-%m-%d %H:%M}",
        str(said.kind),
        f"{said.weight:+.2f}",
        f"{math.copysign(each.mass, said.weight):+.2f}",
        STANDINGS[each.standing],
        "-" if said.conversation_id is None else str(said.conversation_id)[:SHORT_ID],
        facts or "-",
    )
