"""Scores: what they say of perfect, of empty, of wrong judgments, and of the naive rules."""

from dataclasses import replace
from uuid import UUID

import pytest

from kb_pipeline.demo.retrieval.scoring import (
    NAIVE_RULES,
    Pair,
    agreement,
    gap_agreement,
    true_grades,
)
from kb_pipeline.demo.retrieval.systems import ndcg, rank_correlation, rankings_of, searches_of, systems
from kb_pipeline.records import GapKind, Tenant
from kb_pipeline_tests.demo.retrieval.stage import desk, overlap, simulation

TRUTH = true_grades(simulation())


def test_the_truth_agrees_with_itself() -> None:
    found = agreement(TRUTH, simulation())
    assert (found.precision, found.recall) == (1.0, 1.0)


def test_no_judgments_have_no_precision_and_no_recall() -> None:
    found = agreement({}, simulation())
    assert (found.precision, found.recall) == (None, 0.0)


def test_a_grade_of_zero_is_no_positive() -> None:
    assert agreement(dict.fromkeys(TRUTH, 0), simulation()).positives == 0


def test_wrong_pairs_cost_precision_and_missing_ones_recall() -> None:
    half = dict(list(TRUTH.items())[: len(TRUTH) // 2])
    wrong = {Pair(tenant=pair.tenant, query_sha=pair.query_sha, doc_id="none such"): 2 for pair in half}
    found = agreement(half | wrong, simulation())
    assert found.precision == pytest.approx(len(half) / (len(half) + len(wrong)))
    assert found.recall == pytest.approx(len(half) / len(TRUTH))


def test_a_pair_of_one_tenant_is_not_true_for_another() -> None:
    english, social = desk("english").tenant, desk("social").tenant
    other = {english: social, social: english}
    moved = {replace(pair, tenant=other[pair.tenant]): 1 for pair in TRUTH if pair.tenant in other}
    assert moved
    assert agreement(moved, simulation()).right == 0


def test_no_true_pair_is_of_a_document_that_is_not_there() -> None:
    withheld = {
        (case.desk.tenant, doc_id)
        for case in simulation().cases
        for doc_id in case.desk.faults.withheld
        if not simulation().shelves[case.desk.name].has(doc_id, simulation().plan.end)
    }
    assert withheld
    assert not withheld & {(pair.tenant, pair.doc_id) for pair in TRUTH}


def test_naive_rules_are_far_from_the_truth() -> None:
    for make in NAIVE_RULES.values():
        found = agreement(make(simulation().cases), simulation())
        assert found.precision is not None
        assert 0.3 < found.precision < 0.9


def test_a_verdict_is_true_when_the_planted_one_is_the_same() -> None:
    cases = [case for case in simulation().cases if case.gap is not None]
    right = {case.message_id: case.gap for case in cases if case.gap}
    perfect = gap_agreement(right, simulation().cases)
    assert {gap.precision for gap in perfect.values()} == {1.0}
    always = gap_agreement(dict.fromkeys(right, GapKind.KB_GAP), simulation().cases)[GapKind.KB_GAP]
    assert always.found == len(cases)
    assert always.right == always.true == sum(case.gap is GapKind.KB_GAP for case in cases)
    assert gap_agreement({UUID(int=1): GapKind.KB_GAP}, simulation().cases)[GapKind.KB_GAP].found == 0


def test_there_are_ten_configurations_and_any_order_is_the_worst() -> None:
    searches = searches_of(simulation())
    made = systems(simulation(), lambda desk, _engine, text: overlap(desk, "fulltext", text))
    scores = {name: ndcg(rankings_of(system, searches), TRUTH) for name, system in made.items()}
    assert len(scores) == 10
    assert min(scores, key=lambda name: scores[name]) == "in any order"
    assert scores["fulltext repaired"] > scores["fulltext"] > scores["a third in disorder"]
    assert scores["fulltext"] > scores["first two results"]


def test_a_configuration_that_puts_the_truth_first_has_all_of_the_gain() -> None:
    searches = searches_of(simulation())
    by_query: dict[tuple[Tenant, str], list[str]] = {}
    for pair in TRUTH:
        by_query.setdefault((pair.tenant, pair.query_sha), []).append(pair.doc_id)
    perfect = rankings_of(lambda asked: by_query.get((asked.desk.tenant, asked.query_sha), []), searches)
    assert ndcg(perfect, TRUTH) == pytest.approx(1.0)
    assert ndcg({key: [] for key in perfect}, TRUTH) == 0.0


def test_tau_is_one_for_one_order_minus_one_for_its_reverse_and_none_for_no_order() -> None:
    scores = {"a": 0.1, "b": 0.2, "c": 0.3}
    assert rank_correlation(scores, {"a": 1, "b": 2, "c": 9}) == pytest.approx(1.0)
    assert rank_correlation(scores, {"a": 3, "b": 2, "c": 1}) == pytest.approx(-1.0)
    assert rank_correlation(scores, dict.fromkeys(scores, 0.0)) is None
