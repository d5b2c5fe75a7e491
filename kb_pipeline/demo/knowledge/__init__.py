"""The demo's knowledge base: articles made of facts, questions with the facts that answer them, unsupported claims.

Belongs here: loading and linking the JSON files of this folder. Does not: retrieval, prompts, answers of a turn.
Fees, deadlines and quorums are invented: they are plausible, checkable, and no legal advice.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache, cached_property
from importlib.resources import files
from typing import TypeVar

import msgspec

Row = TypeVar("Row")


class Scope(StrEnum):
    """What the knowledge base has for a question."""

    ANSWERED = "answered"
    NEAR = "near"
    """Its topic has articles, and none of them holds the answer."""
    OFF = "off"
    """Nothing in the knowledge base is about it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Fact:
    """One checkable statement: the article's sentence, an answer's paraphrase, the value in both, and a false value.

    `{}` in `passage` and `answer` stands for the value; a fact without a value cannot be contradicted by changing it.
    """

    key: str
    passage: str
    answer: str
    value: str | None = None
    changed: str | None = None

    @property
    def sentence(self) -> str:
        """What the article says."""
        return self.passage.format(self.value)

    @property
    def paraphrase(self) -> str:
        """What a grounded answer says."""
        return self.answer.format(self.value)

    @property
    def contradiction(self) -> str:
        """The paraphrase with the false value; the true paraphrase where the fact has none."""
        return self.answer.format(self.changed or self.value)


@dataclass(frozen=True, kw_only=True, slots=True)
class Article:
    """One document of the knowledge base; it is retrieved as one passage."""

    doc_id: str
    language: str
    topic: str
    title: str
    facts: tuple[Fact, ...]

    @property
    def text(self) -> str:
        """The passage, title first."""
        return f"{self.title}. " + " ".join(fact.sentence for fact in self.facts)


@dataclass(frozen=True, kw_only=True, slots=True)
class Question:
    """A question of the bank; `facts` are "doc_id#key" of what answers it.

    A follow-up names the question `after` which it is asked, and says in `standalone` what it means without it.
    `expert` is what somebody who knows more than the knowledge base would answer.
    """

    key: str
    language: str
    text: str
    facts: tuple[str, ...] = ()
    scope: Scope = Scope.ANSWERED
    after: str | None = None
    standalone: str | None = None
    expert: str | None = None

    @property
    def query(self) -> str:
        """What is searched for."""
        return self.standalone or self.text


@dataclass(frozen=True, kw_only=True, slots=True)
class Claim:
    """An assertion that no article supports; topic "*" fits any question."""

    language: str
    topic: str
    text: str


@dataclass(frozen=True, kw_only=True)
class Knowledge:
    """Everything the demo knows, linked by key."""

    articles: tuple[Article, ...]
    questions: tuple[Question, ...]
    claims: tuple[Claim, ...]

    @cached_property
    def by_doc(self) -> Mapping[str, Article]:
        """Articles by doc_id."""
        return {article.doc_id: article for article in self.articles}

    @cached_property
    def by_fact(self) -> Mapping[str, Fact]:
        """Facts by "doc_id#key"."""
        return {f"{article.doc_id}#{fact.key}": fact for article in self.articles for fact in article.facts}

    @cached_property
    def by_question(self) -> Mapping[str, Question]:
        """Questions by key."""
        return {question.key: question for question in self.questions}

    def claims_about(self, topic: str, language: str) -> Sequence[Claim]:
        """Unsupported claims that an answer about the topic could make."""
        return [claim for claim in self.claims if claim.language == language and claim.topic in {topic, "*"}]


def document_of(reference: str) -> str:
    """The doc_id of a fact reference "doc_id#key"."""
    return reference.partition("#")[0]


@cache
def load() -> Knowledge:
    """The shipped knowledge base."""
    return Knowledge(
        articles=(*_read("articles_id", Article), *_read("articles_en", Article)),
        questions=_read("questions", Question),
        claims=_read("claims", Claim),
    )


def _read(name: str, row: type[Row]) -> tuple[Row, ...]:
    content = files(__package__).joinpath(f"{name}.json").read_bytes()
    return msgspec.json.decode(content, type=tuple[row, ...])  # type: ignore[valid-type]
