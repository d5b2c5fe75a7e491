"""A chunk of a knowledge base as something that may support a sentence: the statements it makes, each by itself.

Belongs here: reading a chunk. Does not: which chunks there are, scores.
"""

from collections.abc import Iterator
from functools import cached_property

from kb_pipeline.retrieval.knowledge.figures import Figures
from kb_pipeline.retrieval.knowledge.statements import denies
from kb_pipeline.support import sentences
from kb_pipeline.support.language import words


class Claim:
    """One statement of a chunk: its folded words; its figures and whether it denies are read when asked for."""

    def __init__(self, said: str) -> None:
        self._said = said
        self.words = frozenset(words(said))

    @cached_property
    def figures(self) -> Figures:
        """What it says in figures."""
        return Figures.read(self._said)

    @cached_property
    def is_negated(self) -> bool:
        """Whether it turns a statement around."""
        return denies(self._said)


class Passage:
    """The statements of a chunk, and its words with those of its title, which names the subject and states nothing.

    A question says nothing by itself; with what follows it, it is one statement.
    """

    def __init__(self, text: str, title: str | None = None) -> None:
        self.claims = tuple(map(Claim, _answered(sentences(text))))
        self.words = frozenset(words(title or "")).union(*(claim.words for claim in self.claims))

    @cached_property
    def figures(self) -> Figures:
        """Those of all statements."""
        return Figures.of_all(claim.figures for claim in self.claims)


def _answered(said: list[str]) -> Iterator[str]:
    """The sentences, a question joined to its answer; a question without one is left out."""
    question = ""
    for sentence in said:
        if sentence.rstrip("\"'”’») ").endswith("?"):
            question = sentence
        else:
            yield f"{question} {sentence}" if question else sentence
            question = ""
