"""Diagnose: what is saved, what is withdrawn, and what happens without a knowledge base."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from uuid import UUID

from kb_pipeline.records import GapKind, RetrievalGap, ReviewedDraft
from kb_pipeline.retrieval.gaps import RULE_VERSION
from kb_pipeline.steps.diagnose import diagnose_gaps
from kb_pipeline.windows import hour_of
from kb_pipeline_tests.retrieval.reading_room import DECIDED, TENANT, chunks, event, reviewed
from kb_pipeline_tests.steps.test_harvest import Drafts, Knowledge

REFUSAL = "Maaf, saya tidak menemukan jawabannya dalam dokumen yang ada."
ROOM = "Ruang diskusi harus dipesan lewat aplikasi paling lambat 2 hari sebelumnya."
WINDOW = hour_of(DECIDED)
MISSED = reviewed(REFUSAL, ROOM, event=event("Bagaimana memesan ruang diskusi?", unused=["ruang-diskusi"]))
ACCEPTED = replace(reviewed(ROOM, event=event(used=["ruang-diskusi"])), message_id=UUID(int=31))
EXPIRED = replace(MISSED, message_id=UUID(int=32), event=event(""))


@dataclass
class Book:
    """Remembers what it is told; `changes` is what each writing answers."""

    changes: int = 1
    saved: list[tuple[ReviewedDraft, RetrievalGap]] = field(default_factory=list)
    withdrawn: list[ReviewedDraft] = field(default_factory=list)
    rules: set[str] = field(default_factory=set)
    named: int = 0

    def save(self, gaps: Sequence[tuple[ReviewedDraft, RetrievalGap]], rules: str) -> int:
        self.saved += gaps
        self.rules.add(rules)
        return self.changes * len(gaps)

    def withdraw(self, drafts: Sequence[ReviewedDraft]) -> int:
        self.withdrawn += drafts
        return 0

    def name_subjects(self) -> int:
        self.named += 1
        return 2

    def tasks(self) -> int:
        return 7


def test_diagnoses_are_saved_by_the_window_and_their_subjects_named_once() -> None:
    book, drafts = Book(), Drafts([[MISSED], [ACCEPTED]])
    report = diagnose_gaps(WINDOW, drafts=drafts, knowledge=Knowledge({TENANT: chunks()}), book=book)
    assert [(draft, gap.kind) for draft, gap in book.saved] == [(MISSED, GapKind.RANKING_GAP)]
    assert (drafts.asked, book.rules, book.named) == ([WINDOW.start.isoformat()], {RULE_VERSION}, 1)
    assert report.counts == {
        "drafts": 2,
        "gaps_changed": 1,
        "gaps_withdrawn": 0,
        "subjects_changed": 2,
        "gap/kb_gap": 0,
        "gap/ranking_gap": 1,
        "gap/recall_gap": 0,
        "gap/generation_gap": 0,
        "gap/undetermined": 0,
        "gap/none": 0,
        "tasks": 7,
        "knowledge_base_mapped": 1,
    }


def test_a_draft_that_is_no_correction_any_more_loses_its_diagnosis_and_an_expired_one_keeps_it() -> None:
    book = Book()
    drafts = Drafts([[MISSED, ACCEPTED, EXPIRED]])
    diagnose_gaps(WINDOW, drafts=drafts, knowledge=Knowledge({TENANT: chunks()}), book=book)
    assert book.withdrawn == [ACCEPTED]


def test_where_nothing_changed_no_subject_is_named_anew() -> None:
    book = Book(changes=0)
    diagnose_gaps(WINDOW, drafts=Drafts([[MISSED]]), knowledge=Knowledge({TENANT: chunks()}), book=book)
    assert (len(book.saved), book.named) == (1, 0)


def test_without_a_knowledge_base_nothing_is_diagnosed_and_what_was_stays() -> None:
    book, drafts = Book(), Drafts([[MISSED, ACCEPTED]])
    report = diagnose_gaps(WINDOW, drafts=drafts, knowledge=Knowledge(None), book=book)
    assert (book.saved, book.withdrawn, book.named, drafts.asked) == ([], [], 0, [])
    assert (report.counts["knowledge_base_mapped"], report.counts["drafts"]) == (0, 0)
