"""BEIR folders: corpus.jsonl, queries.jsonl and qrels/*.tsv, as an export writes them and as others publish them.

Belongs here: reading one folder. Does not: writing one (kb_pipeline/harness/layouts.py).
"""

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from kb_pipeline.counting import counted
from kb_pipeline.harness.documents import CorpusDocument
from kb_pipeline.harness.failures import UnreadableFile
from kb_pipeline.harness.identifiers import MAP_FILE, read_id_map
from kb_pipeline.harness.labelled import LabelledQuery
from kb_pipeline.harness.lines import lines_of, refused
from kb_pipeline.harness.qrels import read_qrels
from kb_pipeline.harness.sources import QuerySource
from kb_pipeline.records import Tenant

QUERIES, CORPUS, QRELS, EXCLUDED = "queries.jsonl", "corpus.jsonl", "qrels", "excluded.tsv"


class BeirQuerySource(QuerySource):
    """The judged queries of a BEIR folder, in the order of its judgments.

    `split` names one file of the folder qrels (train, dev, test); None reads them all. Ids that an export had to encode
    come as they were, unless `as_written`. A query that queries.jsonl lacks has no text. Raises UnreadableFile.
    """

    def __init__(self, folder: Path | str, *, split: str | None = None, as_written: bool = False) -> None:
        self.folder = Path(folder)
        self._files = _qrels_files(self.folder, split)
        self._query_ids = {} if as_written else original_ids(self.folder, "query")
        self._document_ids = {} if as_written else original_ids(self.folder, "document")

    def __iter__(self) -> Iterator[LabelledQuery]:
        texts, excluded = self._texts(), self.excluded()
        for query, grades in self.judgments().items():
            yield LabelledQuery(
                id=query, text=texts.get(query), grades=grades, excluded=excluded.get(query, frozenset())
            )

    def judgments(self) -> dict[str, dict[str, int]]:
        """Grades by query id and document id; raises UnreadableFile where two files contradict each other."""
        judgments: dict[str, dict[str, int]] = {}
        for file in self._files:
            for query, written in read_qrels(file).items():
                grades = judgments.setdefault(self._query_ids.get(query, query), {})
                for document, grade in written.items():
                    if grades.setdefault(self._document_ids.get(document, document), grade) != grade:
                        raise UnreadableFile(f"{file} contradicts another file beside it; read one split at a time")
        return judgments

    def excluded(self) -> Mapping[str, frozenset[str]]:
        file = self.folder / EXCLUDED
        found: defaultdict[str, set[str]] = defaultdict(set)
        for number, line in lines_of(file) if file.is_file() else ():
            query, _, document = line.partition("\t")
            if not document:
                raise refused(file, number, "accepted are two columns parted by a tab: query-id and corpus-id")
            if number > 1:
                found[self._query_ids.get(query, query)].add(self._document_ids.get(document, document))
        return {query: frozenset(documents) for query, documents in found.items()}

    def _texts(self) -> dict[str, str]:
        file = self.folder / QUERIES
        rows = _objects(file) if file.is_file() else ()
        return {self._query_ids.get(identifier, identifier): row["text"] for identifier, row in rows}


class BeirCorpus:
    """The documents of a BEIR folder, as a CorpusProvider; whose they are and of when, the folder does not say."""

    def __init__(self, folder: Path | str) -> None:
        self.folder = Path(folder)

    def documents(self, tenant: Tenant | None = None, as_of: datetime | None = None) -> Iterator[CorpusDocument]:  # noqa: ARG002 the protocol's signature
        """Every document in the file's order; raises UnreadableFile."""
        originals = original_ids(self.folder, "document")
        for identifier, row in _objects(self.folder / CORPUS):
            title = row.get("title")
            yield CorpusDocument(
                doc_id=originals.get(identifier, identifier),
                title=title if isinstance(title, str) else "",
                text=row["text"],
            )


def original_ids(folder: Path, kind: str) -> dict[str, str]:
    """The ids of a folder's map by what its files carry; empty where it has no map."""
    file = folder / MAP_FILE
    return read_id_map(file, kind=kind) if file.is_file() else {}


def _qrels_files(folder: Path, split: str | None) -> list[Path]:
    if not folder.is_dir():
        raise UnreadableFile(f"{folder} is no folder; name one with {QUERIES} and {QRELS}/*.tsv")
    files = sorted((folder / QRELS).glob("*.tsv"))
    if not files:
        below = sorted(str(file.parent.parent.relative_to(folder)) for file in folder.glob(f"*/*/{QRELS}/*.tsv"))
        held = counted(len(set(below)), "tenant's folder", "tenants' folders")
        hint = f"; it holds {held}: name one, such as {below[0]}" if below else ""
        raise UnreadableFile(f"{folder} has no {QRELS}/*.tsv{hint or '; name a BEIR folder'}")
    if split is None:
        return files
    chosen = [file for file in files if file.stem == split]
    if not chosen:
        raise UnreadableFile(f"{folder} has no split {split!r}; accepted: {', '.join(file.stem for file in files)}")
    return chosen


def _objects(file: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """The JSON objects of a file with their `_id`; each has a `text`."""
    for number, line in lines_of(file):
        try:
            row: Any = json.loads(line)
        except (ValueError, RecursionError):
            row = None
        if not isinstance(row, dict) or not _is_id(row.get("_id")) or not isinstance(row.get("text"), str):
            raise refused(file, number, 'accepted is one JSON object a line with the strings "_id" and "text"')
        yield str(row["_id"]), row


def _is_id(value: object) -> bool:
    return isinstance(value, str | int) and not isinstance(value, bool)
