"""The command group, its global options and the list of commands.

Belongs here: what every command shares. Does not: a command.
"""

import difflib
from pathlib import Path

import click

from kb_pipeline.cli.calibration import calibrate
from kb_pipeline.cli.checking import check
from kb_pipeline.cli.demonstration import demo
from kb_pipeline.cli.explaining import explain
from kb_pipeline.cli.extracting import extract
from kb_pipeline.cli.grading import grade
from kb_pipeline.cli.invocation import Invocation
from kb_pipeline.cli.migrating import migrate


class Commands(click.Group):
    """A group that names the nearest command when it does not know one."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if self.get_command(ctx, name) is None and not name.startswith("-"):
            near = difflib.get_close_matches(name, self.list_commands(ctx), n=1)
            hint = f"did you mean {near[0]}?" if near else f"known are {', '.join(self.list_commands(ctx))}"
            raise click.UsageError(f"there is no command {name.strip() or repr(name)}; {hint}", ctx=ctx)
        return super().resolve_command(ctx, args)

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 click's signature
        """In the order of a first day's work, not of the alphabet."""
        return list(self.commands)


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


for command in (demo, migrate, check, extract, grade, explain, calibrate):
    kb_pipeline.add_command(command)
