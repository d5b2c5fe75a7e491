"""Two judges over the same turns: figures held against their definitions, the verdict, the choice of versions."""

import math
import statistics
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import spearmanr  # type: ignore[import-untyped]

from kb_pipeline.grading.calibration import Estimate
from kb_pipeline.grading.comparison import (
    ASPECTS,
    LARGEST,
    NoSuchVersion,
    PairedScores,
    Tally,
    VersionUse,
    name_of,
    two_versions,
)
from kb_pipeline.grading.comparison import figures as formulas
from kb_pipeline.grading.comparison.figures import Comparison, compare, mean_shift, spearman, threshold_figures
from kb_pipeline.grading.comparison.verdict import Finding, verdict
from kb_pipeline.records import JudgeVersion

NOW = datetime(2026, 7, 9, tzinfo=UTC)
THRESHOLDS = (0.7, 0.55)
score = st.sampled_from([0.0, 0.1, 0.25, 0.5, 0.55, 0.6, 0.7, 0.75, 0.9, 1.0]) | st.floats(0, 1)
pairs = st.lists(st.tuples(score, score), min_size=1, max_size=60)
Scores = tuple[float | None, float | None]


def use(model: str, graded: int = 1, prompt: str = "v1", days: int = 0) -> VersionUse:
    version = JudgeVersion(model=model, prompt_version=prompt)
    return VersionUse(version=version, graded=graded, first_at=NOW + timedelta(days=days))


OLD, NEW = use("old"), use("new", days=1)


def turn(number: int, faithfulness: Scores, *, language: str = "id", others: Scores = (1.0, 1.0)) -> PairedScores:
    return PairedScores(
        event_id=f"e{number}",
        ts=NOW,
        language=language,
        preview=f"Berapa biaya nomor {number}?",
        scores=(faithfulness, others, others),
        tokens=(100, 50),
        milliseconds=(2000, 500),
    )


def compared(scores: Sequence[Scores]) -> Comparison:
    tally = Tally()
    for number, each in enumerate(scores):
        tally.add(turn(number, each))
    return compare(tally, OLD, NEW, thresholds=THRESHOLDS)


@given(pairs)
def test_means_and_differences_are_those_of_the_turns_one_by_one(found: list[tuple[float, float]]) -> None:
    faithfulness = compared(found).aspects[0]
    assert faithfulness.n == len(found)
    assert faithfulness.first_mean == pytest.approx(statistics.fmean(first for first, _ in found))
    assert faithfulness.second_mean == pytest.approx(statistics.fmean(second for _, second in found))
    differences = [second - first for first, second in found]
    assert faithfulness.shift is not None
    assert faithfulness.shift.value == pytest.approx(statistics.fmean(differences), abs=1e-8)
    assert faithfulness.mean_absolute_difference == pytest.approx(statistics.fmean(map(abs, differences)))


@given(pairs, st.randoms())
@settings(max_examples=25)
def test_the_order_of_turns_changes_no_figure(found: list[tuple[float, float]], generator: object) -> None:
    shuffled = list(found)
    generator.shuffle(shuffled)  # type: ignore[attr-defined]
    here, there = compared(found), compared(shuffled)
    assert [replace(each, thresholds=()) for each in here.aspects] == [
        replace(each, thresholds=()) for each in there.aspects
    ]


@given(pairs)
def test_exchanging_the_two_turns_every_figure_round(found: list[tuple[float, float]]) -> None:
    here, there = compared(found).aspects[0], compared([(second, first) for first, second in found]).aspects[0]
    assert here.shift is not None
    assert there.shift is not None
    assert here.shift.value == pytest.approx(-there.shift.value, abs=1e-12)
    for one, other in zip(here.thresholds, there.thresholds, strict=True):
        assert (one.fell, one.rose) == (other.rose, other.fell)
        assert one.kappa == other.kappa
        assert one.agreement == other.agreement


@given(pairs)
@settings(max_examples=50)
def test_spearman_is_scipys(found: list[tuple[float, float]]) -> None:
    first, second = zip(*found, strict=True)
    ours = spearman(Counter(found))
    if len(set(first)) == 1 or len(set(second)) == 1:
        assert ours is None
    else:
        assert ours == pytest.approx(spearmanr(first, second).statistic, abs=1e-9)


@given(pairs, st.sampled_from(THRESHOLDS))
def test_turns_are_counted_once_at_a_threshold_and_a_score_at_it_passes(
    found: list[tuple[float, float]], threshold: float
) -> None:
    at = threshold_figures(Counter(found), threshold)
    assert at.fell == sum(first >= threshold > second for first, second in found)
    assert at.rose == sum(second >= threshold > first for first, second in found)
    assert at.agreement == pytest.approx(1 - (at.fell + at.rose) / len(found))


