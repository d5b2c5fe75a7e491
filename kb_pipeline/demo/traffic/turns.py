"""Turns: a slot filled with a question, what was retrieved for it, an answer, and the looks of its prompt.

Belongs here: choosing among questions and looks. Does not: the bytes of prompts and responses, times and kinds.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from random import Random

from kb_pipeline.demo.knowledge import Knowledge, Question, Scope
from kb_pipeline.demo.search import Hit, Retriever
from kb_pipeline.demo.traffic.answers import Answer, compose, supported_facts
from kb_pipeline.demo.traffic.kinds import Kind
from kb_pipeline.demo.traffic.plan import Effect, Incident, Slot, Traffic, dice, slots

TENANTS = ("portal", "portal", "portal", "mobile")
GREETINGS = {
    "id": ("", "", "", "Selamat pagi. ", "Mohon info: ", "Halo,\n"),
    "en": ("", "", "", "Hello. ", "Please tell me: "),
}
MARKERS = ("PERTANYAAN:", "HASIL ALAT:")
TEMPLATE_EFFECTS = frozenset({Effect.QUESTION_RENAMED, Effect.CONTEXT_RENAMED, Effect.SIGNATURE_CHANGED})
ROLES = ("system",) * 12 + ("developer", "split")
# The shares of turns that show scores with a decimal comma, send content as parts, and carry earlier messages.
COMMA_SHARE = 0.2
PARTS_SHARE = 0.1
HISTORY_SHARE = 0.15
STREAMED_SHARE = 0.25
THINKING_SHARE = 0.1


@dataclass(frozen=True, kw_only=True, slots=True)
class Look:
    """How the prompt and the response of a turn are written down.

    `roles`: system, developer, or split (two system messages). `thinking`: none, a field, or a tag in the text.
    """

    roles: str = "system"
    decimal_comma: bool = False
    parts: bool = False
    streamed: bool = False
    thinking: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Turn:
    """One synthesis turn before it becomes bytes.

    `wording` is the question as the user typed it; `history` are earlier (question, answer) texts, oldest first.
    """

    number: int
    ts: datetime
    kind: Kind
    tenant: str
    question: Question
    wording: str
    hits: tuple[Hit, ...]
    answer: Answer
    history: tuple[tuple[str, str], ...] = ()
    look: Look = Look()
    incidents: tuple[Incident, ...] = ()

    def has(self, effect: Effect) -> bool:
        """Whether an incident of this effect hit the turn."""
        return any(incident.effect is effect for incident in self.incidents)


class QuestionBank:
    """The questions, sorted by what retrieval finds for them; every query is searched once.

    Raises ValueError when the retriever leaves a kind of turn without a question.
    """

    def __init__(self, knowledge: Knowledge, retrieve: Retriever) -> None:
        self.knowledge = knowledge
        self.hits: Mapping[str, tuple[Hit, ...]] = {q.key: retrieve(q.query, q.language) for q in knowledge.questions}
        answered = [q for q in knowledge.questions if supported_facts(q, self.hits[q.key])]
        changeable = [q for q in answered if self._can_be_contradicted(q)]
        unanswered = [q for q in knowledge.questions if q.scope is not Scope.ANSWERED]
        without_context = [q for q in unanswered if not self.hits[q.key]]
        self._pools: Mapping[Kind, Sequence[Question]] = {
            Kind.CONTRADICTED: changeable,
            Kind.REFUSED: [q for q in unanswered if self.hits[q.key]],
            Kind.NO_CONTEXT_REFUSED: without_context,
            Kind.NO_CONTEXT_ASSERTED: without_context,
        }
        self._answered = answered
        self._require_questions()

    def pick(self, kind: Kind, random: Random, *, quoting: bool = True) -> Question:
        """A question that a turn of this kind can be about; `quoting`: it may quote the template's markers."""
        pool = self._pools.get(kind, self._answered)
        return random.choice(pool if quoting else [q for q in pool if not any(m in q.text for m in MARKERS)])

    def _can_be_contradicted(self, question: Question) -> bool:
        facts = supported_facts(question, self.hits[question.key])
        return any(self.knowledge.by_fact[fact].changed for fact in facts)

    def _require_questions(self) -> None:
        empty = [str(kind) for kind, pool in self._pools.items() if not pool]
        if empty or not self._answered:
            raise ValueError(f"retrieval leaves no question for turns of kind {', '.join(empty) or 'grounded'}")


def turns(traffic: Traffic, bank: QuestionBank) -> Iterator[Turn]:
    """Every turn of the traffic in the order of time; the same for the same traffic and bank."""
    for slot in slots(traffic):
        yield _turn(slot, bank, dice(traffic.seed, "turn", slot.number))


def _turn(slot: Slot, bank: QuestionBank, random: Random) -> Turn:
    # Where the template loses a marker, one that the user quotes could pass for it, and nobody could say who is right.
    loses_marker = any(incident.effect in TEMPLATE_EFFECTS for incident in slot.incidents)
    question = bank.pick(slot.kind, random, quoting=not loses_marker)
    hits = bank.hits[question.key]
    return Turn(
        number=slot.number,
        ts=slot.ts,
        kind=slot.kind,
        tenant=random.choice(TENANTS),
        question=question,
        wording=random.choice(GREETINGS[question.language]) + question.text,
        hits=hits,
        answer=compose(slot.kind, question, hits, bank.knowledge, random),
        history=_history(question, bank, random),
        look=_look(slot.kind, random),
        incidents=slot.incidents,
    )


def _history(question: Question, bank: QuestionBank, random: Random) -> tuple[tuple[str, str], ...]:
    if question.after is None and random.random() >= HISTORY_SHARE:
        return ()
    key = question.after or bank.pick(Kind.GROUNDED, random).key
    before = bank.knowledge.by_question[key]
    return ((before.query, " ".join(bank.knowledge.by_fact[fact].paraphrase for fact in before.facts)),)


def _look(kind: Kind, random: Random) -> Look:
    chances = [random.random() for _ in range(4)]
    return Look(
        roles=random.choice(ROLES),
        decimal_comma=chances[0] < COMMA_SHARE,
        parts=chances[1] < PARTS_SHARE,
        streamed=kind is Kind.STREAM_CUT or (kind is not Kind.FAILED and chances[2] < STREAMED_SHARE),
        thinking=random.choice(("field", "tag")) if chances[3] < THINKING_SHARE else "",
    )
