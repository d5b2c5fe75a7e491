"""Ids that every reader of BEIR and TREC files can take, and the map back to the ids as they are.

Belongs here: the encoding, the map file. Does not: who writes which id.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

from kb_pipeline.harness.lines import lines_of, refused

MAP_FILE = "id_map.jsonl"
# Everything printable in ASCII but the blank, which ends a column, the quotation mark, which begins a quoted one, and
# the percent sign, which the encoding itself needs.
_PLAIN = re.compile(r"[!$&-~][!#$&-~]*")
_ACCEPTED = (
    'accepted are lines of JSON with "id" and "original", as an export writes them, or two columns parted by a tab: '
    "the run's id and the document's"
)


def portable(identifier: str) -> str:
    """The id with every character percent-encoded (UTF-8) that would end a column or a line, or begin a comment.

    Those are white space, what does not print, `"`, `%`, and `#` in front; an empty id becomes `%`. Two ids never
    become one, and an id without such characters stays what it is.
    """
    if _PLAIN.fullmatch(identifier):
        return identifier
    encoded = "".join(map(_encoded, identifier))
    return f"%23{encoded[1:]}" if encoded.startswith("#") else encoded or "%"


def _encoded(character: str) -> str:
    is_safe = character.isprintable() and not character.isspace() and character not in '%"'
    return character if is_safe else quote(character, safe="", errors="surrogatepass")


class IdMap:
    """The ids that an export had to encode, in the order met, each once."""

    def __init__(self) -> None:
        self._encoded: dict[tuple[str, str], str] = {}

    def document(self, identifier: str) -> str:
        """The document's id as the files carry it."""
        return self._portable("document", identifier)

    def query(self, identifier: str) -> str:
        """The query's id as the files carry it."""
        return self._portable("query", identifier)

    def lines(self) -> Iterator[str]:
        """The lines of the map file."""
        for (kind, original), encoded in self._encoded.items():
            yield json.dumps({"kind": kind, "id": encoded, "original": original}, ensure_ascii=False)

    def _portable(self, kind: str, identifier: str) -> str:
        encoded = portable(identifier)
        if encoded != identifier:
            self._encoded[kind, identifier] = encoded
        return encoded


def read_id_map(path: Path, *, kind: str = "document") -> dict[str, str]:
    """Original ids by the ids that a run carries; raises UnreadableFile.

    Reads the map of an export, of which it takes the entries of `kind`, and two columns parted by a tab, for example
    chunk ids and the documents that they belong to.
    """
    found: dict[str, str] = {}
    for number, line in lines_of(path):
        entry = _entry(line)
        if entry is None:
            raise refused(path, number, f"this is no entry of an id map; {_ACCEPTED}")
        of, identifier, original = entry
        if of == kind and found.setdefault(identifier, original) != original:
            raise refused(path, number, "the same id was mapped to another one above; keep one of the two lines")
    return found


def _entry(line: str) -> tuple[str, str, str] | None:
    if line.startswith("{") and (entry := _json_entry(line)):
        return entry
    columns = line.split("\t")
    return ("document", columns[0], columns[1]) if len(columns) == 2 and all(columns) else None  # noqa: PLR2004 from, to


def _json_entry(line: str) -> tuple[str, str, str] | None:
    try:
        entry: Any = json.loads(line)
    except ValueError:
        return None
    kind, identifier, original = entry.get("kind", "document"), entry.get("id"), entry.get("original")
    if isinstance(kind, str) and isinstance(identifier, str) and isinstance(original, str):
        return kind, identifier, original
    return None
