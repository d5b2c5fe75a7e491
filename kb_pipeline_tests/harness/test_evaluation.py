"""Scores per query, means and what they rest on."""

import math
import random
from collections.abc import Mapping

import ir_measures
import numpy as np
import pytest
import pytrec_eval
from hypothesis import given
from hypothesis import strategies as st

from kb_pipeline.harness import (
    DEFAULT_MEASURES,
    Evaluation,
    Incomparable,
    LabelledQuery,
    NotEvaluable,
    QueryList,
    Run,
    compare,
    evaluate,
)
from kb_pipeline.harness.intervals import MANY, drawn_means, estimates, expanded, interval, randomisation_p

NAMES = {
    "nDCG@3": "ndcg_cut_3",
    "nDCG@10": "ndcg_cut_10",
    "nDCG": "ndcg",
    "R@3": "recall_3",
    "Recall@10": "recall_10",
    "MRR": "recip_rank",
    "Success@1": "success_1",
    "Success@5": "success_5",
    "P@5": "P_5",
    "AP": "map",
    "AP@5": "map_cut_5",
}
DOCUMENTS = st.sampled_from([f"d{number}" for number in range(12)])
GRADES = st.dictionaries(DOCUMENTS, st.integers(-1, 3), max_size=8)
RANKINGS = st.lists(DOCUMENTS, max_size=12, unique=True)


@st.composite
def judged_runs(draw: st.DrawFn) -> tuple[dict[str, dict[str, int]], dict[str, list[str]]]:
    """Judgments with at least one relevant document each, and rankings of some of the queries and of others."""
    judgments = draw(
        st.dictionaries(
            st.sampled_from("abcdef"),
            GRADES.filter(lambda grades: max(grades.values(), default=0) >= 1),
            min_size=1,
        )
    )
    rankings = draw(st.dictionaries(st.sampled_from("abcdefgh"), RANKINGS, min_size=1))
    rankings.setdefault(next(iter(judgments)), ["d0"])
    return judgments, rankings


def descending(rankings: Mapping[str, list[str]]) -> dict[str, dict[str, float]]:
    return {query: {each: float(-rank) for rank, each in enumerate(found)} for query, found in rankings.items()}


@given(judged_runs())
def test_scores_and_means_are_those_of_pytrec_eval_with_the_missing_queries_as_0(
    given: tuple[dict[str, dict[str, int]], dict[str, list[str]]],
) -> None:
    judgments, rankings = given
    evaluation = evaluate(rankings, judgments, list(NAMES), resamples=1)
    evaluator = pytrec_eval.RelevanceEvaluator(judgments, set(NAMES.values()))
    theirs = evaluator.evaluate(descending(rankings))
    for name, trec_name in NAMES.items():
        expected = {query: theirs.get(query, {}).get(trec_name, 0.0) for query in judgments}
        assert evaluation.per_query(name) == pytest.approx(expected)
        assert evaluation.measures[name].mean == pytest.approx(np.mean(list(expected.values())))


@given(judged_runs())
def test_means_are_those_of_ir_measures_which_also_counts_the_missing(
    given: tuple[dict[str, dict[str, int]], dict[str, list[str]]],
) -> None:
    judgments, rankings = given
    names = ["nDCG@10", "R@5", "RR@3", "RR", "Success@5", "P@3", "AP", "Rprec", "SetR", "IPrec@0.5"]
    evaluation = evaluate(rankings, judgments, names, resamples=1)
    measures = [ir_measures.RR @ 3 if name == "RR@3" else _theirs(name) for name in names]
    theirs = ir_measures.calc_aggregate(measures, judgments, descending(rankings))
    for name, measure in zip(names, measures, strict=True):
        assert evaluation.measures[name].mean == pytest.approx(theirs[measure])


def _theirs(name: str) -> ir_measures.Measure:
    kind, _, at = name.partition("@")
    measure: ir_measures.Measure = ir_measures.measures.registry[kind]
    return measure @ (float(at) if "." in at else int(at)) if at else measure


@given(judged_runs(), st.integers(1, 3))
def test_the_least_relevant_grade_is_a_parameter(
    given: tuple[dict[str, dict[str, int]], dict[str, list[str]]], level: int
) -> None:
    judgments, rankings = given
    evaluation = evaluate(rankings, judgments, [f"R(rel={level})@5", f"RR(rel={level})"], resamples=1)
    evaluator = pytrec_eval.RelevanceEvaluator(judgments, {"recall_5", "recip_rank"}, relevance_level=level)
    theirs = evaluator.evaluate(descending(rankings))
    defined = [query for query, grades in judgments.items() if max(grades.values()) >= level]
    for name, trec_name in ((f"R(rel={level})@5", "recall_5"), (f"RR(rel={level})", "recip_rank")):
        expected = {query: theirs.get(query, {}).get(trec_name, 0.0) for query in defined}
        assert evaluation.per_query(name) == pytest.approx(expected)


