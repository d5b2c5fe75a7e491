"""A group of commands that helps with a name it does not know.

Belongs here: how names are resolved. Does not: the names.
"""

import difflib

import click


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
