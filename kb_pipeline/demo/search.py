"""The demo's search engine: Postgres full-text search over the knowledge base.

Belongs here: filling the index, looking passages up. Does not: the recording of retrievals, prompts.
"""

from dataclasses import dataclass
from typing import Protocol
from uuid import UUID

from kb_pipeline.adapters.postgres.connection import Database
from kb_pipeline.demo.knowledge import Knowledge
from kb_pipeline.demo.queries import load

TOP_K = 5
LEAST_SCORE = 0.3
CONFIGURATIONS = {"id": "indonesian", "en": "english"}
# Words that make a sentence a question and are about nothing; English ones are stop words of the configuration already.
QUESTION_WORDS = "apa apakah berapa siapa kapan mana bagaimana yang dan atau di ke dari untuk dengan saya bila kalau"
ORG_ID = UUID("6f0a3f52-7d0c-4c83-9a51-0a1f6b9d2c11")
SPECIALIST_ID = UUID("b1c7e0de-52a4-4f0e-8a57-93d2f4c6a702")


@dataclass(frozen=True, kw_only=True, slots=True)
class Hit:
    """One retrieved passage; score is a fraction in [0, 1], hits are listed best first."""

    doc_id: str
    text: str
    score: float


class Retriever(Protocol):
    """Looks passages up for a query in one language ("id" or "en")."""

    def __call__(self, query: str, language: str, /) -> tuple[Hit, ...]: ...


class FullTextSearch:
    """Passages by the share of the query's weight that they cover; at most TOP_K, none below LEAST_SCORE."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._found: dict[tuple[str, str], tuple[Hit, ...]] = {}

    def __call__(self, query: str, language: str) -> tuple[Hit, ...]:
        """The hits of a query; a query asked before is answered from memory."""
        asked = (query, language)
        if asked not in self._found:
            self._found[asked] = self._search(query, language)
        return self._found[asked]

    def _search(self, query: str, language: str) -> tuple[Hit, ...]:
        values = {
            "query": query,
            "language": language,
            "configuration": CONFIGURATIONS[language],
            "question_words": QUESTION_WORDS,
            "least": LEAST_SCORE,
            "top_k": TOP_K,
        }
        with self._database.connect() as connection:
            rows = connection.execute(load("search_passages"), values).fetchall()
        return tuple(Hit(doc_id=doc_id, text=text, score=score) for doc_id, text, score in rows)


def index(database: Database, knowledge: Knowledge) -> None:
    """Fill upstream.kb_chunks and the search index with the articles; safe to repeat.

    The tables of sql/source_example.sql must exist.
    """
    articles = knowledge.articles
    columns = {
        "doc_ids": [article.doc_id for article in articles],
        "chunk_ids": [f"{article.doc_id}-1" for article in articles],
        "titles": [article.title for article in articles],
        "bodies": [article.text for article in articles],
        "languages": [article.language for article in articles],
    }
    with database.connect() as connection:
        connection.execute(load("create_passage_index"))
        connection.execute(load("insert_chunks"), {**columns, "org_id": ORG_ID, "specialist_id": SPECIALIST_ID})
        connection.execute(load("index_passages"), columns)
