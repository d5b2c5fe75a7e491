"""Counting what of an answer its context supports."""

import random
import time
from collections import defaultdict
from dataclasses import replace
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb_pipeline.grading.calibration import Labelled, Observation, auc, read_labelled
from kb_pipeline.support import (
    Language,
    language_of,
    numbers_in,
    overlap,
    readings,
    segments,
    sentences,
    support,
    word_overlap,
    words,
)
from kb_pipeline.support.numbers import is_number_word
from kb_pipeline.support.score import _COMPARABLE, _shape
from kb_pipeline_tests.docs_pages import REPOSITORY

CONTEXT = (
    "Yayasan didirikan dengan akta notaris. Biaya pendaftaran yayasan adalah Rp250.000 dan prosesnya tiga hari kerja. "
    "Pengurus yayasan tidak boleh merangkap sebagai pembina. Pendaftaran dilayani oleh Kantor Wilayah di Jakarta."
)


def score(answer: str, context: str = CONTEXT) -> float:
    value = support(answer, context).score
    assert value is not None
    return value


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Satu kalimat. Dua kalimat! Tiga?", ["Satu kalimat.", "Dua kalimat!", "Tiga?"]),
        (
            "PT. Maju didirikan Dr. Andi, S.H., M.H. pada tgl. 5 Mei. Modalnya Rp1.000.000,50. Lihat No. 5.",
            ["PT. Maju didirikan Dr. Andi, S.H., M.H. pada tgl. 5 Mei.", "Modalnya Rp1.000.000,50.", "Lihat No. 5."],
        ),
        (
            "Syaratnya:\n1. Akta notaris\n2. KTP\n   dan NPWP\n- Pas foto",
            ["Syaratnya:", "Akta notaris", "KTP dan NPWP", "Pas foto"],
        ),
        ("**Catatan:** biaya\nRp5. ok", ["Catatan: biaya Rp5.", "ok"]),
        ("# Judul\nIsi satu.\n\nIsi dua", ["Judul", "Isi satu.", "Isi dua"]),
        ('Ia berkata "Baik." Lalu pergi.', ['Ia berkata "Baik."', "Lalu pergi."]),
        (
            "U.S. law applies, e.g. here. It costs 3.5 percent.",
            ["U.S. law applies, e.g. here.", "It costs 3.5 percent."],
        ),
        ("iya kak. bisa datang besok.", ["iya kak.", "bisa datang besok."]),
        ("| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |", ["| a | b |", "| 1 | 2 |", "| 3 | 4 |"]),
        ("👍 ...", []),
        ("", []),
    ],
)
def test_sentences_end_where_a_reader_ends_them(text: str, expected: list[str]) -> None:
    assert sentences(text) == expected


@pytest.mark.parametrize(
    ("written", "values"),
    [
        ("7", {"7"}),
        ("1.000", {"1000", "1"}),
        ("1,000", {"1000", "1"}),
        ("1.000,5", {"1000.5"}),
        ("1,000.5", {"1000.5"}),
        ("10.000.000", {"10000000"}),
        ("10.000.000,00", {"10000000"}),
        ("3,25", {"3.25"}),
        ("1.2.3", {"123"}),
    ],
)
def test_a_number_is_read_as_both_languages_write_it(written: str, values: set[str]) -> None:
    assert readings(written) == {Decimal(value) for value in values}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Rp10.000.000", "10 juta"),
        ("Rp 2,5 miliar", "2.500.000.000"),
        ("IDR 1,500", "1.500"),
        ("$3 million", "3,000,000"),
        ("500rb", "500.000"),
    ],
)
def test_the_same_amount_in_two_forms_is_the_same(one: str, other: str) -> None:
    assert numbers_in(one)[0] & numbers_in(other)[0]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("tujuh hari", 7),
        ("dua puluh lima", 25),
        ("lima belas", 15),
        ("dua ratus juta", 200_000_000),
        ("twenty-five", 25),
        ("seribu", 1000),
    ],
)
def test_numbers_in_words_are_evidence(text: str, value: int) -> None:
    assert frozenset({Decimal(value)}) in numbers_in(text, spelled=True)


def test_markers_of_lists_and_citations_are_no_numbers() -> None:
    assert numbers_in("1. Akta [RAG-2]\n2. KTP [3, 4]") == []


def test_a_sentence_taken_from_the_context_is_supported_whole() -> None:
    assert score("Biaya pendaftaran yayasan adalah Rp250.000.") == 1.0


@pytest.mark.parametrize(
    ("faithful", "changed"),
    [
        ("Biaya pendaftaran yayasan adalah 250 ribu rupiah.", "Biaya pendaftaran yayasan adalah 750 ribu rupiah."),
        ("Prosesnya 3 hari kerja.", "Prosesnya 30 hari kerja."),
        (
            "Pengurus yayasan tidak boleh merangkap sebagai pembina.",
            "Pengurus yayasan boleh merangkap sebagai pembina.",
        ),
        ("Pendaftaran dilayani di Jakarta.", "Pendaftaran dilayani di Surabaya."),
        ("Akta notaris mendirikan yayasan.", "Surat lurah membubarkan koperasi."),
    ],
)
def test_one_change_against_the_context_lowers_the_score(faithful: str, changed: str) -> None:
    assert score(faithful) - score(changed) >= 0.15


