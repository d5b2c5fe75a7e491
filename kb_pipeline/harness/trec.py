"""TREC's judgments with their topics.

Belongs here: reading them. Does not: run files (kb_pipeline/harness/runs.py).
"""

import re
from collections.abc import Iterator
from pathlib import Path

from kb_pipeline.harness.failures import UnreadableFile
from kb_pipeline.harness.identifiers import read_id_map
from kb_pipeline.harness.labelled import LabelledQuery
from kb_pipeline.harness.lines import lines_of, refused
from kb_pipeline.harness.qrels import read_qrels
from kb_pipeline.harness.sources import QuerySource

_TOPIC = re.compile(
    r"<top>.*?<num>\s*(?:Number:)?\s*(?P<id>\S+?)\s*(?:</num>\s*)?"
    r"<title>\s*(?:Topic:)?\s*(?P<text>.*?)\s*(?=<)",
    re.DOTALL | re.IGNORECASE,
)


class TrecQuerySource(QuerySource):
    """The judged queries of a qrels file, in its order, with the words of a topics file.

    `topics` has a line per query, id and text parted by a tab, or <top> blocks with <num> and <title>; a query that it
    lacks has no text. With `id_map`, the map file of an export, ids come as they were. Raises UnreadableFile.
    """

    def __init__(
        self, qrels: Path | str, topics: Path | str | None = None, *, id_map: Path | str | None = None
    ) -> None:
        self.qrels = Path(qrels)
        self.topics = None if topics is None else Path(topics)
        self._query_ids = {} if id_map is None else read_id_map(Path(id_map), kind="query")
        self._document_ids = {} if id_map is None else read_id_map(Path(id_map))

    def __iter__(self) -> Iterator[LabelledQuery]:
        texts = read_topics(self.topics) if self.topics else {}
        for written, grades in read_qrels(self.qrels).items():
            yield LabelledQuery(
                id=self._query_ids.get(written, written),
                text=texts.get(written),
                grades={self._document_ids.get(document, document): grade for document, grade in grades.items()},
            )


def read_topics(path: Path) -> dict[str, str]:
    """Texts by query id; raises UnreadableFile."""
    lines = list(lines_of(path))
    if lines and lines[0][1].lstrip().lower().startswith("<top>"):
        topics = {topic["id"]: " ".join(topic["text"].split()) for topic in _TOPIC.finditer(_joined(lines))}
        if not topics:
            raise UnreadableFile(f"{path} has <top> blocks without <num> and <title>; accepted are blocks with both")
        return topics
    return dict(_topic(path, number, line) for number, line in lines)


def _joined(lines: list[tuple[int, str]]) -> str:
    return "\n".join(line for _, line in lines) + "\n<"


def _topic(path: Path, number: int, line: str) -> tuple[str, str]:
    identifier, tab, text = line.partition("\t")
    if not tab or not identifier:
        raise refused(path, number, "accepted is a query id, a tab and the query's text")
    return identifier, text
