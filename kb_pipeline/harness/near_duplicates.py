"""Which queries ask nearly the same: exact clusters by the overlap of their telling words.

Belongs here: the words compared, the nearness, the clusters. Does not: splits, equality of queries (retrieval/queries).

Two queries are near-duplicates when the Jaccard index of their sets of telling word stems is at least the threshold;
a cluster is what such pairs hang together. The pairs are found without comparing all with all, and none is missed: two
sets that overlap so far share at least one of their rarest words (Chaudhuri, Ganti, Kaushik 2006, prefix filter).
"""

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

from kb_pipeline.support.language import FUNCTION_WORDS, stems, words

THRESHOLD = 0.6
# So that 0.6 × 5 is 3 and not the next float above it.
_SLACK = 1e-9
_Words = frozenset[str]


def telling_stems(text: str) -> _Words:
    """The stems of the words that say something; of all words where none does."""
    tokens = words(text)
    telling = [token for token in tokens if token not in FUNCTION_WORDS] or tokens
    return frozenset(map(_stem, telling))


def _stem(word: str) -> str:
    """One of the forms under which the word meets others, always the same one: the shortest."""
    return min(stems(word), key=lambda form: (len(form), form))


def are_near(one: _Words, other: _Words, threshold: float = THRESHOLD) -> bool:
    """Whether two queries of these words ask nearly the same: their Jaccard index is at least the threshold."""
    shared = len(one & other)
    return shared > 0 and shared >= threshold * (len(one) + len(other) - shared) - _SLACK


def clusters(texts: Sequence[str | None], threshold: float = THRESHOLD) -> list[list[int]]:
    """The positions in `texts` by cluster, each once, ascending, clusters by their first; None is near to nothing.

    `threshold` is above 0 and at most 1.
    """
    alike: defaultdict[_Words, list[int]] = defaultdict(list)
    alone: list[list[int]] = []
    for position, text in enumerate(texts):
        known = telling_stems(text) if text else frozenset()
        if known:
            alike[known].append(position)
        else:
            alone.append([position])
    sets = list(alike)
    roots = _Roots(len(sets))
    for one, other in _near_pairs(sets, threshold):
        roots.join(one, other)
    together: defaultdict[int, list[int]] = defaultdict(list)
    for place, known in enumerate(sets):
        together[roots.of(place)].extend(alike[known])
    return sorted([*alone, *map(sorted, together.values())])


def _near_pairs(sets: Sequence[_Words], threshold: float) -> Iterator[tuple[int, int]]:
    """Every pair of near sets, smaller set first.

    A set shares with a smaller or equal one at least `threshold` of its own words, and with a greater or equal one at
    least 2t / (1 + t) of them: so many of its rarest words need to be looked up, and fewer to be held.
    """
    frequency = Counter(word for known in sets for word in known)
    holders: defaultdict[str, list[int]] = defaultdict(list)
    for place in sorted(range(len(sets)), key=lambda place: len(sets[place])):
        known = sets[place]
        ordered = sorted(known, key=lambda word: (frequency[word], word))
        least = _rounded_up(threshold * len(known))
        candidates = {each for word in ordered[: len(known) - least + 1] for each in holders.get(word, ())}
        for candidate in candidates:
            if len(sets[candidate]) >= least and are_near(known, sets[candidate], threshold):
                yield candidate, place
        for word in ordered[: len(known) - _rounded_up(2 * threshold / (1 + threshold) * len(known)) + 1]:
            holders[word].append(place)


def _rounded_up(number: float) -> int:
    return math.ceil(number - _SLACK)


class _Roots:
    """Which places belong together (union-find with path halving)."""

    def __init__(self, size: int) -> None:
        self._parent = list(range(size))

    def of(self, place: int) -> int:
        parent = self._parent
        while parent[place] != place:
            parent[place] = parent[parent[place]]
            place = parent[place]
        return place

    def join(self, one: int, other: int) -> None:
        self._parent[self.of(other)] = self.of(one)
