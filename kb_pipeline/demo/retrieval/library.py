"""The demo's four desks, made of the shipped knowledge base and a seed.

Belongs here: who has which articles and pages, what is asked how often, which article gets which fault. Does not:
chance within a conversation.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from uuid import UUID

from kb_pipeline.demo.knowledge import Article, Knowledge, Question
from kb_pipeline.demo.retrieval.pages import pages
from kb_pipeline.demo.retrieval.wordings import wordings
from kb_pipeline.demo.retrieval.world import Desk, Document, Enquiry, Faults, Point
from kb_pipeline.demo.search import ORG_ID, PORTAL
from kb_pipeline.demo.traffic.plan import dice
from kb_pipeline.records import Tenant

ENGINES = ("fulltext", "trigram")
SOCIAL_TOPICS = frozenset({"yayasan", "perkumpulan", "koperasi", "apostille", "layanan", "notaris"})
# How much more a desk is asked about its own topics than about those of others.
OWN_TOPIC = 4.0
# The share of a desk's articles that get each fault; at least two of each.
WITHHELD_SHARE = 0.08
UNINDEXED_SHARE = 0.06
DEMOTED_SHARE = 0.10


@dataclass(frozen=True, kw_only=True, slots=True)
class _Plan:
    """One desk before its articles are counted; `topics` None: all of them."""

    name: str
    tenant: Tenant
    share: float
    languages: tuple[str, ...]
    topics: frozenset[str] | None = None
    has_pages: bool = True
    has_faults: bool = True

    def has(self, article: Article) -> bool:
        return article.language in self.languages and (self.topics is None or article.topic in self.topics)


PLANS = (
    # The desk of the graded traffic: its retrieval is as good as its engines.
    _Plan(
        name="portal",
        tenant=PORTAL,
        share=0.25,
        languages=("id", "en"),
        has_pages=False,
        has_faults=False,
    ),
    _Plan(
        name="companies",
        tenant=Tenant(org_id=ORG_ID, specialist_id=UUID("2c9b1f6e-03d7-4c59-a2be-5d0f6f0c7a31")),
        share=0.35,
        languages=("id",),
    ),
    _Plan(
        name="english",
        tenant=Tenant(org_id=ORG_ID, specialist_id=UUID("9a4be0c2-7f18-4d2b-8f6a-1f7f0a5b3c44")),
        share=0.2,
        languages=("en",),
    ),
    # Another organisation, which is asked the same questions and has other articles.
    _Plan(
        name="social",
        tenant=Tenant(
            org_id=UUID("c41d7a90-5b0e-4a3b-9a77-20b6f7a9e815"),
            specialist_id=UUID("5e7f3d18-6a2c-4b94-b0c3-8d92e1f4a650"),
        ),
        share=0.2,
        languages=("id",),
        topics=SOCIAL_TOPICS,
    ),
)


def desks(knowledge: Knowledge, seed: int) -> tuple[Desk, ...]:
    """The demo's desks; the seed decides what is asked often and which articles get a fault."""
    return tuple(_desk(plan, knowledge, seed) for plan in PLANS)


def _desk(plan: _Plan, knowledge: Knowledge, seed: int) -> Desk:
    articles = [article for article in knowledge.articles if plan.has(article)]
    questions = [question for question in knowledge.questions if question.language in plan.languages]
    beside = list(pages(articles, questions)) if plan.has_pages else []
    documents = [*map(_document, articles), *(document for document, _ in beside)]
    random = dice(seed, "desk", plan.name)
    asked = _asked(questions, {article.doc_id for article in articles}, random)
    return Desk(
        name=plan.name,
        tenant=plan.tenant,
        share=plan.share,
        engines=ENGINES,
        documents={document.doc_id: document for document in documents},
        enquiries=asked,
        points=_points(knowledge) | {point.key: point for _, said in beside for point in said},
        claims={language: [c.text for c in knowledge.claims if c.language == language] for language in plan.languages},
        faults=_faults(asked, articles, random) if plan.has_faults else Faults(),
    )


def _document(article: Article) -> Document:
    return Document(
        doc_id=article.doc_id,
        language=article.language,
        title=article.title,
        text=article.text,
        points=tuple(f"{article.doc_id}#{fact.key}" for fact in article.facts),
    )


def _points(knowledge: Knowledge) -> dict[str, Point]:
    found = {
        reference: Point(
            key=reference,
            ways=(fact.paraphrase, fact.sentence),
            false=fact.contradiction if fact.changed else None,
        )
        for reference, fact in knowledge.by_fact.items()
    }
    known = {_expert_point(q): Point(key=_expert_point(q), ways=(q.expert,)) for q in knowledge.questions if q.expert}
    return found | known


def _expert_point(question: Question) -> str:
    return f"expert#{question.key}"


def _asked(questions: Sequence[Question], own: set[str], random: Random) -> list[Enquiry]:
    """The questions with weights of a long tail, those about the desk's own articles before the others."""
    order = random.sample(questions, len(questions))
    asked = []
    for rank, question in enumerate(order):
        points = question.facts or ((_expert_point(question),) if question.expert else ())
        is_own = any(point.partition("#")[0] in own for point in points)
        asked.append(
            Enquiry(
                key=question.key,
                language=question.language,
                wordings=wordings(question),
                points=points,
                weight=(OWN_TOPIC if is_own else 1.0) / (rank + 4) ** 0.9,
            )
        )
    return asked


def _faults(asked: Sequence[Enquiry], articles: Sequence[Article], random: Random) -> Faults:
    """A fault each for articles that something is asked about, no article two."""
    own = {article.doc_id for article in articles}
    wanted = {point.partition("#")[0] for enquiry in asked for point in enquiry.points} & own
    drawn = random.sample(sorted(wanted), len(wanted))
    counts = [max(2, round(len(own) * share)) for share in (WITHHELD_SHARE, UNINDEXED_SHARE, DEMOTED_SHARE)]
    withheld, unindexed, demoted = (drawn[sum(counts[:i]) : sum(counts[: i + 1])] for i in range(3))
    return Faults(
        withheld=frozenset(withheld),
        late=withheld[0],
        unindexed=frozenset(unindexed),
        demoted=frozenset(demoted),
    )
