"""A reviewed draft laid out for the rules: its sentences, the documents it used, what supports each sentence.

Belongs here: facts that several rules ask for. Does not: weights.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property, partial
from itertools import chain

from kb_pipeline.records import Alignment, DraftOutcome, Outcome, RetrievalEvent, ReviewedDraft
from kb_pipeline.retrieval.knowledge import SUPPORTED_FROM, KnowledgeIndex, Supported, replaces_word, told_forms
from kb_pipeline.retrieval.outcomes import align, asserts, derive_outcome
from kb_pipeline.retrieval.remarks import is_remark

CLOSE = 0.10
"""Documents that support a sentence by so much less than the best one do not share in it."""
MOST_SUPPORTERS = 3
"""A sentence that more documents support about equally says something general, and proves nothing of any of them."""
UNDECIDED = frozenset({Outcome.PENDING, Outcome.UNREVIEWED})


@dataclass(frozen=True, slots=True)
class Share:
    """One document's part in the support of one sentence, which `supporters` documents support about equally."""

    supported: Supported
    supporters: int


class Reading:
    """A decided draft whose retrieval has a query. `knowledge` is None where the knowledge base is not mapped."""

    def __init__(
        self, draft: ReviewedDraft, event: RetrievalEvent, outcome: DraftOutcome, knowledge: KnowledgeIndex | None
    ) -> None:
        self.draft = draft
        self.event = event
        self.outcome = outcome
        self.knowledge = knowledge
        self._shares: dict[str, Sequence[Share]] = {}

    @classmethod
    def of(cls, draft: ReviewedDraft, knowledge: KnowledgeIndex | None) -> "Reading | None":
        """None for what says nothing: no retrieval, a trial run, a query past its retention, an unread draft.

        Raises ValueError for the knowledge base of another tenant.
        """
        if knowledge is not None and knowledge.tenant not in {draft.tenant, None}:
            raise ValueError("a draft is read beside the knowledge base of its own tenant only")
        event = draft.event
        if event is None or event.shadow or not event.query.strip():
            return None
        outcome = derive_outcome(draft)
        return None if outcome.outcome in UNDECIDED else cls(draft, event, outcome, knowledge)

    @property
    def decided_at(self) -> datetime:
        """When the expert decided."""
        return self.outcome.decided_at or self.draft.drafted_at

    @cached_property
    def alignment(self) -> Alignment:
        """Draft and final text; a draft without a correction stands as it was."""
        return align(self.draft.draft, self.draft.draft if self.draft.final is None else self.draft.final)

    @cached_property
    def kept(self) -> Sequence[str]:
        """The sentences that the expert kept, as he sent them, that assert something."""
        return _telling(final for _, final in self.alignment.kept)

    @cached_property
    def new(self) -> Sequence[str]:
        """The sentences that he wrote that assert something."""
        return _telling(self.alignment.new)

    @cached_property
    def removed(self) -> Sequence[str]:
        """The sentences that he took out that assert something."""
        return _telling(self.alignment.removed)

    @cached_property
    def reworded(self) -> frozenset[str]:
        """Of his own sentences those that say what one of the removed ones said.

        Each supports the other as far as a chunk would have to, and they do not say the same of two things: a sentence
        that names a notary where the draft named a mayor is no rewording.
        """
        # Two sentences without a telling word in common say nothing of the same: only those with one are compared.
        with_form: dict[str, list[str]] = defaultdict(list)
        for removed in self.removed:
            for form in told_forms(removed):
                with_form[form].append(removed)
        return frozenset(
            new
            for new in self.new
            if any(
                self._is_one(new, removed)
                for removed in dict.fromkeys(chain.from_iterable(with_form.get(form, ()) for form in told_forms(new)))
            )
        )

    def _is_one(self, new: str, removed: str) -> bool:
        if self.knowledge is None or replaces_word(new, removed):
            return False
        enough = partial(self.knowledge.support_by, as_of=self.event.occurred_at, at_least=SUPPORTED_FROM)
        return all(enough(one, other) >= SUPPORTED_FROM for one, other in ((new, removed), (removed, new)))

    @cached_property
    def used(self) -> frozenset[str]:
        """The results that the draft used, as the event says it; where it does not say, those that it may have used."""
        hits = self.event.retrieved
        if self.knows_use:
            return frozenset(hit.doc_id for hit in hits if hit.used_in_final)
        return frozenset(hit.doc_id for hit in hits)

    @cached_property
    def knows_use(self) -> bool:
        """Whether the event says of any result if it was used."""
        return any(hit.used_in_final is not None for hit in self.event.retrieved)

    def shares(self, sentence: str) -> Sequence[Share]:
        """The documents that support the sentence about as well as the best one does, wherever they are found.

        In the knowledge base as it stood at the retrieval, less what was written from this correction; none where more
        than MOST_SUPPORTERS would have to share, and none where the knowledge base is not mapped.
        """
        if sentence not in self._shares:
            close = self.supporters(sentence)
            shared = close if len(close) <= MOST_SUPPORTERS else ()
            self._shares[sentence] = [Share(each, len(close)) for each in shared]
        return self._shares[sentence]

    def supporters(self, sentence: str) -> Sequence[Supported]:
        """The documents that support the sentence about as well as the best one does, however many."""
        if self.knowledge is None:
            return ()
        found = self.knowledge.supporters(
            sentence, as_of=self.event.occurred_at, at_least=SUPPORTED_FROM, not_from=self.draft.correction_id
        )
        return [each for each in found if each.support >= found[0].support - CLOSE]

    def supported_in(self, sentences: Iterable[str]) -> frozenset[str]:
        """The documents with a share in any of the sentences."""
        return frozenset(share.supported.doc_id for sentence in sentences for share in self.shares(sentence))

    def version_of(self, doc_id: str, *times: datetime) -> datetime | None:
        """Since when the document stood as it did at the first of the times at which it stood at all."""
        if self.knowledge is None:
            return None
        versions = (self.knowledge.version_of(doc_id, at) for at in times)
        return next((version for version in versions if version is not None), None)


def _telling(sentences: Iterable[str]) -> Sequence[str]:
    return tuple(sentence for sentence in sentences if asserts(sentence) and not is_remark(sentence))
