"""One draft and all that happened to it, with the truth of what its correction shows.

Belongs here: the record of a simulated draft, where the information that an expert added had been. Does not: chance.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from kb_pipeline.demo.retrieval.experts import Review
from kb_pipeline.demo.retrieval.finding import Found, Shelves
from kb_pipeline.demo.retrieval.world import Desk, Enquiry, Wording
from kb_pipeline.demo.retrieval.writing import Draft
from kb_pipeline.records import GapKind, RetrievalEvent, SearchEvent, SearchEventType
from kb_pipeline.retrieval.queries import query_sha

# The verdict of a draft is that of its worst statement, the worst first.
WORST_FIRST = (GapKind.KB_GAP, GapKind.RECALL_GAP, GapKind.RANKING_GAP, GapKind.GENERATION_GAP, GapKind.NONE)


@dataclass(frozen=True, kw_only=True, slots=True)
class Asked:
    """What a client wrote, and the question behind it."""

    at: datetime
    conversation_id: UUID
    message_id: UUID
    enquiry: Enquiry
    wording: Wording


@dataclass(frozen=True, kw_only=True, slots=True)
class Case:
    """A client's message, the draft that answers it, and what an expert did by the end of the simulation.

    `review` is None while nobody decided. `event` is the retrieval behind the draft. `gap` is the true verdict about
    what the expert added; None without a correction.
    """

    desk: Desk
    asked: Asked
    message_id: UUID
    drafted_at: datetime
    found: Found
    draft: Draft
    event: RetrievalEvent
    review: Review | None = None
    opened_at: datetime | None = None
    decided_at: datetime | None = None
    expert_id: UUID | None = None
    correction_id: UUID | None = None
    searches: tuple[SearchEvent, ...] = ()
    gap: GapKind | None = None

    @property
    def enquiry(self) -> Enquiry:
        """The question behind the client's message."""
        return self.asked.enquiry

    @property
    def conversation_id(self) -> UUID:
        """The thread."""
        return self.asked.conversation_id

    @property
    def query_sha(self) -> str:
        """The key of its query."""
        return query_sha(self.event.query)

    @property
    def status(self) -> str:
        """The queue item's word."""
        return self.review.status if self.review else "pending"

    @property
    def cited(self) -> frozenset[str]:
        """The documents that the expert cited from a search."""
        steps = (step for step in self.searches if step.event_type is SearchEventType.CITED)
        return frozenset(step.doc_id for step in steps if step.doc_id)


def true_gap(review: Review, found: Found, draft: Draft, shelves: Shelves, at: datetime) -> GapKind:
    """Where what the expert added had been at the time of the retrieval: the worst place of all that he added."""
    places = [place_of(point, found, draft, shelves, at) for point in review.added]
    return worst(places)


def place_of(point: str, found: Found, draft: Draft, shelves: Shelves, at: datetime) -> GapKind:
    """The best place of a document that says the point."""
    holders = {doc_id for doc_id in shelves.desk.holders.get(point, ()) if shelves.has(doc_id, at)}
    if not holders:
        return GapKind.KB_GAP
    if holders & draft.used & found.shown:
        return GapKind.GENERATION_GAP
    if holders & (found.shown | found.considered):
        return GapKind.RANKING_GAP
    return GapKind.RECALL_GAP


def worst(places: Iterable[GapKind]) -> GapKind:
    """The worst of several; NONE for none."""
    return min(places, key=WORST_FIRST.index, default=GapKind.NONE)
