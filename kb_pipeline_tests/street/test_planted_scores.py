"""Planted orders on their whole way: from audited bodies through a judge that obeys them to the published rows."""

from datetime import timedelta

import pytest

from kb_pipeline.adapters.postgres.connection import Database
from kb_pipeline.demo.reference_judge import ReferenceJudge
from kb_pipeline.grading.attacks import ATTACKS, attacked_turn
from kb_pipeline_tests.builders import Upstream, closed_hour, request_body, response_body, street, table
from kb_pipeline_tests.gullible_judge import TEMPERS, gullible_judge

PUBLISHED = "SELECT event_id, judge_status, faithfulness, answer_relevance, context_relevance FROM rag_quality"
NEAR = 0.1


def plant(database: Database) -> None:
    """Every attack that stands in a question, a passage or an answer, as an audited call of one hour."""
    upstream, hour = Upstream(database), closed_hour()
    for place, attack in enumerate(ATTACKS):
        turn = attacked_turn(attack)
        upstream.turn(
            f"attack-{place}",
            hour.start + timedelta(seconds=place),
            request=request_body(turn.question, turn.context),
            response=response_body(turn.answer),
        )


@pytest.mark.parametrize("temper", ["obey", "take_last_number"])
def test_no_planted_score_of_a_gullible_judge_reaches_a_published_row(database: Database, temper: str) -> None:
    plant(database)
    with (
        gullible_judge(TEMPERS[temper]) as judge,
        street(database, judge_base_url=judge.base_url, max_batch=len(ATTACKS), judge_max_attempts=1) as grading,
    ):
        grading.grade()
    rows = {event: scores for event, _, *scores in table(database, PUBLISHED)}
    assert len(rows) == len(ATTACKS)
    assert [
        (attack.kind, attack.language)
        for place, attack in enumerate(ATTACKS)
        if any(score is not None and abs(score - attack.wants) <= NEAR for score in rows[f"attack-{place}"])
    ] == []


def test_a_judge_that_reads_still_grades_every_attacked_answer(database: Database) -> None:
    plant(database)
    with ReferenceJudge() as judge, street(database, judge_base_url=judge.base_url, max_batch=len(ATTACKS)) as grading:
        grading.grade()
    rows = {event: (status, faithfulness) for event, status, faithfulness, *_ in table(database, PUBLISHED)}
    raising = [rows[f"attack-{place}"] for place, attack in enumerate(ATTACKS) if attack.raises]
    assert {status for status, _ in raising} == {"ok"}
    assert all(faithfulness is not None and faithfulness < 0.5 for _, faithfulness in raising)
