"""What an answer says that it takes over: spans between quotation marks, and the passages that it cites.

Belongs here: finding and checking them. Does not: other words.
"""

import re
from collections.abc import Collection

from kb_pipeline.grading.opinion.reading import Evidence, forms_of, read

_QUOTED = re.compile(r"\"([^\"\n]{8,600})\"|“([^“”\n]{8,600})”|«([^«»\n]{8,600})»|„([^„“”\n]{8,600})[“”]")
_ELLIPSIS = re.compile(r"\[?(?:\.\.\.|…)\]?")
_FEWEST_WORDS = 3
_CITED = re.compile(r"\[([A-Za-z]{2,8})[- ]?(\d{1,4})((?:\s*[,;]\s*(?:[A-Za-z]{2,8}[- ]?)?\d{1,4}){0,20})\]")
_NUMBER = re.compile(r"\d{1,4}")
_MOST_QUOTES = 50


def quotes(normal: str) -> list[str]:
    """The quoted spans of at least three words."""
    spans = ["".join(found) for found in _QUOTED.findall(normal)[:_MOST_QUOTES]]
    return [span for span in spans if len(span.split()) >= _FEWEST_WORDS]


def quote_doubt(span: str, evidence: Evidence) -> float:
    """How doubtful a quotation is: 0 where each part of it stands in the context, or in the question, word for word."""
    stream, asked = _stream(evidence.tokens), _stream(token for each in evidence.asked for token in each.tokens)
    parts = [[token for sentence in read(part) for token in sentence.tokens] for part in _ELLIPSIS.split(span)]
    if all(_stream(part) in stream or _stream(part) in asked for part in parts if part):
        return 0.0
    words = [token for part in parts for token in part]
    known = sum(not evidence.all_forms.isdisjoint(forms_of((word,))) for word in words)
    return 0.4 + 0.6 * (1 - known / len(words))


def citations(normal: str) -> list[int]:
    """The numbers of the passages that the answer cites: [RAG-2], [RAG-1, RAG-3], [DOC 4]."""
    return [int(number) for match in _CITED.finditer(normal) for number in _NUMBER.findall(match.group())]


def cited_in(context: str) -> Collection[int]:
    """The numbers that the context's own headers carry."""
    return set(citations(context))


def _stream(tokens: object) -> str:
    return f" {' '.join(tokens)} "  # type: ignore[arg-type]
