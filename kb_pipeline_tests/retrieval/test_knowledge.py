"""The index of one tenant's knowledge base: who supports a sentence, when, and what can never do so."""

from datetime import timedelta
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb_pipeline.records import KnowledgeChunk
from kb_pipeline.retrieval.knowledge import NOTHING_BELOW, SUPPORTED_FROM, KnowledgeIndex
from kb_pipeline.retrieval.knowledge import index as index_module
from kb_pipeline_tests.retrieval.reading_room import ASKED, OPENED, OTHER, TEXTS, chunk, chunks, knowledge

LENDING = "Buku dipinjam anggota paling banyak 5 buku selama 14 hari."
RENT = "Renting a garden plot costs EUR 40 for one season."

# A sentence as somebody may say it, and the document that says it.
SAID = [
    (LENDING, "pinjam-buku"),
    ("Untuk setiap buku, denda keterlambatannya Rp2.000 per hari.", "pinjam-buku"),
    ("Perlu kami sampaikan bahwa buku referensi hanya boleh dibaca di tempat.", "pinjam-buku"),
    ("Yth. Bapak/Ibu, kartu anggota dicetak oleh petugas dalam tiga hari kerja.", "jadi-anggota"),
    ("Warga kota mendaftar sebagai anggota perpustakaan secara gratis.", "jadi-anggota"),
    ("Ruang diskusi harus dipesan lewat aplikasi selambat-lambatnya dua hari sebelumnya.", "ruang-diskusi"),
    (RENT, "garden-plot"),
    ("Please note that burning waste on a plot is not allowed for tenants.", "garden-plot"),
    ("Every Monday the rain barrels are filled by the caretaker.", "garden-water"),
    ("A tenant may take no more than 200 litres of water each week.", "garden-water"),
]
# One particular changed, so that no document says it any more.
TURNED = [
    "Buku dipinjam anggota paling banyak 7 buku selama 14 hari.",
    "Buku dipinjam anggota paling banyak 5 buku selama 14 bulan.",
    "Untuk setiap buku, denda keterlambatannya Rp20.000 per hari.",
    "Kartu anggota dicetak oleh petugas dalam tiga hari kalender.",
    "Buku referensi tidak hanya dibaca di tempat, melainkan tidak pernah dibaca di tempat.",
    "Renting a garden plot costs EUR 90 for one season.",
    "Tenants must burn waste on their plot.",
    "A tenant takes up to 300 litres of water a week.",
]
# What the knowledge base does not say, however near it sounds.
UNSAID = [
    "Bangku taman kota dicat ulang setiap musim kemarau oleh dinas pertamanan.",
    "Perpustakaan keliling singgah di desa nelayan setiap hari Kamis.",
    "Dogs are welcome on the lawn behind the shed when kept on a lead.",
]


@pytest.mark.parametrize(("sentence", "doc_id"), SAID)
def test_a_sentence_is_supported_by_the_document_that_says_it_in_other_words(sentence: str, doc_id: str) -> None:
    found = knowledge().supporters(sentence, as_of=ASKED, at_least=SUPPORTED_FROM)
    assert [each.doc_id for each in found] == [doc_id]
    assert (found[0].chunk_id, found[0].valid_from) == (f"{doc_id}-1", OPENED)


@pytest.mark.parametrize("sentence", TURNED)
def test_a_changed_number_unit_or_negation_is_not_supported(sentence: str) -> None:
    assert knowledge().supporters(sentence, as_of=ASKED, at_least=SUPPORTED_FROM) == []


@pytest.mark.parametrize("sentence", UNSAID)
def test_what_nobody_wrote_down_finds_next_to_nothing(sentence: str) -> None:
    best = knowledge().best(sentence, as_of=ASKED)
    assert best is None or best.support < NOTHING_BELOW


def test_a_sentence_of_figures_that_are_all_foreign_stays_below_a_gap() -> None:
    best = knowledge().best("Buku dipinjam anggota paling banyak 9 buku selama 21 hari.", as_of=ASKED)
    assert best is not None
    assert 0 < best.support < NOTHING_BELOW


def test_one_foreign_figure_among_many_is_enough_to_be_unsupported() -> None:
    text = "Loket dibuka 5 hari, pukul 08.00 sampai 15.00, oleh 3 petugas dan 2 cadangan."
    index = knowledge(chunk("loket", text))
    (one,) = index.supporters(text, as_of=ASKED, at_least=SUPPORTED_FROM)
    assert one.doc_id == "loket"
    best = index.best(text.replace("3 petugas", "4 petugas"), as_of=ASKED)
    assert best is not None
    assert NOTHING_BELOW < best.support < SUPPORTED_FROM


@pytest.mark.parametrize("sentence", ["", "!!!", "dan yang itu", "Rp 2.000", "14", "\x00\ud800", "tidak"])
def test_a_sentence_without_a_telling_word_is_supported_by_nothing(sentence: str) -> None:
    index = knowledge()
    assert index.best(sentence, as_of=ASKED) is None
    assert index.supporters(sentence, as_of=ASKED, at_least=0.0) == []


