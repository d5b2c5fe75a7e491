"""A text as its sentences and their words, in one quick pass: both sides of the comparison are read by it.

Belongs here: sentence borders, tokens, forms of words, the context as evidence. Does not: what a token claims.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from kb_pipeline.support.language import FUNCTION_WORDS, stems

_MARKER = r"(?:[-*•·▪–>]|#{1,6}|\(?\d{1,3}[.)]|\(?[a-zA-Z][.)])[ \t]+"
# A blank line, a list item, or the end of a sentence behind three letters: "Dr." and "K.H." end none.
_BREAK = re.compile(
    rf"\n[^\S\n]*+\n\s*+(?:{_MARKER})?+|\n[ \t]*+{_MARKER}|\A\s*+{_MARKER}"
    r"|(?:(?<=[^\W\d_]{3})|(?<=[\d)\]%\"'”’»*]))(?:[.!?]++[\"'”’»)\]*_]*+)\s++(?=[^\sa-z])"
)
_TOKEN = re.compile(
    r"\d{4}-\d{1,2}-\d{1,2}(?![\d-])|\d+(?:[.,/:]\d+)*[^\W\d_]*|(?:[Rr][Pp]|IDR|USD|RM)(?=\.?\d)"
    r"|[^\W\d_][^\W_]*(?:['’]t\b)?|[%$€£¥§]"
)
_INVISIBLE = re.compile(r"[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufe00-\ufe0f\ufeff]")
_LONGEST_TOKEN = 64
_SHORTEST_TELLING = 2


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence: its tokens as written and folded, and where its first stands in the text's tokens."""

    written: Sequence[str]
    tokens: Sequence[str]
    start: int

    @property
    def key(self) -> str:
        """Equal for two sentences of the same words."""
        return " ".join(self.tokens)


def normal(text: str) -> str:
    """`text` in NFKC without invisible characters."""
    return text if text.isascii() else _INVISIBLE.sub("", unicodedata.normalize("NFKC", text))


def folded(text: str) -> str:
    """A `normal` text in small letters."""
    return text.lower() if text.isascii() else unicodedata.normalize("NFKC", text.casefold())


def read(text: str) -> list[Sentence]:
    """The sentences of a `normal` text that have a token."""
    found: list[Sentence] = []
    start = 0
    for piece in _BREAK.split(text):
        written = [token[:_LONGEST_TOKEN] for token in _TOKEN.findall(piece)]
        if written:
            found.append(Sentence(written, [folded(token) for token in written], start))
            start += len(written)
    return found


def telling(tokens: Iterable[str]) -> list[str]:
    """The words that say something: no function word, no number, no single letter."""
    return [
        token
        for token in tokens
        if token not in FUNCTION_WORDS and len(token) >= _SHORTEST_TELLING and not token[0].isdigit()
    ]


def forms_of(tokens: Iterable[str]) -> frozenset[str]:
    """Every form under which one of the tokens may meet another."""
    return frozenset[str]().union(*map(stems, tokens))


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """What the answer may rest on: the context, and the words of the question, which it may repeat."""

    context: str
    question: str
    sentences: Sequence[Sentence] = field(default_factory=tuple)

    @classmethod
    def of(cls, context: str, question: str) -> "Evidence":
        """Both texts `normal`."""
        return cls(context=context, question=question, sentences=read(context))

    @cached_property
    def tokens(self) -> list[str]:
        """The folded tokens of the context, in order."""
        return [token for sentence in self.sentences for token in sentence.tokens]

    @cached_property
    def known(self) -> Counter[str]:
        """How often each token of the context stands there."""
        return Counter(self.tokens)

    @cached_property
    def forms(self) -> list[frozenset[str]]:
        """The forms of the words of each sentence."""
        return [forms_of(sentence.tokens) for sentence in self.sentences]

    @cached_property
    def all_forms(self) -> frozenset[str]:
        """The forms of all words of the context."""
        return frozenset[str]().union(*self.forms)

    @cached_property
    def asked(self) -> Sequence[Sentence]:
        """The sentences of the question."""
        return read(self.question)

    @cached_property
    def asked_forms(self) -> frozenset[str]:
        """The forms of the words of the question."""
        return forms_of(token for sentence in self.asked for token in sentence.tokens)

    @cached_property
    def keys(self) -> frozenset[str]:
        """The sentences that stand in the context word for word."""
        return frozenset(sentence.key for sentence in self.sentences)

    @cached_property
    def context_folded(self) -> str:
        """The context in small letters."""
        return folded(self.context)

    @cached_property
    def question_folded(self) -> str:
        """The question in small letters."""
        return folded(self.question)

    def has(self, token: str) -> bool:
        """Whether the context has a form of the word."""
        return not self.all_forms.isdisjoint(stems(token))

    def was_asked(self, token: str) -> bool:
        """Whether the question has a form of the word."""
        return not self.asked_forms.isdisjoint(stems(token))
