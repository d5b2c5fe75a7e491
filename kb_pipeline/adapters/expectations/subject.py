"""What a suite of expectations is about: a table, the checks its rows go through, the SQL that reads and counts them.

Belongs here: the form of such a description. Does not: the descriptions, Great Expectations.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, LiteralString


@dataclass(frozen=True, kw_only=True, slots=True)
class Subject:
    """One table and its checks.

    `groups` names the checks with what they say; the first is about the table's columns and what is always filled.
    `columns` are in the table's own order, with types as PostgreSQL's format_type spells them. `rows` and `counts` name
    statements that `load` gives: the rows between `{window_start}` and `{window_end}` with the facts that a rule about
    several columns needs, and for each check the offending rows by kind. `constants` are the statements' parameters.
    """

    table: str
    groups: Mapping[str, str]
    columns: Mapping[str, str]
    always_filled: tuple[str, ...]
    load: Callable[[str], LiteralString]
    rows: str
    counts: Mapping[str, str]
    constants: Mapping[str, Any] = field(default_factory=dict)

    @property
    def schema(self) -> str:
        """The check on columns and on what is always filled."""
        return next(iter(self.groups))
