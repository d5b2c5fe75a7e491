"""Experts' own searches: the steps that the workspace records while a draft is reviewed.

Belongs here: what is searched, clicked and cited. Does not: decisions (experts.py), engines.
"""

from collections.abc import Iterator
from datetime import datetime, timedelta
from hashlib import blake2b
from random import Random
from typing import Any
from uuid import UUID

from kb_pipeline.demo.retrieval.cases import Case
from kb_pipeline.demo.retrieval.experts import Action
from kb_pipeline.demo.retrieval.finding import Found, Ranker, Shelves, find
from kb_pipeline.records import RetrievedDocument, SearchEvent, SearchEventType

ENGINE = "fulltext"
# The keywords among a question's wordings, where it has that many.
KEYWORDS = 2
CLICKS_RIGHT_SHARE = 0.95
CLICKS_OTHER_SHARE = 0.25
# A citation of something else than what was looked for, and a search that goes with no correction.
CITES_OTHER_SHARE = 0.04
IDLE_SHARE = 0.04


def search_steps(case: Case, shelves: Shelves, ranker: Ranker, random: Random) -> tuple[SearchEvent, ...]:
    """The steps of the search of a decided case, oldest first; none where the expert did not search."""
    if case.review is None or case.decided_at is None or case.opened_at is None:
        return ()
    is_citing = case.review.action is Action.CORRECT_CITING
    if not is_citing and (case.review.action is Action.STAMP or random.random() >= IDLE_SHARE):
        return ()
    search = _Search(case, case.opened_at, case.decided_at, random)
    found = find(ranker, shelves, ENGINE, search.query, case.decided_at)
    return tuple(search.steps(found, is_citing=is_citing))


class _Search:
    """One search within the time that the draft was open."""

    def __init__(self, case: Case, opened_at: datetime, decided_at: datetime, random: Random) -> None:
        self.case = case
        self.random = random
        self.at = opened_at
        self.step = (decided_at - opened_at) / 12
        wordings = case.enquiry.wordings
        self.query = wordings[min(KEYWORDS, len(wordings) - 1)].searched
        self.wanted = case.desk.answering(case.enquiry.points)
        self.number = 0

    def steps(self, found: Found, *, is_citing: bool) -> Iterator[SearchEvent]:
        yield self._event(SearchEventType.PERFORMED, query=self.query, result_count=len(found.hits))
        for hit in found.hits:
            share = CLICKS_RIGHT_SHARE if hit.doc_id in self.wanted else CLICKS_OTHER_SHARE
            if self.random.random() < share:
                yield self._event(SearchEventType.CLICKED, **_place(hit))
        if is_citing:
            for hit in self._cited(found):
                yield self._event(SearchEventType.CITED, **_place(hit))

    def _cited(self, found: Found) -> list[RetrievedDocument]:
        """Per point that was added the best result that says it; now and then another result."""
        added = self.case.review.added if self.case.review else ()
        best: dict[str, RetrievedDocument] = {}
        for point in added:
            holders = self.case.desk.holders.get(point, frozenset())
            hit = next((hit for hit in found.hits if hit.doc_id in holders), None)
            if hit is not None:
                best[hit.doc_id] = hit
        others = [hit for hit in found.hits if hit.doc_id not in self.wanted]
        if best and others and self.random.random() < CITES_OTHER_SHARE:
            return [self.random.choice(others)]
        return list(best.values())

    def _event(self, event_type: SearchEventType, **step: Any) -> SearchEvent:
        self.number += 1
        self.at += self.step
        return SearchEvent(
            id=self._identity(self.number),
            tenant=self.case.desk.tenant,
            expert_id=self.case.expert_id,
            conversation_id=self.case.conversation_id,
            message_id=self.case.message_id,
            search_id=self._identity(0),
            event_type=event_type,
            occurred_at=self.at + timedelta(microseconds=self.number),
            **step,
        )

    def _identity(self, number: int) -> UUID:
        planted = f"search/{self.case.message_id}/{number}".encode()
        return UUID(bytes=blake2b(planted, digest_size=16).digest(), version=4)


def _place(hit: RetrievedDocument) -> dict[str, Any]:
    return {"doc_id": hit.doc_id, "chunk_id": hit.chunk_id, "rank": hit.rank}