def test_an_empty_knowledge_base_supports_nothing() -> None:
    index = KnowledgeIndex([])
    assert index.best(LENDING, as_of=ASKED) is None
    assert (len(index), index.tenant, index.version_of("pinjam-buku", ASKED)) == (0, None, None)
    assert index.is_empty(ASKED)


def test_a_list_of_questions_supports_no_statement_and_an_answered_question_does() -> None:
    asked = "Apakah toko suvenir menerima kartu debit? Apakah toko suvenir buka malam? Balasan menyusul."
    answered = "Apakah toko suvenir menerima kartu debit? Ya, pada semua hari."
    sentence = "Toko suvenir menerima kartu debit."
    index = knowledge(chunk("tanya", asked), chunk("jawab", answered))
    assert [each.doc_id for each in index.supporters(sentence, as_of=ASKED, at_least=SUPPORTED_FROM)] == ["jawab"]


def test_words_that_stand_together_prove_more_than_words_that_lie_about() -> None:
    together = "Penjaga membuka gerbang timur. Lampu taman padam. Kolam dikuras."
    apart = "Penjaga tidur. Gerbang barat rusak. Sisi timur sepi. Toko membuka cabang."
    index = KnowledgeIndex([chunk("a", together, valid_from=OPENED), chunk("b", apart, valid_from=OPENED)])
    found = index.supporters("Gerbang timur dibuka penjaga.", as_of=ASKED, at_least=0.0)
    assert [each.doc_id for each in found] == ["a", "b"]
    assert found[0].support > found[1].support + 0.2


def test_a_title_names_the_subject_and_states_nothing() -> None:
    text = "Berlaku 3 tahun."
    titled = KnowledgeIndex([chunk("a", text, "Izin usaha warung")])
    bare = KnowledgeIndex([chunk("a", text, "Catatan")])
    sentence = "Izin usaha warung berlaku 3 tahun."
    with_title, without = (index.best(sentence, as_of=ASKED) for index in (titled, bare))
    assert with_title is not None
    assert without is not None
    assert with_title.support > without.support
    only_title = KnowledgeIndex([chunk("a", "", "Izin usaha warung berlaku 3 tahun")])
    assert only_title.supporters(sentence, as_of=ASKED, at_least=0.01) == []


def test_a_chunk_counts_from_its_first_instant_to_before_its_last() -> None:
    until = ASKED + timedelta(days=1)
    index = KnowledgeIndex([chunk("pinjam-buku", valid_from=ASKED, valid_to=until)])
    tick = timedelta(microseconds=1)
    assert [index.best(LENDING, as_of=at) is not None for at in (ASKED - tick, ASKED, until - tick, until)] == [
        False,
        True,
        True,
        False,
    ]


def test_of_two_versions_only_the_one_in_force_supports() -> None:
    new = chunk("pinjam-buku", "Anggota meminjam paling banyak 5 buku selama 21 hari.", valid_from=ASKED)
    old = chunk("pinjam-buku", valid_to=ASKED)
    index = KnowledgeIndex([old, new])
    before, after = ASKED - timedelta(days=1), ASKED + timedelta(days=1)
    assert [each.valid_from for each in index.supporters(LENDING, as_of=before, at_least=SUPPORTED_FROM)] == [OPENED]
    assert index.supporters(LENDING, as_of=after, at_least=SUPPORTED_FROM) == []
    assert (index.version_of("pinjam-buku", before), index.version_of("pinjam-buku", after)) == (OPENED, ASKED)


def test_a_document_is_as_old_as_its_newest_chunk() -> None:
    later = OPENED + timedelta(days=30)
    second = chunk("pinjam-buku", "Majalah dibaca di lobi.", chunk_id="pinjam-buku-2", valid_from=later)
    index = knowledge(second)
    assert index.version_of("pinjam-buku", ASKED) == later
    assert index.version_of("pinjam-buku", OPENED) == OPENED
    assert index.version_of("pinjam-buku", OPENED - timedelta(days=1)) is None
    assert index.version_of("nobody", ASKED) is None


def test_what_is_written_later_changes_no_answer_of_before() -> None:
    later = [
        chunk(f"baru-{number}", f"{LENDING} Denda buku anggota.", valid_from=ASKED + timedelta(seconds=1))
        for number in range(20)
    ]
    for sentence, _ in SAID:
        assert knowledge(*later).best(sentence, as_of=ASKED) == knowledge().best(sentence, as_of=ASKED)


def test_a_document_is_found_once_by_its_best_chunk() -> None:
    weak = chunk("pinjam-buku", "Anggota meminjam buku.", chunk_id="pinjam-buku-0")
    found = knowledge(weak).supporters(LENDING, as_of=ASKED, at_least=0.1)
    assert (found[0].doc_id, found[0].chunk_id) == ("pinjam-buku", "pinjam-buku-1")
    assert len({each.doc_id for each in found}) == len(found)


