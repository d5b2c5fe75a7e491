"""A pair made to be slow is read in time proportional to its length: seconds of CPU, whatever else the machine does."""

import time

import pytest

from kb_pipeline.grading.examination import extract_pair
from kb_pipeline.grading.extraction import question_preview
from kb_pipeline_tests.grading.prompts import PASSAGES, TEMPLATE, completion, prompt, request_body

LENGTH = 60_000
REPEATED = [
    *("(", "[", "<", "*", "- ", "\n", "\r\n", "... ", "(truncated ", "(omitted 5 ", "HASIL ALAT:\n", "HASIL ALAT: "),
    *("\n\nHASIL ALAT:\n[RAG-1] (skor 0.1) x", "PERTANYAAN:\n", "[RAG-1] (skor 0.1) x\n", "[RAG-1] (skor 0.1) x "),
    *("\nAAAA:", "JAWABAN:\n\n", "&amp;", "\u0301", "<think>", "</think>", "<|channel|>aaaa", "<a:", "data: {\n", "[["),
    *("\n \t", "\n---", "\n\n#", "\n\nJAWABAN "),
]


@pytest.mark.slow
@pytest.mark.parametrize("piece", REPEATED)
def test_repetition_costs_no_more_than_its_length(piece: str) -> None:
    text = piece * (LENGTH // len(piece))
    started = time.process_time()
    for question, context in ((text, PASSAGES), ("Apa?", text), (text, text)):
        report = extract_pair(request_body(prompt(question, context)), completion(text), TEMPLATE)
        question_preview(str(report["question"]))
    extract_pair(request_body(text), text.encode(), TEMPLATE)
    assert time.process_time() - started < 4


@pytest.mark.parametrize("role", ["system", "user", "assistant", "tool"])
def test_many_messages_cost_no_more_than_their_number(role: str) -> None:
    crowd = [(role, PASSAGES)] * 5_000
    started = time.process_time()
    extract_pair(request_body(*crowd, "PERTANYAAN: Apa?", *crowd), completion(), TEMPLATE)
    assert time.process_time() - started < 4


@pytest.mark.parametrize("middle", ["\n" * LENGTH, "\n\nJAWABAN" + " " * LENGTH, "\n---" * LENGTH + "x-"])
def test_space_and_rulers_inside_a_passage_cost_no_more_than_their_length(middle: str) -> None:
    started = time.process_time()
    extract_pair(request_body(prompt("Apa?", f"{PASSAGES}{middle}!")), completion(), TEMPLATE)
    extract_pair(request_body(prompt("Apa?", f"{PASSAGES}{middle}---")), completion(), TEMPLATE)
    assert time.process_time() - started < 4
