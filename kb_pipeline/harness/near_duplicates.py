"""Which queries ask nearly the same: exact clusters by the overlap of their telling words.

Belongs here: the words compared, the overlap, the clusters. Does not: splits, equality of queries (retrieval/queries).

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


def overlap(one: _Words, other: _Words) -> float:
    """The Jaccard index: shared of all words, a fraction; 0 where there is none."""
    shared = len(one & other)
    return shared / (len(one) + len(other) - shared) if shared else 0.0


def are_near(one: _Words, other: _Words, threshold: float = THRESHOLD) -> bool:
    """Whether two queries of these words ask nearly the same."""
    return overlap(one, other) >= threshold - _SLACK


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
    """Every pair of near sets, smaller set first."""
    frequency = Counter(word for known in sets for word in known)
    holders: defaultdict[str, list[int]] = defaultdict(list)
    for place in sorted(range(len(sets)), key=lambda place: len(sets[place])):
        known = sets[place]
        ordered = sorted(known, key=lambda word: (frequency[word], word))
        needed = math.ceil(threshold * len(known) - _SLACK)
        candidates: set[int] = set()
        for word in ordered[: len(known) - needed + 1]:
            candidates.update(holders[word])
            holders[word].append(place)
        for candidate in candidates:
            if len(sets[candidate]) >= needed and are_near(known, sets[candidate], threshold):
                yield candidate, place


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
