"""The judge beside the experts: figures by hand, reasons where there is none, the corrected mean."""

import random
from math import sqrt

import pytest

from kb_pipeline.grading.calibration import (
    ExpertAgreement,
    ExpertLabel,
    Observation,
    ScoreSums,
    corrected_mean,
    expert_agreements,
    kappa,
    spearman,
)
from kb_pipeline.records import JudgeVersion, Outcome

VERSION = JudgeVersion(model="m", prompt_version="v1")
NEWER = JudgeVersion(model="m", prompt_version="v2")
GOOD, LIGHT, HEAVY, BAD = Outcome.ACCEPTED, Outcome.EDITED_LIGHT, Outcome.EDITED_HEAVY, Outcome.REJECTED


def label(
    score: float,
    outcome: Outcome,
    *,
    language: str = "id",
    group: str | None = None,
    surface: str = "public",
    version: JudgeVersion = VERSION,
) -> ExpertLabel:
    return ExpertLabel(
        version=version,
        surface=surface,
        score=score,
        outcome=outcome,
        language=language,
        group=group or f"{score}{outcome}",
    )


def labels(*pairs: tuple[float, Outcome], language: str = "id") -> list[ExpertLabel]:
    return [label(score, outcome, language=language, group=str(n)) for n, (score, outcome) in enumerate(pairs)]


def sums(*scores: float, surface: str = "public", version: JudgeVersion = VERSION) -> ScoreSums:
    return ScoreSums(
        version=version, surface=surface, n=len(scores), total=sum(scores), total_sq=sum(score**2 for score in scores)
    )


def rows(given: list[ExpertLabel], *totals: ScoreSums, seed: int = 0) -> dict[tuple[str, str], ExpertAgreement]:
    found = expert_agreements(given, totals, threshold=0.7, seed=seed, resamples=60)
    return {(row.language, row.label_kind): row for row in found}


def observed(*pairs: tuple[float, bool]) -> list[tuple[Observation, int]]:
    return [(Observation(score=score, is_faithful=good, group=""), 1) for score, good in sorted(pairs)]


def test_kappa_is_agreement_beyond_chance() -> None:
    # 20 right yes, 5 wrong yes, 10 wrong no, 15 right no: .7 agreed, .5 by chance.
    table = [(0.9, True)] * 20 + [(0.9, False)] * 5 + [(0.1, True)] * 10 + [(0.1, False)] * 15
    assert kappa(observed(*table), threshold=0.7) == pytest.approx(0.4)
    assert kappa(observed((0.9, True), (0.1, False)), threshold=0.7) == 1.0
    assert kappa(observed((0.1, True), (0.9, False)), threshold=0.7) == -1.0
    assert kappa(observed((0.9, True), (0.1, True)), threshold=0.7) is None


def test_spearman_correlates_mean_ranks_with_the_label() -> None:
    # Ranks 1, 2.5, 2.5, 4 against labels 0, 0, 1, 1, less their means: products 1.5, squares 4.5 and 1.
    ties = observed((0.1, False), (0.5, False), (0.5, True), (0.9, True))
    assert spearman(ties) == pytest.approx(1.5 / sqrt(4.5))
    assert spearman(observed((0.1, False), (0.9, True))) == pytest.approx(1.0)
    assert spearman(observed((0.9, False), (0.1, True))) == pytest.approx(-1.0)
    assert spearman(observed((0.5, False), (0.5, True))) is None
    assert spearman(observed((0.1, True), (0.9, True))) is None


def test_a_figure_says_how_scores_at_the_threshold_fit_what_experts_decided() -> None:
    given = labels((0.9, GOOD), (0.7, LIGHT), (0.4, GOOD), (0.8, BAD), (0.2, HEAVY), (0.1, BAD))
    row = rows(given)["all", "expert_outcome"]
    assert (row.n, row.positives, row.threshold) == (6, 3, 0.7)
    values = {name: figure.value for name, figure in row.figures.items()}
    assert values["recall"] == pytest.approx(2 / 3)
    assert values["precision"] == pytest.approx(2 / 3)
    assert values["balanced_accuracy"] == pytest.approx(2 / 3)
    assert values["kappa"] == pytest.approx(1 / 3)
    assert values["auc"] == pytest.approx(7 / 9)
    for name, figure in row.figures.items():
        if name != "corrected_mean":
            assert figure.n == 6
            assert figure.low is not None
            assert figure.high is not None
            assert figure.value is not None
            assert figure.low <= figure.value <= figure.high


def test_each_outcome_stands_beside_all_of_the_other_label() -> None:
    given = labels((0.9, GOOD), (0.7, LIGHT), (0.8, BAD), (0.2, HEAVY), (0.1, HEAVY))
    counted = {kind: (row.n, row.positives) for (language, kind), row in rows(given).items() if language == "all"}
    assert counted == {
        "expert_outcome": (5, 2),
        "expert_outcome:accepted": (4, 1),
        "expert_outcome:edited_light": (4, 1),
        "expert_outcome:edited_heavy": (4, 2),
        "expert_outcome:rejected": (3, 2),
    }


