"""Tables on a terminal, through the one door for text, which knows what the terminal can show.

Belongs here: columns to lines. Does not: contents.
"""

import io
from collections.abc import Collection, Iterable, Sequence

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

WIDTH = 110


def table_lines(
    titles: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    wrapped: Collection[str] = (),
    numbers: Collection[str] = (),
    width: int = WIDTH,
) -> list[str]:
    """The lines of a table: `numbers` stand to the right, cells of `wrapped` columns may take several lines."""
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for title in titles:
        is_whole = title not in wrapped
        table.add_column(title, justify="right" if title in numbers else "left", no_wrap=is_whole, overflow="fold")
    for row in rows:
        table.add_row(*map(Text, row))
    page = io.StringIO()
    Console(file=page, width=width, color_system=None).print(table)
    return [line.rstrip() for line in page.getvalue().splitlines() if line.strip()]
