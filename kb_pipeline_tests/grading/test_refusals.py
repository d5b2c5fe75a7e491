"""A refusal is known by how it opens; an answer asserts nothing only when no sentence of it does."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb_pipeline.grading.metrics import asserts_nothing
from kb_pipeline.grading.refusals import levelled, opens_with

PHRASES = ("Maaf, informasi tersebut tidak tersedia", "I'm sorry, but I", "Não encontrei", "...", "")


@pytest.mark.parametrize(
    "answer",
    [
        "Maaf, informasi tersebut tidak tersedia.",
        "MAAF informasi\n tersebut   tidak tersedia dalam dokumen kami.",
        "**Maaf**, informasi tersebut _tidak_ tersedia!",
        "> \u201cMaaf, informasi tersebut tidak tersedia\u201d",
        "# Maaf, informasi tersebut tidak tersedia",
        "- *Maaf, informasi tersebut tidak tersedia*",
        "🙏 Maaf, informasi tersebut tidak tersedia",
        "<p><b>Maaf</b>, informasi tersebut tidak tersedia</p>",
        "&nbsp;Maaf, informasi tersebut tidak tersedia",
        "[RAG-1] Maaf, informasi tersebut tidak tersedia",
        "\uff2d\uff41\uff41\uff46, informasi tersebut tidak tersedia",
        "Ma\u00adaf, informasi\u00a0tersebut tidak ter\u200bsedia",
        "I\u2019m sorry, but I cannot help.",
        "Im sorry but I cannot help.",
        "Na\u0303o encontrei nada.",
    ],
)
def test_an_answer_that_opens_with_a_phrase_is_recognised_however_it_is_written(answer: str) -> None:
    assert opens_with(answer, PHRASES)


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "...",
        "🙏",
        "Yayasan didirikan dengan akta notaris.",
        "Maaf, informasi tersebut tidak tersediakan di sini.",
        "Maaf, informasi tersebut",
        "Jawaban: Maaf, informasi tersebut tidak tersedia.",
        "Maafkan, informasi tersebut tidak tersedia.",
        "I'm sorry.",
    ],
)
def test_an_answer_that_opens_otherwise_is_none(answer: str) -> None:
    assert not opens_with(answer, PHRASES)


def test_without_phrases_nothing_opens_with_one() -> None:
    assert not opens_with("Maaf, informasi tersebut tidak tersedia.", ())
    assert not opens_with("", ("...", ""))


@given(st.text(), st.lists(st.text()))
def test_the_quick_way_and_the_whole_comparison_agree(text: str, phrases: list[str]) -> None:
    words = [levelled(phrase) for phrase in phrases if levelled(phrase)]
    assert opens_with(text, tuple(phrases)) == any(f"{levelled(text)} ".startswith(f"{each} ") for each in words)


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "🙏",
        "---",
        "Halo!",
        "Selamat pagi, ada yang bisa saya bantu?",
        "Mohon maaf.",
        "Terima kasih atas pertanyaan Anda.",
        "Mohon maaf, saya tidak dapat menjawab pertanyaan tersebut.",
        "Maaf, saya tidak memiliki informasi mengenai hal tersebut. Silakan ajukan pertanyaan lain.",
        "Informasi tersebut tidak tersedia dalam dokumen kami.",
        "**Maaf**, tidak ada informasi yang relevan [RAG-1].",
        "Saya tidak tahu.",
        "Apakah yang Anda maksud PT atau CV?",
        "Baik, silakan jelaskan pertanyaan Anda lebih rinci.",
        "I don't know.",
        "Sorry, I couldn't find any relevant information. Could you clarify your question?",
        "Thank you for your question. I am unable to help with this request.",
    ],
)
def test_greetings_questions_and_formulas_assert_nothing(answer: str) -> None:
    assert asserts_nothing(answer)


@pytest.mark.parametrize(
    "answer",
    [
        "Ya.",
        "Tidak.",
        "Tidak bisa.",
        "Maaf, tidak bisa.",
        "Ada.",
        "No.",
        "4",
        "Paris",
        "Tidak ada biaya.",
        "PT adalah badan hukum.",
        "Maaf, biaya pendirian adalah Rp5.000.000.",
        "Maaf, informasi tidak tersedia. Namun PT memerlukan akta.",
        "Saya tidak menemukan informasi, tetapi biasanya biayanya kecil.",
        "Tahukah Anda bahwa PT wajib memiliki akta?",
        "Apakah batasnya 30 hari?",
        "Silakan hubungi notaris untuk membuat akta.",
        "Lihat https://example.org.",
        "Maaf. " * 200,
    ],
)
def test_whatever_may_be_true_or_false_asserts_something(answer: str) -> None:
    assert not asserts_nothing(answer)


@given(st.text())
def test_any_text_asserts_something_or_nothing(text: str) -> None:
    assert asserts_nothing(text) in {True, False}
