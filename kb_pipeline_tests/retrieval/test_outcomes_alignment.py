"""Draft and final text beside each other: what counts as one sentence, and what does not however alike it looks."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb_pipeline.retrieval.outcomes import align
from kb_pipeline.retrieval.outcomes.alignment import MOST_STATEMENTS, similarity
from kb_pipeline.support import sentences

# One sentence and what is still the same.
KEPT = """
Biaya pendaftaran adalah Rp250.000. | Biaya pendaftarannya adalah Rp 250.000
Modal dasar minimal Rp10.000.000. | Modal dasar minimal 10 juta rupiah.
Modal dasar minimal Rp10.000.000. | Modal dasar minimal 10 juta.
Luasnya 1.000,5 hektar. | Luasnya 1,000.5 hektar.
Proses memakan waktu 7 hari kerja. | Proses memakan waktu 7 (tujuh) hari kerja.
Proses memakan waktu 7 hari kerja. | Proses memakan waktu tujuh hari kerja.
Proses memakan waktu tiga hari kerja. | Proses membutuhkan waktu tiga hari kerja.
Permohonan diajukan melalui laman resmi. | Permohonan dapat diajukan melalui laman resmi.
Anda dapat mendaftar secara daring. | Anda bisa mendaftar secara daring.
Pendaftaran dilakukan secara online melalui laman resmi. | Pendaftaran dilakukan secara daring melalui laman resmi.
Akta pendirian dibuat oleh notaris. | akta pendirian di buat oleh Notaris
Halo, biaya pendaftaran adalah Rp250.000. | Biaya pendaftaran adalah Rp250.000.
Terima kasih atas pertanyaannya, biaya pendaftaran adalah Rp250.000. | Biaya pendaftaran adalah Rp250.000.
Biaya pendaftaran adalah Rp250.000. | Biaya pendaftaran adalah Rp250.000, terima kasih.
Kantor buka pukul 08.00 - 16.00 WIB. | Kantor buka pukul 08:00–16:00 WIB.
Loket tutup pukul 16.00. | Loket tutup jam 4 sore.
Batas waktunya 5 Januari 2024. | Batas waktunya 05/01/2024.
Batas waktunya 5 Januari 2024. | Batas waktunya 2024-01-05.
The deadline is January 5, 2024. | The deadline is 5 January 2024.
The fee is $10. | The fee is 10 dollars.
You don't need to pay anything. | You do not need to pay anything.
You need not pay anything upfront. | You do not need to pay anything upfront.
Pemohon tidak boleh mewakilkan. | Pemohon dilarang mewakilkan.
Tarifnya 5%. | Tarifnya 5 persen.
The rate is 5 percent. | The rate is 5 per cent.
Hubungi 0812-3456-7890 untuk janji temu. | Hubungi 081234567890 untuk janji temu.
Hubungi +62 812 3456 7890 untuk janji temu. | Hubungi 0812 3456 7890 untuk janji temu.
Kunjungi https://www.contoh.go.id/ untuk mendaftar. | Kunjungi contoh.go.id untuk mendaftar.
Lihat [panduan](https://contoh.id/daftar) ini lebih dulu. | Lihat panduan https://contoh.id/daftar ini lebih dulu.
**Syarat**: KTP dan NPWP. | Syarat: KTP dan NPWP.
Pendaftaran dilakukan melalui situs [1]. | Pendaftaran dilakukan melalui situs [RAG-2].
Lihat No. 5 pada daftar. | Lihat Nomor 5 pada daftar.
Waktunya 3-5 hari kerja. | Waktunya 3 sampai 5 hari kerja.
Waktunya 3 hari kerja sampai 5 hari kerja. | Waktunya 3 sampai 5 hari kerja.
Biayanya Rp5-10 juta. | Biayanya Rp5 juta - Rp10 juta.
UU No. 40 Tahun 2007 mengaturnya. | UU Nomor 40 Tahun 2007 mengaturnya.
Selain itu, dokumen harus dilegalisasi. | Dokumen harus dilegalisasi.
Berdasarkan Pasal 5, akta wajib dibuat. | Menurut Pasal 5, akta wajib dibuat.
Berlaku selama sebulan. | Berlaku selama 1 bulan.
Paling lambat 30 hari setelah terbit. | Maksimal 30 hari setelah terbit.
Sertakan minimal dua saksi. | Sertakan paling sedikit dua saksi.
He said “yes, of course” to the board. | He said "yes, of course" to the board.
Furthermore, the board must approve the plan. | The board must approve the plan.
The permitt is issued by the mayor's office. | The permit is issued by the mayor’s office.
"""

# One sentence and what has become another.
CHANGED = """
Biaya pendaftaran adalah Rp250.000. | Biaya pendaftaran adalah Rp350.000. | amount
Luasnya 1.000,5 hektar persegi semuanya. | Luasnya 10.005 hektar persegi semuanya. | decimal mark
Modal dasar minimal 10 juta rupiah. | Modal dasar minimal 10 miliar rupiah. | scale
Proses memakan waktu 7 hari. | Proses memakan waktu 7 hari kerja. | working days
Proses memakan waktu 7 hari. | Proses memakan waktu 7 minggu. | unit
The fee is due within thirty days. | The fee is due within thirty business days. | working days
The fee is $10. | The fee is £10. | currency
Tarifnya 5%. | Tarifnya 5. | percent
Batas waktunya 5 Januari 2024. | Batas waktunya 5 Februari 2024. | month
Batas waktunya 5 Januari 2024. | Batas waktunya 5 Januari 2025. | year
Kantor buka pukul 08.00. | Kantor buka pukul 09.00. | time
The office opens at 8 am. | The office opens at 8 pm. | half of the day
Kantor buka setiap hari Senin. | Kantor buka setiap hari Selasa. | weekday
Akta wajib dibuat oleh notaris. | Akta tidak wajib dibuat oleh notaris. | negation
You can appeal the decision. | You cannot appeal the decision. | negation
You can appeal the decision. | You can never appeal the decision. | negation
Pengajuan dengan surat kuasa. | Pengajuan tanpa surat kuasa. | without
Semua warga wajib lapor, termasuk anak-anak. | Semua warga wajib lapor, kecuali anak-anak. | except
Directors may sign the deed. | Only directors may sign the deed. | only
Permohonan sudah disetujui oleh menteri. | Permohonan belum disetujui oleh menteri. | not yet
Akta wajib dibuat oleh notaris. | Akta boleh dibuat oleh notaris. | duty to permission
You must sign the form. | You may sign the form. | duty to permission
You must sign the form. | You should sign the form. | duty to advice
The clerk will call you on the next day. | The clerk may call you on the next day. | certainty
Minimal tiga orang pemegang saham. | Maksimal tiga orang pemegang saham. | bound
Dokumen dikirim sebelum pendaftaran. | Dokumen dikirim setelah pendaftaran. | before and after
The permit is valid. | The permit is invalid. | denying prefix
Layanan ini gratis untuk semua warga Indonesia. | Layanan ini berbayar untuk semua warga Indonesia. | opposite
Permohonan diterima oleh kantor pusat kami. | Permohonan ditolak oleh kantor pusat kami. | opposite
Harga naik dan kuota turun setiap tahun. | Harga turun dan kuota naik setiap tahun. | opposites swapped
Permohonan diajukan ke Kantor Wilayah Jakarta. | Permohonan diajukan ke Kantor Wilayah Bandung. | name
The seat of the company is in Rotterdam today. | The seat of the company is in Amsterdam today. | name
NPWP wajib dilampirkan pada permohonan. | NIB wajib dilampirkan pada permohonan. | acronym
Budi menggugat Andi di pengadilan. | Andi menggugat Budi di pengadilan. | names swapped
Notaris wajib mengirim laporan bulanan ke majelis. | Pemohon wajib mengirim laporan bulanan ke majelis. | subject
Biaya PT Rp5 juta dan biaya CV Rp3 juta. | Biaya PT Rp3 juta dan biaya CV Rp5 juta. | amounts swapped
Diatur dalam Pasal 5 ayat 2. | Diatur dalam Pasal 2 ayat 5. | reference
Diatur dalam Pasal 7 huruf a. | Diatur dalam Pasal 7 huruf b. | letter of a reference
See Article 12 of the bylaws. | See Article 13 of the bylaws. | reference
Gunakan formulir F-1.01 untuk permohonan. | Gunakan formulir F-1.02 untuk permohonan. | code
Email ke info@contoh.id untuk bantuan. | Email ke admin@contoh.id untuk bantuan. | address
Hubungi 0812-3456-7890 untuk janji. | Hubungi 0812-3456-7891 untuk janji. | telephone
Anda sudah terdaftar di sistem. | Anda sudah terdaftar di sistem? | question
Yang terlambat melapor dikenai teguran tertulis. | Yang terlambat melapor dikenai pencabutan izin. | two telling words
Biaya pendaftaran mahal. | Biaya pendaftaran murah. | one telling word of three
"""


def rows(table: str) -> list[list[str]]:
    return [[cell.strip() for cell in line.split(" | ")] for line in table.strip().splitlines()]


@pytest.mark.parametrize(("draft", "final"), rows(KEPT))
def test_a_sentence_put_differently_is_kept(draft: str, final: str) -> None:
    for one, other in ((draft, final), (final, draft)):
        alignment = align(one, other)
        assert len(alignment.kept) == 1
        assert alignment.new == alignment.removed == ()


@pytest.mark.parametrize(("draft", "final", "why"), rows(CHANGED), ids=lambda cell: cell[:40])
def test_a_sentence_that_says_something_else_is_new_and_removed(draft: str, final: str, why: str) -> None:
    for one, other in ((draft, final), (final, draft)):
        alignment = align(one, other)
        assert alignment.kept == (), why
        assert " ".join(alignment.removed) == one
        assert " ".join(alignment.new) == other


def test_the_order_of_sentences_does_not_matter() -> None:
    draft = "Akta dibuat oleh notaris. Biaya pendaftaran Rp250.000. Prosesnya tujuh hari kerja."
    final = "Prosesnya 7 hari kerja. Akta dibuat oleh notaris. Biaya pendaftaran Rp250.000."
    alignment = align(draft, final)
    assert len(alignment.kept) == 3
    assert alignment.new == alignment.removed == ()


def test_the_most_alike_pairs_are_made_first() -> None:
    draft = "Surat permohonan ditujukan kepada menteri. Surat permohonan lengkap ditujukan kepada menteri."
    final = "Surat permohonan yang lengkap ditujukan kepada menteri. Surat permohonan itu ditujukan kepada menteri."
    assert align(draft, final).kept == (
        ("Surat permohonan ditujukan kepada menteri.", "Surat permohonan itu ditujukan kepada menteri."),
        (
            "Surat permohonan lengkap ditujukan kepada menteri.",
            "Surat permohonan yang lengkap ditujukan kepada menteri.",
        ),
    )


def test_a_sentence_that_was_split_is_kept_and_so_are_two_that_were_joined() -> None:
    split = "Akta pendirian dibuat oleh notaris. Akta itu didaftarkan secara daring."
    joined = "Akta pendirian dibuat oleh notaris dan akta itu didaftarkan secara daring."
    assert align(split, joined).kept == ((split, joined),)
    assert align(joined, split).kept == ((joined, split),)
    assert align(split, joined).new == align(joined, split).removed == ()


def test_two_sentences_that_were_joined_with_another_number_are_not_kept() -> None:
    split = "Akta pendirian dibuat oleh notaris. Akta itu didaftarkan dalam 14 hari."
    joined = "Akta pendirian dibuat oleh notaris dan akta itu didaftarkan dalam 40 hari."
    assert align(split, joined).kept == ()


def test_a_list_is_the_same_on_one_line_and_on_several() -> None:
    several = "Syaratnya:\n- KTP asli\n- NPWP perusahaan\n- Akta pendirian"
    one = "Syaratnya: - KTP asli - NPWP perusahaan - Akta pendirian"
    alignment = align(several, one)
    assert len(alignment.kept) == 4
    assert alignment.new == alignment.removed == ()


def test_a_signature_below_a_farewell_is_part_of_it() -> None:
    final = "Akta dibuat oleh notaris.\n\nSalam hangat,\n\nTim Layanan Kenotariatan"
    assert align("Akta dibuat oleh notaris.", final).new == ("Salam hangat, Tim Layanan Kenotariatan",)


def test_unicode_forms_white_space_and_invisible_characters_do_not_count() -> None:
    draft = "Akte\u0301 dibuat\u00a0oleh\u200b notaris \ufb01ktif."
    final = "Akt\u00e9  dibuat oleh notaris fiktif."
    assert len(align(draft, final).kept) == 1


@pytest.mark.parametrize("text", ["", "   ", "\n\n", "…!?", "🙏"])
def test_a_text_without_a_sentence_has_nothing_to_align(text: str) -> None:
    assert align(text, "Akta dibuat oleh notaris.").removed == ()
    assert align("Akta dibuat oleh notaris.", text).new == ()
    assert align(text, text).kept == ()


WORDS = st.sampled_from(
    "akta notaris biaya Rp250.000 7 hari kerja tidak wajib boleh Jakarta Pasal 5 ayat 2 5% 08.00 WIB halo terima kasih "
    "the fee must not be paid before January 5, 2024 at https://contoh.id . ? ! - : ( ) ** [1] | satu dua juta".split()
)
TEXTS = st.one_of(st.text(max_size=400), st.lists(WORDS | st.just("\n"), max_size=60).map(" ".join))


@given(TEXTS)
def test_a_text_beside_itself_keeps_every_sentence(text: str) -> None:
    alignment = align(text, text)
    assert alignment.new == alignment.removed == ()
    assert all(left == right for left, right in alignment.kept)


@given(TEXTS, TEXTS)
def test_every_word_of_both_texts_is_in_one_place_of_the_alignment(draft: str, final: str) -> None:
    alignment = align(draft, final)
    left = [pair[0] for pair in alignment.kept] + list(alignment.removed)
    right = [pair[1] for pair in alignment.kept] + list(alignment.new)
    assert words_of(left) == words_of(sentences(draft))
    assert words_of(right) == words_of(sentences(final))


def words_of(texts: list[str]) -> Counter[str]:
    """The words; what is none of them, such as the dashes of a list on one line, may go."""
    return Counter(word for text in texts for word in text.split() if any(map(str.isalnum, word)))


@given(TEXTS, TEXTS)
def test_the_alignment_is_the_same_every_time_and_the_other_way_round(draft: str, final: str) -> None:
    there = align(draft, final)
    align.cache_clear()
    assert there == align(draft, final)
    assert (not there.new and not there.removed) == (not align(final, draft).new and not align(final, draft).removed)


@given(TEXTS, TEXTS)
def test_similarity_is_a_fraction_and_1_for_the_same(draft: str, final: str) -> None:
    alike = similarity(draft, final)
    assert alike is not None
    assert 0 <= alike <= 1
    assert similarity(draft, draft) == 1


def test_of_a_very_long_text_equal_sentences_are_kept_wherever_they_went() -> None:
    sentence = "Berkas nomor {} disimpan di lemari nomor {}."
    draft = [sentence.format(number, number * 7) for number in range(MOST_STATEMENTS + 500)]
    alignment = align(" ".join(draft), " ".join(reversed(draft)))
    assert len(alignment.kept) == len(draft)


def test_of_a_very_long_text_a_sentence_that_was_touched_is_found_about_its_place() -> None:
    draft = [f"Berkas {number} disimpan oleh petugas di lemari arsip." for number in range(2_000)]
    final = [each.replace("oleh petugas", "oleh petugas arsip") for each in draft]
    final.insert(0, "Berikut daftar berkas kantor.")
    assert len(align(" ".join(draft), " ".join(final)).kept) == len(draft)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("draft", "final"),
    [
        ("a b " * 250_000, "b a c " * 170_000),
        ("1." * 500_000, "2," * 500_000),
        ("Apa? " * 200_000, "Apa. " * 200_000),
        ("a@" * 500_000, "a.a@" * 250_000),
        ("pasal 5 ayat 2 " * 66_000, "+62 812 " * 120_000),
    ],
    ids=["words", "digits", "sentences", "addresses", "references"],
)
def test_a_megabyte_of_anything_is_aligned_in_passing(draft: str, final: str) -> None:
    """It would not end within the run's patience if any of it grew with the square of the length."""
    alignment = align(draft, final)
    assert len(alignment.kept) + len(alignment.removed) > 0
