"""The comparison says where the pipeline found what was planted, and where it did not."""

from datetime import UTC, datetime

import pytest

from kb_pipeline.adapters.postgres.connection import Database
from kb_pipeline.demo.knowledge import load
from kb_pipeline.demo.traffic import Effect, Incident, Traffic, generate
from kb_pipeline.demo.truth import compare
from kb_pipeline.demo.upstream import plant
from kb_pipeline_tests.demo.overlap import overlap

TRAFFIC = Traffic(end=datetime(2026, 7, 9, 5, tzinfo=UTC), turns=120)

FLAWLESS_LEDGER = """
INSERT INTO rag_call (event_id, ts, verdict, parse_status)
SELECT event_id, ts, verdict, parse_status FROM upstream.planted_truth
"""
# Unfaithful answers get .3 and faithful ones .9, so that a perfect judge's AUC is 1.
FLAWLESS_ROWS = """
INSERT INTO rag_quality (
  event_id, ts, parse_status, had_context, num_passages, context_chars, answer_chars, refused, answer_truncated,
  question_sha, judge_status, skip_reason, faithfulness, answer_relevance, context_relevance,
  faithfulness_reason, answer_relevance_reason, context_relevance_reason)
SELECT
  event_id, ts, parse_status, had_context, passages, 0, 0, coalesce(refused, false), false, question_sha,
  CASE WHEN refused IS NULL THEN 'skipped' ELSE 'ok' END, CASE WHEN refused IS NULL THEN parse_status END,
  CASE faithful WHEN true THEN 0.9 WHEN false THEN 0.3 END,
  CASE WHEN refused IS NOT NULL THEN relevant::integer * 0.5 END,
  CASE WHEN refused IS NOT NULL THEN 0.5 END, 'r', 'r', 'r'
FROM upstream.planted_truth WHERE verdict = 'synthesis'
"""


def run(database: Database, *statements: str) -> None:
    with database.connect() as connection:
        for statement in statements:
            connection.execute(statement.encode())


@pytest.fixture
def graded(database: Database) -> Database:
    """Traffic that a flawless pipeline has graded."""
    plant(database, generate(TRAFFIC, load(), overlap))
    run(
        database,
        "SELECT kb_ensure_rag_quality_partition(ts) FROM upstream.planted_truth",
        FLAWLESS_LEDGER,
        FLAWLESS_ROWS,
    )
    return database


def test_a_flawless_pipeline_agrees_in_everything(graded: Database) -> None:
    found = compare(graded, TRAFFIC.window)
    assert found.planted_turns == 120
    assert found.planted_calls == found.examined > 240
    assert found.verdict_agreement == found.parse_status_agreement == 1.0
    assert found.refused_agreement == found.context_agreement == found.question_agreement == 1.0
    assert found.auc_faithfulness == found.auc_answer_relevance == 1.0
    assert (found.missing, found.waiting, found.wrongly_published) == (0, 0, 0)
    assert 0 < found.ungrounded < found.labelled < found.graded < 120


def test_each_kind_is_told_apart(graded: Database) -> None:
    kinds = {kind.kind: kind for kind in compare(graded, TRAFFIC.window).kinds}
    assert kinds["grounded"].planted == kinds["grounded"].graded == 72
    assert kinds["grounded"].mean_faithfulness == pytest.approx(0.9)
    assert kinds["contradicted"].mean_faithfulness == pytest.approx(0.3)
    assert kinds["refused"].mean_faithfulness is None
    assert (kinds["judge"].graded, kinds["judge"].is_turn, kinds["tool_calls"].graded) == (0, False, 0)


def test_a_wrong_status_a_missing_turn_and_a_graded_router_call_are_seen(graded: Database) -> None:
    grounded = "event_id IN (SELECT event_id FROM upstream.planted_truth WHERE kind = 'grounded' ORDER BY ts LIMIT 6)"
    run(
        graded,
        f"UPDATE rag_call SET parse_status = 'no_question' WHERE {grounded}",
        f"DELETE FROM rag_call WHERE {grounded.replace('LIMIT 6', 'LIMIT 2')}",
        "UPDATE rag_quality SET event_id = (SELECT event_id FROM upstream.planted_truth WHERE kind = 'router' LIMIT 1),"
        " ts = (SELECT ts FROM upstream.planted_truth WHERE kind = 'router' LIMIT 1)"
        " WHERE event_id = (SELECT event_id FROM upstream.planted_truth WHERE kind = 'cut' LIMIT 1)",
    )
    found = compare(graded, TRAFFIC.window)
    assert found.parse_status_agreement == pytest.approx(114 / 120)
    assert found.missing == 2
    assert found.wrongly_published == 1


def test_a_judge_that_mistakes_some_answers_has_a_lower_auc(graded: Database) -> None:
    run(graded, "UPDATE rag_quality SET faithfulness = 0.3 WHERE faithfulness = 0.9 AND event_id < 'ev-8'")
    auc = compare(graded, TRAFFIC.window).auc_faithfulness
    assert auc is not None
    assert 0.6 < auc < 0.95


def test_turns_left_out_by_the_sample_rate_disagree_with_nothing(graded: Database) -> None:
    run(
        graded,
        "DELETE FROM rag_quality WHERE event_id < 'ev-8'",
        "UPDATE rag_call SET verdict = 'sampled_out', parse_status = NULL"
        " WHERE verdict = 'synthesis' AND event_id < 'ev-8'",
    )
    found = compare(graded, TRAFFIC.window)
    assert found.verdict_agreement == found.parse_status_agreement == 1.0
    assert found.missing == 0


def test_a_window_without_traffic_compares_nothing(graded: Database) -> None:
    empty = Traffic(end=datetime(2020, 1, 1, tzinfo=UTC)).window
    found = compare(graded, empty)
    assert found.kinds == ()
    assert (found.parse_status_agreement, found.auc_faithfulness, found.planted_calls) == (None, None, 0)


def test_a_call_whose_body_has_not_arrived_waits_and_is_not_missing(database: Database) -> None:
    incident = Incident(effect=Effect.LATE_BODY, window=TRAFFIC.window)
    traffic = Traffic(end=TRAFFIC.end, turns=30, incidents=(incident,))
    planting = plant(database, generate(traffic, load(), overlap))
    found = compare(database, traffic.window)
    assert found.waiting == len(planting.late) == 30
    assert found.parse_status_agreement is None
    assert found.missing == found.planted_calls - 30
