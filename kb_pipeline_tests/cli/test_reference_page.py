"""docs/reference/command-line.md has every command with every option, and no other."""

import re
from collections.abc import Iterator

import click

from kb_pipeline.cli.root import kb_pipeline
from kb_pipeline_tests.docs_pages import page, table_rows

PAGE = "docs/reference/command-line.md"


def options_of(command: click.Command) -> set[str]:
    """The options as the page writes them, less --help."""
    options = [parameter for parameter in command.params if isinstance(parameter, click.Option)]
    return {name for option in options for name in option.opts if name.startswith("--")} - {"--help"}


def commands(group: click.Group, prefix: str = "") -> Iterator[tuple[str, click.Command]]:
    """Every command by the words that call it; a group within the group is called by nothing alone."""
    for name, command in group.commands.items():
        if isinstance(command, click.Group):
            yield from commands(command, f"{prefix}{name} ")
        else:
            yield f"{prefix}{name}", command


def documented() -> dict[str, set[str]]:
    """The options that stand under each heading of the page."""
    _, *sections = re.split(r"^## ", page(PAGE), flags=re.MULTILINE)
    headed = {section.partition("\n")[0]: table_rows(section) for section in sections}
    words = {heading: {row[0].strip("`").partition(" ")[0] for row in rows} for heading, rows in headed.items()}
    return {heading: {word for word in found if word.startswith("--")} for heading, found in words.items()}


def test_every_command_and_option_is_documented_and_no_other() -> None:
    expected = {name: options_of(command) for name, command in commands(kb_pipeline)}
    expected["Options of every command"] = options_of(kb_pipeline) | {"--help"}
    assert documented() == expected
