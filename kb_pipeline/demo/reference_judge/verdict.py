"""The reference verdict: scores and reasons by counting, without a model, and named as such wherever they appear.

Belongs here: what is counted and how it is worded. Does not: HTTP, the judge's protocol.
"""

from dataclasses import dataclass

from kb_pipeline.records import Graded, Score
from kb_pipeline.support import Language, Support, language_of, overlap, support

MODEL = "reference-overlap-1"
_WELL = 0.7
_POORLY = 0.35
# An answer that takes up more than this share of the question's words addresses it in full.
_ADDRESSED = 0.6
# A context that holds more than this share of the question's words is about it in full.
_ON_TOPIC = 0.7


@dataclass(frozen=True, kw_only=True, slots=True)
class _Wording:
    """The sentences of the reasons in one language."""

    no_claims: str
    no_context: str
    nothing_to_support: str
    contradicts: str
    foreign_numbers: str
    level: tuple[str, str, str]
    addressed: tuple[str, str, str]
    on_topic: tuple[str, str, str]


_WORDINGS = {
    Language.INDONESIAN: _Wording(
        no_claims="Jawaban tidak menyatakan apa pun.",
        no_context="Tidak ada konteks yang ditemukan.",
        nothing_to_support="Tidak ada konteks yang dapat mendukung jawaban.",
        contradicts="Kalimat ke-{} bertentangan dengan konteks.",
        foreign_numbers="Kalimat ke-{} memuat angka yang tidak ada dalam konteks.",
        level=(
            "Kata-kata kalimat ke-{} hampir tidak ada dalam konteks.",
            "Kata-kata kalimat ke-{} hanya sebagian ada dalam konteks.",
            "Kata-kata dan angka jawaban ada dalam konteks.",
        ),
        addressed=(
            "Jawaban hampir tidak menyinggung pertanyaan.",
            "Jawaban menyinggung sebagian pertanyaan.",
            "Jawaban menyinggung pertanyaan.",
        ),
        on_topic=(
            "Konteks hampir tidak menyinggung pertanyaan.",
            "Konteks menyinggung sebagian pertanyaan.",
            "Konteks menyinggung pertanyaan.",
        ),
    ),
    Language.ENGLISH: _Wording(
        no_claims="The answer asserts nothing.",
        no_context="Nothing was retrieved.",
        nothing_to_support="There is no context that could support the answer.",
        contradicts="Sentence {} is negated where the context is not, or the other way round.",
        foreign_numbers="Sentence {} has numbers that the context does not.",
        level=(
            "Hardly any word of sentence {} occurs in the context.",
            "Only some words of sentence {} occur in the context.",
            "The words and numbers of the answer occur in the context.",
        ),
        addressed=(
            "The answer hardly takes up the question.",
            "The answer takes up part of the question.",
            "The answer takes up the question.",
        ),
        on_topic=(
            "The context hardly takes up the question.",
            "The context takes up part of the question.",
            "The context takes up the question.",
        ),
    ),
}


def reference_verdict(*, question: str, context: str, answer: str) -> Graded:
    """Scores by counting: the answer's support, and the question's words in the answer and in the context.

    It reads words, never orders: text that asks for a score is compared like any other. Scores have three decimals.
    """
    wording = _WORDINGS[language_of(question or answer)]
    return Graded(
        faithfulness=_faithfulness(support(answer, context), context, wording),
        answer_relevance=_taken_up(question, answer, _ADDRESSED, wording.addressed),
        context_relevance=(
            _taken_up(question, context, _ON_TOPIC, wording.on_topic)
            if context.strip()
            else Score(value=None, reason=wording.no_context)
        ),
    )


def _faithfulness(found: Support, context: str, wording: _Wording) -> Score:
    if found.score is None:
        return Score(value=None, reason=wording.no_claims)
    if not context.strip():
        return Score(value=0.0, reason=wording.nothing_to_support)
    return Score(value=round(found.score, 3), reason=_reason(found, wording))


def _reason(found: Support, wording: _Wording) -> str:
    """What is wrong with the weakest sentence, by its place: a reason never repeats the turn's text."""
    weakest = min(range(len(found.sentences)), key=lambda place: found.sentences[place].score)
    sentence = found.sentences[weakest]
    if sentence.contradicts:
        template = wording.contradicts
    elif sentence.numbers < 1:
        template = wording.foreign_numbers
    else:
        template = wording.level[_level(sentence.words)]
    return template.replace("{}", str(weakest + 1))


def _taken_up(question: str, text: str, enough: float, wording: tuple[str, str, str]) -> Score:
    share = overlap(question, text)
    # A question without a telling word asks for nothing that could be missed.
    value = 1.0 if share is None else min(1.0, share / enough)
    return Score(value=round(value, 3), reason=wording[_level(value)])


def _level(share: float) -> int:
    return 2 if share >= _WELL else 1 if share >= _POORLY else 0
