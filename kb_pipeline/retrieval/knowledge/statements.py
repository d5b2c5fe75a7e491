"""A sentence as something that a source may support: its telling words, its figures, whether it denies.

Belongs here: reading a sentence, when two words are one. Does not: chunks, weights, scores.
"""

import re
from dataclasses import dataclass
from functools import lru_cache

from kb_pipeline.retrieval.knowledge.figures import Figures
from kb_pipeline.support.language import FUNCTION_WORDS, fold, is_negator, stems, words
from kb_pipeline.support.levelling import plain
from kb_pipeline.support.numbers import is_number_word, spelled_as_digits
from kb_pipeline.support.style import telling_part

# Limits, duties and permissions are worded in many ways, and the figure or the verb beside them says the rest.
_WORDINGS = frozenset(
    "paling maksimal maksimum minimal minimum selambat lambatnya sekurang kurangnya sedikitnya sebanyak banyaknya "
    "selama lamanya sebesar sejumlah wajib mesti perlu boleh diperkenankan diizinkan diperbolehkan kalau setiap per "
    "sebagai berupa "
    "least less later latest within most maximum minimum must shall needs need requires require required allowed "
    "permitted every each per only".split()
)
_LIMIT = re.compile(r"\bpaling (?:lama|lambat|singkat|cepat|sedikit|banyak|tinggi|rendah|besar|kecil|tua|muda)\b")
_ALIKE = {
    word: f"~{listed.split()[0]}"
    for listed in (
        "biaya biayanya tarif tarifnya ongkos harga berbiaya fee fees cost costs charge charges charged price",
        "diperlukan dibutuhkan needed",
        "memuat berisi isi contains",
        "diajukan disampaikan mengajukan menyampaikan filed submitted",
    )
    for word in listed.split()
}
_OPENING = re.compile(
    r"^(?:\w+[ ,]+){0,4}?(?:"
    r"(?:sampaikan|jelaskan|informasikan|beritahukan|konfirmasikan|tegaskan|tambahkan|diketahui|diingat|dicatat) bahwa"
    r"|sebagai (?:informasi|tambahan|catatan),?"
    r"|(?:note|confirm|clarify|advised|aware|remember|inform you|tell you) that|to be (?:precise|clear),?"
    r")\s+",
    re.IGNORECASE,
)

_NO_DENIAL = re.compile(
    r"\b(?:no|not) (?:later|less|fewer|more|earlier|longer|sooner|higher|lower) than\b|\bnot only\b"
    r"|\b(?:tidak|tak) (?:lebih|kurang) dari\b|\b(?:tidak|bukan) (?:hanya|saja)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Statement:
    """`words` are the folded telling words, each once, in their order: no function words, numbers or negators."""

    words: tuple[str, ...]
    figures: Figures
    is_negated: bool

    @classmethod
    def read(cls, sentence: str) -> "Statement":
        """What the sentence says without its courtesies; the sentences read last are remembered."""
        return _read(sentence)


@lru_cache(maxsize=4096)
def _read(sentence: str) -> Statement:
    text = _OPENING.sub("", telling_part(plain(sentence)))
    return Statement(
        words=telling_words(text),
        figures=Figures.read(text),
        is_negated=denies(text),
    )


def telling_words(text: str) -> tuple[str, ...]:
    """The folded words of a text that say something beside its figures, each once, in their order."""
    said = dict.fromkeys(words(_LIMIT.sub(" ", spelled_as_digits(fold(text)))))
    return tuple(word for word in said if not _is_frame(word))


@lru_cache(maxsize=65_536)
def forms(word: str) -> frozenset[str]:
    """Two folded words are one where their forms meet: stems, and a sign for words that stand for one another."""
    return stems(word) | {_ALIKE[word]} if word in _ALIKE else stems(word)


@lru_cache(maxsize=4096)
def _forms_of(said: tuple[str, ...]) -> frozenset[str]:
    return frozenset[str]().union(*map(forms, said))


def denies(text: str) -> bool:
    """Whether a text turns a statement around; "no later than" and "tidak hanya" turn nothing around."""
    return any(map(is_negator, words(_NO_DENIAL.sub(" ", text))))


def replaces_word(sentence: str, other_sentence: str) -> bool:
    """Whether two sentences say the same of one thing and another: but for words foreign to each other, all is one.

    "... adalah camat, bukan pendiri sendiri" and "... adalah notaris, bukan pendiri sendiri". A sentence in other
    words has its words in another order, or only more of them.
    """
    statement, other = Statement.read(sentence), Statement.read(other_sentence)
    left, right = _common(statement, other), _common(other, statement)
    if len(left) == len(statement.words) or len(right) == len(other.words) or len(left) != len(right):
        return False
    return all(not one.isdisjoint(two) for one, two in zip(left, right, strict=True))


def _common(statement: Statement, other: Statement) -> list[frozenset[str]]:
    """The forms of the words that the other statement has too, in order."""
    known = _forms_of(other.words)
    return [forms(word) for word in statement.words if not known.isdisjoint(forms(word))]


def told_forms(sentence: str) -> frozenset[str]:
    """The forms of the telling words of a sentence; where two have none in common, neither rewords the other."""
    return _forms_of(Statement.read(sentence).words)


def title_key(title: str) -> str:
    """The form in which titles are one: folded words."""
    return " ".join(words(title))


def _is_frame(word: str) -> bool:
    return word in FUNCTION_WORDS or word in _WORDINGS or is_negator(word) or is_number_word(word)
