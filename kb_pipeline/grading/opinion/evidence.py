"""What an answer may rest on, looked up in many ways: the context, and the question, whose words it may repeat.

Belongs here: look-ups, each made when it is first needed. Does not: how doubtful it is when one fails.
"""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property

from kb_pipeline.grading.opinion.calendar import Calendar, calendar
from kb_pipeline.grading.opinion.quantities import Known
from kb_pipeline.grading.opinion.reading import DIGITS, Sentence, folded, forms_of, read, tokens_of
from kb_pipeline.grading.opinion.references import Reference, references
from kb_pipeline.support.language import stems

_WHOLE_NUMBER = re.compile(r"[0-9]+")
_LONGEST_PART = 4


@dataclass(frozen=True)
class Evidence:
    """Context and question, both `normal`."""

    context: str
    question: str

    @cached_property
    def sentences(self) -> Sequence[Sentence]:
        """The sentences of the context."""
        return read(self.context)

    @cached_property
    def tokens(self) -> Sequence[str]:
        """The folded tokens of the context, in order."""
        return tokens_of(self.sentences)

    @cached_property
    def asked(self) -> Sequence[str]:
        """The folded tokens of the question, in order."""
        return tokens_of(self._asked)

    @cached_property
    def _asked(self) -> Sequence[Sentence]:
        return read(self.question)

    @cached_property
    def known(self) -> frozenset[str]:
        """The folded tokens of the context."""
        return frozenset(self.tokens)

    @cached_property
    def forms(self) -> Sequence[frozenset[str]]:
        """The forms of the words of each sentence."""
        return [forms_of(sentence.tokens) for sentence in self.sentences]

    @cached_property
    def all_forms(self) -> frozenset[str]:
        """The forms of all words of the context."""
        return frozenset[str]().union(*self.forms)

    @cached_property
    def asked_forms(self) -> frozenset[str]:
        """The forms of the words of the question."""
        return forms_of(self.asked)

    @cached_property
    def keys(self) -> frozenset[str]:
        """The sentences that stand in the context word for word."""
        return frozenset(sentence.key for sentence in self.sentences)

    @cached_property
    def streams(self) -> tuple[str, str]:
        """The words of context and of question, each as one line."""
        return f" {' '.join(self.tokens)} ", f" {' '.join(self.asked)} "

    @cached_property
    def joined(self) -> str:
        """The words of the context without spaces, for names that are written in one word here and in two there."""
        return "".join(self.tokens)

    @cached_property
    def initials(self) -> str:
        """The first letters of the words of the context and the question, in order."""
        return "".join(token[0] for token in (*self.tokens, *self.asked))

    @cached_property
    def quantities(self) -> Known:
        """The numbers and amounts."""
        return Known(self.sentences, self._asked)

    def calendar(self, months: Collection[int]) -> Calendar:
        """The dates of context and question in some months."""
        return calendar((*self.sentences, *self._asked), of=months)

    @cached_property
    def parts_of_numbers(self) -> frozenset[int]:
        """The numbers of up to four digits of context and question, those inside of dates and ranges too."""
        tokens = (token for token in (*self.tokens, *self.asked) if token[0] in DIGITS)
        return frozenset(
            int(part) for token in tokens for part in _WHOLE_NUMBER.findall(token) if len(part) <= _LONGEST_PART
        )

    @cached_property
    def references(self) -> frozenset[Reference]:
        """The references of context and question."""
        return frozenset((*references(folded(self.context)), *references(folded(self.question))))

    def has(self, token: str) -> bool:
        """Whether the context has a form of the word."""
        return not self.all_forms.isdisjoint(stems(token))

    def was_asked(self, token: str) -> bool:
        """Whether the question has a form of the word."""
        return not self.asked_forms.isdisjoint(stems(token))
