"""The command group, its global options and the list of commands.

Belongs here: what every command shares. Does not: a command.
"""

from pathlib import Path

import click

from kb_pipeline.cli.alerts import alerts
from kb_pipeline.cli.attacking import attack
from kb_pipeline.cli.calibration import calibrate
from kb_pipeline.cli.checking import check
from kb_pipeline.cli.commands import Commands
from kb_pipeline.cli.comparing import compare_judges
from kb_pipeline.cli.costing import costs
from kb_pipeline.cli.delivering import deliver
from kb_pipeline.cli.demonstration import demo
from kb_pipeline.cli.evaluating import evaluate_runs
from kb_pipeline.cli.explaining import explain
from kb_pipeline.cli.exporting import export_ground_truth
from kb_pipeline.cli.extracting import extract
from kb_pipeline.cli.grading import grade
from kb_pipeline.cli.ground_truth import ground_truth
from kb_pipeline.cli.harvesting import harvest
from kb_pipeline.cli.invocation import Invocation
from kb_pipeline.cli.judgments import explain_one, settle_one
from kb_pipeline.cli.migrating import migrate
from kb_pipeline.cli.rejudging import rejudge
from kb_pipeline.cli.reviewing import review
from kb_pipeline.cli.serving import serve
from kb_pipeline.cli.suggesting import suggest_template
from kb_pipeline.cli.working import worker


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.option("--config", type=click.Path(path_type=Path), metavar="FILE", help="The configuration file.")
@click.option("--debug", is_flag=True, help="Show the traceback of an unexpected failure.")
@click.version_option(package_name="kb-pipeline", message="%(prog)s %(version)s")
@click.pass_context
def kb_pipeline(ctx: click.Context, config: Path | None, *, debug: bool) -> None:
    """Answer quality of a RAG chatbot from its audit trail, and retrieval ground truth from expert corrections.

    The configuration is --config, else the file that KB_PIPELINE_CONFIG names, else kb_pipeline.yaml in this folder.
    """
    ctx.obj = Invocation(config=config, debug=debug)


alerts.add_command(deliver)

for command in (
    demo,
    migrate,
    check,
    extract,
    grade,
    harvest,
    explain,
    review,
    suggest_template,
    ground_truth,
    evaluate_runs,
    costs,
    alerts,
    calibrate,
    attack,
    rejudge,
    compare_judges,
    worker,
    serve,
):
    kb_pipeline.add_command(command)
for command in (explain_one, settle_one, export_ground_truth):
    ground_truth.add_command(command)
