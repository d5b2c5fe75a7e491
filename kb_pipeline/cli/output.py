"""How a command speaks: JSON and plain lines on stdout, progress on stderr.

Belongs here: formats. Does not: contents.
"""

import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, is_dataclass
from datetime import date, datetime
from enum import Enum
from pathlib import Path
from typing import Any

import click

from kb_pipeline.heartbeat import heartbeat


def write_json(value: Any) -> None:
    """One JSON document; text that the terminal's encoding has no characters for is escaped."""
    text = json.dumps(value, default=_plain, ensure_ascii=False, indent=2, allow_nan=False)
    try:
        text.encode(getattr(sys.stdout, "encoding", None) or "utf-8")
    except UnicodeEncodeError:
        text = json.dumps(value, default=_plain, indent=2, allow_nan=False)
    click.echo(text)


def _plain(value: object) -> object:
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    if isinstance(value, datetime | date):
        return value.isoformat()
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, Iterable) and not isinstance(value, str | bytes):
        return list(value)
    return str(value)


def write_facts(facts: Mapping[str, object]) -> None:
    """One `name  value` each, names aligned; a value that is longer than the line goes on below itself."""
    from kb_pipeline.cli.tables import fact_lines

    for line in fact_lines({name: words(value) for name, value in facts.items()}):
        write_line(line)


def write_text(text: str, *, hanging: int = 0) -> None:
    """A sentence, in lines that fit the terminal; those after the first are indented by `hanging`."""
    from kb_pipeline.cli.tables import wrap

    for line in wrap(text, hanging=hanging):
        write_line(line)


def write_line(line: str) -> None:
    """One line, however long; control characters and characters without an encoding as in `printable`."""
    click.echo(printable(line))


def printable(text: str) -> str:
    """Control characters as escapes, and characters that stdout's encoding has not as question marks."""
    shown = "".join(character if character.isprintable() else _escaped(character) for character in text)
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    return shown.encode(encoding, "replace").decode(encoding)


def _escaped(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")


def words(value: object) -> str:
    """A value as people read it: thousands separated, three decimals, a dash for nothing."""
    match value:
        case None:
            return "-"
        case bool():
            return "yes" if value else "no"
        case int():
            return f"{value:,}"
        case float():
            return f"{value:.3f}"
        case datetime():
            return value.isoformat(timespec="seconds")
    return str(value)


def read_file(path: Path) -> bytes:
    """The bytes of a file, or of standard input for `-`; raises click.UsageError with the reason."""
    if str(path) == "-" and sys.stdin is None:
        raise click.UsageError("standard input is closed; name a file, or pipe one in")
    try:
        return sys.stdin.buffer.read() if str(path) == "-" else path.read_bytes()
    except (OSError, ValueError) as error:
        reason = (error.strerror if isinstance(error, OSError) else None) or "its name cannot be used"
        raise click.UsageError(f"{path} cannot be read: {reason}") from None


Hear = Callable[[str, int], None]


@contextmanager
def progress() -> Iterator[Hear]:
    """Tells on stderr how far the work is; what is yielded hears what was done and how many more.

    On a terminal a line counts along; elsewhere a plain line is written every ten seconds.
    """
    counts: dict[str, int] = {}

    def state() -> str:
        return ", ".join(f"{words(count)} {name}" for name, count in counts.copy().items() if count) or "working"

    def hear(what: str, more: int) -> None:
        counts[what] = counts.get(what, 0) + more

    if not (sys.stderr and sys.stderr.isatty()):
        with heartbeat(lambda line: click.echo(f"kb-pipeline: {line}", err=True), state):
            yield hear
        return
    from rich.console import Console

    with Console(stderr=True).status("working") as status:

        def show(what: str, more: int) -> None:
            hear(what, more)
            status.update(state())

        yield show
