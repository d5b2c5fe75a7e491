"""What asserts something, what a reason blames, and when a client asks again."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb_pipeline.retrieval.outcomes import asserts, blames_source, rephrases
from kb_pipeline.support.levelling import plain
from kb_pipeline.support.style import telling_part

MANNERS = """
Halo!
Halo Pak Budi,
Selamat pagi, Bu Sari.
Dear Mr. Smith,
Yth. Bapak Andi Wijaya,
Kepada Yth. Bapak/Ibu,
Dengan hormat,
Assalamualaikum warahmatullahi wabarakatuh.
Terima kasih atas pertanyaan Anda.
Terima kasih telah menghubungi layanan kami.
Terima kasih sudah bertanya ya Kak!
Thank you for reaching out to us.
Thanks for your patience!
Salam hangat, Tim Layanan Kenotariatan
Best regards, Jane Doe
Hormat kami,
Sincerely yours, The Support Team
Jika ada pertanyaan lain, jangan ragu menghubungi kami.
Apakah ada yang bisa saya bantu lagi?
Silakan hubungi kami kembali jika masih ada pertanyaan.
Feel free to reach out if you have any further questions.
Let me know if you need anything else.
Semoga informasi ini bermanfaat.
Semoga membantu 🙏
I hope this helps!
Berikut penjelasannya:
Berikut adalah jawaban atas pertanyaan Anda:
Here is the information you requested:
Baik, saya bantu jelaskan ya.
Mohon maaf atas ketidaknyamanannya.
We apologize for the inconvenience.
Sama-sama.
You're welcome!
No problem.
Izin menjawab, Kak.
Have a nice day!
Demikian yang dapat kami sampaikan, terima kasih.
Mohon maaf, kami tidak dapat membantu terkait hal tersebut.
Apakah Anda sudah memiliki akta pendirian?
Certainly!
Baik.
🙏🙏
""".strip().splitlines()

ASSERTIONS = """
Ya.
Tidak.
Tidak bisa.
Yes, you can.
Belum.
Biaya pendaftaran Rp250.000.
Silakan hubungi 1500-105.
Kirim ke info@contoh.id.
Halo, izin usaha Anda sudah terbit.
Terima kasih, permohonan Anda sudah kami terima.
Silakan datang ke kantor notaris.
Layanan kami gratis.
Notaris wajib hadir.
Tahukah Anda bahwa pendaftaran gratis?
Kunjungi www.contoh.id.
The office is closed.
Thank you for your application, which was approved.
Catatan: akta harus asli.
Salam, permohonan sudah disetujui kemarin.
""".strip().splitlines()

BLAMING = """
Sumber salah
sumbernya tidak relevan
Rujukan tidak sesuai dengan pertanyaan
wrong source
The cited document is outdated.
wrong_source
SOURCE
sumber
Referensi yang dipakai sudah usang
Dasar hukum sudah dicabut
Cites the wrong article
salah dokumen
Dokumen yang dirujuk sudah tidak berlaku
Sitasi keliru, harusnya UU baru
Citation does not support the claim
Jawaban bagus tapi sumbernya salah
irrelevant documents retrieved
Mengutip peraturan lama
""".strip().splitlines()

BLAMELESS = """
Nada terlalu kasar
terlalu panjang
Sumber sudah benar, tapi nadanya salah
source is correct but the tone is wrong
tidak ada sumber
missing citation
Please add a source
Angka salah
wrong tone
Dokumen persyaratan tidak lengkap
Salah hitung biaya
""".strip().splitlines()


@pytest.mark.parametrize("sentence", MANNERS)
def test_manners_assert_nothing(sentence: str) -> None:
    assert not asserts(sentence)


@pytest.mark.parametrize("sentence", ASSERTIONS)
def test_what_tells_something_asserts(sentence: str) -> None:
    assert asserts(sentence)


@given(st.text(max_size=300))
def test_any_text_either_asserts_or_not_the_same_in_markdown_and_with_white_space(text: str) -> None:
    assert asserts(f"  **{plain(text)}**\n") == asserts(plain(text))


def test_manners_around_what_is_told_are_no_part_of_it() -> None:
    assert telling_part("Baik Pak, biaya pendaftarannya Rp250.000, terima kasih.") == "biaya pendaftarannya Rp250.000,"
    assert telling_part("Terima kasih, sampai jumpa lagi.") == "Terima kasih, sampai jumpa lagi."


@pytest.mark.parametrize("reason", BLAMING)
def test_a_reason_that_names_the_sources_as_wrong_blames_them(reason: str) -> None:
    assert blames_source(reason)


@pytest.mark.parametrize("reason", [*BLAMELESS, "", None])
def test_any_other_reason_does_not(reason: str | None) -> None:
    assert not blames_source(reason)


@given(st.text(max_size=200))
def test_any_reason_can_be_read(reason: str) -> None:
    assert blames_source(reason) in {True, False}


AGAIN = """
Berapa biaya pendirian PT? | biaya mendirikan PT berapa ya
Syarat mendirikan yayasan apa saja? | apa persyaratan pendirian yayasan
Berapa biaya pendirian PT? | BERAPA  biaya pendirian PT
how do i register a company | How can I register my company?
biaya pendrian pt | biaya pendirian PT
"""
ANOTHER = """
Berapa biaya pendirian PT? | Berapa lama pendirian PT?
Kapan pendaftaran dibuka? | Di mana pendaftaran dibuka?
Apa isi Pasal 5? | Apa isi Pasal 6?
Berapa biaya pendirian PT? | terima kasih
how do i register a company | how do i close a bank account
"""


def pairs(table: str) -> list[tuple[str, ...]]:
    return [tuple(cell.strip() for cell in line.split(" | ")) for line in table.strip().splitlines()]


@pytest.mark.parametrize(("query", "later"), pairs(AGAIN))
def test_the_same_question_in_other_words_is_asked_again(query: str, later: str) -> None:
    assert rephrases(query, later)
    assert rephrases(later, query)


@pytest.mark.parametrize(("query", "later"), [*pairs(ANOTHER), ("", ""), ("", "biaya"), ("?", "?")])
def test_a_question_about_something_else_is_not(query: str, later: str) -> None:
    assert not rephrases(query, later)


@given(st.text(max_size=200), st.text(max_size=200))
def test_any_two_queries_can_be_compared(query: str, later: str) -> None:
    assert rephrases(query, later) in {True, False}
