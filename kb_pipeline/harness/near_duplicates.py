"""Which queries ask nearly the same: exact clusters by the overlap of their telling words.

Belongs here: the words compared, the nearness, the clusters. Does not: splits, equality of queries (retrieval/queries).

Two queries are near-duplicates when the Jaccard index of their sets of telling word stems is at least the threshold;
a cluster is what such pairs hang together. The pairs are found without comparing all with all, and none is missed: of
two sets that overlap so far, the rarest words of the one are among the rarest of the other (prefix filter: Chaudhuri,
Ganti, Kaushik 2006; the shorter prefix of the smaller set: Xiao, Wang, Lin, Yu 2008).
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import chain

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array  # type: ignore[import-untyped]
from scipy.sparse.csgraph import connected_components  # type: ignore[import-untyped]

from kb_pipeline.support.language import FUNCTION_WORDS, stems, words

THRESHOLD = 0.6
# So that 0.6 × 5 is 3 and not the next float above it.
_SLACK = 1e-9
# So many candidate pairs are looked at together, or those of one query: some 100 MB.
_CANDIDATES = 2_000_000
_Words = frozenset[str]
_Integers = npt.NDArray[np.int64]


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
    together: defaultdict[int, list[int]] = defaultdict(list)
    # From small to great: the pairs are looked for in this order.
    sets = sorted(alike, key=len)
    for known, label in zip(sets, _labels(sets, threshold), strict=True):
        together[label].extend(alike[known])
    return sorted([*alone, *map(sorted, together.values())])


def _labels(sets: Sequence[_Words], threshold: float) -> list[int]:
    """A number for each set, the same for sets that hang together."""
    if not sets:
        return []
    pairs = list(_Sets(sets).near_pairs(threshold))
    one, other = (np.concatenate(places) for places in zip(*pairs, strict=True))
    graph = csr_array((np.ones(len(one), bool), (one, other)), shape=(len(sets), len(sets)))
    labels: list[int] = connected_components(graph, directed=False)[1].tolist()
    return labels


class _Sets:
    """Sets of words, none empty, from small to great, as rows of word numbers, the rarest word first."""

    def __init__(self, sets: Sequence[_Words]) -> None:
        frequency = Counter(chain.from_iterable(sets))
        rarest_first = sorted(frequency, key=lambda word: (frequency[word], word))
        number = {word: place for place, word in enumerate(rarest_first)}
        self._shape = (len(sets), len(number))
        self._sizes = np.array([len(known) for known in sets])
        self._words = np.array([place for known in sets for place in sorted(number[word] for word in known)])
        starts = np.cumsum(self._sizes) - self._sizes
        self._places = np.arange(len(self._words)) - np.repeat(starts, self._sizes)

    def near_pairs(self, threshold: float) -> Iterator[tuple[_Integers, _Integers]]:
        """Every near pair, as two arrays of places.

        A set shares with a smaller or equal one at least t of its own words, and with a greater or equal one at least
        2t / (1 + t) of them: so many of its rarest words must be looked up, and so many held, to meet once.
        """
        sizes = self._sizes
        least = _rounded_up(threshold * sizes)
        whole, looked_up = self._rarest(sizes), self._rarest(sizes - least + 1)
        held = self._rarest(sizes - _rounded_up(2 * threshold / (1 + threshold) * sizes) + 1).T.tocsr()
        meetings = looked_up @ np.diff(held.indptr)
        for block in _blocks(meetings):
            met = (looked_up[block] @ held).tocoo()
            one, other = met.row + block.start, met.col
            candidates = (other < one) & (sizes[other] >= least[one])
            one, other = one[candidates], other[candidates]
            shared = whole[one].multiply(whole[other]).sum(axis=1)
            near = shared >= threshold * (sizes[one] + sizes[other] - shared) - _SLACK
            yield one[near], other[near]

    def _rarest(self, count: _Integers) -> csr_array:
        """A matrix of ones: the set's `count` rarest words."""
        kept = self._places < np.repeat(count, self._sizes)
        rows = np.concatenate([[0], np.cumsum(np.minimum(count, self._sizes))])
        return csr_array((np.ones(kept.sum(), np.int32), self._words[kept], rows), shape=self._shape)


def _blocks(meetings: _Integers) -> Iterator[slice]:
    """Rows in their order, in blocks of bounded work."""
    reached = np.cumsum(meetings, dtype=np.int64)
    start = 0
    while start < len(reached):
        before = reached[start - 1] if start else 0
        end = max(start + 1, int(np.searchsorted(reached, before + _CANDIDATES, side="right")))
        yield slice(start, end)
        start = end


def _rounded_up(numbers: npt.NDArray[np.float64]) -> _Integers:
    return np.ceil(numbers - _SLACK).astype(np.int64)
