"""The second opinion on turns made to be slow: it reads so much of them and says that it did not read the rest."""

import pytest

from kb_pipeline.grading.metrics import measure
from kb_pipeline.grading.opinion import second_opinion
from kb_pipeline.records import ParseStatus, Triad

LENGTH = 1_000_000
REPEATED = [
    "17 ",
    "5 Mei 2024, ",
    "Xa Yb ",
    "Xa. ",
    '"a b c d e" ',
    "tidak bukan ",
    "satu ",
    "Pasal 5 ayat (2) ",
    "uu nomor ",
    "[RAG-1, ",
    "[1",
    "\n ",
    ". ",
    "1.",
    "x",
    "rp",
    "\u00bd",
    "\ufdfa",
]


def is_partial(answer: str, context: str) -> bool:
    triad = Triad(parse_status=ParseStatus.OK, question=context[:5_000], context=context, answer=answer)
    found = second_opinion(triad, measure(triad, refusal_phrases=()))
    return found.partial or found.support_score is None


@pytest.mark.parametrize("piece", REPEATED)
def test_of_a_megabyte_of_answer_a_part_is_read(piece: str) -> None:
    text = piece * (LENGTH // len(piece)) + " akhir"
    assert is_partial(text, text[:5_000])


@pytest.mark.slow
@pytest.mark.parametrize("piece", REPEATED)
def test_of_a_megabyte_of_context_a_part_is_read(piece: str) -> None:
    text = piece * (LENGTH // len(piece)) + " akhir"
    assert is_partial(text[:2_000] + " biaya", text)


@pytest.mark.slow
@pytest.mark.parametrize("piece", ["[1", "17 ", "\u00bd"])
def test_of_a_megabyte_of_both_a_part_is_read(piece: str) -> None:
    text = piece * (LENGTH // len(piece)) + " akhir"
    assert is_partial(text, text)
