"""How far a chunk supports a sentence, as one fraction made of countable ones.

Belongs here: the formula and its constants. Does not: which chunk is looked at, what a score proves.

    support = coverage × strength × figures × negation

coverage: the share of the sentence's weight that the chunk has, half of it counted over the whole chunk with its title,
half over the one statement of the chunk that has most of it: words that lie about in a long chunk prove less than words
that stand together. A word weighs log((N + 10) / (n + 1)) when n of the tenant's N chunks have it (the inverse document
frequency of information retrieval, smoothed so that words weigh in small knowledge bases too); a figure weighs as much
as a word that one chunk in twenty has. Words meet by stems (support/language.py).
strength: T / (T + ½ log(N + 10)) for a sentence of weight T: a sentence of two words proves little though both occur.
figures: 1 where the chunk has every figure; else 1 - .56 × the share of foreign ones, and the whole is .59 at most, so
that a sentence with one foreign figure is never supported, and one with foreign figures only by .44 at most.
negation: .7 where the statement that has most of the sentence has .7 of it and is denied while the sentence is not, or
the other way round.
"""

from collections.abc import Mapping
from math import log

from kb_pipeline.retrieval.knowledge.passages import Claim, Passage
from kb_pipeline.retrieval.knowledge.statements import Statement

NOTHING_BELOW = 0.45
"""Below it a knowledge base does not say the sentence."""
SUPPORTED_FROM = 0.60
"""From it on a chunk supports the sentence; between the two nobody can tell."""

_SMOOTHING = 10
_FIGURE_SHARE = 1 / 20
_WEAKNESS = 0.5
_FIGURE_LOSS = 0.56
_FOREIGN_FIGURE_CAP = 0.59
_NEGATION_FACTOR = 0.7
_COMPARABLE = 0.7


class WeighedStatement:
    """A statement as it weighs in a knowledge base of `chunks` chunks.

    `met` are, for each of its words, the words of the knowledge base that it meets, `having` how many chunks have one
    of them.
    """

    def __init__(
        self, statement: Statement, *, chunks: int, met: Mapping[str, frozenset[str]], having: Mapping[str, int]
    ) -> None:
        self.figures = statement.figures
        self.is_negated = statement.is_negated
        self.words = [(word_weight(chunks, having[word]), met[word]) for word in statement.words]
        self.of_figure = log((chunks + _SMOOTHING) / (chunks * _FIGURE_SHARE + 1))
        self.total = sum(weight for weight, _ in self.words) + len(self.figures) * self.of_figure
        strength = self.total / (self.total + _WEAKNESS * log(chunks + _SMOOTHING))
        self.share_of_one = strength / self.total if self.total else 0.0
        """What one unit of weight, wherever it is found, adds to coverage × strength."""
        self.share_of_figures = len(self.figures) * self.of_figure * self.share_of_one
        """What all figures add."""


def word_weight(chunks: int, having: int) -> float:
    """The weight of a word that `having` of so many chunks have; above 0."""
    return log((chunks + _SMOOTHING) / (having + 1))


def score(statement: WeighedStatement, passage: Passage, at_least: float = 0.0) -> float:
    """The support, a fraction; 0 for a statement without a telling word, which nothing can support.

    Where its words alone say that the support is below `at_least`, 0 stands for it, and no figures are read.
    """
    if not statement.words or not passage.claims:
        return 0.0
    whole = _words_in(passage.words, statement)
    having = [_words_in(claim.words, statement) for claim in passage.claims]
    if (whole + max(having)) / 2 * statement.share_of_one + statement.share_of_figures < at_least:
        return 0.0
    found = statement.figures.found_in(passage.figures) if statement.figures else 0
    having = [weight + _figures_in(claim, statement) for weight, claim in zip(having, passage.claims, strict=True)]
    most = max(having)
    support = (whole + found * statement.of_figure + most) / 2 * statement.share_of_one
    closest = passage.claims[having.index(most)]
    if closest.is_negated != statement.is_negated and most >= _COMPARABLE * statement.total:
        support *= _NEGATION_FACTOR
    foreign = len(statement.figures) - found
    if foreign:
        support = min(support * (1 - _FIGURE_LOSS * foreign / len(statement.figures)), _FOREIGN_FIGURE_CAP)
    return support


def _figures_in(claim: Claim, statement: WeighedStatement) -> float:
    return statement.figures.found_in(claim.figures) * statement.of_figure if statement.figures else 0.0


def _words_in(known: frozenset[str], statement: WeighedStatement) -> float:
    return sum(weight for weight, met in statement.words if not known.isdisjoint(met))
