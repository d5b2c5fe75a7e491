"""Named SQL of the dashboard: `load("quality_total")` is the text of quality_total.sql in this folder."""

from functools import cache
from importlib.resources import files
from typing import LiteralString


@cache
def load(name: str) -> LiteralString:
    """The statement of a query file; raises FileNotFoundError for a name without a file."""
    return files(__package__).joinpath(f"{name}.sql").read_text(encoding="utf-8")
