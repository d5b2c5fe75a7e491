"""What an answer says that it takes over: spans between quotation marks, and the passages that it cites.

Belongs here: finding and checking them. Does not: other words.
"""

import re

from kb_pipeline.grading.opinion.evidence import Evidence
from kb_pipeline.grading.opinion.reading import read, tokens_of

_QUOTED = re.compile(r"\"([^\"\n]{8,600})\"|“([^“”\n]{8,600})”|«([^«»\n]{8,600})»|„([^„“”\n]{8,600})[“”]")
_ELLIPSIS = re.compile(r"\[?(?:\.\.\.|…)\]?")
_FEWEST_WORDS = 3
_CITED = re.compile(r"\[[A-Z]{2,8}[- ]?\d{1,4}(?:\s{0,3}[,;]\s{0,3}(?:[A-Z]{2,8}[- ]?)?\d{1,4}){0,20}\]")
_SPOKEN = re.compile(r"(?<!\w)(?:passages?|dokumen|documents?|sumber|sources?|kutipan)\s(\d{1,3})(?!\w|[.,]\d)")
_NUMBER = re.compile(r"\d{1,4}")
_MOST_QUOTES = 50
_WRONG_WORDS = 0.5


def quotes(normal: str) -> list[str]:
    """The quoted spans of at least three words, fifty at most."""
    spans = ["".join(found) for found in _QUOTED.findall(normal)[:_MOST_QUOTES]]
    return [span for span in spans if len(span.split()) >= _FEWEST_WORDS]


def quote_doubt(span: str, evidence: Evidence) -> float:
    """How doubtful a quotation is, in [0, 1]: 0 where each part of it stands in context or question word for word."""
    parts = [tokens_of(read(part)) for part in _ELLIPSIS.split(span)]
    lines = [f" {' '.join(part)} " for part in parts if part]
    if all(any(line in stream for stream in evidence.streams) for line in lines):
        return 0.0
    words = [token for part in parts for token in part]
    return _WRONG_WORDS + (1 - _WRONG_WORDS) * sum(not evidence.has(word) for word in words) / len(words)


def citations(normal: str) -> list[int]:
    """The passages that an answer cites, by number: [RAG-2], [RAG-1, RAG-3], [DOC 4]."""
    return [int(number) for match in _CITED.finditer(normal) for number in _NUMBER.findall(match.group())]


def spoken_citations(folded: str) -> list[int]:
    """The passages that it names in words: "passage 3", "dokumen 2"."""
    return [int(number) for number in _SPOKEN.findall(folded)]
