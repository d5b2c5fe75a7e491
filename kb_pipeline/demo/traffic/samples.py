"""Synthesis pairs without a database, for benchmarks and memory tests.

Belongs here: `synthetic_pair`. Does not: traffic with times, real retrieval; that is generation.py.
"""

from datetime import UTC, datetime
from functools import cache

from kb_pipeline.demo.knowledge import Question, Scope, document_of, load
from kb_pipeline.demo.search import Hit
from kb_pipeline.demo.traffic.answers import compose
from kb_pipeline.demo.traffic.generation import synthesis_request
from kb_pipeline.demo.traffic.kinds import Kind
from kb_pipeline.demo.traffic.plan import dice
from kb_pipeline.demo.traffic.responses import response
from kb_pipeline.demo.traffic.turns import Turn

PASSAGES = 13
TS = datetime(2026, 7, 9, tzinfo=UTC)


def synthetic_pair(i: int) -> tuple[bytes, bytes]:
    """Request and response number `i` as plain JSON, about 6 kB together: a grounded turn, always the same."""
    questions = _answered_questions()
    question = questions[i % len(questions)]
    hits = _neighbours(question)
    random = dice("sample", i)
    turn = Turn(
        number=i,
        ts=TS,
        kind=Kind.GROUNDED,
        tenant="portal",
        question=question,
        wording=f"{question.text} ({i})",
        hits=hits,
        answer=compose(Kind.GROUNDED, question, hits, load(), random),
    )
    _, body = response(turn, call_id=f"c-{i}", random=random)
    return synthesis_request(turn), body


@cache
def _answered_questions() -> tuple[Question, ...]:
    return tuple(question for question in load().questions if question.scope is Scope.ANSWERED)


@cache
def _neighbours(question: Question) -> tuple[Hit, ...]:
    """The articles that answer the question, then those that follow in the knowledge base."""
    articles = load().articles
    wanted = [document_of(fact) for fact in question.facts]
    first = next(i for i, article in enumerate(articles) if article.doc_id == wanted[0])
    ordered = dict.fromkeys([*wanted, *(articles[(first + step) % len(articles)].doc_id for step in range(PASSAGES))])
    found = [load().by_doc[doc_id] for doc_id in list(ordered)[:PASSAGES]]
    return tuple(Hit(doc_id=a.doc_id, text=a.text, score=round(0.95 - 0.06 * i, 2)) for i, a in enumerate(found))
