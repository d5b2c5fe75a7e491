"""Text made to be slow: reading it takes time in proportion to its length."""

import time

import pytest

from kb_pipeline.grading.judging import neutralise
from kb_pipeline.support import support
from kb_pipeline_tests.grading.test_judging_reply import completion, read

LENGTH = 200_000
REPEATED = [
    ".",
    "\n",
    " ",
    "no. ",
    "a\n",
    "<",
    "<a",
    "[1",
    "#",
    "A-",
    "BEGIN ",
    "\\u00",
    "1.",
    "1,",
    "x",
    "«",
    '"',
    "{",
    "<think>",
    "satu ",
    "\u200b",
]


@pytest.mark.slow
@pytest.mark.parametrize("piece", REPEATED)
def test_a_repeated_piece_is_read_in_linear_time(piece: str) -> None:
    text = piece * (LENGTH // len(piece)) + " end"
    started = time.process_time()
    neutralise(text)
    support(text, text[:2000])
    support(text[:2000], text)
    read(completion(text))
    assert time.process_time() - started < 3
