"""What a silence may name: alerts that there may be, and never all of them by a slip."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb_pipeline.alerting.catalogue import RULE_HEADS
from kb_pipeline.alerting.subjects import fingerprint, matches, may_match

SUBJECTS = st.lists(st.text(min_size=1, max_size=50), min_size=1, max_size=4).map(tuple)


@given(st.sampled_from(RULE_HEADS), SUBJECTS, st.integers(1, 255))
def test_every_fingerprint_its_rule_and_every_beginning_of_it_are_accepted(
    head: tuple[str, str], subject: tuple[str, ...], length: int
) -> None:
    name = fingerprint(*head, subject)
    for pattern in (name, head[0], f"{name[:length]}*"):
        assert may_match(pattern, RULE_HEADS)
        assert matches(name, pattern)


@pytest.mark.parametrize(
    "pattern",
    [
        "", " ", "\t\n", "*", "**", "|", "|*", "||", ":", ":*", "|:|*", "-*", "_", ".*", "rag_low_faithfulness ",
        " rag_*",
        "rag_low_faithfullness", "rag_low_faithfulness|", "rag_low_faithfulness|x|prod",
        "rag_low_faithfulness|faithfulness|", "rag_low_faithfulness|faithfulness||*", "rag_low_faithfulness||*",
        "rag_low_faithfulness|faithfulness|prod::x", "rag_low_faithfulness|faithfulness|::*", "x*", "rag_*x", "rag_*\n",
        "rag_\0*", "RAG_*", "rag_low_faithfulness|faithfulness|\x1b[0m", "rag_" + "a" * 10_000 + "*",
        "rag_low_faithfulness|faithfulness|" + "a" * 10_000, "a" * 10_000, "\ud800",
        "rag_low_faithfulness|faithfulness|é",
    ],
)  # fmt: skip
def test_what_names_nothing_or_everything_is_refused(pattern: str) -> None:
    assert not may_match(pattern, RULE_HEADS)
