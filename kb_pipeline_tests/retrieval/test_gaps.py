"""The diagnosis: every kind of gap in both languages, which of several is the verdict, and when there is none."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from uuid import UUID

import pytest
from hypothesis import given

from kb_pipeline.records import GapKind, GapStatement, KnowledgeChunk, RetrievalEvent, RetrievalGap, ReviewedDraft
from kb_pipeline.retrieval.gaps import WORST_FIRST, diagnose
from kb_pipeline.retrieval.knowledge import NOTHING_BELOW, SUPPORTED_FROM, KnowledgeIndex
from kb_pipeline.retrieval.queries import query_sha
from kb_pipeline.retrieval.reading import Reading
from kb_pipeline_tests.retrieval.reading_room import (
    ASKED,
    CORRECTION,
    DECIDED,
    TENANT,
    chunk,
    event,
    knowledge,
    reviewed,
)
from kb_pipeline_tests.retrieval.test_evidence import drafts

REFUSAL = "Maaf, saya tidak menemukan jawabannya dalam dokumen yang ada."
LENDING = "Buku dipinjam anggota paling banyak 5 buku selama 14 hari."
CARD = "Kartu anggota dicetak oleh petugas dalam 3 hari kerja."
ROOM = "Ruang diskusi harus dipesan lewat aplikasi paling lambat 2 hari sebelumnya."
RENT = "Renting a garden plot costs EUR 40 for one season."
PET = "Hewan peliharaan dititipkan di pos jaga sebelah barat."
ABOUT_ROOM = "Bagaimana memesan ruang diskusi?"
ABOUT_PETS = "Di mana hewan peliharaan dititipkan?"

# Draft, what was sent, the retrieval, the verdict, the document, its ranks.
Case = tuple[str, str, RetrievalEvent, GapKind, str | None, int | None, int | None]
CASES: dict[str, Case] = {
    "nothing in the knowledge base says it": (
        REFUSAL, PET, event(ABOUT_PETS, unused=["kabar-kota"]), GapKind.KB_GAP, None, None, None,
    ),
    "nothing says it, in English": (
        REFUSAL,
        "Dogs are welcome on the lawn behind the shed when kept on a lead.",
        event("Are dogs allowed on the lawn?", unused=["garden-plot"]),
        GapKind.KB_GAP, None, None, None,
    ),
    "the knowledge base has another number": (
        REFUSAL,
        "Buku dipinjam anggota paling banyak 9 buku selama 21 hari.",
        event(unused=["pinjam-buku"]),
        GapKind.KB_GAP, None, None, None,
    ),
    "the document was not even a candidate": (
        REFUSAL, ROOM, event(ABOUT_ROOM, unused=["kabar-kota"], pool=["pinjam-buku"]),
        GapKind.RECALL_GAP, "ruang-diskusi", None, None,
    ),
    "nothing at all was retrieved": (REFUSAL, ROOM, event(ABOUT_ROOM), GapKind.RECALL_GAP, "ruang-diskusi", None, None),
    "the document was among the candidates only": (
        REFUSAL, ROOM, event(ABOUT_ROOM, unused=["kabar-kota"], pool=["pinjam-buku", "ruang-diskusi"]),
        GapKind.RANKING_GAP, "ruang-diskusi", None, 2,
    ),
    "the document was retrieved and not used": (
        REFUSAL, ROOM, event(ABOUT_ROOM, unused=["kabar-kota", "ruang-diskusi"], pool=["ruang-diskusi"]),
        GapKind.RANKING_GAP, "ruang-diskusi", 2, 1,
    ),
    "retrieved and not used, in English": (
        "Sorry, that information is not available in our documents.",
        RENT,
        event("What does a garden plot cost?", unused=["garden-plot"]),
        GapKind.RANKING_GAP, "garden-plot", 1, None,
    ),
    "the document was used": (
        "Ruang diskusi ada di lantai dua.", ROOM, event(ABOUT_ROOM, used=["ruang-diskusi"]),
        GapKind.GENERATION_GAP, "ruang-diskusi", 1, None,
    ),
    "the document was misquoted, whatever the event says of its use": (
        LENDING.replace("14", "90"), LENDING, event(unused=["pinjam-buku"]),
        GapKind.GENERATION_GAP, "pinjam-buku", 1, None,
    ),
    "misquoted in English": (
        RENT.replace("40", "90"), RENT, event("What does a garden plot cost?", used=["garden-plot"]),
        GapKind.GENERATION_GAP, "garden-plot", 1, None,
    ),
    "the draft says another thing that the document says": (
        "Buku referensi hanya boleh dibaca di tempat.", LENDING, event(unused=["pinjam-buku"]),
        GapKind.GENERATION_GAP, "pinjam-buku", 1, None,
    ),
    "where the use is not known, a document that the draft says nothing of was not used": (
        "Pasar malam di alun-alun ramai pengunjung.", ROOM, event(ABOUT_ROOM, unknown=["kabar-kota", "ruang-diskusi"]),
        GapKind.RANKING_GAP, "ruang-diskusi", 2, None,
    ),
    "nobody can tell from half of it": (
        REFUSAL, "Ruang diskusi dipesan lewat loket informasi.", event(ABOUT_ROOM, unused=["ruang-diskusi"]),
        GapKind.UNDETERMINED, None, None, None,
    ),
}  # fmt: skip


def gap_of(draft: ReviewedDraft, *more: KnowledgeChunk, without: Sequence[str] = ()) -> RetrievalGap:
    gap = diagnose(draft, knowledge(*more, without=without))
    assert gap is not None
    return gap


@pytest.mark.parametrize("name", CASES)
def test_gap(name: str) -> None:
    draft, final, retrieval, kind, doc_id, rank, pool_rank = CASES[name]
    gap = gap_of(reviewed(draft, final, event=retrieval))
    assert gap.kind is kind
    assert gap.statement is not None
    assert gap.is_deep == (kind is GapKind.RANKING_GAP and rank is None)
    if kind is GapKind.KB_GAP:
        assert gap.statement.support < NOTHING_BELOW
    elif kind is GapKind.UNDETERMINED:
        assert NOTHING_BELOW <= gap.statement.support < SUPPORTED_FROM
    else:
        assert gap.statement.support >= SUPPORTED_FROM
        assert (gap.statement.doc_id, gap.statement.rank, gap.statement.pool_rank) == (doc_id, rank, pool_rank)


STYLE = {
    "a greeting and a farewell": (LENDING, f"Selamat pagi. {LENDING} Semoga membantu."),
    "a sentence taken out": (f"{LENDING} {CARD}", LENDING),
    "the same in other words": (
        f"{LENDING} {CARD}",
        f"Anggota meminjam 5 buku paling banyak, selama 14 hari. {CARD}",
    ),
    "a remark to one client": (LENDING, f"{LENDING} Rekan kami akan menelepon Anda besok siang."),
    "a refusal": (PET, REFUSAL),
}


@pytest.mark.parametrize("edit", STYLE)
def test_no_gap_is(edit: str) -> None:
    draft, final = STYLE[edit]
    gap = gap_of(reviewed(draft, final, event=event(used=["pinjam-buku"])))
    assert gap.kind is GapKind.NONE
    assert not gap.is_deep


def test_a_diagnosis_names_what_it_is_of_without_a_word_of_a_text() -> None:
    gap = gap_of(reviewed(REFUSAL, ROOM, event=event("  Bagaimana memesan RUANG diskusi?", unused=["ruang-diskusi"])))
    assert (gap.message_id, gap.tenant, gap.event_id) == (UUID(int=30), TENANT, UUID(int=50))
    assert (gap.correction_id, gap.engine, gap.decided_at) == (CORRECTION, "hybrid", DECIDED)
    assert gap.query_sha == query_sha("bagaimana memesan ruang diskusi")
    assert gap.statements == (gap.statement,)


def test_the_verdict_is_that_of_the_worst_statement_and_all_are_told() -> None:
    draft = reviewed(REFUSAL, f"{ROOM} {LENDING}", event=event(ABOUT_PETS, unused=["ruang-diskusi"]))
    gap = gap_of(draft)
    assert [(each.position, each.kind) for each in gap.statements] == [
        (0, GapKind.RANKING_GAP),
        (1, GapKind.RECALL_GAP),
    ]
    assert gap.statement == gap.statements[1]


def test_what_nothing_supports_is_no_gap_of_the_knowledge_base_beside_what_something_does() -> None:
    asked = event(ABOUT_PETS, unused=["ruang-diskusi"])
    alone, beside = gap_of(reviewed(REFUSAL, PET, event=asked)), gap_of(reviewed(REFUSAL, f"{ROOM} {PET}", event=asked))
    assert alone.kind is GapKind.KB_GAP
    assert [each.kind for each in beside.statements] == [GapKind.RANKING_GAP, GapKind.UNDETERMINED]
    assert beside.kind is GapKind.RANKING_GAP


def test_a_sentence_in_other_words_does_not_hide_a_gap_of_the_knowledge_base() -> None:
    reworded = "Anggota meminjam 5 buku paling banyak, selama 14 hari."
    gap = gap_of(reviewed(LENDING, f"{reworded} {PET}", event=event(ABOUT_PETS, used=["pinjam-buku"])))
    assert gap.kind is GapKind.KB_GAP


def test_a_deep_ranking_gap_is_worse_than_a_shallow_one() -> None:
    retrieval = event(ABOUT_ROOM, unused=["ruang-diskusi"], pool=["ruang-diskusi", "pinjam-buku"])
    gap = gap_of(reviewed(REFUSAL, f"{ROOM} {LENDING}", event=retrieval))
    assert gap.is_deep
    assert gap.statement == gap.statements[1]


def test_of_two_documents_that_say_it_the_nearer_one_decides() -> None:
    twin = chunk("salinan", "Ruang diskusi dipesan lewat aplikasi paling lambat 2 hari sebelumnya.")
    gap = gap_of(reviewed(REFUSAL, ROOM, event=event(ABOUT_ROOM, unused=["salinan"], pool=["ruang-diskusi"])), twin)
    assert (gap.kind, gap.is_deep) == (GapKind.RANKING_GAP, False)
    assert gap.statement is not None
    assert gap.statement.doc_id == "salinan"


def test_an_article_written_after_the_retrieval_leaves_the_gap_of_that_day() -> None:
    later = chunk("ruang-diskusi", valid_from=ASKED + timedelta(microseconds=1))
    draft = reviewed(REFUSAL, ROOM, event=event(ABOUT_ROOM, unused=["pinjam-buku"]))
    assert gap_of(draft, later, without=["ruang-diskusi"]).kind is GapKind.KB_GAP


def test_an_article_written_from_this_correction_does_not_close_its_gap() -> None:
    own = chunk("ruang-diskusi", source_correction_id=CORRECTION)
    draft = reviewed(REFUSAL, ROOM, event=event(ABOUT_ROOM, unused=["pinjam-buku"]))
    assert gap_of(draft, own, without=["ruang-diskusi"]).kind is GapKind.KB_GAP
    assert gap_of(replace(draft, correction_id=UUID(int=61)), own, without=["ruang-diskusi"]).kind is GapKind.RECALL_GAP


def test_what_has_no_word_of_what_was_asked_is_no_gap_of_the_knowledge_base() -> None:
    retrieval = event("Berapa denda buku terlambat?", unused=["kabar-kota"])
    assert gap_of(reviewed(REFUSAL, PET, event=retrieval)).kind is GapKind.UNDETERMINED
    rewritten = replace(retrieval, query_rewritten=ABOUT_PETS)
    assert gap_of(reviewed(REFUSAL, PET, event=rewritten)).kind is GapKind.KB_GAP


def test_a_knowledge_base_without_a_history_shows_no_gaps() -> None:
    retrieval = event(ABOUT_PETS, unused=["gone-since", "unknown-too"])
    assert gap_of(reviewed(REFUSAL, PET, event=retrieval)).kind is GapKind.UNDETERMINED
    young = [chunk("ruang-diskusi", valid_from=DECIDED)]
    empty = diagnose(reviewed(REFUSAL, PET, event=event(ABOUT_PETS)), KnowledgeIndex(young))
    assert empty is not None
    assert empty.kind is GapKind.UNDETERMINED


UNDIAGNOSED = {
    "an accepted draft": reviewed(ROOM),
    "a correction that changes nothing": reviewed(ROOM, ROOM),
    "a rejection without a correction": reviewed(ROOM, status="rejected"),
    "an undecided draft": reviewed(ROOM, status="pending", opened_at=None, decided_at=None),
    "a light edit that nobody read": reviewed(ROOM, f"Halo. {ROOM}", opened_at=DECIDED - timedelta(seconds=1)),
    "a draft without a retrieval": reviewed(REFUSAL, ROOM, event=None),
    "a trial run": reviewed(REFUSAL, ROOM, event=event(shadow=True)),
    "a query past its retention": reviewed(REFUSAL, ROOM, event=event("")),
}


@pytest.mark.parametrize("name", UNDIAGNOSED)
def test_not_diagnosed_is(name: str) -> None:
    assert diagnose(UNDIAGNOSED[name], knowledge()) is None


def test_a_rejection_with_a_correction_is_diagnosed() -> None:
    draft = reviewed(REFUSAL, ROOM, status="rejected", event=event(ABOUT_ROOM, unused=["ruang-diskusi"]))
    assert gap_of(draft).kind is GapKind.RANKING_GAP


def test_every_kind_has_its_place_in_the_order() -> None:
    assert set(WORST_FIRST) == set(GapKind)


INDEX = knowledge()


def severity(statement: GapStatement) -> int:
    return WORST_FIRST.index(statement.kind)


@given(drafts())
def test_whatever_the_draft_the_diagnosis_is_sound(draft: ReviewedDraft) -> None:
    gap = diagnose(draft, INDEX)
    if gap is None:
        return
    assert draft.final is not None
    assert [each.position for each in gap.statements] == list(range(len(gap.statements)))
    assert gap.kind is (gap.statement.kind if gap.statement else GapKind.NONE)
    assert all(severity(each) >= WORST_FIRST.index(gap.kind) for each in gap.statements)
    for each in gap.statements:
        assert 0 <= each.support <= 1
        assert (each.rank is None and each.pool_rank is None) or each.doc_id is not None
    assert diagnose(draft, INDEX) == gap


@given(drafts())
def test_rewordings_are_those_that_a_look_at_every_pair_would_find(draft: ReviewedDraft) -> None:
    reading = Reading.of(draft, knowledge())
    if reading is not None:
        pairs = [(new, removed) for new in reading.new for removed in reading.removed]
        assert reading.reworded == {new for new, removed in pairs if reading._is_one(new, removed)}
