"""The kiosk's searches: a tenant of its own, and nothing found while its index is empty."""

from datetime import timedelta

from kb_pipeline.demo import knowledge
from kb_pipeline.demo.retrieval.finding import Ranked
from kb_pipeline.demo.retrieval.kiosk import KIOSK, SEARCHES_PER_DAY, kiosk_searches
from kb_pipeline.demo.retrieval.library import desks
from kb_pipeline.demo.retrieval.world import Desk
from kb_pipeline.windows import Window
from kb_pipeline_tests.demo.retrieval.stage import END

DAYS = Window(END - timedelta(days=4), END)
OUTAGE = Window(END - timedelta(days=2), END - timedelta(days=1))


def first_document(desk: Desk, engine: str, searched: str) -> Ranked:  # noqa: ARG001 the signature of rankers
    return ((next(iter(desk.documents)), 0.9),)


def test_searches_belong_to_the_kiosk_and_find_nothing_within_the_outage_alone() -> None:
    portal = desks(knowledge.load(), 7)[0]
    found = list(kiosk_searches(portal, first_document, DAYS, outage=OUTAGE, seed=7))
    assert 3 * SEARCHES_PER_DAY < len(found) < 5 * SEARCHES_PER_DAY
    assert {event.tenant for event in found} == {KIOSK}
    assert {event.message_id for event in found} == {None}
    assert all((event.result_count == 0) == (event.occurred_at in OUTAGE) for event in found)
    assert len({event.id for event in found}) == len(found)
    assert found == list(kiosk_searches(portal, first_document, DAYS, outage=OUTAGE, seed=7))
