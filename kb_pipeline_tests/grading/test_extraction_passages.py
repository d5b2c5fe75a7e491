"""Passages keep their rank, score and text as the prompt shows them, in its order."""

import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb_pipeline.records import Passage
from kb_pipeline_tests.grading.prompts import TEMPLATE, prompt, triad


def passages(context: str) -> list[tuple[int | None, float | None, str]]:
    return [(each.rank, each.score, each.text) for each in triad(prompt(context=context)).passages]


@pytest.mark.parametrize(
    ("written", "score"),
    [
        ("0.79", 0.79),
        ("0,79", 0.79),
        ("1", 1.0),
        (".5", 0.5),
        (",5", 0.5),
        ("0.79,", 0.79),
        ("1.000,5", 1000.5),
        ("1,000.5", 1000.5),
        ("1.000.000", 1e6),
        ("12.345.678,25", 12345678.25),
        ("1.0.0", None),
        ("...", None),
        (",", None),
        ("9" * 400, None),
        ("1" * 30, None),
    ],
)
def test_a_score_is_read_with_either_decimal_sign(written: str, score: float | None) -> None:
    assert passages(f"[RAG-1] (skor {written}) Teks.") == [(1, score, "Teks.")]


@pytest.mark.parametrize(
    ("written", "score"),
    [("79%", 0.79), ("79,5 %", 0.795), ("-0,12", -0.12), ("\u22120.12", -0.12), ("1e-3", 0.001), ("1_000", None)]
    + [(word, None) for word in ("nan", "inf", "%", "tinggi")],
)
def test_a_pattern_that_takes_any_score_gets_numbers_and_percentages(written: str, score: float | None) -> None:
    template = replace(TEMPLATE, passage_pattern=re.compile(r"\[RAG-(?P<rank>\d+)\]\s*\(skor\s*(?P<score>[^)]+)\)"))
    [passage] = triad(prompt(context=f"[RAG-1] (skor {written}) Teks."), template=template).passages
    assert passage == Passage(rank=1, score=score, text="Teks.")


@pytest.mark.parametrize("heading", ["TUGAS POKOK: membina yayasan.", "INSTRUKSI PRESIDEN: nomor 5.", "RIWAYAT PT: x"])
def test_a_heading_of_a_document_ends_no_passage(heading: str) -> None:
    assert passages(f"[RAG-1] (skor 0.9) Pasal 1\n\n{heading}") == [(1, 0.9, f"Pasal 1\n\n{heading}")]


def test_a_prompt_in_tags_is_read_without_its_closing_tags() -> None:
    template = replace(
        TEMPLATE,
        question_marker="<question>",
        context_marker="<documents>",
        passage_pattern=re.compile(r'<document id="(?P<rank>\d+)">'),
    )
    documents = '<document id="1">Satu </documents>.</document>\n<document id="2">\nDua.\n</document>'
    context, question = f"<documents>\n{documents}\n</documents>", "<question>\nApa?\n</question>"
    for text in (f"{context}\n\n{question}", f"{question}\n{context}"):
        read = triad(text, template=template)
        assert (read.parse_status, read.question, read.context) == ("ok", "Apa?", documents)
        assert [each.text for each in read.passages] == ["Satu </documents>.", "Dua."]


def test_ranks_may_repeat_and_come_in_any_order() -> None:
    assert passages("[RAG-3] (skor 0.1) c\n[RAG-1] (skor 0.9) a\n[RAG-1] (skor 0.9) a") == [
        (3, 0.1, "c"),
        (1, 0.9, "a"),
        (1, 0.9, "a"),
    ]


def test_a_rank_too_large_to_be_one_is_none() -> None:
    assert passages(f"[RAG-{'9' * 25}] (skor 0.1) c") == [(None, 0.1, "c")]


def test_a_header_without_its_score_is_a_header_where_it_opens_a_line() -> None:
    context = "[RAG-1] Tanpa skor, lihat [RAG-2] juga.\n[RAG-2] (skor 0.5) Dua.\n[RAG-3] (skor -) Tiga."
    assert passages(context) == [
        (1, None, "Tanpa skor, lihat [RAG-2] juga."),
        (2, 0.5, "Dua."),
        (3, None, "(skor -) Tiga."),
    ]


def test_a_passage_may_be_empty() -> None:
    assert passages("[RAG-1] (skor 0.9)\n[RAG-2] (skor 0.5)\n\nDua.") == [(1, 0.9, ""), (2, 0.5, "Dua.")]


def test_text_before_the_first_header_belongs_to_the_context_and_to_no_passage() -> None:
    read = triad(prompt(context="Ditemukan satu dokumen.\n[RAG-1] (skor 0.9) Satu."))
    assert read.context.startswith("Ditemukan")
    assert [each.text for each in read.passages] == ["Satu."]


@pytest.mark.parametrize("lead", ["- ", "* ", "1. ", "> ", "  ", "### ", "\t• "])
def test_a_header_may_stand_behind_a_list_marker(lead: str) -> None:
    assert passages(f"{lead}[RAG-1] (skor 0.9) Satu.\n{lead}[RAG-2] (skor 0.5) Dua.") == [
        (1, 0.9, "Satu."),
        (2, 0.5, "Dua."),
    ]


@pytest.mark.parametrize(
    ("pattern", "context", "expected"),
    [
        (r"\[(?P<rank>\d+)\]", "[1] Satu, lihat [2].\n[2] Dua.", [(1, None, "Satu, lihat [2]."), (2, None, "Dua.")]),
        (
            r"Dokumen \((?P<score>[\d.]+)\):",
            "Dokumen (0.4): Satu.\nDokumen (0.2): Dua.",
            [(None, 0.4, "Satu."), (None, 0.2, "Dua.")],
        ),
        (r"^#{2} \w+$", "## satu\nSatu.\n## dua\nDua.", [(None, None, "Satu."), (None, None, "Dua.")]),
        (r"(?:A|B)(?P<rank>\d) (?P<score>\d)", "A1 5 Satu.\nB2 4 Dua.", [(1, 5.0, "Satu."), (2, 4.0, "Dua.")]),
        (r"(?P<score>[\d.]+) #(?P<rank>\d+):", "0.5 #1: Satu.\n0.4 #2: Dua.", [(1, 0.5, "Satu."), (2, 0.4, "Dua.")]),
    ],
)
def test_another_header_pattern_may_lack_either_group(
    pattern: str, context: str, expected: list[tuple[int | None, float | None, str]]
) -> None:
    template = replace(TEMPLATE, passage_pattern=re.compile(pattern, re.MULTILINE))
    read = triad(prompt(context=context), template=template)
    assert [(each.rank, each.score, each.text) for each in read.passages] == expected


WORDS = st.text(alphabet=st.sampled_from("abé ,.\n-(1)"), min_size=1).map(str.strip).filter(bool)


@given(st.lists(st.tuples(st.integers(0, 99), st.integers(0, 100), WORDS), min_size=1, max_size=6), WORDS)
def test_what_the_template_wrote_is_read_back(written: list[tuple[int, int, str]], question: str) -> None:
    context = "\n\n".join(f"[RAG-{rank}] (skor {score / 100:.2f}) {text}" for rank, score, text in written)
    read = triad(prompt(f"Apa {question}", context))
    assert read.question == f"Apa {question}"
    assert read.passages == tuple(Passage(rank=rank, score=score / 100, text=text) for rank, score, text in written)
