"""What an expert cites in the text he sends, and what only the model cited."""

import pytest

from kb_pipeline.records import EvidenceKind
from kb_pipeline.retrieval.evidence import evidence_of
from kb_pipeline_tests.retrieval.reading_room import ASKED, chunk, event, knowledge, reviewed

LENDING = "Buku dipinjam anggota paling banyak 5 buku selama 14 hari."
CARD = "Kartu anggota dicetak oleh petugas dalam 3 hari kerja."
RESULTS = event(unused=["kabar-kota", "pinjam-buku", "jadi-anggota"])

# Draft, what was sent, the documents that the expert cited.
CITED = {
    "a mark that he put in": (LENDING, f"{LENDING} [RAG-2]", {"pinjam-buku"}),
    "two in one pair of brackets": (LENDING, f"{LENDING} [RAG-2, RAG-3]", {"pinjam-buku", "jadi-anggota"}),
    "a range": (LENDING, f"{LENDING} [RAG-2-3]", {"pinjam-buku", "jadi-anggota"}),
    "a bare number where the draft cites so": (
        f"{LENDING} [2]",
        f"{LENDING} [2] {CARD} [3]",
        {"jadi-anggota"},
    ),
    "a mark moved onto a sentence of his own that its document says": (
        "Buku dipinjam anggota paling banyak 5 buku selama 99 hari [RAG-2].",
        f"{LENDING[:-1]} [RAG-2].",
        {"pinjam-buku"},
    ),
    "the document by its id": (LENDING, f"{LENDING} (pinjam-buku)", {"pinjam-buku"}),
    "a document that was not retrieved, by its id": (LENDING, f"{LENDING} Lihat garden-water.", {"garden-water"}),
    "a title in quotation marks": (
        LENDING,
        f"{LENDING} Selengkapnya: “Ruang diskusi perpustakaan”.",
        {"ruang-diskusi"},
    ),
    "a title behind a word of reference": (
        LENDING,
        f"{LENDING} Sumber: menjadi anggota perpustakaan.",
        {"jadi-anggota"},
    ),
    "an English title": (LENDING, f"{LENDING} See Renting a garden plot.", {"garden-plot"}),
}
UNCITED = {
    "a mark of the model's that he left": (f"{LENDING} [RAG-2]", f"Selamat pagi. {LENDING} [RAG-2]"),
    "all of the model's marks in an accepted text": (f"{LENDING} [RAG-2] {CARD} [RAG-3]", None),
    "a footnote of his own": (LENDING, f"{LENDING} [2]"),
    "a rank that there is not": (LENDING, f"{LENDING} [RAG-9]"),
    "the model's mark on a sentence of his that its document does not say": (
        f"{CARD} [RAG-2]",
        "Hewan peliharaan dititipkan di pos jaga [RAG-2].",
    ),
    "an id that the draft named already": (f"{LENDING} (pinjam-buku)", f"Selamat pagi. {LENDING} (pinjam-buku)"),
    "a title that is a phrase like any other": (LENDING, f"{LENDING} Ruang diskusi perpustakaan ada di lantai dua."),
    "a title that the draft named already": (
        f"{LENDING} Lihat “Ruang diskusi perpustakaan”.",
        f"Selamat pagi. {LENDING} Lihat “Ruang diskusi perpustakaan”.",
    ),
    "a word that is part of an id": (LENDING, f"{LENDING} Prosedur pinjam-buku-lama tidak berlaku."),
}


def cited(draft: str, final: str | None, *, mapped: bool = True) -> set[str]:
    index = knowledge() if mapped else None
    found = evidence_of(reviewed(draft, final, event=RESULTS), index)
    return {each.doc_id for each in found if each.kind is EvidenceKind.CITED}


@pytest.mark.parametrize("way", CITED)
def test_the_expert_cites_by(way: str) -> None:
    draft, final, expected = CITED[way]
    assert cited(draft, final) == expected


@pytest.mark.parametrize("way", UNCITED)
def test_no_citation_is(way: str) -> None:
    draft, final = UNCITED[way]
    assert cited(draft, final) == set()


def test_marks_and_ids_of_results_are_read_without_a_knowledge_base() -> None:
    assert cited(LENDING, f"{LENDING} [RAG-2] (jadi-anggota)", mapped=False) == {"pinjam-buku", "jadi-anggota"}
    assert cited(LENDING, f"{LENDING} Lihat “Ruang diskusi perpustakaan”.", mapped=False) == set()


@pytest.mark.parametrize("doc_id", ["12345678", "denda", "buku-buku", "x-1"])
def test_an_id_that_could_be_a_word_or_a_number_of_the_text_is_no_citation(doc_id: str) -> None:
    index = knowledge(chunk(doc_id, "Kolam renang dikuras."))
    draft = reviewed(LENDING, f"{LENDING} ({doc_id})", event=RESULTS)
    assert {each.doc_id for each in evidence_of(draft, index) if each.kind is EvidenceKind.CITED} == set()


def test_a_title_of_two_documents_names_neither() -> None:
    index = knowledge(chunk("lain-1", "Kolam renang dikuras.", "Ruang diskusi perpustakaan"))
    draft = reviewed(LENDING, f"{LENDING} Lihat “Ruang diskusi perpustakaan”.", event=RESULTS)
    assert [each for each in evidence_of(draft, index) if each.kind is EvidenceKind.CITED] == []


def test_a_document_that_was_gone_by_the_decision_is_not_named() -> None:
    gone = chunk("kolam-9", "Kolam renang dikuras.", valid_to=ASKED)
    draft = reviewed(LENDING, f"{LENDING} (kolam-9)", event=RESULTS)
    assert [each for each in evidence_of(draft, knowledge(gone)) if each.kind is EvidenceKind.CITED] == []


def test_a_citation_tells_how_it_was_made_and_at_which_rank_its_document_stood() -> None:
    draft = reviewed(LENDING, f"{LENDING} [RAG-2]", event=RESULTS, cited=("garden-water",))
    facts = {each.doc_id: each.facts for each in evidence_of(draft, knowledge()) if each.kind is EvidenceKind.CITED}
    assert facts == {"pinjam-buku": {"by_mark": 1, "rank": 2}, "garden-water": {"in_search": 1}}
