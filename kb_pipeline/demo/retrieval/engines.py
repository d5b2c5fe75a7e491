"""The two engines over every desk's documents, and variations of them, each query ranked once.

Belongs here: filling the index for desks, remembering rankings. Does not: the ranking (kb_pipeline/demo/search.py),
faults.
"""

from collections.abc import Iterable, Sequence

from kb_pipeline.adapters.postgres.connection import Database
from kb_pipeline.demo.retrieval.finding import Ranked
from kb_pipeline.demo.retrieval.world import Desk, Document
from kb_pipeline.demo.search import Chunk, Method, index_chunks, ranked


class PostgresEngines:
    """A ranker over indexed desks: `engines(desk, method, text)` for any of the desk's searches, all ranked at once.

    Raises KeyError for a text that is none of them.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._ranked: dict[tuple[str, str, str], Ranked] = {}

    def index(self, desks: Iterable[Desk]) -> None:
        """Let the engines know every document of the desks, withheld ones too: who asks leaves those out."""
        for desk in desks:
            index_chunks(self._database, desk.tenant, [chunk_of(each) for each in desk.documents.values()])

    def __call__(self, desk: Desk, engine: str, searched: str) -> Ranked:
        if (desk.name, engine, searched) not in self._ranked:
            self._rank_all(desk, Method(engine))
        return self._ranked[desk.name, engine, searched]

    def _rank_all(self, desk: Desk, method: Method) -> None:
        for language in dict.fromkeys(language for _, language in desk.searches):
            searches = [text for text, spoken in desk.searches if spoken == language]
            found = ranked(self._database, desk.tenant, method, language, searches)
            self._remember(desk, method, searches, [found[text] for text in searches])

    def _remember(self, desk: Desk, method: Method, searches: Sequence[str], rankings: Sequence[Ranked]) -> None:
        for text, ranking in zip(searches, rankings, strict=True):
            self._ranked[desk.name, method, text] = ranking


def chunk_of(document: Document) -> Chunk:
    """The document's row in the knowledge base and in the index."""
    return Chunk(
        doc_id=document.doc_id,
        chunk_id=document.chunk_id,
        language=document.language,
        title=document.title,
        body=document.text,
    )