@pytest.mark.parametrize("name", sorted(ir_measures.measures.registry))
def test_every_public_measure_has_finite_means_or_is_refused_in_a_sentence(name: str) -> None:
    judgments = {"one": {"a": 1, "b": 0}, "two": {"c": 2}, "three": {"d": 1}, "four": {"e": 0}}
    rankings = {"one": ["b", "a"], "two": ["u", "c"], "four": ["e"]}
    for text in (name, f"{name}@5", f"{name}@0.5", f"{name}(rel=2)@5"):
        try:
            estimate = evaluate(rankings, judgments, text).measures[text]
        except NotEvaluable as refused:
            assert "accepted" in str(refused)  # noqa: PT017 either outcome is right
        else:
            assert estimate.mean is not None
            assert math.isfinite(estimate.mean)


def test_ndcg_by_hand() -> None:
    # Gains 3, 0, 1 at ranks 1, 2, 3; the best order would be 3, 2, 1.
    grades = {"a": 3, "b": 2, "c": 1}
    got = 3 / math.log2(2) + 1 / math.log2(4)
    best = 3 / math.log2(2) + 2 / math.log2(3) + 1 / math.log2(4)
    scores = evaluate({"q": ["a", "x", "c"]}, {"q": grades}, "nDCG@3 nDCG@1 nDCG@2").measures
    assert scores["nDCG@3"].mean == pytest.approx(got / best)
    assert scores["nDCG@1"].mean == 1.0
    assert scores["nDCG@2"].mean == pytest.approx(3 / (3 + 2 / math.log2(3)))


def test_the_usual_measures_by_hand() -> None:
    judgments = {"one": {"a": 1, "b": 2, "x": 0}, "two": {"c": 1}}
    rankings = {"one": ["x", "u", "b", "v"], "two": []}
    measures = evaluate(rankings, judgments, "Recall@10 MRR MRR@2 Success@2 Success@5 P@2 AP Judged@2").measures
    means = {name: estimate.mean for name, estimate in measures.items()}
    assert means == {
        "Recall@10": pytest.approx((1 / 2 + 0) / 2),
        "MRR": pytest.approx((1 / 3 + 0) / 2),
        "MRR@2": 0.0,
        "Success@2": 0.0,
        "Success@5": 0.5,
        "P@2": 0.0,
        "AP": pytest.approx((1 / 3 / 2 + 0) / 2),
        "Judged@2": 0.5,
        "Judged@10": 0.5,
    }


def test_a_query_without_results_counts_as_0_and_is_counted() -> None:
    evaluation = evaluate({"one": ["a"]}, {"one": {"a": 1}, "two": {"a": 1}, "three": {"a": 1}}, "nDCG@10")
    assert evaluation.measures["nDCG@10"].mean == pytest.approx(1 / 3)
    assert evaluation.counts["without_results"] == 2
    assert evaluation.measures["Judged@10"].n == 1


def test_a_query_that_an_incomplete_run_was_not_asked_does_not_count() -> None:
    run = Run(name="recorded", rankings={"one": ["a"], "two": []}, is_complete=False)
    evaluation = evaluate(run, {"one": {"a": 1}, "two": {"a": 1}, "three": {"a": 1}})
    assert evaluation.measures["MRR"].mean == pytest.approx(1 / 2)
    assert evaluation.counts["not_asked"] == 1


def test_queries_of_the_run_without_judgments_are_ignored_and_counted() -> None:
    evaluation = evaluate({"one": ["a"], "other": ["a"], "empty": ["a"]}, {"one": {"a": 1}, "empty": {}}, "MRR")
    assert evaluation.per_query("MRR") == {"one": 1.0}
    assert (evaluation.counts["ignored_queries"], evaluation.counts["judged_queries"]) == (2, 1)


def test_a_query_without_a_relevant_document_has_no_recall_and_still_a_judged_share() -> None:
    evaluation = evaluate({"one": ["a"], "two": ["x", "u"]}, {"one": {"a": 1}, "two": {"x": 0}}, DEFAULT_MEASURES)
    assert {name: estimate.n for name, estimate in evaluation.measures.items()} == {
        "nDCG@10": 1, "Recall@10": 1, "MRR": 1, "Success@5": 1, "Judged@10": 2
    }  # fmt: skip
    assert evaluation.per_query("Judged@10") == {"one": 1.0, "two": 0.5}
    assert evaluation.counts["without_relevant"] == 1