def test_other_documents_are_left_out_on_request() -> None:
    index = knowledge()
    assert index.supporters(LENDING, as_of=ASKED, at_least=SUPPORTED_FROM, among={"jadi-anggota", "nobody"}) == []
    assert index.best(LENDING, as_of=ASKED, among=set()) is None
    best = index.best(LENDING, as_of=ASKED, among=["pinjam-buku"])
    assert best == index.best(LENDING, as_of=ASKED)


def test_what_was_written_from_a_correction_does_not_support_that_correction() -> None:
    source = UUID(int=9)
    index = KnowledgeIndex([chunk("pinjam-buku", source_correction_id=source)])
    assert index.best(LENDING, as_of=ASKED, not_from=source) is None
    assert index.best(LENDING, as_of=ASKED, not_from=UUID(int=8)) is not None


def test_an_index_is_refused_chunks_of_two_tenants() -> None:
    with pytest.raises(ValueError, match="one index per tenant"):
        KnowledgeIndex([*chunks(), chunk("pinjam-buku", tenant=OTHER)])


def test_a_text_of_no_knowledge_base_supports_too_and_without_figures_it_speaks_of_the_same() -> None:
    index = knowledge()
    other = "Buku dipinjam anggota paling banyak 9 buku selama 21 hari."
    assert index.support_by(LENDING, LENDING, as_of=ASKED) > SUPPORTED_FROM
    assert index.support_by(LENDING, other, as_of=ASKED) < NOTHING_BELOW
    assert index.support_by(LENDING, other, as_of=ASKED, with_figures=False) > SUPPORTED_FROM
    assert index.support_by(LENDING, "", as_of=ASKED) == 0.0


# Properties, over documents of few words, so that they meet often.

WORDS = "buku anggota denda kartu ruang kota garden plot water 14 hari 5 tidak dan the Rp2.000".split()
SENTENCES = st.lists(st.sampled_from(WORDS), min_size=1, max_size=7).map(" ".join)
TEXT = st.lists(SENTENCES, min_size=1, max_size=3).map(lambda said: ". ".join(said) + ".")


@st.composite
def knowledge_bases(draw: st.DrawFn) -> list[KnowledgeChunk]:
    """Up to eight chunks of up to four documents, in versions around ASKED."""
    found = []
    for number in range(draw(st.integers(0, 8))):
        start = ASKED + timedelta(days=draw(st.integers(-3, 2)))
        days = draw(st.one_of(st.none(), st.integers(1, 4)))
        found.append(
            chunk(
                f"d{draw(st.integers(0, 3))}",
                draw(TEXT),
                chunk_id=f"c{number}",
                valid_from=start,
                valid_to=None if days is None else start + timedelta(days=days),
            )
        )
    return found


@given(knowledge_bases(), SENTENCES)
def test_looking_at_few_chunks_misses_none(found: list[KnowledgeChunk], sentence: str) -> None:
    index = KnowledgeIndex(found)
    every = index.supporters(sentence, as_of=ASKED, at_least=0.0)
    assert all(0 <= each.support <= 1 for each in every)
    for at_least in (0.2, NOTHING_BELOW, SUPPORTED_FROM):
        expected = [each for each in every if each.support >= at_least]
        assert index.supporters(sentence, as_of=ASKED, at_least=at_least) == expected
    positive = [each for each in every if each.support > 0]
    assert index.best(sentence, as_of=ASKED) == (positive[0] if positive else None)


@given(knowledge_bases(), SENTENCES, st.randoms(use_true_random=False))
def test_the_order_of_chunks_does_not_matter(found: list[KnowledgeChunk], sentence: str, random: object) -> None:
    shuffled = list(found)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    first, second = (KnowledgeIndex(each).supporters(sentence, as_of=ASKED, at_least=0.0) for each in (found, shuffled))
    assert first == second


@given(knowledge_bases(), SENTENCES)
def test_only_chunks_in_force_support(found: list[KnowledgeChunk], sentence: str) -> None:
    in_force = [each for each in found if each.valid_from <= ASKED and (each.valid_to is None or each.valid_to > ASKED)]
    for at_least in (0.0, SUPPORTED_FROM):
        assert KnowledgeIndex(found).supporters(sentence, as_of=ASKED, at_least=at_least) == KnowledgeIndex(
            in_force
        ).supporters(sentence, as_of=ASKED, at_least=at_least)


def test_of_many_chunks_that_could_support_the_most_promising_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    crowd = [chunk(f"buku-{number}", "Anggota meminjam majalah.") for number in range(50)]
    monkeypatch.setattr(index_module, "MOST_READ", 3)
    best = knowledge(*crowd).best(LENDING, as_of=ASKED)
    assert best is not None
    assert best.doc_id == "pinjam-buku"
    assert len(TEXTS) < len(crowd)
