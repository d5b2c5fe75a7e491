"""Named SQL for ClickHouse: `load("newest")` is the text of newest.sql in this folder."""

from functools import cache
from importlib.resources import files


@cache
def load(name: str) -> str:
    """The statement of a query file; raises FileNotFoundError for a name without a file."""
    return files(__package__).joinpath(f"{name}.sql").read_text(encoding="utf-8")