def test_kappa_is_cohens_own_example_and_leaves_out_what_chance_gives() -> None:
    # 20 yes-yes, 5 yes-no, 10 no-yes, 15 no-no: agreement .70, by chance .50.
    table = Counter({(1.0, 1.0): 20, (1.0, 0.0): 5, (0.0, 1.0): 10, (0.0, 0.0): 15})
    found = threshold_figures(table, 0.7)
    assert found.agreement == pytest.approx(0.7)
    assert found.kappa == pytest.approx(0.4)
    assert threshold_figures(Counter({(1.0, 1.0): 9, (0.0, 0.0): 3}), 0.7).kappa == 1.0
    assert threshold_figures(Counter({(1.0, 1.0): 9, (1.0, 0.0): 3}), 0.7).kappa == 0.0
    assert threshold_figures(Counter({(1.0, 1.0): 9}), 0.7).kappa is None


@given(st.floats(-0.5, 0.5), st.integers(1, 500))
def test_a_shift_that_every_turn_has_is_certain(shift: float, n: int) -> None:
    found = mean_shift(Counter({(0.5, 0.5 + shift): n}))
    assert found is not None
    assert found.low == pytest.approx(found.value, abs=1e-9)
    assert found.high == pytest.approx(shift, abs=1e-8)


def test_the_interval_is_that_of_the_normal_limit_where_there_are_many_turns() -> None:
    cells = Counter({(0.5, 0.5): 600, (0.5, 1.0): 300, (1.0, 0.25): 100})
    found = mean_shift(cells)
    assert found is not None
    values = [second - first for first, second in cells.elements()]
    error = 1.96 * statistics.pstdev(values) / math.sqrt(len(values))
    assert found.low == pytest.approx(found.value - error, abs=0.15 * error)
    assert found.high == pytest.approx(found.value + error, abs=0.15 * error)


def test_the_limit_for_many_different_differences_agrees_with_the_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    cells = Counter({(0.5, 0.5 + math.sin(number) / 3): 1 for number in range(2_000)})
    drawn = mean_shift(cells)
    monkeypatch.setattr(formulas, "MANY", 1_000)
    limit = mean_shift(cells)
    assert drawn is not None
    assert limit is not None
    assert drawn.value == limit.value
    width = limit.high - limit.low
    assert drawn.low == pytest.approx(limit.low, abs=0.1 * width)
    assert drawn.high == pytest.approx(limit.high, abs=0.1 * width)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10_000))
def test_a_wider_sample_narrows_the_interval(seed: int) -> None:
    few, many = ({(0.5, 0.5): n, (0.5, 1.0): n} for n in (10, 1_000))
    wide, narrow = mean_shift(few, seed=seed), mean_shift(many, seed=seed)
    assert wide is not None
    assert narrow is not None
    assert wide.high - wide.low > narrow.high - narrow.low


def test_missing_scores_are_counted_by_side_and_in_no_figure() -> None:
    found = compared([(None, 0.5), (0.5, None), (None, None), (0.5, 0.5), (None, 1.0)]).aspects[0]
    assert (found.n, found.missing_first, found.missing_second, found.missing_both) == (1, 2, 1, 1)
    assert found.first_mean == 0.5


def test_without_a_pair_no_figure_exists_and_nothing_fails() -> None:
    comparison = compared([(None, None)])
    found = comparison.aspects[0]
    assert (found.n, found.shift, found.first_mean, found.spearman) == (0, None, None, None)
    assert [(each.agreement, each.kappa) for each in found.thresholds] == [(None, None)] * 2
    assert verdict(comparison).finding is Finding.TOO_FEW


def test_the_largest_differences_are_listed_largest_first_and_equal_turns_not_at_all() -> None:
    tally = Tally()
    for number in range(40):
        tally.add(turn(number, (0.5, 0.5 + number / 100)))
    found = [each.event_id for each in tally.largest()]
    assert found == [f"e{number}" for number in range(39, 39 - LARGEST, -1)]
    same = Tally()
    same.add(turn(1, (0.5, 0.5)))
    assert same.largest() == []


def test_of_equal_differences_those_that_came_first_stay() -> None:
    tally = Tally()
    for number in range(30):
        tally.add(turn(number, (0.5, 1.0)))
    assert [each.event_id for each in tally.largest()] == [f"e{number}" for number in range(LARGEST)]


