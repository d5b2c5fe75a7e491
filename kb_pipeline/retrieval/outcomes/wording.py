"""Whether two sentences are put in the same words, inflections and slips of the pen aside.

Belongs here: when two words are one, and how many may differ. Does not: numbers, names, negation.
"""

from collections.abc import Collection

from rapidfuzz.distance import Indel

from kb_pipeline.support import words
from kb_pipeline.support.language import FUNCTION_WORDS, is_negator, stems
from kb_pipeline.support.leading import LEADING

SAME_WORDS_FROM = 0.80
MOST_STRANGE = 1
_SPELLED_ALIKE = 0.85
# Words of grammar beyond those that support scores count as such.
_GRAMMAR = frozenset("melalui via through dengan cara pula pun nya including includes include like".split())
_TELL_NOTHING = FUNCTION_WORDS | LEADING | _GRAMMAR


class Wording:
    """The telling words of a sentence, each once."""

    __slots__ = ("forms", "words")

    def __init__(self, folded: str) -> None:
        self.words = dict.fromkeys(filter(_tells, words(folded)))
        self.forms = frozenset(form for word in self.words for form in stems(word))

    def is_near(self, other: "Wording") -> bool:
        """Whether at most one telling word of each is strange to the other, and .80 of all telling words are common.

        The longer a sentence is, the better it hides a changed word from any measure of characters.
        """
        gone, come = self.strange_to(other), other.strange_to(self)
        if max(gone, come) > MOST_STRANGE:
            return False
        total = len(self.words) + len(other.words)
        return total - gone - come >= SAME_WORDS_FROM * total

    def strange_to(self, other: "Wording") -> int:
        """How many of its words the other lacks; counted no further than one too many."""
        count = 0
        for word in self.words:
            if other.forms.isdisjoint(stems(word)) and not is_spelled_alike(word, other.words):
                count += 1
                if count > MOST_STRANGE:
                    break
        return count


def is_spelled_alike(word: str, others: Collection[str]) -> bool:
    """Whether one of the others is this word with a slip of the pen: .85 of its characters."""
    return any(Indel.normalized_similarity(word, other, score_cutoff=_SPELLED_ALIKE) > 0 for other in others)


def _tells(word: str) -> bool:
    return word not in _TELL_NOTHING and not is_negator(word) and any(map(str.isalpha, word))
