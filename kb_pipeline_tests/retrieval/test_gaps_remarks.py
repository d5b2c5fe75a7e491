"""Sentences that assert something and that no knowledge base would say."""

import pytest

from kb_pipeline.retrieval.remarks import is_remark

REMARKS = [
    "Maaf, saya tidak menemukan jawabannya dalam dokumen yang ada.",
    "Maaf, informasi tersebut belum tersedia di sini.",
    "Kami belum dapat menjawab pertanyaan itu.",
    "I'm sorry, but I could not find this in the sources.",
    "That information is not available here.",
    "There is no information about it.",
    "Berkas Ibu sudah kami periksa dan hampir lengkap.",
    "Rekan saya menelepon Bapak besok pagi.",
    "Tim kami akan menghubungi Anda.",
    "Permohonan Bapak Anton masih menunggu tanda tangan.",
    "We have forwarded the letter to the archive.",
    "A colleague will call you about the ticket.",
    "I am checking the invoice.",
    "Your request was closed.",
    "The parcel for your office leaves tomorrow.",
]
KNOWLEDGE = [
    "Kartu anggota dicetak petugas dalam 3 hari kerja.",
    "Pemohon yang tidak memiliki kartu identitas mendaftar di loket.",
    "Dokumen yang tidak ada dalam daftar ditolak.",
    "Kami akan memproses permohonan dalam 3 hari kerja.",
    "Anda harus membawa kartu identitas.",
    "Informasi tarif dipasang di papan pengumuman.",
    "You must sign the agreement within 3 days.",
    "We process every request within a week.",
    "The information desk is open on weekdays.",
    "Requests on behalf of a company need a letter of authority.",
    "",
]


@pytest.mark.parametrize("sentence", REMARKS)
def test_a_refusal_and_a_word_to_one_client_are_remarks(sentence: str) -> None:
    assert is_remark(sentence)


@pytest.mark.parametrize("sentence", KNOWLEDGE)
def test_what_holds_for_everybody_is_none(sentence: str) -> None:
    assert not is_remark(sentence)
