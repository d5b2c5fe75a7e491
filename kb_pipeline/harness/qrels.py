"""Judgments in the two forms in which harnesses exchange them: TREC's four columns, BEIR's three with a heading.

Belongs here: reading them, and which of the two a file is. Does not: queries, documents, evaluation.
"""

import csv
import re
from collections.abc import Iterator
from pathlib import Path

from kb_pipeline.counting import counted
from kb_pipeline.harness.failures import UnreadableFile
from kb_pipeline.harness.lines import columns_of, lines_of, refused, shown

BEIR_HEADING = ("query-id", "corpus-id", "score")
TREC_COLUMNS = 4
_GRADE = re.compile(r"[+-]?[0-9]{1,9}(?:\.0+)?")
_ACCEPTED = (
    "a line of TREC has four columns (query id, iteration, document id, grade), one of BEIR has three parted by tabs "
    "(query-id, corpus-id, score)"
)


def read_qrels(path: Path) -> dict[str, dict[str, int]]:
    """Grades by query id and document id, in the file's order; raises UnreadableFile.

    Which form it is, is told by the first line; a heading alone is an empty part of a split. A judgment may be
    repeated, not contradicted.
    """
    judgments: dict[str, dict[str, int]] = {}
    for number, query, document, grade in _rows(path):
        if judgments.setdefault(query, {}).setdefault(document, grade) != grade:
            raise refused(path, number, "this document has another grade above; keep one of the two lines")
    return judgments


def _rows(path: Path) -> Iterator[tuple[int, str, str, int]]:
    lines = iter(lines_of(path))
    first = next(lines, None)
    if first is None:
        raise UnreadableFile(f"{shown(path)} is empty; {_ACCEPTED}")
    is_beir = len(_tabbed(first[1])) == len(BEIR_HEADING)
    if not is_beir or not _is_heading(first[1]):
        yield _row(path, *first, is_beir=is_beir)
    for number, line in lines:
        yield _row(path, number, line, is_beir=is_beir)


def _row(path: Path, number: int, line: str, *, is_beir: bool) -> tuple[int, str, str, int]:
    columns = _tabbed(line) if is_beir else columns_of(line)
    if len(columns) != (len(BEIR_HEADING) if is_beir else TREC_COLUMNS):
        raise refused(path, number, f"{counted(len(columns), 'column')}; {_ACCEPTED}")
    query, document, grade = (columns[0], columns[-2], columns[-1].strip())
    if not _GRADE.fullmatch(grade):
        raise refused(path, number, f"the grade, its last column, is no whole number; {_ACCEPTED}")
    return number, query, document, int(grade.partition(".")[0])


def _tabbed(line: str) -> list[str]:
    """The columns as BEIR's own reader takes them: quotation marks group only where there are some."""
    return next(csv.reader([line], delimiter="\t"), []) if '"' in line else line.split("\t")


def _is_heading(line: str) -> bool:
    """A heading, whatever its words, has no number in the last column."""
    return not _GRADE.fullmatch(_tabbed(line)[-1].strip())
