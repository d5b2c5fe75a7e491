"""How much of an answer its context supports, counted: words, numbers, names and negations, sentence by sentence.

Belongs here: exact, free, explainable text comparison for Indonesian and English. Does not: a model, a threshold, I/O.
"""

from kb_pipeline.support.language import Language, language_of, words
from kb_pipeline.support.numbers import numbers_in, readings
from kb_pipeline.support.ranking import Ranking
from kb_pipeline.support.score import SentenceSupport, Support, overlap, support, word_overlap
from kb_pipeline.support.sentences import segments, sentences
from kb_pipeline.support.style import asserts

__all__ = [
    "Language",
    "Ranking",
    "SentenceSupport",
    "Support",
    "asserts",
    "language_of",
    "numbers_in",
    "overlap",
    "readings",
    "segments",
    "sentences",
    "support",
    "word_overlap",
    "words",
]
