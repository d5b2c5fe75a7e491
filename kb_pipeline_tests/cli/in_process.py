"""Commands run in this process, on a test's database: as a user meets them, without the time that a start takes.

Belongs here: running, what is left. Does not: assertions.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from kb_pipeline.adapters.postgres.connection import Database
from kb_pipeline.cli import failures
from kb_pipeline.cli.root import kb_pipeline as group


@dataclass(frozen=True, kw_only=True)
class Left:
    """What a command left: its exit code and what it wrote."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        assert self.out, self.err
        return json.loads(self.out)

    @property
    def prose(self) -> str:
        """Stdout without the breaks of lines, which stand where the terminal ends."""
        return " ".join(self.out.split())

    @property
    def sentence(self) -> str:
        """What went wrong, in one line."""
        assert self.code != 0
        assert self.err.startswith("kb-pipeline: ")
        assert self.err.count("\n") == 1, self.err
        return self.err


class Terminal:
    """Runs commands with a configuration that names one database, or none, and has these sections beside it."""

    def __init__(
        self,
        folder: Path,
        capsys: pytest.CaptureFixture[str],
        database: Database | None = None,
        sections: Mapping[str, Any] | None = None,
    ) -> None:
        self._capsys = capsys
        self._config = folder / "kb.yaml"
        url = database.url.render_as_string(hide_password=False) if database else None
        self._config.write_text(json.dumps({"database": {"url": url}} | dict(sections or {}) if url else {}))

    def run(self, *arguments: str | Path) -> Left:
        """Run a command."""
        code = failures.run(group, ["--config", str(self._config), *map(str, arguments)])
        out, err = self._capsys.readouterr()
        return Left(code=code, out=out, err=err)
