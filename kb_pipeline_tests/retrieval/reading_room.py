"""A small town's knowledge base in both languages, and drafts about it as tests plant them.

Belongs here: chunks, events, reviewed drafts. Does not: assertions.
"""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from kb_pipeline.records import Candidate, KnowledgeChunk, RetrievalEvent, RetrievedDocument, ReviewedDraft, Tenant
from kb_pipeline.retrieval.knowledge import KnowledgeIndex

TENANT = Tenant(org_id=UUID(int=1), specialist_id=UUID(int=2))
OTHER = Tenant(org_id=UUID(int=1), specialist_id=UUID(int=3))
OPENED = datetime(2026, 1, 1, tzinfo=UTC)
ASKED = datetime(2026, 7, 1, 9, tzinfo=UTC)
DECIDED = ASKED + timedelta(hours=5)
CORRECTION = UUID(int=60)

# Title and text by document.
TEXTS: dict[str, tuple[str, str]] = {
    "pinjam-buku": (
        "Peminjaman buku",
        """Anggota meminjam paling banyak 5 buku selama 14 hari. Buku referensi hanya dibaca di tempat.
        Denda keterlambatan adalah Rp 2.000 per hari untuk setiap buku.""",
    ),
    "jadi-anggota": (
        "Menjadi anggota perpustakaan",
        """Pendaftaran anggota perpustakaan gratis bagi warga kota. Kartu anggota dicetak petugas dalam 3 hari kerja.
        Anak di bawah 12 tahun mendaftar bersama orang tua.""",
    ),
    "ruang-diskusi": (
        "Ruang diskusi perpustakaan",
        "Ruang diskusi dipesan lewat aplikasi paling lambat 2 hari sebelumnya. Satu ruang menampung 8 orang.",
    ),
    "garden-plot": (
        "Renting a garden plot",
        """A garden plot is rented for one season and costs EUR 40. The lease begins in March after the agreement is
        signed. Tenants must not burn waste on their plot.""",
    ),
    "garden-water": (
        "Water on the plots",
        "The caretaker fills the rain barrels every Monday. Each tenant takes up to 200 litres of water a week.",
    ),
    "kabar-kota": (
        "Kabar kota",
        "Pasar malam di alun-alun ramai pengunjung. Panggung musik dibuka wali kota.",
    ),
}


def chunk(doc_id: str, text: str | None = None, title: str | None = None, **changes: Any) -> KnowledgeChunk:
    """A chunk of one of the texts, or of another one, valid since the town opened its desk."""
    known = TEXTS.get(doc_id, (title, text or ""))
    given: dict[str, Any] = {
        "tenant": TENANT,
        "doc_id": doc_id,
        "chunk_id": f"{doc_id}-1",
        "title": title or known[0],
        "text": known[1] if text is None else text,
        "valid_from": OPENED,
        **changes,
    }
    return KnowledgeChunk(**given)


def chunks(*, without: Iterable[str] = ()) -> list[KnowledgeChunk]:
    """The town's knowledge base."""
    return [chunk(doc_id) for doc_id in TEXTS if doc_id not in set(without)]


def knowledge(*more: KnowledgeChunk, without: Iterable[str] = ()) -> KnowledgeIndex:
    """Its index."""
    return KnowledgeIndex([*chunks(without=without), *more])


def event(
    query: str = "Berapa lama buku boleh dipinjam?",
    used: Sequence[str] = (),
    unused: Sequence[str] = (),
    pool: Sequence[str] = (),
    unknown: Sequence[str] = (),
    **changes: Any,
) -> RetrievalEvent:
    """A retrieval with used, unused results (in this order) and candidates; of `unknown` ones the use is not known."""
    uses = [*((each, True) for each in used), *((each, False) for each in unused), *((each, None) for each in unknown)]
    hits = [
        RetrievedDocument(doc_id=doc_id, chunk_id=f"{doc_id}-1", rank=rank, used_in_final=use)
        for rank, (doc_id, use) in enumerate(uses, 1)
    ]
    given: dict[str, Any] = {
        "id": UUID(int=50),
        "tenant": TENANT,
        "conversation_id": UUID(int=40),
        "message_id": UUID(int=30),
        "engine": "hybrid",
        "query": query,
        "top_k": 5,
        "result_count": len(hits),
        "retrieved": tuple(hits),
        "candidate_pool": tuple(Candidate(doc_id=doc_id, pre_rank=rank) for rank, doc_id in enumerate(pool, 1)),
        "occurred_at": ASKED,
        **changes,
    }
    return RetrievalEvent(**given)


def reviewed(draft: str, final: str | None = None, **changes: Any) -> ReviewedDraft:
    """A draft that was read for some minutes; edited where there is another final text, accepted otherwise."""
    given: dict[str, Any] = {
        "message_id": UUID(int=30),
        "tenant": TENANT,
        "conversation_id": UUID(int=40),
        "drafted_at": ASKED,
        "draft": draft,
        "status": "accepted" if final is None else "edited",
        "opened_at": DECIDED - timedelta(minutes=4),
        "decided_at": DECIDED,
        "correction_id": None if final is None else CORRECTION,
        "final": final,
        "event": event(),
        "source_state": "state",
        **changes,
    }
    return ReviewedDraft(**given)
