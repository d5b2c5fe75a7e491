"""A kiosk that searches the portal's articles without drafts: a tenant of its own, whose index is empty for a while.

Belongs here: its searches. Does not: conversations, experts.
"""

from collections.abc import Iterator
from dataclasses import replace
from uuid import UUID

from kb_pipeline.demo.retrieval.cases import Asked
from kb_pipeline.demo.retrieval.conversations import identity, retrieval_event
from kb_pipeline.demo.retrieval.finding import Found, Ranker, Shelves, find
from kb_pipeline.demo.retrieval.world import Desk
from kb_pipeline.demo.search import ORG_ID
from kb_pipeline.demo.traffic.plan import DIURNAL, dice
from kb_pipeline.records import RetrievalEvent, Tenant
from kb_pipeline.windows import Window

KIOSK = Tenant(org_id=ORG_ID, specialist_id=UUID("7d0f5c2b-91ae-4b60-8f37-2a6e4d9c1b08"))
ENGINE = "fulltext"
SEARCHES_PER_DAY = 60


def kiosk_searches(
    portal: Desk, ranker: Ranker, window: Window, *, outage: Window | None, seed: int
) -> Iterator[RetrievalEvent]:
    """The kiosk's retrievals in the window, by the time of the hour; within the `outage` they find nothing."""
    shelves, own = Shelves(portal), Shelves(replace(portal, name="kiosk", tenant=KIOSK))
    # What the articles answer: a kiosk offers its questions.
    offered = [each for each in portal.enquiries if each.points]
    found: dict[str, Found] = {}
    for hour in window.hours():
        random = dice(seed, "kiosk", hour.start.isoformat())
        mean = SEARCHES_PER_DAY * DIURNAL[hour.start.hour] / sum(DIURNAL)
        for number in range(int(mean + random.random())):
            at = hour.start + (hour.end - hour.start) * random.random()
            enquiry = random.choice(offered)
            asked = Asked(
                at=at,
                conversation_id=identity("kiosk", seed, at.isoformat(), number),
                message_id=identity("kiosk client", seed, at.isoformat(), number),
                enquiry=enquiry,
                wording=enquiry.wordings[0],
            )
            searched = asked.wording.searched
            if searched not in found:
                found[searched] = find(ranker, shelves, ENGINE, searched, at)
            results = Found() if outage is not None and at in outage else found[searched]
            event_id = identity("kiosk event", seed, at.isoformat(), number)
            yield retrieval_event(own, asked, results, at, engine=ENGINE, random=random, event_id=event_id)
