"""Thinking is never part of the answer, however a model marks it; an answer that speaks of the marks stays whole."""

import pytest

from kb_pipeline.grading.bodies import Response
from kb_pipeline.records import ParseStatus
from kb_pipeline_tests.grading.prompts import ANSWER, completion, event_stream, read
from kb_pipeline_tests.grading.prompts import chunk as chunk_of


@pytest.mark.parametrize(
    "content",
    [
        f"<think>\nHm.\n</think>\n\n{ANSWER}",
        f"Hm, tanpa tanda buka.\n</think>\n\n{ANSWER}",
        f"<think></think>{ANSWER}",
        f"<THINK>Hm.</THINK>{ANSWER}",
        f"<thinking>Hm.</thinking>{ANSWER}",
        f"<thought>Hm.</thought>{ANSWER}",
        f"<reasoning effort='low'>Hm.</reasoning>\n{ANSWER}",
        f"<seed:think>Hm.</seed:think>{ANSWER}",
        f"<pikiran>Hm.</pikiran>{ANSWER}",
        f"◁think▷Hm.◁/think▷{ANSWER}",
        f"[THINK]Hm.[/THINK]{ANSWER}",
        f"<|begin_of_thought|>Hm.<|end_of_thought|>\n<|begin_of_solution|>{ANSWER}<|end_of_solution|>",
        f"<|START_THINKING|>Hm.<|END_THINKING|><|START_RESPONSE|>{ANSWER}<|END_RESPONSE|>",
        f"<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>final<|message|>{ANSWER}<|return|>",
        f"<|channel|>final <|constrain|>text<|message|>{ANSWER}",
        f"analysisThe user asks for conditions.assistantfinal{ANSWER}",
        f"final<|message|>{ANSWER}",
        f"Here is my thought process: Hm. Here is my response: {ANSWER}",
        f"<think>Satu.</think><think>Dua <think> lagi.</think>{ANSWER}",
        f"<think>Satu <think> dua.</think> Tiga.</think>{ANSWER}",
        f"Hm <think>satu</think> dua.</think>{ANSWER}",
        f"<think>Kurung {{ dan }} serta </think {{</think>{ANSWER}",
        f"<think>Hm.</think>\n<answer>{ANSWER}</answer>",
        f"<think>Hm.</think><response>{ANSWER}",
    ],
)
def test_reasoning_in_the_content_is_left_out(content: str) -> None:
    assert read(completion(content)).answer == ANSWER


@pytest.mark.parametrize(
    "content",
    [
        "<think>Hm",
        "<thinking>\nHm",
        "◁think▷Hm",
        "[THINK]Hm",
        "<|channel|>analysis<|message|>Hm",
        "analysisWe need to look at the conditions",
        "<think>Hm</think>\n",
    ],
)
@pytest.mark.parametrize("finish_reason", ["length", "stop"])
def test_reasoning_that_never_ends_is_no_answer(content: str, finish_reason: str) -> None:
    assert read(completion(content, finish_reason)) == Response(ParseStatus.EMPTY_ANSWER, "", finish_reason)


@pytest.mark.parametrize(
    "content",
    [
        "Tulis tanda `<think>` di awal, lalu `</think>` di akhir.",
        "Model menulis <think> sebelum menjawab.",
        "Tanda `</think> itu` menutup.",
        "Modal < Rp50 juta dan > Rp10 juta; lihat <b>akta</b>.",
        "<answer>Jawaban dalam tanda.</answer>",
        "Pertanyaan Anda menarik <|im_end|>\n<|im_end|>",
        "analysis menunjukkan dua syarat.",
        "Here is the list: akta, NPWP.",
        "Lihat [THINKING] dan [RAG-1].",
    ],
)
def test_an_answer_that_speaks_of_such_marks_stays_whole(content: str) -> None:
    assert read(completion(content)).answer == content


def test_reasoning_beside_the_content_is_left_out() -> None:
    message = {
        "reasoning": "Hm.",
        "reasoning_content": "Hm.",
        "reasoning_details": [{"text": "Hm."}],
        "thinking": "Hm.",
    }
    assert read(completion(ANSWER, "stop", **message)).answer == ANSWER


def test_reasoning_marks_split_over_chunks_are_found() -> None:
    pieces = ["<thi", "nk>Hm", ".</th", "ink>\n\n", ANSWER]
    assert read(event_stream([chunk_of({"content": piece}) for piece in pieces])).answer == ANSWER
