"""What a sentence says: its telling words without frame and courtesy, its figures, whether it denies."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb_pipeline.retrieval.knowledge import forms, replaces_word, telling_words, title_key
from kb_pipeline.retrieval.knowledge.figures import Figures
from kb_pipeline.retrieval.knowledge.statements import Statement, denies

# The sentence, and the words it tells.
TOLD = [
    ("Kartu anggota dicetak petugas.", ("kartu", "anggota", "dicetak", "petugas")),
    ("Perlu kami sampaikan bahwa kartu anggota dicetak petugas.", ("kartu", "anggota", "dicetak", "petugas")),
    ("Sebagai informasi, kartu dicetak petugas.", ("kartu", "dicetak", "petugas")),
    ("Yth. Bapak/Ibu, kartu dicetak petugas.", ("kartu", "dicetak", "petugas")),
    ("Please note that the plot is rented.", ("plot", "rented")),
    ("We can confirm that the plot is rented.", ("plot", "rented")),
    ("Dear Sir or Madam, the plot is rented.", ("plot", "rented")),
    ("Kartu dicetak **paling lama** 3 hari kerja [RAG-1].", ("kartu", "dicetak", "hari", "kerja")),
    ("Kartu wajib tidak dicetak.", ("kartu", "dicetak")),
    ("Kartu, kartu, kartu.", ("kartu",)),
    ("Biayanya Rp 5.000 atau lima ribu rupiah.", ("biayanya",)),
]
DENYING = [
    "Kartu tidak dicetak.",
    "Tenants never burn waste.",
    "The lease isn't signed.",
]
AFFIRMING = [
    "Kartu dicetak tidak lebih dari 3 hari.",
    "It takes no more than a week.",
    "Kartu dicetak dan tidak hanya di loket.",
    "The fee is paid not only in cash.",
    "Kartu dicetak.",
]
OF_ANOTHER_THING = [
    ("Akta dibuat oleh notaris di kota.", "Akta dibuat oleh camat di kota."),
    ("The lease is signed by the caretaker.", "The lease is signed by the mayor."),
]
IN_OTHER_WORDS = [
    ("Akta dibuat oleh notaris di kota.", "Di kota, notaris membuat akta."),
    ("Akta dibuat oleh notaris di kota.", "Akta dibuat oleh notaris di kota setempat."),
    ("Akta dibuat oleh notaris.", "Akta dibuat oleh notaris."),
    ("Biaya akta dibayar tunai.", "Tarif akta dibayar tunai."),
]
# Figures of a sentence, another text, and how many of them it has.
FIGURES = [
    ("Rp 250.000", "biaya 250 ribu rupiah", 1),
    ("dalam 14 hari", "paling lama empat belas hari", 1),
    ("dalam 14 hari", "dalam 14 bulan", 0),
    ("dalam 14 hari kerja", "dalam 14 hari", 0),
    ("14 buku", "jumlahnya 14", 1),
    ("selama 1 bulan", "selama sebulan", 1),
    ("pada 5 Maret 2026", "berlaku sejak 05/03/2026", 1),
    ("pukul 08.00", "loket buka 08:00", 1),
    ("80 persen", "80 %", 1),
    ("5 atau 6 orang", "enam orang", 1),
    ("tanpa angka", "14 hari", 0),
]


@pytest.mark.parametrize(("sentence", "told"), TOLD)
def test_a_sentence_tells(sentence: str, told: tuple[str, ...]) -> None:
    assert Statement.read(sentence).words == told


def test_a_limit_is_no_denial() -> None:
    assert [sentence for sentence in DENYING if not denies(sentence)] == []
    assert [sentence for sentence in AFFIRMING if denies(sentence)] == []


@pytest.mark.parametrize(("sentence", "other"), OF_ANOTHER_THING)
def test_one_particular_for_another_is_no_rewording(sentence: str, other: str) -> None:
    assert replaces_word(sentence, other)
    assert replaces_word(other, sentence)


@pytest.mark.parametrize(("sentence", "other"), IN_OTHER_WORDS)
def test_the_same_in_other_words_is_a_rewording(sentence: str, other: str) -> None:
    assert not replaces_word(sentence, other)
    assert not replaces_word(other, sentence)


@pytest.mark.parametrize(("sentence", "text", "count"), FIGURES)
def test_figures_are_one_by_value_and_unit(sentence: str, text: str, count: int) -> None:
    assert Figures.read(sentence).found_in(Figures.read(text)) == count


def test_words_that_stand_for_one_another_meet() -> None:
    assert not forms("tarif").isdisjoint(forms("biaya"))
    assert not forms("charge").isdisjoint(forms("fee"))
    assert not forms("penitipan").isdisjoint(forms("dititipkan"))
    assert forms("kartu").isdisjoint(forms("biaya"))


def test_titles_are_one_whatever_their_dress() -> None:
    assert title_key("  Menjadi ANGGOTA: perpustakaan!") == title_key("menjadi anggota perpustakaan")


@given(st.text(max_size=200))
def test_any_text_can_be_read(text: str) -> None:
    statement = Statement.read(text)
    assert len(set(statement.words)) == len(statement.words)
    assert statement.figures.found_in(statement.figures) == len(statement.figures)
    assert all(word and word == word.casefold() for word in telling_words(text))
