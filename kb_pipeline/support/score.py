"""The support of an answer by a context, as one fraction made of four countable ones.

Belongs here: the formula. Does not: tokens, sentence borders, the reading of numbers.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import chain
from math import ceil

from kb_pipeline.support.language import FUNCTION_WORDS, fold, is_negator, stems, words
from kb_pipeline.support.numbers import is_number_word, numbers_in
from kb_pipeline.support.sentences import sentences

# A function word proves little, so it weighs a third of a word that says something.
_FUNCTION_WEIGHT = 1 / 3
# How much of a sentence's support is lost when every number, every name of it is foreign to the context.
_NUMBER_LOSS = 0.5
_NAME_LOSS = 0.1
_NEGATION_LOSS = 0.25
# Below this word support a sentence is too unlike its closest neighbour to compare their negations.
_COMPARABLE = 0.7
_PREFIX = 6
_PLAIN_WORD = re.compile(r"\w+")
_NAME = re.compile(r"\b[A-ZÀ-Þ][\w’'-]*\w")


@dataclass(frozen=True, kw_only=True, slots=True)
class SentenceSupport:
    """One sentence of the answer: fractions in [0, 1] of its words, numbers and names that the context holds.

    `weight` is the sentence's share of words that say something; `contradicts` is true where its closest sentence
    of the context is negated and it is not, or the other way round.
    """

    text: str
    weight: float
    words: float
    numbers: float
    names: float
    contradicts: bool

    @property
    def score(self) -> float:
        """words × (1 − 0.5 · foreign numbers) × (1 − 0.1 · foreign names) × (0.75 when it contradicts)."""
        kept = self.words * (1 - _NUMBER_LOSS * (1 - self.numbers)) * (1 - _NAME_LOSS * (1 - self.names))
        return kept * (1 - _NEGATION_LOSS) if self.contradicts else kept


@dataclass(frozen=True, kw_only=True, slots=True)
class Support:
    """The support of a whole answer; `score` is None when the answer has no sentence."""

    sentences: tuple[SentenceSupport, ...]

    @property
    def score(self) -> float | None:
        """The mean of the sentences' scores, weighted by their words."""
        total = sum(sentence.weight for sentence in self.sentences)
        return sum(sentence.score * sentence.weight for sentence in self.sentences) / total if total else None

    @property
    def weakest(self) -> SentenceSupport | None:
        """The sentence with the least support."""
        return min(self.sentences, key=lambda sentence: sentence.score, default=None)


def support(answer: str, context: str) -> Support:
    """What of each sentence of `answer` occurs in `context`; pure, deterministic, about 1 ms for 6 kB."""
    evidence = _Evidence.read(context)
    return Support(sentences=tuple(_sentence_support(sentence, evidence) for sentence in sentences(answer)))


def overlap(text: str, other: str) -> float | None:
    """The fraction in [0, 1] of the telling words of `text` that occur in `other`; None without such words."""
    telling = [word for word in words(text) if word not in FUNCTION_WORDS]
    known = _forms(words(other))
    return sum(1 for word in telling if not known.isdisjoint(stems(word))) / len(telling) if telling else None


def word_overlap(answer: str, context: str) -> float:
    r"""The baseline to beat: the share of the answer's `\w+` tokens (NFKC, casefolded) that occur in the context."""
    tokens = _PLAIN_WORD.findall(fold(answer))
    known = set(_PLAIN_WORD.findall(fold(context)))
    return sum(token in known for token in tokens) / len(tokens) if tokens else 0.0


@dataclass(frozen=True, kw_only=True, slots=True)
class _Evidence:
    forms: frozenset[str]
    numbers: frozenset[Decimal]
    sentences: Sequence[tuple[frozenset[str], bool]]
    """The different sentences, each as it stands there the first time."""
    places: Mapping[str, Sequence[int]]
    """Where in `sentences` those with a word are, in order."""

    @classmethod
    def read(cls, context: str) -> "_Evidence":
        tokens = words(context)
        negated: dict[frozenset[str], bool] = {}
        for sentence in sentences(context):
            negated.setdefault(*_shape(words(sentence)))
        places: dict[str, list[int]] = defaultdict(list)
        for place, shape in enumerate(negated):
            for word in shape:
                places[word].append(place)
        return cls(
            forms=_forms(tokens),
            numbers=frozenset(value for values in numbers_in(context, spelled=True) for value in values),
            sentences=list(negated.items()),
            places=places,
        )

    def closest(self, shape: frozenset[str]) -> tuple[frozenset[str], bool] | None:
        """The sentence that shares most words with this one, the first of equals; None where none is comparable.

        A look at every sentence would take time for the answer times the context. What is comparable has `enough` of
        the words, so it has `some` of the rarest of them, and only what has is looked at.
        """
        enough = ceil(_COMPARABLE * len(shape))
        some = (enough + 1) // 2
        by_rarity = sorted((self.places.get(word, ()) for word in shape), key=len)
        found = Counter(chain.from_iterable(by_rarity[: len(shape) - enough + some]))
        likely = sorted(place for place, count in found.items() if count >= some)
        place = max(likely, key=lambda each: len(shape & self.sentences[each][0]), default=None)
        if place is None or len(shape & self.sentences[place][0]) < enough:
            return None
        return self.sentences[place]

    def knows(self, word: str) -> bool:
        return any(form in self.forms for form in stems(word))


def _sentence_support(sentence: str, evidence: _Evidence) -> SentenceSupport:
    tokens = [word for word in words(sentence) if not is_number_word(word)]
    weights = [_FUNCTION_WEIGHT if token in FUNCTION_WORDS else 1.0 for token in tokens]
    known = [weight for token, weight in zip(tokens, weights, strict=True) if evidence.knows(token)]
    numbers = [not evidence.numbers.isdisjoint(values) for values in numbers_in(sentence)]
    return SentenceSupport(
        text=sentence,
        weight=sum(weights) + len(numbers),
        words=sum(known) / sum(weights) if tokens else _share(numbers),
        numbers=_share(numbers),
        names=_share(evidence.knows(name) for name in _names(sentence)),
        contradicts=_contradicts(tokens, evidence),
    )


def _names(sentence: str) -> list[str]:
    """The folded capitalised words after the first word; a sentence all in capitals has none."""
    if sentence.isupper():
        return []
    return [fold(match.group()) for match in _NAME.finditer(sentence)][1 if sentence[:1].isupper() else 0 :]


def _contradicts(tokens: Sequence[str], evidence: _Evidence) -> bool:
    """Whether, of this sentence and the one of the context that shares most words with it, just one is negated."""
    shape, negated = _shape(tokens)
    if not shape:
        return False
    closest = evidence.closest(shape)
    return closest is not None and closest[1] != negated


def _shape(tokens: Iterable[str]) -> tuple[frozenset[str], bool]:
    tokens = list(tokens)
    telling = frozenset(token[:_PREFIX] for token in tokens if token not in FUNCTION_WORDS and not is_negator(token))
    return telling, any(is_negator(token) for token in tokens)


def _forms(tokens: Iterable[str]) -> frozenset[str]:
    return frozenset(form for token in set(tokens) for form in stems(token))


def _share(found: Iterable[bool]) -> float:
    values = list(found)
    return sum(values) / len(values) if values else 1.0
