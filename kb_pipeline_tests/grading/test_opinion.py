"""The second opinion: what it finds, what it must not take for an error, and what always holds of it."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb_pipeline.grading.metrics import measure
from kb_pipeline.grading.opinion import (
    DISAGREEMENT,
    DOUBTFUL,
    VERSION,
    Count,
    Kind,
    Opinion,
    disagreement,
    disagrees,
    second_opinion,
)
from kb_pipeline.records import Message, ParseStatus, Passage, Triad


def opinion(context: str, answer: str, *, question: str = "", **changes: Any) -> Opinion:
    triad = Triad(parse_status=ParseStatus.OK, question=question, context=context, answer=answer, **changes)
    return second_opinion(triad, measure(triad, refusal_phrases=("Maaf, informasi",)))


def doubt(context: str, answer: str, kind: Kind, *, question: str = "") -> float:
    return opinion(context, answer, question=question).counts.get(kind, Count(0, 0, 0.0)).doubt


FEE = "Biaya pengesahan badan hukum sebesar Rp10.000.000 dibayar paling lambat 30 hari setelah akta ditandatangani."
CAPITAL = "The company has a paid-up capital of $1,250,000.50 and employs 340 people in 12 towns."
BIRTH = "Rapat umum pemegang saham diadakan pada 5 Januari 2024 di Semarang."
OPENING = "The branch office opened on March 14, 2019 and closed in 2022."
LAW = "Kewajiban itu diatur dalam Pasal 5 ayat (2) Undang-Undang Nomor 40 Tahun 2007 tentang perseroan."
ACT = "The duty follows from Article 12(3) of Law No. 24 of 2018 and from Section 7 of the Act."
NOTARY = "Akta pendirian dibuat oleh notaris Ratna Wulandari dari Surakarta untuk koperasi Mekar Jaya."
MAYOR = "The new harbour was opened by mayor Edmund Sallow after Greywell Council approved the budget."
RULE = "Perseroan tidak boleh membagikan dividen sebelum laba ditahan mencukupi."
PERMIT = "The permit is valid for all districts and the holder may transfer it to another person."

CHANGED = [
    (Kind.NUMBER, FEE, "Biaya dibayar paling lambat 60 hari setelah akta ditandatangani."),
    (Kind.NUMBER, CAPITAL, "The company employs 370 people in 12 towns."),
    (Kind.AMOUNT, FEE, "Biaya pengesahan badan hukum sebesar Rp12.000.000."),
    (Kind.AMOUNT, FEE, "Biaya pengesahan badan hukum sebesar 11 juta rupiah."),
    (Kind.AMOUNT, CAPITAL, "The company has a paid-up capital of $1,350,000.50."),
    (Kind.AMOUNT, CAPITAL, "The company has a paid-up capital of Rp1.250.000,50."),
    (Kind.DATE, BIRTH, "Rapat umum pemegang saham diadakan pada 6 Januari 2024."),
    (Kind.DATE, BIRTH, "Rapat umum pemegang saham diadakan pada 5 Juni 2024."),
    (Kind.DATE, BIRTH, "Rapat umum pemegang saham diadakan pada 05/01/2023."),
    (Kind.DATE, BIRTH, "Rapat diadakan di Semarang pada bulan Oktober."),
    (Kind.DATE, OPENING, "The branch office opened on March 14, 2018."),
    (Kind.DATE, OPENING, "The branch office closed in 2021."),
    (Kind.REFERENCE, LAW, "Kewajiban itu diatur dalam Pasal 6 ayat (2)."),
    (Kind.REFERENCE, LAW, "Kewajiban itu diatur dalam Pasal 5 ayat (3)."),
    (Kind.REFERENCE, f"{LAW} Pasal 8 ayat (4) memuat sanksi.", "Kewajiban itu diatur dalam Pasal 5 ayat (4)."),
    (Kind.REFERENCE, LAW, "Kewajiban itu diatur dalam UU 41/2007."),
    (Kind.REFERENCE, LAW, "Kewajiban itu diatur dalam PP Nomor 40 Tahun 2007."),
    (Kind.REFERENCE, ACT, "The duty follows from Article 13."),
    (Kind.REFERENCE, ACT, "The duty follows from Law No. 24 of 2016."),
    (Kind.REFERENCE, ACT, "The duty follows from Section 9 of the Act."),
    (Kind.NAME, NOTARY, "Akta pendirian dibuat oleh notaris Bambang Hermanto dari Surakarta."),
    (Kind.NAME, NOTARY, "Akta pendirian dibuat oleh notaris Ratna Wulandari dari Pekalongan."),
    (Kind.NAME, MAYOR, "The new harbour was opened by mayor Ottoline Pryce."),
    (Kind.NAME, MAYOR, "Thornbury Vale"),
    (Kind.NEGATION, RULE, "Perseroan boleh membagikan dividen sebelum laba ditahan mencukupi."),
    (Kind.NEGATION, PERMIT, "The permit is not valid for all districts."),
    (Kind.NEGATION, "The deposit was not returned to the tenant.", "The deposit was returned to the tenant."),
    (Kind.NEGATION, "Pemohon wajib hadir sendiri di kantor.", "Pemohon tidak wajib hadir sendiri di kantor."),
    (Kind.ROLES, "In May Harold sued Margaret over the fence.", "In May Margaret sued Harold over the fence."),
    (Kind.SENTENCE, FEE, "Biaya dibayar setelah akta ditandatangani. Pengunjung museum menikmati lukisan kuno."),
    (Kind.SENTENCE, PERMIT, "The permit is valid for all districts. Local farmers celebrate harvests with lanterns."),
    (Kind.QUOTE, PERMIT, 'The text says that "no holder shall ever sell it".'),
    (Kind.CITATION, f"[RAG-1] {FEE}", "Biaya dibayar paling lambat 30 hari [RAG-7]."),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "context", "answer"), CHANGED)
def test_one_wrong_thing_is_doubted_by_its_kind(kind: Kind, context: str, answer: str) -> None:
    found = opinion(context, answer)
    assert kind in found.flags
    assert found.counts[kind].found < found.counts[kind].claimed
    assert found.support_score is not None
    assert found.support_score < 1


SAME = [
    # Amounts and numbers in other forms
    (FEE, "Biaya pengesahan badan hukum adalah 10 juta rupiah."),
    (FEE, "Biaya pengesahan badan hukum sebesar Rp 10.000.000,00."),
    (FEE, "Biaya dibayar paling lambat tiga puluh hari setelah akta ditandatangani."),
    ("Denda keterlambatan 250 ribu per bulan.", "Denda keterlambatan Rp250.000 per bulan."),
    ("Luas tanah 1.000,5 meter.", "Luas tanah 1,000.5 meter."),
    ("The fund holds $5m in cash.", "The fund holds 5 million dollars in cash."),
    ("The fund holds 1,234,567 dollars in cash.", "The fund holds about $1.23 million in cash."),
    ("Half of the members voted.", "50 percent of the members voted."),
    ("Of the members 0.5 voted.", "Of the members 50% voted."),
    ("The second hearing took place.", "Hearing 2 took place."),
    ("Ia lahir tahun 1950 dan wafat tahun 1988.", "Ia lahir tahun 1950 dan wafat setelah 38 tahun."),
    # Dates in other forms
    (BIRTH, "Rapat umum pemegang saham diadakan pada 05/01/2024."),
    (BIRTH, "Rapat umum pemegang saham diadakan pada 2024-01-05."),
    (BIRTH, "Rapat diadakan di Semarang pada Januari 2024."),
    (BIRTH, "Rapat diadakan di Semarang pada tahun 2024."),
    (OPENING, "The branch office opened on 14 Maret 2019."),
    # References in other forms
    (LAW, "Kewajiban itu diatur dalam Pasal 5 UU 40/2007."),
    (LAW, "Kewajiban itu diatur dalam UU No. 40 Tahun 2007."),
    (LAW, "The duty follows from Article 5 paragraph (2)."),
    (ACT, "The duty follows from Article 12 paragraph (3)."),
    ("PP 24/2018 mengatur perizinan.", "Perizinan diatur oleh Peraturan Pemerintah Nomor 24 Tahun 2018."),
    # Names
    (NOTARY, "Notaris Ratna membuat akta pendirian koperasi."),
    ("World Health Organization urges a ban.", "WHO urges a ban."),
    ("The WHO urges a ban.", "The World Health Organization (WHO) urges a ban."),
    ("He worked in the United States.", "He worked in the U.S. for a time."),
    ("Ia belajar di Belanda.", "He studied in the Netherlands."),
    # Denials in other words
    ("The tenant fails to pay the rent.", "The tenant does not pay the rent."),
    ("The rent must be paid no later than Friday.", "The rent must be paid by Friday."),
    ("The garden is open to members and guests.", "The garden is open not only to members but to guests."),
    # Manners and words about the answer itself
    (FEE, "Berikut penjelasannya. Biaya dibayar paling lambat 30 hari. Semoga membantu, terima kasih!"),
    (FEE, "Biaya dibayar paling lambat 30 hari. Dengan senang hati kami membantu apabila masih ada pertanyaan lain."),
    (PERMIT, "Based on the provided passages, the permit is valid for all districts. I hope this helps!"),
    # Lists, headings and citation marks
    (f"[RAG-1] {FEE}", "1. Biaya pengesahan Rp10.000.000 [RAG-1]\n2. Dibayar paling lambat 30 hari [1]"),
    (FEE, "## Biaya Pengesahan\n\n- **Pembayaran**: paling lambat 30 hari"),
    ("Clean the table. Then dry the floor.", "Step 1: clean the table.\nStep 2: dry the floor."),
    (PERMIT, 'The text says that "the holder may transfer it to another person".'),
]  # fmt: skip


@pytest.mark.parametrize(("context", "answer"), SAME)
def test_the_same_thing_in_another_form_is_not_doubted(context: str, answer: str) -> None:
    assert opinion(context, answer).flags == ()


def test_what_the_question_says_may_be_repeated() -> None:
    question = "Apakah Kartika Lestari dari Sukoharjo perlu membayar biaya pengesahan?"
    answer = "Ya, Kartika Lestari dari Sukoharjo membayar biaya pengesahan badan hukum sebesar Rp10.000.000."
    assert doubt(FEE, answer, Kind.NAME) >= DOUBTFUL
    assert doubt(FEE, answer, Kind.NAME, question=question) == 0


def test_what_was_said_earlier_in_the_conversation_may_be_repeated() -> None:
    earlier = (Message(role="user", text="Saya Kartika Lestari dari Sukoharjo."),)
    answer = "Untuk Kartika Lestari, biaya pengesahan badan hukum sebesar Rp10.000.000."
    assert opinion(FEE, answer, history=earlier).flags == ()


def test_headers_of_passages_are_no_evidence() -> None:
    passage = Passage(rank=3, score=75, text="Biaya dibayar setelah akta ditandatangani.")
    context = f"[RAG-3] (skor 75) {passage.text}"
    found = opinion(context, "Biaya dibayar 75 hari setelah akta ditandatangani [RAG-3].", passages=(passage,))
    assert found.flags == (Kind.NUMBER,)
    assert found.counts[Kind.CITATION] == Count(1, 1, 0.0)


@pytest.mark.parametrize(
    ("context", "answer"),
    [
        ("", "Biaya pengesahan Rp10.000.000."),
        (FEE, "Maaf, informasi tersebut tidak tersedia."),
        (FEE, "Terima kasih atas pertanyaannya."),
        (FEE, ""),
        (FEE, "🙂"),
        (FEE, "Apakah ada yang bisa saya bantu lagi?"),
    ],
)
def test_where_nothing_is_to_be_supported_there_is_no_score_and_no_doubt(context: str, answer: str) -> None:
    found = opinion(context, answer)
    assert (found.support_score, found.doubt, found.kind, found.flags) == (None, 0.0, None, ())


@pytest.mark.parametrize(
    ("question", "answer", "wrong"),
    [
        ("Berapa biaya yang harus dibayar untuk akta itu?", "The fee is paid within 30 days of the deed.", True),
        ("What is the fee that has to be paid?", "Biaya yang dibayar adalah untuk pengesahan dan akta itu.", True),
        ("Berapa biaya yang harus dibayar?", "Biaya yang dibayar adalah untuk akta itu.", False),
        ("Biaya?", "The fee is paid within 30 days of the deed.", False),
    ],
)
def test_an_answer_in_another_language_than_the_question_is_marked(question: str, answer: str, *, wrong: bool) -> None:
    assert opinion(FEE, answer, question=question).wrong_language is wrong


def test_the_stored_form_holds_counts_and_codes_and_no_word_of_the_turn() -> None:
    found = opinion(NOTARY, "Akta dibuat oleh notaris Bambang Hermanto pada 3 Mei 2021.", question="Siapa notarisnya?")
    stored = json.loads(json.dumps(found.as_json()))
    assert stored["version"] == VERSION
    assert stored["kind"] in stored["flags"]
    assert set(stored["counts"]["date"]) == {"claimed", "found", "doubt"}
    text = json.dumps(stored).casefold()
    assert not [word for word in ("bambang", "hermanto", "notaris", "2021", "siapa", "surakarta") if word in text]


@pytest.mark.parametrize(
    ("faithfulness", "support", "doubted", "expected"),
    [
        (1.0, 0.5, 1.0, True),
        (1.0, 0.9, 0.4, False),
        (0.0, 0.95, 0.0, True),
        (0.0, 0.5, 1.0, False),
        (None, 0.9, 1.0, False),
        (1.0, None, 0.0, False),
    ],
)
def test_judge_and_second_opinion_disagree_where_one_trusts_what_the_other_doubts(
    faithfulness: float | None, support: float | None, doubted: float, *, expected: bool
) -> None:
    counts = {Kind.NUMBER: Count(1, 0, doubted)}
    found = Opinion(version=VERSION, support_score=support, counts=counts)
    assert disagrees(found, faithfulness) is expected
    assert (disagreement(found, faithfulness) >= DISAGREEMENT) is expected


def test_an_answer_too_long_to_be_read_whole_says_so() -> None:
    found = opinion(FEE, "Biaya pengesahan dibayar. " * 10_000)
    assert found.partial
    assert not opinion(FEE, "Biaya pengesahan dibayar.").partial


PIECES = st.sampled_from(
    [
        *"Biaya Rp10.000.000 10 juta rupiah tidak bukan not Ratna Wulandari 5 Januari 2024 05/01/2024 Pasal".split(),
        *"ayat (2) UU 40/2007 [RAG-1] [1] . ? : - 1. ** the is and U.S. $5m 1.000,5 % ½ İ ² ｆ é".split(),
        *"ketiga dua puluh DUA KPU".split(),
        *('"', "“", "”", "\n", "\n\n"),
    ]
)
TEXTS = st.one_of(st.text(max_size=80), st.lists(PIECES, max_size=30).map(" ".join))


@given(question=TEXTS, context=TEXTS, answer=TEXTS)
def test_any_turn_has_the_same_opinion_twice_with_all_its_numbers_in_bounds(
    question: str, context: str, answer: str
) -> None:
    found = opinion(context, answer, question=question)
    assert found == opinion(context, answer, question=question)
    assert found.support_score is None or 0 <= found.support_score <= 1
    for count in found.counts.values():
        assert 0 <= count.found <= count.claimed
        assert 0 <= count.doubt <= 1
    json.dumps(found.as_json(), allow_nan=False)


@given(question=TEXTS, context=TEXTS, answer=TEXTS)
def test_a_context_that_also_holds_the_answer_never_supports_it_less(question: str, context: str, answer: str) -> None:
    before = opinion(context, answer, question=question).support_score
    after = opinion(f"{context}\n\n{answer}", answer, question=question).support_score
    assert before is None or (after is not None and after >= before - 1e-9)
