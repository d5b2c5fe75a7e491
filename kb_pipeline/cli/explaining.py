"""`kb-pipeline explain`: every fact known of one turn.

Belongs here: words for the facts. Does not: the facts.
"""

from typing import TYPE_CHECKING

import click

from kb_pipeline.cli.invocation import Invocation, pass_invocation
from kb_pipeline.cli.output import write_facts, write_json, write_line
from kb_pipeline.errors import KbPipelineError

if TYPE_CHECKING:
    from kb_pipeline.adapters.postgres.explanation import Explanation


@click.command(short_help="Every fact known of one turn.")
@click.argument("event_id")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@pass_invocation
def explain(invocation: Invocation, event_id: str, *, as_json: bool) -> None:
    """Every fact known of one turn, with where it came from.

    The turn's text is shown, so the reading is recorded in kb_access_record.
    """
    settings = invocation.settings()
    from kb_pipeline.grading_street import GradingStreet

    with GradingStreet.open(settings) as street:
        found = street.explain(event_id)
    if found is None:
        raise KbPipelineError(
            "the ledger has no such call: it was not examined yet, lies before rag_quality.start_at, "
            "or is of a surface that is not configured"
        )
    if as_json:
        write_json(found)
    else:
        _write(found)


def _write(explanation: "Explanation") -> None:
    for table, names in FACTS.items():
        known = {name: explanation.turn[name] for name in names if explanation.turn.get(name) is not None}
        if known:
            write_line(f"from {table}")
            write_facts({f"  {name}": value for name, value in known.items()})
    for score in explanation.scores:
        write_line(f"from rag_judge_score, {score['judge_model']}, prompt {score['prompt_version']}")
        write_facts({f"  {name}": value for name, value in score.items() if value is not None and name not in VERSION})


VERSION = frozenset({"judge_model", "prompt_version"})
FACTS = {
    "rag_call": (
        "event_id", "trace_id", "ts", "tenant", "surface", "operation", "engine", "model", "http_status", "verdict",
        "parse_status", "evidence_intact", "examined_at",
    ),
    "rag_triad": (
        "question", "context", "answer", "finish_reason", "question_sha", "question_preview", "text_expired_at",
    ),
    "rag_metric": (
        "had_context", "num_passages", "top_score", "mean_score", "context_chars", "answer_chars", "refused",
        "answer_truncated", "support_score", "opinion",
    ),
    "rag_quality": ("judge_status", "skip_reason", "disagreement", "published_at"),
}  # fmt: skip
