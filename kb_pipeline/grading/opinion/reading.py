"""A text as its sentences and their words, in one quick pass: both sides of the comparison are read by it.

Belongs here: sentence borders, tokens, telling words. Does not: what a token claims, comparing two texts.
"""

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from kb_pipeline.support.language import FUNCTION_WORDS, NEGATORS, stems

_MARKER = r"(?:[-*•·▪–>]|#{1,6}|\(?\d{1,3}[.)]|\(?[a-zA-Z][.)])[ \t]+"
# A blank line, or a list item.
_BLOCK = rf"\n(?:[^\S\n]*+\n\s*+(?:{_MARKER})?+|[ \t]*+{_MARKER})"
# A mark ends a sentence behind three letters, a little word or a closing sign, so that "Dr." and "K.H." end none.
_STOP = (
    r"[.!?:](?:(?<=[^\W\d_]{3}.)|(?<=\b(?:it|is|up|us|me|do|go|so|to|on|in|be|he|we|ia).)|(?<=\s.)"
    r"|(?<=[\d)\]%\"'”’»*].))[.!?:]*+[\"'”’»)\]*_]*+"
)
_NEXT_LINE = rf"[^\S\n]*+\n\s*+(?:{_MARKER})?+"
_BREAK = re.compile(rf"{_BLOCK}|{_STOP}(?:{_NEXT_LINE}|\s++(?=[^\sa-z]))")
# A text without capitals shows no beginnings.
_BREAK_IN_SMALL = re.compile(rf"{_BLOCK}|{_STOP}(?:{_NEXT_LINE}|\s++)")
# Letters by range, which is twice as quick as by category; what else is in these ranges does no harm.
_LETTER = "A-Za-z\u00aa\u00c0-\u024f\u0370-\u1fff\u3040-\uffdc"
_TOKEN = re.compile(
    rf"[{_LETTER}][{_LETTER}0-9]*(?:'(?:t\b|[{_LETTER}]{{3,}}))?"
    r"|[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}(?![0-9-])|[0-9]+(?:[.,/:][0-9]+)*[a-z]*|[%$€£¥§]"
)
# Rp10.000 is two tokens.
_GLUED = re.compile(r"(?:[Rr][Pp]|[Ii][Dd][Rr]|[Uu][Ss][Dd]|[Rr][Mm])(?=\.?[0-9])")
_MAY_BE_GLUED = re.compile(r"[PpRrDdMm]\.?[0-9]")
DIGITS = frozenset("0123456789")
# [1], [1, 2], [^3] and [RAG-4] say where something stands, not what.
_CITATION = re.compile(
    r"\[\^?(?:[A-Za-z]{1,8}[- ]?)?[0-9]{1,3}(?:\s{0,3}[,;–-]\s{0,3}(?:[A-Za-z]{1,8}[- ]?)?[0-9]{1,3}){0,20}\]"
)
_INVISIBLE = re.compile(r"[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufe00-\ufe0f\ufeff]")
_LONGEST_TOKEN = 64
_LONGEST_SENTENCE = 4_000
_SHORTEST_TELLING = 2


@dataclass(frozen=True)
class Sentence:
    """One sentence: its text, and its tokens as written and folded."""

    text: str
    tokens: Sequence[str]

    @cached_property
    def written(self) -> Sequence[str]:
        """The tokens as written; folded where folding changed how many there are."""
        written = _TOKEN.findall(self.text)
        return written if len(written) == len(self.tokens) else self.tokens

    @cached_property
    def key(self) -> str:
        """Equal for two sentences of the same words."""
        return " ".join(self.tokens)

    @cached_property
    def negators(self) -> Sequence[int]:
        """The places of the words that turn it around."""
        return [place for place, token in enumerate(self.tokens) if token in NEGATORS or token[-2:] == "'t"]

    @cached_property
    def places(self) -> Mapping[str, Sequence[int]]:
        """Where each form of a telling word stands."""
        found: dict[str, list[int]] = {}
        for place, token in enumerate(self.tokens):
            if token not in FUNCTION_WORDS:
                for form in stems(token):
                    found.setdefault(form, []).append(place)
        return found


def normal(text: str, *, longest: int) -> str:
    """At most `longest` characters of `text` in NFKC, without invisible characters."""
    text = text[:longest]
    if text.isascii():
        return text
    return _INVISIBLE.sub("", unicodedata.normalize("NFKC", text))[:longest].replace("’", "'")


def folded(text: str) -> str:
    """A `normal` text in small letters."""
    return text.lower() if text.isascii() else unicodedata.normalize("NFKC", text.casefold())


def read(text: str) -> list[Sentence]:
    """The sentences of a `normal` text that have a token."""
    if "[" in text:
        text = _CITATION.sub("", text)
    if _MAY_BE_GLUED.search(text):
        text = _GLUED.sub(r"\g<0> ", text)
    border = _BREAK_IN_SMALL if text.islower() else _BREAK
    found: list[Sentence] = []
    for piece in border.split(f"\n{text}"):
        for part in (piece,) if len(piece) <= _LONGEST_SENTENCE else _parts(piece):
            tokens = _TOKEN.findall(folded(part))
            if tokens:
                found.append(Sentence(part.strip(), _short(tokens) if len(part) > _LONGEST_TOKEN else tokens))
    return found


def _parts(piece: str) -> list[str]:
    """What no one would write as one sentence, in parts."""
    return [piece[start : start + _LONGEST_SENTENCE] for start in range(0, len(piece), _LONGEST_SENTENCE)]


def _short(tokens: list[str]) -> list[str]:
    return [token[:_LONGEST_TOKEN] for token in tokens] if max(map(len, tokens)) > _LONGEST_TOKEN else tokens


def tokens_of(sentences: Iterable[Sentence]) -> list[str]:
    """The folded tokens of sentences, in order."""
    return [token for sentence in sentences for token in sentence.tokens]


def telling(tokens: Iterable[str]) -> list[str]:
    """The words that say something: no function word, no number, no single letter."""
    return [
        token
        for token in tokens
        if token not in FUNCTION_WORDS and len(token) >= _SHORTEST_TELLING and token[0] not in DIGITS
    ]


def forms_of(tokens: Iterable[str]) -> frozenset[str]:
    """Every form under which one of the tokens may meet another."""
    return frozenset[str]().union(*map(stems, tokens))
