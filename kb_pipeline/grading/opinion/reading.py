"""A text as its sentences and their words, in one quick pass: both sides of the comparison are read by it.

Belongs here: sentence borders, tokens, telling words. Does not: what a token claims, comparing two texts.
"""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from kb_pipeline.support.language import FUNCTION_WORDS, stems

_MARKER = r"(?:[-*•·▪–>]|#{1,6}|\(?\d{1,3}[.)]|\(?[a-zA-Z][.)])[ \t]+"
_BLOCK = rf"\n[^\S\n]*+\n\s*+(?:{_MARKER})?+|\n[ \t]*+{_MARKER}|\A\s*+{_MARKER}"
# A mark ends a sentence behind three letters, so that "Dr." and "K.H." end none.
_STOP = r"(?:(?<=[^\W\d_]{3})|(?<=[\d)\]%\"'”’»*]))[.!?:]++[\"'”’»)\]*_]*+"
_NEXT_LINE = rf"[^\S\n]*+\n\s*+(?:{_MARKER})?+"
_BREAK = re.compile(rf"{_BLOCK}|{_STOP}(?:{_NEXT_LINE}|\s++(?=[^\sa-z]))")
# A text without capitals shows no beginnings.
_BREAK_IN_SMALL = re.compile(rf"{_BLOCK}|{_STOP}(?:{_NEXT_LINE}|\s++)")
_TOKEN = re.compile(
    r"\d{4}-\d{1,2}-\d{1,2}(?![\d-])|\d+(?:[.,/:]\d+)*[^\W\d_]*|(?:[Rr][Pp]|IDR|USD|RM)(?=\.?\d)"
    r"|[^\W\d_][^\W_]*(?:['’](?:t\b|[^\W\d_]{3,}))?|[%$€£¥§]"
)
_INVISIBLE = re.compile(r"[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufe00-\ufe0f\ufeff]")
_LONGEST_TOKEN = 64
_SHORTEST_TELLING = 2


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence: its text, and its tokens as written and folded."""

    text: str
    written: Sequence[str]
    tokens: Sequence[str]

    @property
    def key(self) -> str:
        """Equal for two sentences of the same words."""
        return " ".join(self.tokens)


def normal(text: str, *, longest: int) -> str:
    """At most `longest` characters of `text` in NFKC, without invisible characters."""
    text = text[:longest]
    return text if text.isascii() else _INVISIBLE.sub("", unicodedata.normalize("NFKC", text))[:longest]


def folded(text: str) -> str:
    """A `normal` text in small letters."""
    return text.lower() if text.isascii() else unicodedata.normalize("NFKC", text.casefold())


def read(text: str) -> list[Sentence]:
    """The sentences of a `normal` text that have a token."""
    found: list[Sentence] = []
    for piece in (_BREAK if folded(text) != text else _BREAK_IN_SMALL).split(text):
        written = [token[:_LONGEST_TOKEN] for token in _TOKEN.findall(piece)]
        if written:
            found.append(Sentence(piece, written, [folded(token) for token in written]))
    return found


def tokens_of(sentences: Iterable[Sentence]) -> list[str]:
    """The folded tokens of sentences, in order."""
    return [token for sentence in sentences for token in sentence.tokens]


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
