"""`kb-pipeline explain`: every fact known of one turn.

Belongs here: words for the facts. Does not: the facts.
"""

from typing import TYPE_CHECKING

import click

from kb_pipeline.cli.invocation import Invocation, pass_invocation
from kb_pipeline.cli.output import write_facts, write_json, write_line, write_text
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
        warn = street.settings.rag_quality.thresholds.faithfulness_warn
    if found is None:
        raise KbPipelineError(
            "the ledger has no such call: it was not examined yet, lies before rag_quality.start_at, "
            "or is of a surface that is not configured"
        )
    if as_json:
        write_json(found)
    else:
        _write(found, warn)


def _write(explanation: "Explanation", warn: float) -> None:
    for table, names in FACTS.items():
        known: dict[str, object] = {
            name: explanation.turn[name] for name in names if explanation.turn.get(name) is not None
        }
        if table == "rag_metric":
            known |= _opinion(explanation, warn)
        if known:
            write_line(f"from {table}")
            write_facts({f"  {name}": value for name, value in known.items()})
    for score in explanation.scores:
        write_text(f"from rag_judge_score, {score['judge_model']}, prompt {score['prompt_version']}")
        write_facts({f"  {name}": value for name, value in score.items() if value is not None and name not in VERSION})


def _opinion(explanation: "Explanation", warn: float) -> dict[str, object]:
    """The second opinion in words, where there is one."""
    from kb_pipeline.dashboard.opinion_words import counts_in_words, opinion_words, remarks_in_words

    turn, opinion = explanation.turn, explanation.turn.get("opinion")
    if opinion is None:
        return {}
    faithfulness = explanation.scores[-1]["faithfulness"] if explanation.scores else None
    said = opinion_words(
        faithfulness,
        turn["support_score"],
        turn["disagreement"],
        opinion,
        warn=warn,
        had_context=bool(turn["had_context"]),
    )
    facts = {
        "second opinion": f"{said.head}: {said.reason}",
        "of it found": counts_in_words(opinion),
        "remarks": remarks_in_words(opinion),
        "rules": opinion.get("version"),
    }
    return {name: value for name, value in facts.items() if value is not None}


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
        "answer_truncated", "support_score",
    ),
    "rag_quality": ("judge_status", "skip_reason", "disagreement", "published_at"),
}  # fmt: skip