def test_languages_and_costs_are_those_of_the_paired_turns() -> None:
    tally = Tally()
    for number in range(10):
        tally.add(turn(number, (1.0, 0.5), language="id" if number < 4 else "en"))
    found = compare(tally, OLD, NEW, thresholds=THRESHOLDS)
    assert [(each.language, each.n, each.fell) for each in found.languages] == [("en", 6, 6), ("id", 4, 4)]
    assert (found.first.tokens, found.second.tokens) == (100, 50)
    assert (found.first.seconds, found.second.seconds) == (2.0, 0.5)
    assert found.first.name == "old@v1"


@pytest.mark.parametrize(
    ("scores", "finding", "words"),
    [
        ([(1.0, 0.0)] * 12, Finding.TOO_FEW, "n=12 is too few"),
        ([(0.9, 0.8), (0.7, 0.68)] * 50, Finding.SHIFTED, "set thresholds anew before switching"),
        ([(0.9, 0.9), (0.2, 0.2)] * 50, Finding.SAME, "thresholds can stay"),
        ([(0.69, 0.7), (0.7, 0.69), (0.9, 0.9)] * 50, Finding.SAME_ON_AVERAGE, "100 turns change sides"),
        ([(1.0, 0.0), (0.0, 1.0), (0.5, 0.5)] * 12, Finding.UNDECIDED, "rejudge more turns"),
    ],
)
def test_the_verdict_says_what_was_found(scores: list[Scores], finding: Finding, words: str) -> None:
    found = verdict(compared(scores))
    assert found.finding is finding
    assert words in found.sentence


@given(st.floats(-1, 1), st.floats(0, 0.5), st.floats(0, 0.5), st.integers(0, 1000))
def test_every_verdict_is_one_sentence_and_follows_from_the_interval(
    value: float, below: float, above: float, n: int
) -> None:
    comparison = compared([(0.5, 0.5)])
    shift = Estimate(value=value, low=value - below, high=value + above)
    found = verdict(replace(comparison, aspects=[replace(comparison.aspects[0], n=n, shift=shift)]))
    assert "\n" not in found.sentence
    assert (found.finding is Finding.TOO_FEW) == (n < 30)
    if found.finding is Finding.SHIFTED:
        assert not shift.low <= 0 <= shift.high
    if found.finding is Finding.SAME:
        assert -0.02 < shift.low <= shift.high < 0.02


def test_left_out_versions_are_the_two_most_used_the_older_first() -> None:
    uses = [use("rare", 1), use("new", 50, days=3), use("old", 40)]
    found = two_versions(uses)
    assert found is not None
    assert [each.version.model for each in found] == ["old", "new"]
    assert two_versions(uses, "rare") == (uses[0], uses[1])
    assert two_versions(uses, None, "new") == (uses[2], uses[1])
    assert two_versions(uses, "new@v1", "old") == (uses[1], uses[2])


def test_fewer_than_two_versions_with_scores_cannot_be_compared() -> None:
    assert two_versions([]) is None
    assert two_versions([use("old", 3), use("new", 0)]) is None
    assert two_versions([use("old", 3)], "old") is None


def test_a_name_that_fits_none_or_several_is_refused_with_those_that_are_known() -> None:
    uses = [use("qwen", 2, "v1"), use("qwen", 2, "v2"), use("a@b", 2)]
    with pytest.raises(NoSuchVersion, match=r"'gemma' has no scores.*qwen@v1, qwen@v2"):
        two_versions(uses, "gemma")
    with pytest.raises(NoSuchVersion, match="several prompts"):
        two_versions(uses, "qwen")
    with pytest.raises(NoSuchVersion, match="on both sides"):
        two_versions(uses, "qwen@v1", "qwen@v1")
    assert two_versions(uses, "qwen@v2", "a@b") == (uses[1], uses[2])


@given(
    st.lists(
        st.builds(use, st.text(max_size=3), st.integers(0, 5), st.text(max_size=2)),
        max_size=5,
        unique_by=lambda each: name_of(each.version),
    )
)
def test_whatever_is_chosen_was_scored_and_is_two_different_versions(uses: list[VersionUse]) -> None:
    found = two_versions(uses)
    assert (found is None) == (sum(each.graded > 0 for each in uses) < 2)
    if found:
        assert found[0] is not found[1]
        assert all(each.graded for each in found)


def test_aspects_are_named_as_the_columns_are() -> None:
    assert [each.aspect for each in compared([(0.5, 0.5)]).aspects] == list(ASPECTS)
