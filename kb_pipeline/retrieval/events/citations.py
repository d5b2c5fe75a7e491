"""Which of the results an answer cites, by the numbers it puts in brackets.

Belongs here: reading [RAG-2], [1, 3] and [2-4] out of an answer. Does not: what being cited proves.
"""

import re

from kb_pipeline.retrieval.events.hits import MAX_HITS

_RANK = r"(?:RAG[\s-]?)?\d{1,3}"
CITATION = re.compile(rf"\[\s?{_RANK}(?:\s?[,;–-]\s?{_RANK}){{0,{MAX_HITS}}}\s?\]", re.IGNORECASE | re.ASCII)
"""[RAG-n] as the synthesis template numbers its passages, or [n]; several in one pair of brackets, also a range."""

# The hyphen of RAG-2 is none of a range.
_RANGE = re.compile(r"(\d+)(?:\s?[–-]\s?(?:RAG[\s-]?)?(\d+))?", re.IGNORECASE | re.ASCII)


def cited_ranks(answer: str, citation: re.Pattern[str] = CITATION) -> frozenset[int]:
    """The ranks, from 1, that the answer cites.

    Of each match of `citation` the group `rank` is read, or the whole match where it has no such group; a number is a
    rank, and two of them with a hyphen between are a range.
    """
    group = "rank" if "rank" in citation.groupindex else 0
    ranks: set[int] = set()
    for match in citation.finditer(answer):
        for first, last in _RANGE.findall(match[group] or ""):
            ranks.update(_range(int(first), int(last or first)))
    return frozenset(ranks)


def _range(first: int, last: int) -> range | tuple[int, int]:
    # Wider than any list of results: two numbers, perhaps years.
    return range(first, last + 1) if 0 <= last - first < MAX_HITS else (first, last)