def test_a_run_without_any_result_has_zeros_and_no_judged_share() -> None:
    evaluation = evaluate({"one": []}, {"one": {"a": 1}})
    assert evaluation.measures["nDCG@10"].mean == 0.0
    judged = evaluation.measures["Judged@10"]
    assert (judged.mean, judged.low, judged.high, judged.n) == (None, None, None, 0)


def test_chunks_become_documents_at_their_best_rank_before_the_cut() -> None:
    # The tenth chunk is only the second document.
    ranking = [f"fees#{number}" for number in range(9)] + ["deeds#1"]
    document_of = {f"fees#{number}": "fees" for number in range(9)} | {"deeds#1": "deeds"}
    evaluation = evaluate({"q": ranking}, {"q": {"deeds": 1}}, "Success@2 MRR", document_of=document_of)
    assert evaluation.measures["MRR"].mean == 0.5
    assert evaluation.measures["Success@2"].mean == 1.0
    assert evaluation.counts["duplicates"] == 8
    assert evaluate({"q": ["a", "a", "b"]}, {"q": {"b": 1}}, "MRR").measures["MRR"].mean == 0.5


def test_a_self_made_document_neither_helps_nor_hurts() -> None:
    source = QueryList([LabelledQuery(id="q", text="?", grades={"b": 1}, excluded=frozenset({"made-for-it"}))])
    evaluation = evaluate({"q": ["made-for-it", "b"]}, source, "MRR Judged@10")
    assert evaluation.measures["MRR"].mean == 1.0
    assert evaluation.measures["Judged@10"].mean == 1.0
    assert evaluation.counts["excluded_results"] == 1


@pytest.mark.parametrize(
    ("rankings", "judgments", "sentence"),
    [
        ({"q": ["a"]}, {}, "there are no judgments"),
        ({"q": ["a"]}, {"q": {}}, "there are no judgments"),
        ({"Berapa biaya?": ["a"]}, {"q": {"a": 1}}, "no query of run, of 1, is among the 1 judged"),
        ({}, {"q": {"a": 1}}, "no query of run, of 0"),
    ],
)
def test_run_and_judgments_that_do_not_meet_are_refused_without_words_of_a_query(
    rankings: dict[str, list[str]], judgments: dict[str, dict[str, int]], sentence: str
) -> None:
    with pytest.raises(NotEvaluable, match=sentence) as refused:
        evaluate(rankings, judgments)
    assert "Berapa" not in str(refused.value)


def many(n: int, chance: float, seed: int = 0) -> Evaluation:
    """A run over `n` queries that finds the one relevant document first with this chance."""
    generator = random.Random(seed)
    judgments = {f"q{number}": {"a": 1, "b": 0} for number in range(n)}
    rankings = {query: ["a" if generator.random() < chance else "b"] for query in judgments}
    return evaluate(rankings, judgments, "Success@1")


def test_an_interval_is_that_of_a_share() -> None:
    estimate = many(400, 0.5).measures["Success@1"]
    assert estimate.mean is not None
    assert estimate.low is not None
    assert estimate.high is not None
    error = math.sqrt(estimate.mean * (1 - estimate.mean) / 400)
    assert estimate.low == pytest.approx(estimate.mean - 1.96 * error, abs=0.01)
    assert estimate.high == pytest.approx(estimate.mean + 1.96 * error, abs=0.01)


def test_the_same_seed_gives_the_same_interval_and_another_seed_another() -> None:
    columns = np.random.default_rng(1).random((50, 2))
    assert estimates(columns, seed=3) == estimates(columns, seed=3)
    assert estimates(columns, seed=3) != estimates(columns, seed=4)


def test_intervals_cover_the_truth_about_as_often_as_they_say() -> None:
    generator = np.random.default_rng(7)
    covered = 0
    for seed in range(200):
        low, high = interval(generator.exponential(1.0, (60, 1)), seed=seed, resamples=400)
        covered += bool(low[0] <= 1.0 <= high[0])
    assert 0.88 <= covered / 200 <= 0.98


@pytest.mark.parametrize("chance", [0.001, 0.05, 0.5])
def test_the_computed_interval_of_many_queries_is_what_draws_approach(chance: float) -> None:
    columns = (np.random.default_rng(2).random((MANY, 1)) < chance).astype(float)
    [low], [high] = expanded(columns)
    drawn = np.percentile(drawn_means(columns, seed=1, resamples=4000), [2.5, 97.5])
    width = drawn[1] - drawn[0]
    assert abs(low - drawn[0]) < 0.08 * width
    assert abs(high - drawn[1]) < 0.08 * width


