"""A question is hashed as its normal form and shown on one short line, without what must not be shown."""

import hashlib
import re
import unicodedata
from dataclasses import replace
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb_pipeline.grading.extraction import question_preview, question_sha
from kb_pipeline_tests.grading.prompts import PASSAGES, TEMPLATE, prompt, triad

FAMILY = "\U0001f468\u200d\U0001f469\u200d\U0001f467"
ID_NUMBER = re.compile(r"\b\d{16}\b")


def test_the_hash_is_that_of_the_nfc_form() -> None:
    composed = "Apa arti café?"
    assert question_sha(composed) == hashlib.sha256(composed.encode()).hexdigest()
    assert question_sha(unicodedata.normalize("NFD", composed)) == question_sha(composed)


@pytest.mark.parametrize("nothing", ["", " \n\t", "\u200b\u202e"])
def test_an_empty_question_has_no_preview(nothing: str) -> None:
    assert question_preview(nothing) is None


def test_an_empty_question_has_no_hash() -> None:
    assert question_sha("") is None


def test_a_short_question_is_shown_whole_on_one_line() -> None:
    assert question_preview("  Apa\r\n\tsyarat\u2028yayasan?\0 ") == "Apa syarat yayasan?"


def test_a_long_question_is_cut_with_an_ellipsis() -> None:
    preview = question_preview("a" * 500)
    assert preview == "a" * 119 + "…"


@pytest.mark.parametrize(
    "together",
    [
        "e\u0301",
        "ก\u0e34\u0e48",
        FAMILY,
        "👍🏽",
        "🇮🇩",
        "❤\ufe0f",
        "한",
        "\u1112\u1161\u11ab",
        "&amp;",
        "&#128512;",
        "\U0001f3f4\U000e0067\U000e0062\U000e007f",
    ],
)
@pytest.mark.parametrize("before", range(110, 121))
def test_the_cut_never_falls_inside_what_people_see_as_one(together: str, before: int) -> None:
    preview = question_preview("x" * before + together * 30)
    assert preview is not None
    rest = preview.removesuffix("…")[before:]
    assert rest == together * (len(rest) // len(together))


def test_what_is_redacted_never_shows_even_across_the_cut() -> None:
    number = "3175091234567890"
    for before in range(100, 125):
        shown = question_preview("x" * before + " " + number + " milik saya", redact=[ID_NUMBER]) or ""
        assert not re.search(r"\d", shown)
    assert question_preview(f"NIK {number}?", redact=[ID_NUMBER]) == "NIK [redacted]?"


def test_redaction_sees_the_question_as_it_is_and_as_it_is_shown() -> None:
    assert (
        question_preview("kode\n12 34", redact=[re.compile(r"kode 12 34"), re.compile(r"^x", re.MULTILINE)])
        == "[redacted]"
    )
    assert question_preview("a\nxyz", redact=[re.compile(r"^x", re.MULTILINE)]) == "a [redacted]yz"


def test_text_that_would_reorder_the_line_is_left_out() -> None:
    assert question_preview("a\u202eb\u2066c\u2069") == "abc"


@given(st.text(alphabet=st.characters(codec=None)), st.integers(0, 40))
def test_any_text_has_a_preview_of_at_most_120_characters_that_can_be_stored(text: str, times: int) -> None:
    preview = question_preview(text * times)
    assert preview is None or (len(preview) <= 120 and "\n" not in preview and preview.encode())


@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_a_marker_with_accents_is_found_in_either_normal_form(form: Literal["NFC", "NFD"]) -> None:
    template = replace(TEMPLATE, question_marker=unicodedata.normalize("NFC", "CÂU HỎI:"))
    text = prompt().replace("PERTANYAAN:", unicodedata.normalize(form, "CÂU HỎI:"))
    assert len(triad(text, template=template).passages) == PASSAGES.count("[RAG-")
    assert triad(text, template=template).parse_status == "ok"
