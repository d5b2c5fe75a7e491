"""Which of many texts speak of what one sentence speaks of: BM25 over word stems, deterministic.

Belongs here: the order of texts by likeness to a query. Does not: whether a text supports the sentence.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from kb_pipeline.support.language import FUNCTION_WORDS, stems, words

# The usual constants of BM25 (Robertson and Zaragoza, The Probabilistic Relevance Framework, 2009).
_K1 = 1.2
_B = 0.75


@dataclass(frozen=True, kw_only=True, slots=True)
class Ranking:
    """Texts, read once, that any number of queries may put in order."""

    lengths: Sequence[int]
    postings: dict[str, dict[int, int]]

    @classmethod
    def of(cls, texts: Sequence[str]) -> "Ranking":
        """Read the texts; about 1 s for a million characters."""
        postings: dict[str, dict[int, int]] = defaultdict(dict)
        lengths = []
        for number, text in enumerate(texts):
            tokens = words(text)
            lengths.append(len(tokens))
            forms: Counter[str] = Counter()
            for word, count in Counter(tokens).items():
                for form in stems(word):
                    forms[form] += count
            for form, count in forms.items():
                postings[form][number] = count
        return cls(lengths=lengths, postings=dict(postings))

    def order(self, query: str) -> list[int]:
        """The numbers of the texts that share a telling word with `query`, the likest first, of equals the first."""
        asked = set(words(query))
        scores: dict[int, float] = defaultdict(float)
        for word in sorted(asked - FUNCTION_WORDS or asked):
            self._add(word, scores)
        return sorted(scores, key=lambda number: (-scores[number], number))

    def _add(self, word: str, scores: dict[int, float]) -> None:
        """What one word adds to the score of each text that has it in any of its forms."""
        counts: dict[int, int] = {}
        for form in stems(word):
            for number, count in self.postings.get(form, {}).items():
                counts[number] = max(count, counts.get(number, 0))
        total = len(self.lengths)
        rarity = math.log(1 + (total - len(counts) + 0.5) / (len(counts) + 0.5))
        mean = sum(self.lengths) / total if total else 1.0
        for number, count in counts.items():
            damping = _K1 * (1 - _B + _B * self.lengths[number] / mean)
            scores[number] += rarity * count * (_K1 + 1) / (count + damping)
