"""`kb-pipeline calibrate`: how far a judge agrees with labelled triads.

Belongs here: options, which judge is asked, the table. Does not: agreement.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from kb_pipeline.cli.invocation import Invocation, pass_invocation
from kb_pipeline.cli.output import progress, read_file, words, write_json, write_line, write_text

if TYPE_CHECKING:
    from kb_pipeline.adapters.gateway import GatewayJudge
    from kb_pipeline.grading.calibration import Agreement, Estimate
    from kb_pipeline.settings import RagQualitySettings
    from kb_pipeline.steps.calibrate import Calibration

NAMES = ("source", "lang", "label")
COUNTS = ("n", "faithful", "ungraded")
FIGURES = ("AUC", "balanced accuracy", "Cohen's kappa", "Spearman", "word overlap's AUC")


@click.command(short_help="How far a judge agrees with labelled triads.")
@click.option("--dataset", type=click.Path(path_type=Path), metavar="FILE", required=True, help="Triads as JSON lines.")
@click.option("--judge-url", metavar="URL", help="Ask this OpenAI-compatible server instead of the configured judge.")
@click.option("--model", metavar="M", help="Ask this model instead of the configured one.")
@click.option("--reference-judge", is_flag=True, help="Ask the demo's reference judge.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@pass_invocation
def calibrate(
    invocation: Invocation,
    dataset: Path,
    judge_url: str | None,
    model: str | None,
    *,
    reference_judge: bool,
    as_json: bool,
) -> None:
    """Grade labelled triads and set the scores beside the labels, per source, language and kind of label.

    A line has question, passages, answer and label_faithful (0 or 1); source, lang and meta.label_kind name the row it
    counts in. Nothing is written to the database.
    """
    if reference_judge and (judge_url or model):
        raise click.UsageError("--reference-judge excludes --judge-url and --model: it brings its own")
    # Only a line feed ends a line of JSON: other separators may stand within its texts.
    lines = read_file(dataset).decode("utf-8-sig", errors="replace").split("\n")
    quality = invocation.settings().rag_quality
    with chosen_judge(quality, judge_url, model, reference=reference_judge) as judge:
        calibration = _calibrated(lines, judge, dataset.name, quality)
    if as_json:
        write_json(calibration)
    else:
        _write(calibration)


@contextmanager
def chosen_judge(
    quality: "RagQualitySettings", url: str | None, model: str | None, *, reference: bool
) -> Iterator["GatewayJudge"]:
    """The reference judge, the server at `url`, or the configured one; raises click.UsageError without a model."""
    from kb_pipeline.adapters.gateway import GatewayJudge, context_window
    from kb_pipeline.demo.reference_judge import ReferenceJudge

    def gateway_judge(base_url: str, model: str) -> GatewayJudge:
        window = context_window(
            quality.judge_context_tokens,
            base_url=base_url,
            model=model,
            tenant=quality.judge_tenant,
            allow_external=quality.allow_external_judge,
        )
        return GatewayJudge(
            base_url=base_url,
            model=model,
            tenant=quality.judge_tenant,
            timeout_s=quality.judge_timeout_s,
            concurrency=quality.judge_concurrency,
            allow_external=quality.allow_external_judge,
            context_tokens=window.tokens,
        )

    if reference:
        with ReferenceJudge() as server:
            yield gateway_judge(server.base_url, server.model)
        return
    name = model or quality.judge_model
    if name is None:
        raise click.UsageError("rag_quality.judge_model is null; name a model with --model, or use --reference-judge")
    yield gateway_judge(url or quality.judge_base_url, name)


def _calibrated(lines: Sequence[str], judge: "GatewayJudge", name: str, quality: "RagQualitySettings") -> "Calibration":
    from kb_pipeline.adapters.clock import SystemClock
    from kb_pipeline.steps.calibrate import calibrate as calibrate_judge
    from kb_pipeline.steps.judge import InParts

    phrases = {phrase for surface in quality.surfaces.values() for phrase in surface.refusal_phrases}
    with progress() as hear:
        return calibrate_judge(
            lines,
            InParts(judge, context_tokens=judge.context_tokens),
            name=name,
            clock=SystemClock(),
            concurrency=quality.judge_concurrency,
            timeout_s=quality.judge_timeout_s,
            refusal_phrases=sorted(phrases),
            threshold=quality.thresholds.faithfulness_warn,
            on_progress=lambda _: hear("triads", 1),
        )


def _write(calibration: "Calibration") -> None:
    from kb_pipeline.cli.tables import table_lines

    write_text(f"judge {calibration.version.model}, prompt {calibration.version.prompt_version}")
    write_text(f"faithful from a score of {words(calibration.threshold)}; figures with their 95 % intervals")
    rows = [_cells(row, base) for row, base in zip(calibration.rows, calibration.baseline, strict=True)]
    for line in table_lines((*NAMES, *COUNTS, *FIGURES), rows, wrapped=NAMES, numbers=COUNTS, sinking=FIGURES):
        write_line(line)
    for problem in calibration.problems:
        write_text(f"left out: {problem}")
    write_text(", ".join(f"{words(count)} {name}" for name, count in calibration.counts.counts.items()))


def _cells(row: "Agreement", baseline: "Agreement") -> tuple[str, ...]:
    counts = (row.n, row.faithful, row.ungraded)
    figures = (row.auc, row.balanced_accuracy, row.kappa, row.spearman, baseline.auc)
    return (row.source, row.language, row.label_kind, *map(words, counts), *map(_figure, figures))


def _figure(estimate: "Estimate | None") -> str:
    return "-" if estimate is None else f"{estimate.value:.3f} [{estimate.low:.3f}, {estimate.high:.3f}]"
