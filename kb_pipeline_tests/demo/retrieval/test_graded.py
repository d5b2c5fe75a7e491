"""The graded day's turns as drafts: the same trace, the same text, a quality that fits what was planted."""

from collections import defaultdict
from datetime import timedelta

import pytest

from kb_pipeline.demo import knowledge
from kb_pipeline.demo.retrieval.cases import Case
from kb_pipeline.demo.retrieval.conversations import Plan, Simulation, simulate
from kb_pipeline.demo.retrieval.experts import Quality, quality_of
from kb_pipeline.demo.retrieval.graded import asked_in, with_graded
from kb_pipeline.demo.traffic import Kind, PlantedCall, Traffic, generate
from kb_pipeline.demo.traffic.turns import QuestionBank, turns
from kb_pipeline_tests.demo.overlap import overlap as passages
from kb_pipeline_tests.demo.retrieval.stage import END, desk, overlap

TRAFFIC = Traffic(end=END, turns=240)


@pytest.fixture(scope="module")
def merged() -> Simulation:
    played = list(turns(TRAFFIC, QuestionBank(knowledge.load(), passages)))
    portal = asked_in(desk("portal"), played)
    plan = Plan(end=END, drafts=200, until={portal.name: TRAFFIC.window.start})
    return with_graded(simulate(plan, [portal], overlap), portal, TRAFFIC, played, overlap)


@pytest.fixture(scope="module")
def graded(merged: Simulation) -> dict[str, Case]:
    return {case.event.trace_id: case for case in merged.cases if case.event.trace_id}


@pytest.fixture(scope="module")
def synthesis() -> dict[str, PlantedCall]:
    calls = [call for chunk in generate(TRAFFIC, knowledge.load(), passages) for call in chunk]
    return {call.call.trace_id: call for call in calls if call.truth.kind.is_turn and call.call.trace_id}


def test_every_answered_turn_is_a_draft_with_the_trace_of_its_call(
    graded: dict[str, Case], synthesis: dict[str, PlantedCall]
) -> None:
    unanswered = {Kind.TOOL_CALLS, Kind.FAILED, Kind.STREAM_CUT}
    assert set(graded) == {trace for trace, call in synthesis.items() if call.truth.kind not in unanswered}
    for trace, case in graded.items():
        assert abs(case.drafted_at - synthesis[trace].call.ts) < timedelta(seconds=1)


def test_a_draft_s_quality_fits_the_kind_that_was_planted(
    graded: dict[str, Case], synthesis: dict[str, PlantedCall]
) -> None:
    qualities = defaultdict(set)
    for trace, case in graded.items():
        qualities[synthesis[trace].truth.kind].add(quality_of(case.draft, case.enquiry))
    assert qualities[Kind.GROUNDED] <= {Quality.GOOD, Quality.INCOMPLETE}
    assert Quality.GOOD in qualities[Kind.GROUNDED]
    for kind in (Kind.CONTRADICTED, Kind.UNGROUNDED, Kind.PARTLY_UNGROUNDED, Kind.IRRELEVANT):
        assert qualities[kind] == {Quality.WRONG}, kind
    assert qualities[Kind.CUT] <= {Quality.INCOMPLETE, Quality.WRONG}
    assert qualities[Kind.REFUSED] <= {Quality.DECLINED, Quality.DECLINED_RIGHTLY}


def test_the_desk_has_no_other_drafts_in_the_graded_hours(merged: Simulation) -> None:
    asked = [case.asked.at for case in merged.cases if not case.event.trace_id]
    rephrased = [at for at in asked if at >= TRAFFIC.window.start]
    assert asked
    assert len(rephrased) < 0.05 * len(asked)


def test_the_wordings_of_the_turns_have_their_truth(merged: Simulation) -> None:
    for case in merged.cases:
        assert set(case.enquiry.points) <= set(case.desk.points_by_query[case.query_sha])
