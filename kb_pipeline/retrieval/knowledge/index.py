"""An index over all chunks of one tenant in every version: which of them supports a sentence at a time.

Belongs here: versions, the words of chunks, looking at few chunks without missing one. Does not: the formula.
"""

from array import array
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import cached_property, lru_cache
from typing import NamedTuple
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from kb_pipeline.records import KnowledgeChunk, Tenant
from kb_pipeline.retrieval.knowledge.figures import Figures
from kb_pipeline.retrieval.knowledge.passages import Passage
from kb_pipeline.retrieval.knowledge.scoring import WeighedStatement, score
from kb_pipeline.retrieval.knowledge.statements import Statement, forms, title_key
from kb_pipeline.support.language import words

DECIMALS = 6
MOST_READ = 200
"""Chunks read for one sentence, the most promising first."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_FOR_EVER = np.iinfo(np.int64).max
_PASSAGES_KEPT = 4096
_WORDS_KEPT = 8192
# Supports are rounded, bounds are not.
_ROUNDING = 10.0**-DECIMALS

Rows = NDArray[np.intc]
Mask = NDArray[np.bool_]


@dataclass(frozen=True, kw_only=True, slots=True)
class Supported:
    """A document that supports a sentence: its best chunk, how far (a fraction), from when that chunk is valid."""

    doc_id: str
    chunk_id: str
    support: float
    valid_from: datetime


class _Known(NamedTuple):
    """The words of the knowledge base that a word meets, and the rows of chunks that have one of them."""

    words: frozenset[str]
    rows: Rows


class KnowledgeIndex:
    """The chunks of one tenant, old versions included. A chunk counts at `as_of` if valid_from <= as_of < valid_to.

    Weights of words too are those of the chunks valid at that time, so what is written later changes no answer. Raises
    ValueError for chunks of more than one tenant. Made once per tenant: about 40 µs a chunk and 100 words.
    """

    def __init__(self, chunks: Iterable[KnowledgeChunk]) -> None:
        self._chunks = tuple(chunks)
        if len({chunk.tenant for chunk in self._chunks}) > 1:
            raise ValueError("an index holds the chunks of one tenant; make one index per tenant")
        self._from = np.array([_microseconds(chunk.valid_from) for chunk in self._chunks], dtype=np.int64)
        self._until = np.array(
            [_FOR_EVER if each.valid_to is None else _microseconds(each.valid_to) for each in self._chunks],
            dtype=np.int64,
        )
        self._rows_of: dict[str, list[int]] = defaultdict(list)
        for row, chunk in enumerate(self._chunks):
            self._rows_of[chunk.doc_id].append(row)
        self._doc_ids = frozenset(self._rows_of)
        self._postings = _postings(self._chunks)
        self._words_by_form: dict[str, list[str]] = defaultdict(list)
        for word in self._postings:
            for form in forms(word):
                self._words_by_form[form].append(word)
        self._passage = lru_cache(maxsize=_PASSAGES_KEPT)(self._read_passage)
        self._said = lru_cache(maxsize=_PASSAGES_KEPT)(Passage)
        self._known = lru_cache(maxsize=_WORDS_KEPT)(self._find_known)

    def __len__(self) -> int:
        """How many chunks there are in all versions."""
        return len(self._chunks)

    @property
    def tenant(self) -> Tenant | None:
        """Whose knowledge base it is; None where there is no chunk to say so."""
        return self._chunks[0].tenant if self._chunks else None

    def supporters(
        self,
        sentence: str,
        *,
        as_of: datetime,
        at_least: float,
        among: Collection[str] | None = None,
        not_from: UUID | None = None,
    ) -> list[Supported]:
        """Every document that supports the sentence by `at_least`, best first, each with its best chunk.

        `among` leaves other documents out; `not_from` leaves out chunks that were written from this correction.
        """
        found: dict[str, Supported] = {}
        for row, support in self._scored(Statement.read(sentence), as_of, at_least, among, not_from):
            candidate = self._supported(row, support)
            if support >= at_least and _is_better(candidate, found.get(candidate.doc_id)):
                found[candidate.doc_id] = candidate
        return sorted(found.values(), key=_best_first)

    def best(
        self,
        sentence: str,
        *,
        as_of: datetime,
        among: Collection[str] | None = None,
        not_from: UUID | None = None,
    ) -> Supported | None:
        """The document that supports the sentence best, however little; None where not one telling word occurs."""
        found: Supported | None = None
        for row, support in self._scored(Statement.read(sentence), as_of, 0.0, among, not_from, stops=True):
            candidate = self._supported(row, support)
            if support > 0 and _is_better(candidate, found):
                found = candidate
        return found

    def support_by(
        self, sentence: str, text: str, *, as_of: datetime, with_figures: bool = True, at_least: float = 0.0
    ) -> float:
        """How far a text that is in no knowledge base supports the sentence, its words weighed as of then.

        Without figures: how far it speaks of the same thing, whatever the figures are. Less than `at_least` may be 0.
        """
        statement, passage = Statement.read(sentence), self._said(text)
        if not with_figures:
            statement = replace(statement, figures=Figures())
        valid = self._valid(as_of)
        own = {word: frozenset(other for other in passage.words if _meet(word, other)) for word in statement.words}
        return score(self._weigh(statement, valid, own), passage, at_least - _ROUNDING)

    def version_of(self, doc_id: str, as_of: datetime) -> datetime | None:
        """From when the document stood as it did at `as_of`: the start of its newest chunk; None where it did not."""
        at = _microseconds(as_of)
        started = [self._chunks[row].valid_from for row in self._rows_of.get(doc_id, ()) if self._is_valid(row, at)]
        return max(started, default=None)

    @property
    def doc_ids(self) -> frozenset[str]:
        """Every document, old ones included."""
        return self._doc_ids

    @cached_property
    def titles(self) -> Mapping[str, frozenset[str]]:
        """The documents that carry or carried a title, by its folded words."""
        found: dict[str, set[str]] = defaultdict(set)
        for chunk in self._chunks:
            if chunk.title:
                found[title_key(chunk.title)].add(chunk.doc_id)
        return {title: frozenset(doc_ids) for title, doc_ids in found.items()}

    def _scored(
        self,
        statement: Statement,
        as_of: datetime,
        at_least: float,
        among: Collection[str] | None,
        not_from: UUID | None,
        *,
        stops: bool = False,
    ) -> Iterator[tuple[int, float]]:
        """Chunks whose support may reach `at_least`, those first that may reach most, MOST_READ of them at the most.

        With `stops`, chunks are left out too that cannot reach the best support so far.
        """
        valid = self._valid(as_of)
        weighed = self._weigh(statement, valid, {word: self._known(word).words for word in statement.words})
        if not weighed.words:
            return
        bound = self._bounds(statement, weighed)
        rows = np.flatnonzero(self._eligible(valid, among) & (bound > 0) & (bound >= at_least - _ROUNDING))
        order = rows[np.argsort(-bound[rows], kind="stable")]
        best = 0.0
        for row in order[:MOST_READ].tolist():
            if stops and bound[row] < best - _ROUNDING:
                return
            if not_from is None or self._chunks[row].source_correction_id != not_from:
                least = max(at_least, best) if stops else at_least
                support = round(score(weighed, self._passage(row), least - _ROUNDING), DECIMALS)
                best = max(best, support)
                yield row, support

    def _weigh(self, statement: Statement, valid: Mask, met: Mapping[str, frozenset[str]]) -> WeighedStatement:
        """What the words weigh among the chunks that are valid; `met` are the words that each of them meets."""
        return WeighedStatement(
            statement,
            chunks=int(np.count_nonzero(valid)),
            met=met,
            having={word: int(np.count_nonzero(valid[self._known(word).rows])) for word in statement.words},
        )

    def _bounds(self, statement: Statement, weighed: WeighedStatement) -> NDArray[np.float64]:
        """The most that each chunk can support it by, if all figures are there; 0 where it has not one of its words."""
        covered = np.zeros(len(self._chunks))
        for word, (weight, _) in zip(statement.words, weighed.words, strict=True):
            covered[self._known(word).rows] += weight
        return np.where(covered > 0, covered * weighed.share_of_one + weighed.share_of_figures, 0.0)

    def is_empty(self, as_of: datetime) -> bool:
        """Whether no chunk was valid at that time."""
        return not self._valid(as_of).any()

    def _valid(self, as_of: datetime) -> Mask:
        at = _microseconds(as_of)
        return (self._from <= at) & (at < self._until)

    def _is_valid(self, row: int, at: int) -> bool:
        return bool(self._from[row] <= at < self._until[row])

    def _eligible(self, valid: Mask, among: Collection[str] | None) -> Mask:
        if among is None:
            return valid
        mask = np.zeros(len(self._chunks), dtype=np.bool_)
        for doc_id in among:
            mask[self._rows_of.get(doc_id, [])] = True
        return mask & valid

    def _find_known(self, word: str) -> _Known:
        """The words whose forms meet those of `word`, and the rows that have one."""
        met = frozenset(other for form in forms(word) for other in self._words_by_form.get(form, ()))
        rows = [np.frombuffer(self._postings[other], dtype=np.intc) for other in met]
        return _Known(met, np.unique(np.concatenate(rows)) if rows else np.empty(0, dtype=np.intc))

    def _read_passage(self, row: int) -> Passage:
        chunk = self._chunks[row]
        return Passage(chunk.text, chunk.title)

    def _supported(self, row: int, support: float) -> Supported:
        chunk = self._chunks[row]
        return Supported(doc_id=chunk.doc_id, chunk_id=chunk.chunk_id, support=support, valid_from=chunk.valid_from)


def _postings(chunks: Iterable[KnowledgeChunk]) -> "dict[str, array[int]]":
    """The rows with each word, ascending."""
    found: defaultdict[str, array[int]] = defaultdict(lambda: array("i"))
    for row, chunk in enumerate(chunks):
        for word in set(words(f"{chunk.title or ''} {chunk.text}")):
            found[word].append(row)
    return found


def _is_better(candidate: Supported, known: Supported | None) -> bool:
    return known is None or _best_first(candidate) < _best_first(known)


def _best_first(each: Supported) -> tuple[float, str, str, datetime]:
    return -each.support, each.doc_id, each.chunk_id, each.valid_from


def _meet(word: str, other: str) -> bool:
    return not forms(word).isdisjoint(forms(other))


def _microseconds(instant: datetime) -> int:
    return (instant - _EPOCH) // timedelta(microseconds=1)