def test_an_invented_sentence_is_the_weakest() -> None:
    found = support("Yayasan didirikan dengan akta notaris. Presiden wajib menghadiri peresmian gedung.", CONTEXT)
    assert found.weakest is not None
    assert found.weakest.text.startswith("Presiden")


def test_affixes_do_not_make_a_word_foreign() -> None:
    assert score("mendaftarkan pendirian") == 1.0
    assert score("companies registered", "A company must register.") == 1.0


def test_an_answer_without_a_word_has_no_score() -> None:
    assert support("👍 ...", CONTEXT).score is None
    assert support("", "").score is None


@given(st.text(max_size=300), st.text(max_size=300))
def test_any_text_has_a_fraction_or_nothing(answer: str, context: str) -> None:
    value = support(answer, context).score
    assert value is None or 0 <= value <= 1
    share = overlap(answer, context)
    assert share is None or 0 <= share <= 1
    assert 0 <= word_overlap(answer, context) <= 1


@given(st.text(alphabet="0123456789.,", min_size=1, max_size=60))
def test_any_row_of_digits_is_read_or_passed_over(digits: str) -> None:
    assert all(values for values in numbers_in(digits, spelled=True))


def test_the_baseline_counts_folded_tokens() -> None:
    assert word_overlap("Akta NOTARIS palsu", "akta ﹙notaris﹚") == pytest.approx(2 / 3)
    assert word_overlap("", "akta") == 0.0


def test_the_language_is_told_by_its_little_words() -> None:
    assert language_of("Apa syarat untuk mendirikan PT?") is Language.INDONESIAN
    assert language_of("What are the requirements to found a company?") is Language.ENGLISH
    assert language_of("PT 123") is Language.INDONESIAN


TRIADS = REPOSITORY.parent / "shared" / "data" / "triads_dev.jsonl"


@pytest.mark.slow
@pytest.mark.skipif(not TRIADS.exists(), reason="the evaluation data are not beside the project")
def test_on_labelled_triads_it_is_nowhere_clearly_worse_than_plain_word_overlap() -> None:
    """At least as good on average over the sources, and behind by no more than .02 on any."""
    scores: dict[str, list[tuple[Observation, float]]] = defaultdict(list)
    for line in TRIADS.read_text(encoding="utf-8").splitlines():
        row = read_labelled(line, where="triads")
        assert isinstance(row, Labelled)
        if row.label in {0.0, 1.0}:
            ours = support(row.triad.answer, row.triad.context).score or 0.0
            observation = Observation(score=ours, is_faithful=row.label == 1, group=row.group)
            scores[row.source].append((observation, word_overlap(row.triad.answer, row.triad.context)))
    pairs = [
        (auc_of(rows), auc_of([(replace(each, score=base), base) for each, base in rows])) for rows in scores.values()
    ]
    told = [(ours, base) for ours, base in pairs if ours is not None and base is not None]
    assert len(told) == 11
    assert all(ours >= base - 0.02 for ours, base in told)
    assert sum(ours for ours, _ in told) > sum(base for _, base in told) + 0.15


def auc_of(rows: list[tuple[Observation, float]]) -> float | None:
    return auc([(each, 1) for each in sorted((row[0] for row in rows), key=lambda each: each.score)])


WORDS = st.sampled_from(
    "biaya pendaftaran akta notaris pajak izin tidak bukan belum never hari kerja yang dan 250.000 Surabaya".split()
)
TEXTS = st.lists(st.lists(WORDS, max_size=8).map(" ".join), max_size=8).map(". ".join)


WORD_ENDS = [f"{one}{two}{three}" for one in "lmnrst" for two in "aiueo" for three in ("kan", "ran", "sa", "tif", "ma")]


def contradicts(sentence: str, context: str) -> bool:
    """As it is told: of the sentence and the one of the context that shares most words with it, just one is negated."""
    mine, negated = _shape(word for word in words(sentence) if not is_number_word(word))
    shapes = [_shape(words(each)) for each in sentences(context)]
    closest = max(shapes, key=lambda each: len(mine & each[0]), default=None)
    if closest is None or not mine:
        return False
    return len(mine & closest[0]) >= _COMPARABLE * len(mine) and closest[1] != negated


@given(TEXTS, TEXTS)
def test_the_index_finds_the_sentence_that_a_look_at_all_of_them_would(answer: str, context: str) -> None:
    for sentence in support(answer, context).sentences:
        assert sentence.contradicts == contradicts(sentence.text, context)


@pytest.mark.slow
def test_a_long_answer_to_a_very_long_context_takes_seconds() -> None:
    chance = random.Random(7)
    vocabulary = [f"{chance.choice('bdgkmnprst')}{vowel}{end}" for vowel in "aiueo" for end in WORD_ENDS]
    said = [" ".join(chance.choices(vocabulary, k=9)) for _ in range(30_000)]
    context, answer = ". ".join(said), ". ".join(chance.sample(said, 3_000))
    assert len(context) > 1_900_000
    started = time.process_time()
    assert support(answer, context).score == 1
    assert time.process_time() - started < 20


def test_text_without_a_space_is_cut_in_a_time_in_step_with_its_length() -> None:
    started = time.process_time()
    assert "".join(segments("a" * 1_000_000, longest=2_000)) == "a" * 1_000_000
    assert time.process_time() - started < 2
