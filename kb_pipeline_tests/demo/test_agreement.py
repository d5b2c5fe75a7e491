"""What the pipeline reads in planted traffic is what was planted."""

from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from kb_pipeline.demo.knowledge import load
from kb_pipeline.demo.traffic import Effect, Incident, Kind, PlantedCall, Traffic, generate, synthetic_pair
from kb_pipeline.demo.traffic.companions import JUDGE_TENANT
from kb_pipeline.grading.examination import ExaminationRules, examine, extract_pair
from kb_pipeline.grading.extraction import question_sha
from kb_pipeline.records import Examination, ParseStatus, Verdict
from kb_pipeline.settings.surfaces import SurfaceSettings
from kb_pipeline.windows import HOUR, Window
from kb_pipeline_tests.demo.overlap import overlap

END = datetime(2026, 7, 9, 5, tzinfo=UTC)
TEMPLATE = SurfaceSettings().template("public")
RULES = ExaminationRules(
    templates={"public": TEMPLATE}, pipeline_tenant=JUDGE_TENANT, judge_instruction="", sample_rate=1.0
)
# A renamed question marker, a renamed context marker, a new instruction and a quality drop, an hour each.
INCIDENTS = tuple(
    Incident(effect=effect, window=Window(END - HOUR * (back + 1), END - HOUR * back))
    for back, effect in enumerate(
        (Effect.QUESTION_RENAMED, Effect.CONTEXT_RENAMED, Effect.SIGNATURE_CHANGED, Effect.UNGROUNDED)
    )
)


@pytest.fixture(scope="module", params=[(), INCIDENTS], ids=["usual", "incidents"])
def examined(request: pytest.FixtureRequest) -> list[tuple[PlantedCall, Examination]]:
    chunks = generate(Traffic(end=END, turns=1500, incidents=request.param), load(), overlap)
    return [(each, examine(each.call, each.body, RULES)) for chunk in chunks for each in chunk]


def read_turns(examined: list[tuple[PlantedCall, Examination]]) -> Iterator[tuple[PlantedCall, Examination]]:
    return ((planted, found) for planted, found in examined if planted.truth.verdict is Verdict.SYNTHESIS)


def test_every_turn_is_recognised_and_its_parse_status_is_as_planted(
    examined: list[tuple[PlantedCall, Examination]],
) -> None:
    mistaken = Counter(
        (str(planted.truth.kind), planted.truth.parse_status, found.verdict, found.parse_status)
        for planted, found in read_turns(examined)
        if (planted.truth.verdict, planted.truth.parse_status) != (found.verdict, found.parse_status)
    )
    assert mistaken == {}


def test_no_other_call_is_taken_for_a_turn_and_the_judge_s_own_are_known(
    examined: list[tuple[PlantedCall, Examination]],
) -> None:
    others = [(planted, found) for planted, found in examined if planted.truth.verdict is not Verdict.SYNTHESIS]
    assert len(others) > 1000
    assert not {found.verdict for _, found in others} & {Verdict.SYNTHESIS, Verdict.SAMPLED_OUT}
    own = {planted.truth.kind for planted, found in others if found.verdict is Verdict.SELF}
    assert own == {Kind.JUDGE}
    chats = [found for planted, found in others if planted.call.operation == "chat" and planted.truth.kind not in own]
    assert {found.verdict for found in chats} == {Verdict.OTHER}


def test_questions_are_read_to_the_letter(examined: list[tuple[PlantedCall, Examination]]) -> None:
    compared = [
        (found.triad and question_sha(found.triad.question)) == planted.truth.question_sha
        for planted, found in read_turns(examined)
        if planted.truth.question_sha
    ]
    assert len(compared) > 1000
    assert all(compared)


def test_context_and_refusals_are_found_as_planted(examined: list[tuple[PlantedCall, Examination]]) -> None:
    mistaken = Counter(
        str(planted.truth.kind)
        for planted, found in read_turns(examined)
        if found.metrics is None
        or planted.truth.had_context not in {None, found.metrics.had_context}
        or planted.truth.refused not in {None, found.metrics.refused}
    )
    assert mistaken == {}


def test_passages_are_counted_as_planted_also_where_one_quotes_a_header(
    examined: list[tuple[PlantedCall, Examination]],
) -> None:
    counts = [
        (planted.truth.passages, found.metrics.num_passages)
        for planted, found in read_turns(examined)
        if found.metrics and planted.truth.passages is not None
    ]
    # A context of a single line may hold headers within it: one passage that quotes a header cannot be told from two.
    several = [(planted, found) for planted, found in counts if planted != 1]
    assert len(several) > 500
    assert all(planted == found for planted, found in several)


def test_the_evidence_chain_holds(examined: list[tuple[PlantedCall, Examination]]) -> None:
    assert {found.evidence_intact for _, found in examined} == {True}


def test_a_synthetic_pair_is_a_readable_turn() -> None:
    for i in range(200):
        found = extract_pair(*synthetic_pair(i), TEMPLATE)
        assert found["parse_status"] == ParseStatus.OK
        assert len(found["passages"]) >= 10  # type: ignore[arg-type]
