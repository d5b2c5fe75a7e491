"""Statements kept as files: the text of a query by its name.

Belongs here: reading query files. Does not: the statements (the folders `queries`), running them.
"""

import re
from functools import cache
from importlib.resources import files
from typing import LiteralString

_INCLUDE = re.compile(r"^ *-- include (?P<name>\w+)\n", re.MULTILINE)


class NamedSql:
    """The query files of a package: `load("save_calls")` is the text of save_calls.sql beside it.

    A line `-- include may_be_judged` is replaced by that file of the same folder, where several queries share a part.
    """

    def __init__(self, package: str) -> None:
        self._folder = files(package)
        self._load = cache(self._read)

    def __call__(self, name: str) -> LiteralString:
        """The statement of a query file; raises FileNotFoundError for a name without a file."""
        return self._load(name)

    def _read(self, name: str) -> LiteralString:
        text: LiteralString = self._folder.joinpath(f"{name}.sql").read_text(encoding="utf-8")
        return _INCLUDE.sub(lambda found: self._read(found["name"]), text)
