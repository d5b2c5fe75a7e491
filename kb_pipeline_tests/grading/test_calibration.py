"""Agreement of scores with labels."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb_pipeline.grading.calibration import Labelled, Observation, agreement, auc, read_labelled


def observed(*pairs: tuple[float, bool]) -> list[Observation]:
    return [Observation(score=score, is_faithful=faithful, group=str(n)) for n, (score, faithful) in enumerate(pairs)]


def weighted(observations: list[Observation]) -> list[tuple[Observation, int]]:
    return [(observation, 1) for observation in sorted(observations, key=lambda each: each.score)]


@pytest.mark.parametrize(
    ("pairs", "expected"),
    [
        ([(0.1, False), (0.9, True)], 1.0),
        ([(0.9, False), (0.1, True)], 0.0),
        ([(0.5, False), (0.5, True)], 0.5),
        ([(0.1, False), (0.5, True), (0.5, False), (0.9, True)], 0.875),
        ([(0.5, True)], None),
        ([], None),
    ],
)
def test_auc_counts_ordered_pairs_and_half_of_the_ties(pairs: list[tuple[float, bool]], expected: float | None) -> None:
    assert auc(weighted(observed(*pairs))) == expected


@given(st.lists(st.tuples(st.sampled_from([0.0, 0.25, 0.5, 1.0]), st.booleans()), max_size=12))
def test_auc_is_what_counting_every_pair_gives(pairs: list[tuple[float, bool]]) -> None:
    faithful = [score for score, is_faithful in pairs if is_faithful]
    others = [score for score, is_faithful in pairs if not is_faithful]
    counted = [(one > other) + (one == other) / 2 for one in faithful for other in others]
    expected = sum(counted) / len(counted) if counted else None
    assert auc(weighted(observed(*pairs))) == (None if expected is None else pytest.approx(expected))


def test_figures_at_the_threshold_are_those_of_the_table_of_four() -> None:
    pairs = [(0.9, True)] * 6 + [(0.2, True)] * 2 + [(0.8, False)] * 1 + [(0.1, False)] * 3
    row = agreement(
        observed(*pairs), source="s", language="id", label_kind="human", threshold=0.7, ungraded=5, resamples=50
    )
    assert row.precision is not None
    assert row.recall is not None
    assert row.balanced_accuracy is not None
    assert (row.n, row.faithful, row.ungraded) == (12, 8, 5)
    assert row.precision.value == pytest.approx(6 / 7)
    assert row.recall.value == 0.75
    assert row.balanced_accuracy.value == pytest.approx((0.75 + 0.75) / 2)
    assert row.precision.low <= row.precision.value <= row.precision.high


def test_the_same_seed_gives_the_same_interval_and_more_data_a_narrower_one() -> None:
    pairs = [(0.1 * n % 1, n % 3 == 0) for n in range(30)]

    def interval(times: int, seed: int) -> tuple[float, float]:
        row = agreement(
            observed(*pairs * times), source="", language="", label_kind="", threshold=0.5, seed=seed, resamples=200
        )
        assert row.auc is not None
        return row.auc.low, row.auc.high

    assert interval(1, seed=1) == interval(1, seed=1) != interval(1, seed=2)
    narrow, wide = interval(10, seed=1), interval(1, seed=1)
    assert narrow[1] - narrow[0] < wide[1] - wide[0]


def test_answers_to_one_question_are_drawn_together() -> None:
    one_group = [
        Observation(score=0.9, is_faithful=True, group="q"),
        Observation(score=0.1, is_faithful=True, group="q"),
    ]
    row = agreement(one_group * 5, source="", language="", label_kind="", threshold=0.5, resamples=50)
    assert row.recall is not None
    assert (row.recall.low, row.recall.high) == (0.5, 0.5)


def test_a_source_with_one_label_has_no_auc() -> None:
    row = agreement(
        observed((0.9, True), (0.2, True)), source="", language="", label_kind="", threshold=0.5, resamples=20
    )
    assert row.auc is None
    assert row.recall is not None


ROW = {
    "question": "Apa?",
    "passages": ["Satu.", {"text": "Dua."}],
    "answer": "Satu.",
    "label_faithful": 1,
    "source": "s",
    "lang": "id",
    "meta": {"label_kind": "human"},
}


def test_a_line_becomes_a_labelled_triad() -> None:
    found = read_labelled(json.dumps(ROW), where="f.jsonl:3")
    assert isinstance(found, Labelled)
    assert (found.label, found.source, found.language, found.label_kind) == (1.0, "s", "id", "human")
    assert found.triad.context == "Satu.\n\nDua."
    assert found.group == "f.jsonl:3"


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("{", "not JSON"),
        ("[1]", "no object"),
        (json.dumps({"answer": "a", "passages": []}), "'label_faithful' is missing"),
        (json.dumps(ROW | {"answer": None}), "must be texts"),
        (json.dumps(ROW | {"question": 3}), "must be texts"),
        (json.dumps(ROW | {"passages": "p"}), "'passages' must be a list"),
        (json.dumps(ROW | {"passages": [{"body": "p"}]}), "'passages' must be a list"),
        (json.dumps(ROW | {"label_faithful": "yes"}), "'label_faithful' must be a number"),
        (json.dumps(ROW | {"label_faithful": 2}), "'label_faithful' must be a number"),
        (json.dumps(ROW | {"label_faithful": float("nan")}), "'label_faithful' must be a number"),
        (json.dumps(ROW | {"meta": []}), "'meta' must be an object"),
        (json.dumps(ROW | {"meta": {"label_kind": 1}}), "'meta.label_kind' must be a text"),
        (json.dumps(ROW | {"lang": 1}), "'lang' must be a text"),
        ("[" * 100_000, "not JSON"),
    ],
)
def test_a_line_that_cannot_be_used_is_told_by_its_place(line: str, told: str) -> None:
    found = read_labelled(line, where="f.jsonl:3")
    assert isinstance(found, str)
    assert found.startswith("f.jsonl:3: ")
    assert told in found


@given(
    st.text(max_size=80)
    | st.recursive(
        st.none() | st.floats() | st.text(max_size=4),
        lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from(list(ROW)), inner),
    ).map(json.dumps)
)
def test_no_line_raises(line: str) -> None:
    read_labelled(line, where="f:1")
