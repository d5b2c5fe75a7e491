"""The demo's retrieval is real: full-text search finds what answers a question, and nothing for what is off."""

import pytest

from kb_pipeline.adapters.postgres.connection import Database
from kb_pipeline.demo.knowledge import Scope, document_of, load
from kb_pipeline.demo.search import FullTextSearch, index
from kb_pipeline.demo.traffic.turns import QuestionBank

KNOWLEDGE = load()


@pytest.fixture
def search(database: Database) -> FullTextSearch:
    index(database, KNOWLEDGE)
    return FullTextSearch(database)


def test_most_questions_find_their_article_first_and_off_topic_ones_find_nothing(search: FullTextSearch) -> None:
    answered = [question for question in KNOWLEDGE.questions if question.scope is Scope.ANSWERED]
    found = {question.key: [hit.doc_id for hit in search(question.query, question.language)] for question in answered}
    first = [found[question.key][:1] == [document_of(question.facts[0])] for question in answered]
    assert sum(first) / len(first) > 0.85
    off = [question for question in KNOWLEDGE.questions if question.scope is Scope.OFF]
    assert [question.key for question in off if search(question.query, question.language)] == []


def test_scores_are_fractions_listed_best_first(search: FullTextSearch) -> None:
    bank = QuestionBank(KNOWLEDGE, search)
    scores = [[hit.score for hit in hits] for hits in bank.hits.values() if hits]
    assert all(listed == sorted(listed, reverse=True) and len(listed) <= 5 for listed in scores)
    assert all(0.3 <= score <= 1 for listed in scores for score in listed)
    assert len({score for listed in scores for score in listed}) > 20


def test_indexing_twice_keeps_one_chunk_per_article(database: Database) -> None:
    index(database, KNOWLEDGE)
    index(database, KNOWLEDGE)
    with database.connect() as connection:
        rows = connection.execute("SELECT count(*), count(DISTINCT doc_id) FROM kb_source.kb_chunk").fetchone()
    assert rows == (len(KNOWLEDGE.articles), len(KNOWLEDGE.articles))


def test_a_query_of_question_words_alone_finds_nothing(search: FullTextSearch) -> None:
    assert search("Apa dan bagaimana?", "id") == ()
    assert search("", "en") == ()
