"""What the global options say, for the commands.

Belongs here: the options' values and the settings they lead to. Does not: options of one command.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from kb_pipeline.settings import Settings


@dataclass(frozen=True, kw_only=True, slots=True)
class Invocation:
    """One call of the command line."""

    config: Path | None = None
    debug: bool = False

    def settings(self) -> "Settings":
        """The configuration; raises SettingsError."""
        from kb_pipeline.settings import load_settings

        return load_settings(self.config)


pass_invocation = click.make_pass_decorator(Invocation)
