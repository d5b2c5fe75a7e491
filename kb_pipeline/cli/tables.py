"""Tables and sentences that fit the terminal, or 80 columns where there is none; nothing of them is cut.

Belongs here: widths, columns to lines. Does not: contents, writing (output.py).
"""

import re
import shutil
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import zip_longest

from kb_pipeline.cli.output import printable

# Without a terminal, and a terminal that tells no width. No layout is of use below the least one.
WIDTH, LEAST_WIDTH = 80, 40
GAP, INDENT = 2, 4
# A wrapped column is not made narrower than this, were its longest word longer.
LONGEST_WORD = 16
# Nor is one that may sink, unless it holds less.
LEAST_FLOATING = 24
# A name that leaves its value no room stands on a line of its own.
LEAST_VALUE = 24


def terminal_width() -> int:
    """Columns of the terminal, 80 where there is none; the variable COLUMNS is heeded."""
    return max(LEAST_WIDTH, shutil.get_terminal_size((WIDTH, 0)).columns)


def table_lines(
    titles: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    wrapped: Collection[str] = (),
    numbers: Collection[str] = (),
    sinking: Collection[str] = (),
    below: Iterable[str] = (),
    width: int | None = None,
) -> list[str]:
    """The lines of a table: `numbers` stand to the right, cells of `wrapped` columns may take several lines.

    `below` has a remark for every row, or is empty. Where the columns do not fit the width, those of `sinking` go below
    their row, as `title: cell`; where the others still do not, each row is a block with a line for every column, and a
    blank line before the next. No cell is cut.
    """
    width = width or terminal_width()
    cells = [tuple(map(printable, row)) for row in rows]
    kept = list(range(len(titles)))
    widths = _widths(titles, cells, {*wrapped, *sinking}, sinking, width)
    if widths is None and sinking:
        kept = [place for place in kept if titles[place] not in sinking]
        widths = _widths(_only(titles, kept), [_only(row, kept) for row in cells], wrapped, (), width)
    if widths is None:
        return [line for row in cells for line in ("", *_block(titles, row, width))][1:]
    right = {place for place, title in enumerate(_only(titles, kept)) if title in numbers}
    lines = [*_aligned(_only(titles, kept), widths, right), "─" * (sum(widths) + GAP * (len(widths) - 1))]
    for row, remark in zip_longest(cells, below, fillvalue=""):
        lines += _aligned(_only(row, kept), widths, right)
        sunk = [f"{titles[place]}: {cell}" for place, cell in enumerate(row) if place not in kept]
        for each in filter(None, [*sunk, remark]):
            lines += wrap(f"{' ' * INDENT}{each}", width, hanging=INDENT)
    return lines


def fact_lines(facts: Mapping[str, str], width: int | None = None) -> list[str]:
    """`name  value`, the names aligned, a long value going on below itself."""
    return _block(list(facts), list(facts.values()), width or terminal_width())


def wrap(text: str, width: int | None = None, *, hanging: int = 0) -> list[str]:
    """A text in lines of at most `width` cells, broken between words; what follows is indented by `hanging`.

    Spaces within a line stay. A word too long for that, an id say, stands on a line of its own with less of an indent,
    so that it can be copied; one that is longer than a line is broken where it must be.
    """
    width = width or terminal_width()
    lines, line, taken = [], "", 0
    for gap, word in re.findall(r"( *)([^ ]+|$)", printable(text)):
        is_too_long = taken + len(gap) + cells_of(word) > width
        if line.strip() and is_too_long and cells_of(word) <= width - hanging:
            lines.append(line)
            line, taken, gap = " " * hanging, hanging, ""  # noqa: PLW2901 a gap at a break is none
        elif line.strip() and is_too_long and hanging and cells_of(word) <= width - GAP:
            lines.append(line)
            line, taken, gap = " " * GAP, GAP, ""  # noqa: PLW2901 a gap at a break is none
        line, taken = line + gap, taken + len(gap)
        for character in word:
            size = cells_of(character)
            if taken + size > width and line.strip():
                lines.append(line)
                line, taken = " " * hanging, hanging
            line, taken = line + character, taken + size
    return [each.rstrip() for each in (*lines, line)]


def cells_of(text: str) -> int:
    """How many cells of a terminal a text takes: two for each wide character."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


def _block(names: Sequence[str], values: Sequence[str], width: int) -> list[str]:
    name_width = max(map(cells_of, names), default=0)
    indent = name_width + GAP if width - name_width - GAP >= LEAST_VALUE else GAP
    lines = []
    for name, value in zip(names, values, strict=True):
        if indent > name_width:
            lines += wrap(f"{_padded(name, name_width)}{' ' * GAP}{value}", width, hanging=indent)
        else:
            lines += [*wrap(name, width), *wrap(f"{' ' * indent}{value}", width, hanging=indent)]
    return lines


def _widths(
    titles: Sequence[str],
    rows: Sequence[Sequence[str]],
    wrapped: Collection[str],
    floating: Collection[str],
    width: int,
) -> list[int] | None:
    """How wide each column is, None where they do not fit: what is to spare goes to the column that lacks most."""
    columns = list(zip(*rows, strict=True)) or [()] * len(titles)
    least, full = [], []
    for title, cells in zip(titles, columns, strict=True):
        longest = max(map(cells_of, cells), default=0)
        if title in floating:
            least.append(max(_longest_word(title), min(longest, LEAST_FLOATING)))
        elif title in wrapped:
            longest_word = max((cells_of(word) for cell in cells for word in cell.split()), default=0)
            least.append(max(_longest_word(title), min(longest_word, LONGEST_WORD)))
        else:
            least.append(max(_longest_word(title), longest))
        full.append(max(cells_of(title), longest))
    spare = width - sum(least) - GAP * (len(least) - 1)
    if spare < 0:
        return None
    while spare and least != full:
        place = min(range(len(full)), key=lambda place: least[place] / max(1, full[place]))
        least[place] += 1
        spare -= 1
    return least


def _only(row: Sequence[str], places: Iterable[int]) -> list[str]:
    return [row[place] for place in places]


def _longest_word(title: str) -> int:
    return max(map(cells_of, title.split()), default=0)


def _aligned(row: Sequence[str], widths: Sequence[int], right: Collection[int]) -> list[str]:
    """A row's lines."""
    columns = [wrap(cell, width) for cell, width in zip(row, widths, strict=True)]
    lines = []
    for parts in zip_longest(*columns, fillvalue=""):
        cells = (
            _padded(part, width, to_the_right=place in right)
            for place, (part, width) in enumerate(zip(parts, widths, strict=True))
        )
        lines.append((" " * GAP).join(cells).rstrip())
    return lines


def _padded(text: str, width: int, *, to_the_right: bool = False) -> str:
    padding = " " * (width - cells_of(text))
    return padding + text if to_the_right else text + padding
