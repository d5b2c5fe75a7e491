"""The demo's search engines over the knowledge base: Postgres full text, and trigrams.

Belongs here: filling the index, ranking passages. Does not: the recording of retrievals, prompts.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from itertools import groupby
from typing import Any, Protocol
from uuid import UUID

from kb_pipeline.adapters.postgres.connection import Database
from kb_pipeline.demo.knowledge import Knowledge
from kb_pipeline.demo.queries import load
from kb_pipeline.records import Tenant

TOP_K = 5
LEAST_SCORE = 0.3
CONFIGURATIONS = {"id": "indonesian", "en": "english"}
# Words that make a sentence a question and are about nothing; English ones are stop words of the configuration already.
QUESTION_WORDS = "apa apakah berapa siapa kapan mana bagaimana yang dan atau di ke dari untuk dengan saya bila kalau"
ORG_ID = UUID("6f0a3f52-7d0c-4c83-9a51-0a1f6b9d2c11")
SPECIALIST_ID = UUID("b1c7e0de-52a4-4f0e-8a57-93d2f4c6a702")
PORTAL = Tenant(org_id=ORG_ID, specialist_id=SPECIALIST_ID)
FOUNDED = datetime(2025, 1, 1, tzinfo=UTC)
Ranked = tuple[tuple[str, float], ...]


class Method(StrEnum):
    """A way to rank passages."""

    FULLTEXT = "fulltext"
    """The share of the query's weight that a passage covers."""
    UNWEIGHED = "unweighed"
    """The same, with every word as heavy as any other."""
    TITLES = "titles"
    """The same over titles alone."""
    TRIGRAM = "trigram"
    """The share of the weight of the query's trigrams that a passage covers: slips of the keys cost little."""


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
    """Passages of the portal by the share of the query's weight that they cover; TOP_K at most, none below LEAST_SCORE.

    A query asked before is answered from memory.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._found: dict[tuple[str, str], tuple[Hit, ...]] = {}
        self._texts: dict[str, Mapping[str, str]] = {}

    def __call__(self, query: str, language: str) -> tuple[Hit, ...]:
        """The hits of a query, best first."""
        asked = (query, language)
        if asked not in self._found:
            self._found[asked] = self._search(query, language)
        return self._found[asked]

    def _search(self, query: str, language: str) -> tuple[Hit, ...]:
        if language not in self._texts:
            values = {"org_id": ORG_ID, "specialist_id": SPECIALIST_ID, "language": language}
            with self._database.connect() as connection:
                self._texts[language] = dict(connection.execute(load("passages"), values).fetchall())
        found = ranked(self._database, PORTAL, Method.FULLTEXT, language, [query])[query]
        shown = [(doc_id, round(score, 2)) for doc_id, score in found[:TOP_K] if round(score, 2) >= LEAST_SCORE]
        return tuple(Hit(doc_id=doc_id, text=self._texts[language][doc_id], score=score) for doc_id, score in shown)


def ranked(
    database: Database, tenant: Tenant, method: Method, language: str, queries: Sequence[str]
) -> Mapping[str, Ranked]:
    """Per query the passages of the tenant's index with a score above 0, best first."""
    values: dict[str, Any] = {
        "org_id": tenant.org_id,
        "specialist_id": tenant.specialist_id,
        "language": language,
        "queries": list(queries),
    }
    if method is not Method.TRIGRAM:
        values |= {
            "configuration": CONFIGURATIONS[language],
            "question_words": QUESTION_WORDS,
            "titles_only": method is Method.TITLES,
            "weighed": method is not Method.UNWEIGHED,
        }
    statement = load("search_trigram" if method is Method.TRIGRAM else "search_fulltext")
    with database.connect() as connection:
        rows = connection.execute(statement, values).fetchall()
    found = {query: tuple((doc_id, score) for _, doc_id, score in group) for query, group in groupby(rows, _query)}
    return {query: found.get(query, ()) for query in queries}


def _query(row: Sequence[Any]) -> str:
    return str(row[0])


def index(database: Database, knowledge: Knowledge) -> None:
    """Fill the portal's part of upstream.kb_chunks and of the engines' index with the articles; safe to repeat.

    The tables of sql/source_example.sql must exist.
    """
    chunks = [
        Chunk(
            doc_id=article.doc_id,
            chunk_id=f"{article.doc_id}-1",
            language=article.language,
            title=article.title,
            body=article.text,
        )
        for article in knowledge.articles
    ]
    insert_chunks(database, PORTAL, chunks)
    index_chunks(database, PORTAL, chunks)


@dataclass(frozen=True, kw_only=True, slots=True)
class Chunk:
    """A row of upstream.kb_chunks, and of the engines' index."""

    doc_id: str
    chunk_id: str
    language: str
    title: str
    body: str
    valid_from: datetime = FOUNDED
    source_correction_id: UUID | None = None


def insert_chunks(database: Database, tenant: Tenant, chunks: Iterable[Chunk]) -> None:
    """Put chunks into the tenant's knowledge base; those that are there already stay as they are."""
    rows = list(chunks)
    columns = _columns(tenant, rows) | {
        "valid_from": [row.valid_from for row in rows],
        "source_correction_ids": [row.source_correction_id for row in rows],
    }
    with database.connect() as connection:
        connection.execute(load("insert_chunks"), columns)


def index_chunks(database: Database, tenant: Tenant, chunks: Iterable[Chunk]) -> None:
    """Let the engines know of the tenant's chunks."""
    rows = list(chunks)
    columns = _columns(tenant, rows) | {"languages": [row.language for row in rows]}
    with database.connect() as connection:
        connection.execute(load("create_passage_index"))
        connection.execute(load("index_passages"), columns)


def _columns(tenant: Tenant, rows: Sequence[Chunk]) -> dict[str, Any]:
    return {
        "org_id": tenant.org_id,
        "specialist_id": tenant.specialist_id,
        "doc_ids": [row.doc_id for row in rows],
        "chunk_ids": [row.chunk_id for row in rows],
        "titles": [row.title for row in rows],
        "bodies": [row.body for row in rows],
    }
