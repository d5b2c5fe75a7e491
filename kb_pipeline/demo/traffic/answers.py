"""What an answer of a kind says, and what is therefore true of it.

Belongs here: composing answers from facts and claims, with their labels. Does not: JSON, streams, prompts.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from random import Random

from kb_pipeline.demo.knowledge import Knowledge, Question, document_of
from kb_pipeline.demo.search import Hit
from kb_pipeline.demo.traffic.kinds import Kind

OPENINGS = {
    "id": ("Berikut penjelasannya:", "Terima kasih atas pertanyaannya."),
    "en": ("Here is what the sources say:", "Thank you for your question."),
}
REFUSALS = {
    "id": (
        "Maaf, informasi tersebut tidak tersedia dalam dokumen kami. Silakan hubungi pusat bantuan.",
        "**Maaf**, informasi tersebut tidak tersedia.",
        "Maaf, saya tidak menemukan jawabannya dalam dokumen yang ada.",
    ),
    "en": (
        "Sorry, that information is not available in our documents. Please contact the help desk.",
        "I'm sorry, but I could not find this in the documents.",
    ),
}
# The share of answers that open with a phrase, that are lists, and that cite their sources.
OPENING_SHARE = 0.15
LIST_SHARE = 0.15
CITATION_SHARE = 0.3
# The share of irrelevant answers that stand in the passages, where there is a passage beside the one asked for.
FAITHFUL_SHARE = 0.5


@dataclass(frozen=True, kw_only=True, slots=True)
class Answer:
    """The text of an answer, its labels (None where undefined), and the facts ("doc_id#key") it uses."""

    text: str = ""
    faithful: bool | None = None
    relevant: bool | None = None
    refused: bool | None = None
    facts: tuple[str, ...] = ()


def compose(kind: Kind, question: Question, hits: Sequence[Hit], knowledge: Knowledge, random: Random) -> Answer:
    """The answer of a turn of this kind; empty for kinds that answer nothing."""
    writer = _Writer(question, hits, knowledge, random)
    ways: Mapping[Kind, Callable[[], Answer]] = {
        Kind.GROUNDED: writer.grounded,
        Kind.STREAM_CUT: writer.grounded,
        Kind.CUT: writer.cut,
        Kind.PARTLY_UNGROUNDED: writer.partly_ungrounded,
        Kind.UNGROUNDED: writer.ungrounded,
        Kind.CONTRADICTED: writer.contradicted,
        Kind.IRRELEVANT: writer.irrelevant,
        Kind.REFUSED: writer.refused,
        Kind.NO_CONTEXT_REFUSED: writer.refused,
        Kind.NO_CONTEXT_ASSERTED: writer.asserted,
    }
    return ways[kind]() if kind in ways else Answer()


def supported_facts(question: Question, hits: Iterable[Hit]) -> tuple[str, ...]:
    """The facts that answer the question and stand in what was retrieved."""
    retrieved = {hit.doc_id for hit in hits}
    return tuple(reference for reference in question.facts if document_of(reference) in retrieved)


class _Writer:
    """Writes the answers of one turn."""

    def __init__(self, question: Question, hits: Sequence[Hit], knowledge: Knowledge, random: Random) -> None:
        self.question = question
        self.hits = hits
        self.knowledge = knowledge
        self.random = random
        self.facts = supported_facts(question, hits)
        self.ranks = {hit.doc_id: rank for rank, hit in enumerate(hits, 1)}
        self.cites = random.random() < CITATION_SHARE

    def grounded(self) -> Answer:
        text = self._laid_out([self._true(fact) for fact in self.facts])
        return Answer(text=text, faithful=True, relevant=True, refused=False, facts=self.facts)

    def cut(self) -> Answer:
        whole = self.grounded()
        words = whole.text.split(" ")
        kept = words[: max(3, int(len(words) * self.random.uniform(0.5, 0.85)))]
        return Answer(text=" ".join(kept), faithful=True, relevant=True, refused=False, facts=self.facts)

    def partly_ungrounded(self) -> Answer:
        sentences = [*(self._true(fact) for fact in self.facts), *self._claims(1)]
        return Answer(text=self._laid_out(sentences), faithful=False, relevant=True, refused=False, facts=self.facts)

    def ungrounded(self) -> Answer:
        text = self._laid_out(self._claims(self.random.choice((2, 3))))
        return Answer(text=text, faithful=False, relevant=False, refused=False)

    def contradicted(self) -> Answer:
        changeable = [fact for fact in self.facts if self.knowledge.by_fact[fact].changed]
        wrong = self.random.choice(changeable)
        sentences = [self._false(fact) if fact == wrong else self._true(fact) for fact in self.facts]
        return Answer(text=self._laid_out(sentences), faithful=False, relevant=True, refused=False, facts=self.facts)

    def irrelevant(self) -> Answer:
        asked = {document_of(fact) for fact in self.question.facts}
        beside = [hit.doc_id for hit in self.hits if hit.doc_id not in asked]
        faithful = bool(beside) and self.random.random() < FAITHFUL_SHARE
        doc_id = self.random.choice(beside if faithful else self._elsewhere(asked))
        facts = [f"{doc_id}#{fact.key}" for fact in self.knowledge.by_doc[doc_id].facts[:2]]
        text = self._laid_out([self._true(fact) for fact in facts])
        return Answer(text=text, faithful=faithful, relevant=False, refused=False, facts=tuple(facts))

    def refused(self) -> Answer:
        return Answer(text=self.random.choice(REFUSALS[self.question.language]), refused=True)

    def asserted(self) -> Answer:
        claims = [c.text for c in self.knowledge.claims if c.language == self.question.language and c.topic == "off"]
        return Answer(text=" ".join(self.random.sample(claims, 2)), faithful=False, refused=False)

    def _elsewhere(self, asked: set[str]) -> list[str]:
        """Documents on other topics that were neither asked for nor retrieved, in the question's language."""
        near = {self.knowledge.by_doc[doc_id].topic for doc_id in asked | set(self.ranks)}
        articles = self.knowledge.articles
        return [a.doc_id for a in articles if a.language == self.question.language and a.topic not in near]

    def _claims(self, count: int) -> list[str]:
        topic = self.knowledge.by_doc[document_of(self.facts[0])].topic
        claims = self.knowledge.claims_about(topic, self.question.language)
        return [claim.text for claim in self.random.sample(claims, count)]

    def _true(self, reference: str) -> str:
        return self._cited(self.knowledge.by_fact[reference].paraphrase, reference)

    def _false(self, reference: str) -> str:
        return self._cited(self.knowledge.by_fact[reference].contradiction, reference)

    def _cited(self, sentence: str, reference: str) -> str:
        rank = self.ranks.get(document_of(reference))
        return f"{sentence.removesuffix('.')} [RAG-{rank}]." if self.cites and rank else sentence

    def _laid_out(self, sentences: Sequence[str]) -> str:
        opening = [self.random.choice(OPENINGS[self.question.language])] if self.random.random() < OPENING_SHARE else []
        if len(sentences) > 1 and self.random.random() < LIST_SHARE:
            return "\n".join([*opening, *(f"- {sentence}" for sentence in sentences)])
        return " ".join([*opening, *sentences])
