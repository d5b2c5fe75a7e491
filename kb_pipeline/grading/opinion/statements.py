"""The sentences of an answer against the closest ones of the context: words, negations, opposites, who does what.

Belongs here: closeness, and what two close sentences must not differ in. Does not: numbers, dates, names by themselves.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from kb_pipeline.grading.opinion.naming import names, order_swapped
from kb_pipeline.grading.opinion.reading import Evidence, Sentence, forms_of, telling
from kb_pipeline.support.language import is_negator, stems
from kb_pipeline.support.polarity import Polarity, in_one_word

_MOST_COMPARED = 2_000
_SCOPE = 2
_NEAREST = 3
_ABOUT_AS_CLOSE = 0.8
_PASSIVE = frozenset("oleh by dengan with".split())
_DENYING = frozenset(
    "kecuali except unless gagal fail fails failed unable mustahil impossible dilarang forbidden prohibited larangan "
    "unlike lacks lack lacking kurang hardly rarely jarang few little instead rather bukannya tanpa without none".split()
)


@dataclass(frozen=True)
class Statement:
    """One sentence of the answer and the evidence for it."""

    sentence: Sentence
    evidence: Evidence

    @cached_property
    def words(self) -> list[str]:
        """The telling words but negators."""
        return [word for word in telling(self.sentence.tokens) if not is_negator(word)]

    @cached_property
    def foreign(self) -> float:
        """How many of the words neither the context has nor, counted half, the question."""
        return sum(
            (0.5 if self.evidence.was_asked(word) else 1.0) for word in self.words if not self.evidence.has(word)
        )

    @cached_property
    def _closest(self) -> list[tuple[float, int]]:
        """How much of the words each of the closest sentences has, best first, as (share, place)."""
        mine = forms_of(self.words) & self.evidence.all_forms
        if not mine:
            return []
        shares = [(len(mine & theirs), place) for place, theirs in enumerate(self.evidence.forms[:_MOST_COMPARED])]
        best = sorted(shares, key=lambda each: (-each[0], each[1]))[:_NEAREST]
        exact = [(self._share(self.evidence.forms[place]), place) for _, place in best]
        return sorted(exact, key=lambda each: (-each[0], each[1]))

    def _share(self, forms: frozenset[str]) -> float:
        return sum(not forms.isdisjoint(stems(word)) for word in self.words) / len(self.words)

    @cached_property
    def closeness(self) -> float:
        """The share of the words that the closest sentence has, with the ones beside it at a discount."""
        return self._closest[0][0] if self._closest else 0.0

    @cached_property
    def neighbours(self) -> list[Sentence]:
        """The closest sentences of the context, and those about as close."""
        return [
            self.evidence.sentences[place]
            for share, place in self._closest
            if share >= _ABOUT_AS_CLOSE * self.closeness
        ]

    def negation_doubt(self) -> float:
        """How doubtful it is that the sentence denies and affirms what the closest ones do, in [0, 1]."""
        if not self.neighbours or not self.words:
            return 0.0
        mine = _denied(self.sentence.tokens)
        doubts = [self._against(mine, neighbour) for neighbour in self.neighbours]
        return min(doubts) * self.closeness

    def _against(self, mine: "Denied", neighbour: Sentence) -> float:
        theirs = _denied(neighbour.tokens)
        if not mine.count and not theirs.count:
            return self._opposite(neighbour)
        # What is denied here is affirmed there, or the other way round.
        turned = mine.scope - theirs.scope & theirs.words, theirs.scope - mine.scope & mine.words
        here = (mine.scope & theirs.words) - theirs.scope
        there = (theirs.scope & mine.words) - mine.scope
        del turned
        if mine.count and not theirs.count:
            return 0.0 if theirs.soft else 1.0
        if theirs.count and not mine.count:
            return (0.8 if there else 0.0) if not mine.soft else 0.0
        return 0.5 if here and there else 0.0

    def _opposite(self, neighbour: Sentence) -> float:
        return 0.0 if _same_poles(self.sentence.key, neighbour.key) else 0.6

    def roles_doubt(self) -> float:
        """How doubtful it is that the names do what they do in the closest sentence: they come in another order."""
        mine = _name_words((self.sentence,))
        if len(mine) < len(("one", "other")) or not self.neighbours:
            return 0.0
        theirs = [token for token in self.neighbours[0].tokens if token in mine]
        swapped = order_swapped(mine, list(dict.fromkeys(theirs)))
        passive = _PASSIVE.intersection(self.sentence.tokens) ^ _PASSIVE.intersection(self.neighbours[0].tokens)
        return (0.3 if passive else 1.0) * self.closeness if swapped else 0.0


@dataclass(frozen=True, slots=True)
class Denied:
    """What the negators of a sentence stand before, how many they are, and whether a word denies softly."""

    count: int
    scope: frozenset[str]
    words: frozenset[str]
    soft: bool


def _denied(tokens: Sequence[str]) -> Denied:
    places = [
        place
        for place, token in enumerate(tokens)
        if is_negator(token) and not (token == "no" and tokens[place + 1 : place + 2] and tokens[place + 1][0].isdigit())
    ]
    scope: set[str] = set()
    for place in places:
        scope.update(telling(tokens[place + 1 : place + 8])[:_SCOPE])
    return Denied(
        count=len(places),
        scope=forms_of(scope),
        words=forms_of(word for word in telling(tokens) if not is_negator(word)),
        soft=not _DENYING.isdisjoint(tokens),
    )


def _same_poles(text: str, other: str) -> bool:
    mine, theirs = Polarity(in_one_word(text)), Polarity(in_one_word(other))
    mine.turns = theirs.turns = Counter()
    return mine.agrees(theirs)


def _name_words(sentences: Iterable[Sentence]) -> list[str]:
    return list(dict.fromkeys(word for sentence in sentences for name in names(sentence) for word in name))