def test_the_computed_interval_of_many_queries_leans_as_the_scores_do() -> None:
    columns = np.random.default_rng(2).lognormal(0, 2.5, (MANY, 1))
    [low], [high] = expanded(columns)
    drawn = np.percentile(drawn_means(columns, seed=1, resamples=4000), [2.5, 97.5])
    width = drawn[1] - drawn[0]
    # The interval of the normal distribution is .04 off at both ends.
    assert abs(low - drawn[0]) < 0.025 * width
    assert abs(high - drawn[1]) < 0.025 * width


def test_a_column_of_one_value_has_no_width() -> None:
    for n in (1, 5, MANY):
        [estimate] = estimates(np.full((n, 1), 0.25), seed=0)
        assert (estimate.mean, estimate.low, estimate.high) == (0.25, 0.25, 0.25)


def test_the_p_value_is_the_share_of_sign_changes_at_least_as_far_from_0() -> None:
    # Of the 2^5 sign changes of five equal differences, two are as far: 1/16.
    assert randomisation_p(np.ones(5), seed=0) == pytest.approx(1 / 16, abs=0.01)
    # Sums of (3, 1, 1): 5, 3, 3, 1 and their negatives; observed 3 is reached by six of eight.
    assert randomisation_p(np.array([3.0, 1.0, -1.0, 0.0]), seed=0) == pytest.approx(6 / 8, abs=0.02)
    assert randomisation_p(np.zeros(5), seed=0) == 1.0


def test_the_p_value_of_many_queries_is_computed_and_agrees_with_draws() -> None:
    differences = np.random.default_rng(5).normal(0.006, 1.0, MANY)
    drawn = randomisation_p(differences[:-1], seed=0, permutations=4000)
    assert randomisation_p(differences, seed=0) == pytest.approx(drawn, abs=0.05)


def test_two_runs_are_compared_query_by_query() -> None:
    better, worse = many(300, 0.9), many(300, 0.6, seed=1)
    [difference] = compare(worse, better).values()
    assert difference.difference == pytest.approx(difference.second - difference.first)
    assert 0 < difference.low < difference.difference < difference.high
    assert difference.p < 0.001
    [same] = compare(better, better).values()
    assert (same.difference, same.low, same.high, same.p) == (0.0, 0.0, 0.0, 1.0)


def test_pairs_count_not_the_spread_between_queries() -> None:
    """A small gain on every query is sure, although the runs' own intervals overlap widely."""
    judgments = {f"q{number}": {"a": 1, "b": 0} for number in range(60)}
    one = {query: ["b"] * (number % 5) + ["b", "a"] for number, query in enumerate(judgments)}
    other = {query: ["a"] if number % 2 else one[query] for number, query in enumerate(judgments)}
    first, second = evaluate(one, judgments, "MRR"), evaluate(other, judgments, "MRR")
    assert compare(first, second)["MRR"].low > 0


def test_recorded_runs_are_compared_on_the_queries_both_were_asked() -> None:
    judgments = {"one": {"a": 1}, "two": {"a": 1}, "three": {"a": 1}}
    first = evaluate(Run(name="x", rankings={"one": ["a"], "two": ["a"]}, is_complete=False), judgments)
    second = evaluate(Run(name="y", rankings={"two": ["a"], "three": []}, is_complete=False), judgments)
    assert compare(first, second)["MRR"].n == 1
    third = evaluate(Run(name="z", rankings={"three": ["a"]}, is_complete=False), judgments)
    with pytest.raises(NotEvaluable, match="share no query"):
        compare(first, third)


def test_runs_that_are_judged_to_different_extents_are_not_compared() -> None:
    judgments = {f"q{number}": {"a": 1, "b": 1} for number in range(10)}
    judged = {query: ["a", "b"] for query in judgments}
    known = evaluate(Run(name="old", rankings=judged), judgments)
    unknown = evaluate(Run(name="new", rankings={query: ["a", "x"] for query in judgments}), judgments)
    with pytest.raises(Incomparable, match=r"Judged@10 is 1.000 for old and 0.500 for new.*judge more") as refused:
        compare(known, unknown)
    assert "\n" not in str(refused.value)
    nearly = judged | {"q0": ["a", "x"], "q1": ["a", "x"]}
    assert compare(known, evaluate(nearly, judgments))["MRR"].n == 10
