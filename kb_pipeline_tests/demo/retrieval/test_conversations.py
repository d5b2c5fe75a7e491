"""The simulation: it repeats, keeps the order of time and one desk's things at that desk, and knows the truth."""

from collections import Counter, defaultdict
from datetime import timedelta

from kb_pipeline.demo.retrieval.cases import Case, place_of, worst
from kb_pipeline.demo.retrieval.conversations import WRITTEN_AFTER, Plan, simulate
from kb_pipeline.demo.retrieval.finding import Shelves
from kb_pipeline.records import GapKind, SearchEventType
from kb_pipeline_tests.demo.retrieval.stage import END, demo_desks, overlap, simulation


def test_the_same_plan_gives_the_same_simulation_and_another_seed_another() -> None:
    again = simulate(Plan(end=END, drafts=600), demo_desks(), overlap)
    assert [case.event for case in again.cases] == [case.event for case in simulation().cases]
    assert [case.review for case in again.cases] == [case.review for case in simulation().cases]
    assert [case.searches for case in again.cases] == [case.searches for case in simulation().cases]
    assert again.shadows == simulation().shadows
    other = simulate(Plan(end=END, drafts=600, seed=8), demo_desks(), overlap)
    assert [case.event.query for case in other.cases] != [case.event.query for case in simulation().cases]


def test_there_are_as_many_conversations_as_planned_and_some_clients_ask_again() -> None:
    conversations = Counter(case.conversation_id for case in simulation().cases)
    assert len(conversations) == 600
    assert 10 < sum(count > 1 for count in conversations.values()) < 120


def test_a_message_is_drafted_opened_and_decided_in_this_order_before_the_end() -> None:
    start = END - timedelta(days=12)
    for case in simulation().cases:
        assert start <= case.asked.at < case.drafted_at
        assert (case.decided_at is None) == (case.review is None) == (case.opened_at is None)
        if case.decided_at and case.opened_at:
            assert case.drafted_at < case.opened_at < case.decided_at < END
        for step in case.searches:
            assert case.opened_at
            assert case.decided_at
            assert case.opened_at < step.occurred_at < case.decided_at


def test_ids_are_used_once() -> None:
    cases = simulation().cases
    ids = [
        *(case.message_id for case in cases),
        *(case.asked.message_id for case in cases),
        *(case.event.id for case in cases),
        *(case.correction_id for case in cases if case.correction_id),
        *(step.id for case in cases for step in case.searches),
        *(shadow.id for shadow in simulation().shadows),
    ]
    assert len(ids) == len(set(ids))


def test_a_desk_s_retrievals_and_searches_know_its_own_documents_only() -> None:
    for case in simulation().cases:
        assert case.event.tenant == case.desk.tenant
        named = {hit.doc_id for hit in case.event.retrieved} | {each.doc_id for each in case.event.candidate_pool}
        named |= {step.doc_id for step in case.searches if step.doc_id}
        assert named <= set(case.desk.documents)
        assert {step.tenant for step in case.searches} <= {case.desk.tenant}


def test_a_shadow_run_has_no_message_and_the_other_engine() -> None:
    served = {case.conversation_id: case.event.engine for case in simulation().cases}
    assert len(simulation().shadows) > 30
    for shadow in simulation().shadows:
        assert shadow.shadow
        assert shadow.message_id is None
        assert shadow.engine != served[shadow.conversation_id]


def test_the_late_document_is_published_a_day_after_two_conversations_missed_it() -> None:
    published = {name: each for name, each in simulation().shelves.items() if each.published_at}
    assert published
    for name, shelves in published.items():
        late = shelves.desk.faults.late or ""
        missed: dict[object, Case] = {}
        for case in sorted(simulation().cases, key=lambda each: (each.decided_at or END, each.message_id)):
            said = case.review.added if case.review else ()
            holds = any(late in shelves.desk.holders.get(point, ()) for point in said)
            if case.desk.name == name and holds and not shelves.has(late, case.drafted_at):
                missed.setdefault(case.conversation_id, case)
        second = list(missed.values())[1]
        assert second.decided_at
        assert shelves.published_at == second.decided_at + WRITTEN_AFTER
        assert simulation().sources[name] == second.correction_id
        found = [case for case in simulation().cases if case.desk.name == name and late in case.found.considered]
        assert found
        assert all(case.drafted_at >= shelves.published_at for case in found)


def test_citations_are_of_documents_that_say_it_but_for_a_few() -> None:
    cited = [
        step.doc_id in case.desk.answering(case.enquiry.points)
        for case in simulation().cases
        for step in case.searches
        if step.event_type is SearchEventType.CITED
    ]
    assert len(cited) > 20
    assert 0.85 < sum(cited) / len(cited) <= 1


def test_the_true_verdict_is_the_worst_place_of_what_was_added() -> None:
    for case in simulation().cases:
        if case.correction_id is None or case.review is None:
            assert case.gap is None
            continue
        shelves = simulation().shelves[case.desk.name]
        places = [place_of(point, case.found, case.draft, shelves, case.drafted_at) for point in case.review.added]
        assert case.gap is worst(places)
        if GapKind.KB_GAP in places:
            assert case.gap is GapKind.KB_GAP


def test_every_kind_of_gap_is_planted() -> None:
    kinds = Counter(case.gap for case in simulation().cases)
    for kind in (GapKind.KB_GAP, GapKind.RANKING_GAP, GapKind.RECALL_GAP, GapKind.GENERATION_GAP, GapKind.NONE):
        assert kinds[kind] >= 5, kind


def test_a_point_is_in_the_place_where_its_document_was() -> None:
    by_place: dict[GapKind, set[str]] = defaultdict(set)
    for case in simulation().cases:
        shelves = Shelves(case.desk)
        for point in case.review.added if case.review else ():
            place = place_of(point, case.found, case.draft, shelves, case.drafted_at)
            by_place[place] |= case.desk.holders.get(point, frozenset()) - case.desk.faults.withheld
            if place is GapKind.GENERATION_GAP:
                assert case.desk.holders[point] & case.draft.used
    unindexed = {doc_id for each in demo_desks() for doc_id in each.faults.unindexed}
    assert by_place[GapKind.RECALL_GAP] & unindexed
    assert by_place[GapKind.KB_GAP] == set()
