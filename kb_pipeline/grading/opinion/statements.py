"""The sentences of an answer against the closest ones of the context: how many words are foreign, and who does what.

Belongs here: closeness, foreign words, names that changed places. Does not: negations, numbers.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

from kb_pipeline.grading.opinion.evidence import Evidence
from kb_pipeline.grading.opinion.naming import Name, name_doubt, names
from kb_pipeline.grading.opinion.negation import negation_doubt
from kb_pipeline.grading.opinion.reading import Sentence, forms_of, telling
from kb_pipeline.support.language import NEGATORS, stems
from kb_pipeline.support.style import asserts

# Words with which an answer speaks of itself and of what it was given.
_ABOUT_THE_ANSWER = frozenset(
    "passage passages provided provide provides given based according document documents context information mention "
    "mentions mentioned answer question stated states state describes described following follows summary therefore "
    "overall additionally however "
    "berdasarkan menurut dokumen konteks informasi disebutkan dijelaskan diberikan jawaban pertanyaan tersedia berikut "
    "demikian kesimpulannya sumber".split()
)
_WHAT_WAS_GIVEN = frozenset(
    "passage passages document documents context information konteks dokumen informasi sumber".split()
)
_LEFT_OUT = _ABOUT_THE_ANSWER | NEGATORS
_MOST_COMPARED = 2_000
_NEAREST = 3
_ABOUT_AS_CLOSE = 0.8
_MOST_NAMES = 6
_SMOOTHING = 3
_WORTH_A_LOOK = 0.2
_LEAST_OF_NAME = 0.3


@dataclass(frozen=True)
class Statement:
    """One sentence of the answer and the evidence for it."""

    sentence: Sentence
    evidence: Evidence
    is_whole_answer: bool = False

    @cached_property
    def words(self) -> Sequence[str]:
        """The telling words but negators, and but those about the answer itself."""
        words = telling(self.sentence.tokens)
        return [word for word in words if word not in _LEFT_OUT]

    @cached_property
    def foreign(self) -> float:
        """foreign words / (words + 3), in [0, 1); those of the question count half.

        0 where the sentence asserts nothing, or says that something is not in what was given.
        """
        unknown = [word for word in self.words if not self.evidence.has(word)]
        if not unknown or self._misses:
            return 0.0
        count = sum(0.5 if self.evidence.was_asked(word) else 1.0 for word in unknown)
        share = count / (len(self.words) + _SMOOTHING)
        return share if share < _WORTH_A_LOOK or asserts(self.sentence.text) else 0.0

    @property
    def _misses(self) -> bool:
        return bool(self.sentence.negators) and not _WHAT_WAS_GIVEN.isdisjoint(self.sentence.tokens)

    @cached_property
    def _closest(self) -> Sequence[tuple[float, int]]:
        """The closest sentences of the context, best first, as (share of the words, place)."""
        mine = forms_of(self.words) & self.evidence.all_forms
        if not mine:
            return []
        rough = [(-len(mine & theirs), place) for place, theirs in enumerate(self.evidence.forms[:_MOST_COMPARED])]
        exact = [(self._share(self.evidence.forms[place]), place) for _, place in sorted(rough)[:_NEAREST]]
        return sorted(exact, key=lambda each: (-each[0], each[1]))

    def _share(self, forms: frozenset[str]) -> float:
        return sum(not forms.isdisjoint(stems(word)) for word in self.words) / len(self.words)

    @cached_property
    def closeness(self) -> float:
        """The share of the words that the closest sentence has, in [0, 1]."""
        return self._closest[0][0] if self._closest else 0.0

    @cached_property
    def neighbours(self) -> Sequence[Sentence]:
        """The closest sentence of the context, and those about as close."""
        least = _ABOUT_AS_CLOSE * self.closeness
        return [self.evidence.sentences[place] for share, place in self._closest if share >= least]

    def negation_doubt(self) -> float:
        """How doubtful it is that the sentence denies and affirms what the closest ones do, in [0, 1]."""
        return 0.0 if self._misses else negation_doubt(self.sentence, self.neighbours, self.closeness)

    @cached_property
    def names(self) -> Sequence[Name]:
        """The names."""
        return list(names(self.sentence))

    def name_doubts(self) -> Sequence[float]:
        """How doubtful each name is: more where the rest of the sentence stands in the closest one of the context.

        A whole answer that is nothing but a name needs no other sign that it is one.
        """
        found = self.names
        doubts = [name_doubt(name.words, self.sentence, self.evidence) for name in found]
        if not any(doubts):
            return doubts
        rest = set(self.words).difference(*(name.words for name in found))
        if not rest and self.is_whole_answer and asserts(self.sentence.text):
            return doubts
        likely = _LEAST_OF_NAME + (1 - _LEAST_OF_NAME) * self._share_of_closest(rest)
        return [doubt * likely * name.certainty for doubt, name in zip(doubts, found, strict=True)]

    def _share_of_closest(self, words: Collection[str]) -> float:
        if not words or not self._closest:
            return 0.0
        forms = self.evidence.forms[self._closest[0][1]]
        return sum(not forms.isdisjoint(stems(word)) for word in words) / len(words)

    def roles_doubt(self) -> float:
        """How doubtful it is that two names do what they do in the closest sentence, in [0, 1]."""
        found = self.names[:_MOST_NAMES]
        if len(found) < len(("one", "other")) or not self.neighbours:
            return 0.0
        mine, theirs = self.sentence.tokens, self.neighbours[0].tokens
        return self.closeness * max(_swapped(mine, theirs, *pair) for pair in combinations(found, 2))


def _swapped(mine: Sequence[str], theirs: Sequence[str], first: Name, second: Name) -> float:
    """How surely each of two names has the other's neighbours in another sentence, in [0, 1]."""
    here = [_beside(mine, name.place, len(name.words)) for name in (first, second)]
    there = [set().union(*_all_beside(theirs, name.words)) for name in (first, second)]
    if not all(there) or first.words == second.words:
        return 0.0
    moved = [
        len(own & other_place) - len(own & own_place)
        for own, own_place, other_place in zip(here, there, reversed(there), strict=True)
    ]
    if min(moved) < 0 or not max(moved):
        return 0.0
    return 1.0 if min(moved) > 0 else 0.5


def _all_beside(tokens: Sequence[str], words: Sequence[str]) -> Iterator[set[str]]:
    for place in range(len(tokens) - len(words) + 1):
        if list(tokens[place : place + len(words)]) == list(words):
            yield _beside(tokens, place, len(words))


def _beside(tokens: Sequence[str], place: int, length: int) -> set[str]:
    """The word before a name and the word behind it, each marked with its side."""
    before = [f"< {word}" for word in tokens[max(0, place - 1) : place]]
    return {*before, *(f"> {word}" for word in tokens[place + length : place + length + 1])}
