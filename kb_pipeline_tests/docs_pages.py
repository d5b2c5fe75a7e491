"""The documentation of this checkout, for tests that hold it against the code.

Belongs here: finding pages, reading tables. Does not: assertions.
"""

import re
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[1]


def page(name: str) -> str:
    """The text of a page below the repository's folder; skips the test where only the installed package is at hand."""
    only_in_a_checkout()
    return (REPOSITORY / name).read_text(encoding="utf-8")


def only_in_a_checkout() -> None:
    """Skip the test where only the installed package is at hand."""
    if not (REPOSITORY / "Makefile").exists():
        pytest.skip("the checkout is not at hand, only the installed package")


def table_rows(text: str) -> list[list[str]]:
    r"""The cells of every table row, less header and rule; `\|` is a bar within a cell."""
    rows = [line for line in text.splitlines() if line.startswith("| ") and not line.startswith("|---")]
    cells = [[cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", row)[1:-1]] for row in rows]
    return [row for row in cells if not row[0].istitle() and row[0] not in {"key", "command", "option", "word"}]