def test_languages_and_judge_versions_are_kept_apart() -> None:
    given = [
        *labels((0.9, GOOD), (0.1, BAD)),
        *labels((0.1, GOOD), (0.9, BAD), language="en"),
        label(0.5, GOOD, version=NEWER),
    ]
    found = expert_agreements(given, [], threshold=0.7, resamples=20)
    auc = {
        (row.version.prompt_version, row.language): row.figures["auc"].value
        for row in found
        if row.label_kind == "expert_outcome"
    }
    assert auc == {("v1", "all"): 0.5, ("v1", "id"): 1.0, ("v1", "en"): 0.0, ("v2", "all"): None, ("v2", "id"): None}


@pytest.mark.parametrize(
    ("given", "reasons"),
    [
        ([], dict.fromkeys(("auc", "kappa", "precision", "recall", "spearman"), "no_labels")),
        ([(0.9, GOOD)], dict.fromkeys(("auc", "kappa", "precision", "recall", "spearman"), "too_few_labels")),
        (
            [(0.9, GOOD), (0.8, LIGHT)],
            {"auc": "one_class", "kappa": "one_class", "balanced_accuracy": "one_class", "spearman": "one_class"},
        ),
        ([(0.1, BAD), (0.2, HEAVY)], {"recall": "one_class", "precision": "none_at_threshold", "auc": "one_class"}),
        ([(0.5, GOOD), (0.5, BAD)], {"precision": "none_at_threshold", "spearman": "same_scores"}),
    ],
)
def test_a_figure_that_does_not_exist_says_why(given: list[tuple[float, Outcome]], reasons: dict[str, str]) -> None:
    row = rows(labels(*given), sums(0.5, 0.6))["all", "expert_outcome"]
    found = {name: row.figures[name] for name in reasons}
    assert {name: figure.reason for name, figure in found.items()} == reasons
    assert {figure.value for figure in found.values()} == {None}


def test_the_corrected_mean_is_the_scores_mean_moved_by_what_the_labels_show() -> None:
    given = labels(*[(0.9, GOOD)] * 20 + [(0.9, BAD)] * 20)
    others = [0.8] * 50 + [1.0] * 50
    figure = corrected_mean(given, [sums(*others, *[0.9] * 40)])
    # mean .9 of 100 without a label; y - f is .1 or -.9, mean -.4, sample variance .25 * 40 / 39.
    margin = 1.96 * sqrt((0.01 * 100 / 99) / 100 + (0.25 * 40 / 39) / 40)
    assert figure.value == pytest.approx(0.5)
    assert figure.low == pytest.approx(0.5 - margin)
    assert figure.high == pytest.approx(0.5 + margin)
    assert (figure.n, figure.reason) == (40, None)


def test_turns_of_surfaces_where_no_expert_decides_are_not_in_the_corrected_mean() -> None:
    given = labels(*[(1.0, GOOD)] * 30)
    elsewhere = sums(*[0.0] * 1000, surface="internal")
    assert corrected_mean(given, [sums(*[1.0] * 60), elsewhere]).value == pytest.approx(1.0)


def test_the_corrected_mean_needs_thirty_labels_and_turns_without_one() -> None:
    assert corrected_mean(labels(*[(1.0, GOOD)] * 29), [sums(*[1.0] * 60)]).reason == "too_few_labels"
    assert corrected_mean(labels(*[(1.0, GOOD)] * 30), [sums(*[1.0] * 31)]).reason == "no_unlabelled_turns"
    assert corrected_mean(labels(*[(1.0, GOOD)] * 30), []).reason == "no_unlabelled_turns"


def test_the_interval_of_the_corrected_mean_holds_the_truth_about_as_often_as_it_says() -> None:
    generator = random.Random(7)
    held = 0
    for _ in range(300):
        turns = []
        for _ in range(400):
            good = generator.random() < 0.6
            turns.append((min(1.0, max(0.0, generator.gauss(0.85 if good else 0.6, 0.15))), GOOD if good else BAD))
        figure = corrected_mean(labels(*turns[:60]), [sums(*(score for score, _ in turns))])
        assert figure.low is not None
        assert figure.high is not None
        held += figure.low <= 0.6 <= figure.high
    assert 0.91 <= held / 300 <= 0.99


def test_the_order_of_the_labels_changes_nothing_and_drafts_of_a_conversation_are_drawn_together() -> None:
    given = [label(n / 20, GOOD if n % 3 else BAD, group=str(n % 5)) for n in range(20)]
    mixed = random.Random(1).sample(given, len(given))
    assert rows(given) == rows(mixed)
    assert rows(given) != rows(given, seed=1)
    together = [label(0.9, GOOD, group="one"), label(0.1, GOOD, group="one"), label(0.1, BAD, group="one")] * 4
    recall = rows(together)["all", "expert_outcome"].figures["recall"]
    assert (recall.low, recall.value, recall.high) == (0.5, 0.5, 0.5)
