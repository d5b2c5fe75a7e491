"""How labelled queries and documents are laid out in files: BEIR's folder and TREC's files.

Belongs here: names, columns and lines of the files. Does not: which queries, where the folder is.
"""

import json
from collections.abc import Sequence
from typing import Any, Protocol

from kb_pipeline.harness.beir import CORPUS, EXCLUDED, QRELS, QUERIES
from kb_pipeline.harness.documents import CorpusDocument
from kb_pipeline.harness.identifiers import MAP_FILE, IdMap
from kb_pipeline.harness.labelled import LabelledQuery
from kb_pipeline.harness.qrels import BEIR_HEADING
from kb_pipeline.harness.row_files import RowFiles
from kb_pipeline.harness.splits import TEST


class Layout(Protocol):
    """Writes one tenant's files; `parts` are those of a split, empty where there is none."""

    def __init__(self, files: RowFiles, *, parts: Sequence[str], with_corpus: bool) -> None: ...

    def query(self, query: LabelledQuery, part: str | None) -> None:
        """A query that has words, with its judgments, in one of the parts, or None where there are none."""
        ...

    def document(self, document: CorpusDocument) -> None:
        """One document of the corpus."""
        ...

    def finish(self) -> None:
        """Write the map of the ids that had to be encoded."""
        ...


class BeirLayout:
    """corpus.jsonl, queries.jsonl, qrels/{train,dev,test}.tsv; without a split all judgments are test."""

    def __init__(self, files: RowFiles, *, parts: Sequence[str], with_corpus: bool) -> None:
        self._files, self._ids = files, IdMap()
        files.open(QUERIES)
        files.open(EXCLUDED, "\t".join(BEIR_HEADING[:2]))
        for part in parts or (TEST,):
            files.open(_beir_qrels(part), "\t".join(BEIR_HEADING))
        if with_corpus:
            files.open(CORPUS)

    def query(self, query: LabelledQuery, part: str | None) -> None:
        identifier = self._ids.query(query.id)
        self._files.write(QUERIES, _json({"_id": identifier, "text": query.text, "metadata": {}}))
        for document, grade in query.grades.items():
            self._files.write(_beir_qrels(part or TEST), f"{identifier}\t{self._ids.document(document)}\t{grade}")
        for document in sorted(query.excluded):
            self._files.write(EXCLUDED, f"{identifier}\t{self._ids.document(document)}")

    def document(self, document: CorpusDocument) -> None:
        valid_from = document.valid_from.isoformat() if document.valid_from else ""
        row = {"_id": self._ids.document(document.doc_id), "title": document.title, "text": document.text}
        self._files.write(CORPUS, _json(row | {"metadata": {"valid_from": valid_from}}))

    def finish(self) -> None:
        _write_map(self._files, self._ids)


class TrecLayout:
    """topics.tsv, qrels.txt, per part of a split where there is one; corpus.jsonl with id and contents."""

    def __init__(self, files: RowFiles, *, parts: Sequence[str], with_corpus: bool) -> None:
        self._files, self._ids = files, IdMap()
        files.open(EXCLUDED)
        for part in parts or (None,):
            files.open(_topics(part))
            files.open(_trec_qrels(part))
        if with_corpus:
            files.open(CORPUS)

    def query(self, query: LabelledQuery, part: str | None) -> None:
        identifier = self._ids.query(query.id)
        # A topic is one line: white space of any kind becomes a blank.
        self._files.write(_topics(part), f"{identifier}\t{' '.join((query.text or '').split())}")
        for document, grade in query.grades.items():
            self._files.write(_trec_qrels(part), f"{identifier} 0 {self._ids.document(document)} {grade}")
        for document in sorted(query.excluded):
            self._files.write(EXCLUDED, f"{identifier}\t{self._ids.document(document)}")

    def document(self, document: CorpusDocument) -> None:
        contents = f"{document.title}\n{document.text}" if document.title else document.text
        self._files.write(CORPUS, _json({"id": self._ids.document(document.doc_id), "contents": contents}))

    def finish(self) -> None:
        _write_map(self._files, self._ids)


LAYOUTS: dict[str, type[Layout]] = {"beir": BeirLayout, "trec": TrecLayout}


def _beir_qrels(part: str) -> str:
    return f"{QRELS}/{part}.tsv"


def _trec_qrels(part: str | None) -> str:
    return f"qrels.{part}.txt" if part else "qrels.txt"


def _topics(part: str | None) -> str:
    return f"topics.{part}.tsv" if part else "topics.tsv"


def _write_map(files: RowFiles, ids: IdMap) -> None:
    files.open(MAP_FILE)
    for line in ids.lines():
        files.write(MAP_FILE, line)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
