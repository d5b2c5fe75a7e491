"""Whether a client asked the same thing again.

Belongs here: when one query rephrases another. Does not: clusters of queries, which span conversations.
"""

from collections.abc import Sequence

from kb_pipeline.retrieval.outcomes.wording import is_spelled_alike
from kb_pipeline.retrieval.queries import normalised
from kb_pipeline.support import numbers_in, words
from kb_pipeline.support.language import FUNCTION_WORDS, stems

SAME_FROM = 0.75
_MOST_WORDS = 64
_LONGEST_QUERY = 4_000
# What is asked for; a generic "apa" or "how" may stand for any of them.
_ASKING = {
    word: kind
    for kind, listed in {
        "how much": "berapa brp",
        "when": "kapan when",
        "where": "mana dimana where",
        "who": "siapa who whom",
        "why": "mengapa kenapa why",
    }.items()
    for word in listed.split()
}


def rephrases(query: str, later: str) -> bool:
    """Whether `later` asks what `query` asked, in other words or the same ones.

    Their telling words, matched by stem or by spelling, must overlap by .75 (twice the common ones over all), their
    numbers be the same, and neither may ask for another thing (when, where, who, why, how much).
    """
    first, second = normalised(query[:_LONGEST_QUERY]), normalised(later[:_LONGEST_QUERY])
    if not first or not second:
        return False
    if first == second:
        return True
    return _same_numbers(first, second) and _ask_alike(first, second) and _overlap(first, second) >= SAME_FROM


def _same_numbers(first: str, second: str) -> bool:
    left, right = numbers_in(first), numbers_in(second)
    return _all_in(left, right) and _all_in(right, left)


def _all_in(numbers: Sequence[frozenset[object]], others: Sequence[frozenset[object]]) -> bool:
    return all(any(values & known for known in others) for values in numbers)


def _ask_alike(first: str, second: str) -> bool:
    left, right = ({_ASKING[word] for word in words(text) if word in _ASKING} for text in (first, second))
    return not left or not right or not left.isdisjoint(right)


def _overlap(first: str, second: str) -> float:
    left, right = _telling(first), _telling(second)
    if not left or not right:
        return 0.0
    common = 0
    free = list(right)
    for word in left:
        match = next((other for other in free if _is_one(word, other)), None)
        if match is not None:
            free.remove(match)
            common += 1
    return 2 * common / (len(left) + len(right))


def _is_one(word: str, other: str) -> bool:
    return not stems(word).isdisjoint(stems(other)) or is_spelled_alike(word, (other,))


def _telling(text: str) -> list[str]:
    found = dict.fromkeys(word for word in words(text) if word not in FUNCTION_WORDS and word not in _ASKING)
    return list(found)[:_MOST_WORDS]
