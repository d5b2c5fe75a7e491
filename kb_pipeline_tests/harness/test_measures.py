"""The grammar of measures."""

import subprocess
import sys

import ir_measures
import pytest

from kb_pipeline.harness import DEFAULT_MEASURES, NotEvaluable
from kb_pipeline.harness.measures import parse_measure, parse_measures


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("nDCG@10", "nDCG@10"),
        ("NDCG@10", "nDCG@10"),
        ("Recall@10", "R@10"),
        ("MRR", "RR"),
        ("MRR@10", "RR@10"),
        ("Success@5", "Success@5"),
        ("Judged@10", "Judged@10"),
        ("R(rel=2)@5", "R(rel=2)@5"),
        ("P( rel = 2 ) @ 5", "P(rel=2)@5"),
        ("SetF(rel=1, beta=2.0)", "SetF(beta=2.0)"),
        ("nDCG(dcg='exp-log2')@10", None),
        ("RBP(p=0.8,rel=1)@10", None),
        ("AP", "AP"),
    ],
)
def test_public_names_are_read(text: str, canonical: str | None) -> None:
    if canonical is None:
        with pytest.raises(NotEvaluable, match="needs a library that is not installed"):
            parse_measure(text)
        return
    assert repr(parse_measure(text).measure) == canonical
    assert parse_measure(text).name == text


def test_the_canonical_form_is_read_as_itself() -> None:
    for measure in (ir_measures.nDCG @ 10, ir_measures.R(rel=2) @ 5, ir_measures.AP(rel=3), ir_measures.SetF(beta=2.0)):
        assert parse_measure(repr(measure)).measure == measure


@pytest.mark.parametrize(
    "text",
    [
        "",
        "nDGC@10",
        "nDCG@",
        "nDCG@ten",
        "nDCG@0",
        "nDCG@-1",
        "nDCG@1.5",
        "nDCG@True",
        "R",
        "P",
        "Success",
        "R(10)",
        "R(rel='x')@10",
        "R(colour=1)@10",
        "R(rel=__import__('os'))@10",
        "R(**{})@1",
        "NumRet",
        "NumQ",
        "nDCG@10@5",
        "()",
        "R(rel=1@10",
    ],
)
def test_what_is_no_measure_is_refused_with_what_is(text: str) -> None:
    with pytest.raises(NotEvaluable):
        parse_measures(text)


@pytest.mark.parametrize(
    ("given", "names"),
    [
        ("nDCG@10, R(rel=2)@5  MRR", ["nDCG@10", "R(rel=2)@5", "MRR", "Judged@10"]),
        (["nDCG@10", "nDCG@10"], ["nDCG@10", "Judged@10"]),
        ("Judged@10", ["Judged@10"]),
        ("Judged@5", ["Judged@5", "Judged@10"]),
        ("SetF(rel=1,beta=2.0)", ["SetF(rel=1,beta=2.0)", "Judged@10"]),
        (DEFAULT_MEASURES, list(DEFAULT_MEASURES)),
    ],
)
def test_measures_are_parted_outside_brackets_and_always_have_judged_at_10(given: str, names: list[str]) -> None:
    assert [measure.name for measure in parse_measures(given)] == names


def test_reading_measures_warns_of_nothing() -> None:
    code = "from kb_pipeline.harness.measures import parse_measures; parse_measures('nDCG@10 R(rel=2)@5')"
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
