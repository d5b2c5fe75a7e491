"""What an answer claims, kind by kind, each claim with its doubt in [0, 1].

Belongs here: which tokens belong to which kind. Does not: the formula, reading.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice

from kb_pipeline.grading.opinion.calendar import calendar, date_places, day_doubt, is_year
from kb_pipeline.grading.opinion.evidence import Evidence
from kb_pipeline.grading.opinion.quantities import quantities
from kb_pipeline.grading.opinion.quoting import citations, quote_doubt, quotes, spoken_citations
from kb_pipeline.grading.opinion.reading import DIGITS, Sentence, folded, read, tokens_of
from kb_pipeline.grading.opinion.record import Kind
from kb_pipeline.grading.opinion.references import INTRODUCING, reference_doubt, references
from kb_pipeline.grading.opinion.statements import Statement

# Nobody reads more of one turn; it bounds the time of a hostile one.
MOST_CLAIMS = 400
_MOST_PAIRS = 200_000
_YEAR_DOUBT, _MONTH_DOUBT, _WEEKDAY_DOUBT = 0.9, 0.8, 0.7
_YEAR_DIGITS = 4
_OTHERS_WEIGHT = 0.3

Claims = dict[Kind, Sequence[float]]


@dataclass(frozen=True)
class Answer:
    """A `normal` answer, what it may rest on, and the numbers of the passages that it may cite."""

    text: str
    evidence: Evidence
    passages: frozenset[int]

    @cached_property
    def sentences(self) -> Sequence[Sentence]:
        """All sentences."""
        return read(self.text)

    @cached_property
    def tokens(self) -> Sequence[str]:
        """The folded tokens of all sentences."""
        return tokens_of(self.sentences)

    @cached_property
    def overlap(self) -> float:
        """The share of the tokens that the context has, in [0, 1]; 0 without tokens."""
        return sum(token in self.evidence.known for token in self.tokens) / max(1, len(self.tokens))

    @cached_property
    def statements(self) -> Sequence[Statement]:
        """The sentences that the context has not word for word; as many as can be compared in time."""
        most = min(MOST_CLAIMS, _MOST_PAIRS // max(1, len(self.evidence.sentences)))
        new = (each for each in self.sentences if each.key not in self.evidence.keys)
        alone = len(self.sentences) == 1
        return [Statement(sentence, self.evidence, alone) for sentence in islice(new, max(1, most))]

    @property
    def is_partly_read(self) -> bool:
        """Whether there were more sentences or numbers than are compared."""
        return len(self.sentences) > min(MOST_CLAIMS, _MOST_PAIRS // max(1, len(self.evidence.sentences)))

    def claims(self) -> Claims:
        """The doubts of the claims of each kind that the answer has any of."""
        found: Claims = {
            **self._quantities(),
            Kind.DATE: self._dates(),
            Kind.REFERENCE: self._references(),
            Kind.NAME: self._names(),
            Kind.QUOTE: [quote_doubt(span, self.evidence) for span in quotes(self.text)],
            Kind.CITATION: self._citations(),
            Kind.SENTENCE: self._sentences(),
            Kind.NEGATION: [statement.negation_doubt() for statement in self.statements],
            Kind.ROLES: [statement.roles_doubt() for statement in self.statements],
        }
        return {kind: doubts for kind, doubts in found.items() if doubts}

    @cached_property
    def _folded(self) -> str:
        return folded(self.text)

    @cached_property
    def _numbers(self) -> Sequence[int]:
        """The places of the tokens in digits that are no number of an article, a law or a passage."""
        return [
            place
            for place, token in enumerate(self.tokens)
            if token[0] in DIGITS and not (place and self.tokens[place - 1] in INTRODUCING)
        ]

    @cached_property
    def _dated(self) -> set[int]:
        return date_places(self.tokens, self._numbers)

    @cached_property
    def _years(self) -> Sequence[int]:
        return [place for place in self._numbers if place not in self._dated and is_year(self.tokens[place])]

    def _quantities(self) -> Claims:
        found: dict[Kind, list[float]] = {Kind.NUMBER: [], Kind.AMOUNT: []}
        referring = (place + 1 for place, token in enumerate(self.tokens) if token in INTRODUCING)
        taken = {*self._dated, *self._years, *referring}
        for claim in quantities(self.sentences, taken=taken)[:MOST_CLAIMS]:
            kind = Kind.AMOUNT if claim.currency else Kind.NUMBER
            found[kind].append(self.evidence.quantities.doubt(claim))
        return {**found}

    def _dates(self) -> Sequence[float]:
        return list(islice(self._date_doubts(), MOST_CLAIMS))

    def _date_doubts(self) -> Iterator[float]:
        numbers = self.evidence.parts_of_numbers if self._years else frozenset[int]()
        for place in self._years:
            yield 0.0 if int(self.tokens[place][:_YEAR_DIGITS]) in numbers else _YEAR_DOUBT
        mine = calendar(self.sentences)
        if mine.days or mine.months or mine.weekdays:
            known = self.evidence.calendar(mine.all_months)
            yield from (day_doubt(day, known.days, self.evidence.parts_of_numbers) for day in mine.days)
            yield from (0.0 if month in known.all_months else _MONTH_DOUBT for month in mine.months)
            yield from (0.0 if weekday in known.weekdays else _WEEKDAY_DOUBT for weekday in mine.weekdays)

    def _references(self) -> Sequence[float]:
        found = [] if INTRODUCING.isdisjoint(self.tokens) else references(self._folded)[:MOST_CLAIMS]
        numbers = self.evidence.parts_of_numbers if found else frozenset[int]()
        return [reference_doubt(each, self.evidence.references, numbers) for each in found]

    def _names(self) -> Sequence[float]:
        found = (doubt for statement in self.statements for doubt in statement.name_doubts())
        return list(islice(found, MOST_CLAIMS))

    def _citations(self) -> Sequence[float]:
        cited = [*citations(self.text), *(spoken_citations(self._folded) if self.passages else ())]
        return [0.0 if number in self.passages else 1.0 for number in cited[:MOST_CLAIMS]]

    def _sentences(self) -> Sequence[float]:
        """The foreign words of each sentence, less a part of what is usual for this answer."""
        foreign = [statement.foreign for statement in self.statements]
        if not foreign:
            return [0.0] * bool(self.sentences)
        total = sum(foreign)
        others = max(1, len(foreign) - 1)
        return [max(0.0, each - _OTHERS_WEIGHT * (total - each) / others) for each in foreign]
