"""A second opinion as data: what of each kind the answer claims, what of it was found, and how doubtful the turn is.

Belongs here: the record, its kinds, its JSON. Does not: reading texts, the formula.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

# From here on a doubt is shown: about 5 % of grounded answers have one.
DOUBTFUL = 0.5


class Kind(StrEnum):
    """What may be wrong in an answer, one by one."""

    NUMBER = "number"
    AMOUNT = "amount"
    DATE = "date"
    REFERENCE = "reference"
    NAME = "name"
    QUOTE = "quote"
    CITATION = "citation"
    SENTENCE = "sentence"
    NEGATION = "negation"
    ROLES = "roles"


@dataclass(frozen=True, slots=True)
class Count:
    """How many things of one kind the answer claims, how many were found, and the doubt in [0, 1] of the worst."""

    claimed: int
    found: int
    doubt: float


NOTHING = Count(0, 0, 0.0)


@dataclass(frozen=True, kw_only=True, slots=True)
class Opinion:
    """The second opinion on one turn; it holds no text.

    `support_score` in [0, 1] is None where there is nothing to support: no context, a refusal, an answer that asserts
    nothing; then nothing is doubted either. `counts` holds the kinds that the answer claims something of.
    `question_language` and `answer_language` are None where the text does not show them. `partial` is set where the
    turn was too long to be read whole.
    """

    version: str
    support_score: float | None
    counts: Mapping[Kind, Count]
    question_language: str | None = None
    answer_language: str | None = None
    partial: bool = False

    @property
    def doubt(self) -> float:
        """The strongest doubt of one kind, in [0, 1]."""
        return max((count.doubt for count in self.counts.values()), default=0.0)

    @property
    def kind(self) -> Kind | None:
        """The kind of the strongest doubt; None where nothing is doubted."""
        worst = max(self.counts, key=lambda kind: self.counts[kind].doubt, default=None)
        return worst if worst is not None and self.counts[worst].doubt > 0 else None

    @property
    def flags(self) -> tuple[Kind, ...]:
        """The kinds whose doubt is to be shown, strongest first."""
        shown = [kind for kind, count in self.counts.items() if count.doubt >= DOUBTFUL]
        return tuple(sorted(shown, key=lambda kind: -self.counts[kind].doubt))

    @property
    def wrong_language(self) -> bool:
        """Whether question and answer are in different languages, as far as they show one."""
        return None not in {self.question_language, self.answer_language} and (
            self.question_language != self.answer_language
        )

    def as_json(self) -> dict[str, Any]:
        """Counts, scores and codes as plain values; never a word of the turn."""
        return {
            "version": self.version,
            "support_score": _rounded(self.support_score),
            "doubt": _rounded(self.doubt),
            "kind": self.kind and self.kind.value,
            "flags": [kind.value for kind in self.flags],
            "counts": {
                kind.value: {"claimed": count.claimed, "found": count.found, "doubt": _rounded(count.doubt)}
                for kind, count in self.counts.items()
            },
            "question_language": self.question_language,
            "answer_language": self.answer_language,
            "wrong_language": self.wrong_language,
            "partial": self.partial,
        }


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 4)
