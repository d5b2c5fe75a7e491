"""Harvest: what is asked of whom in which order, and how many knowledge bases are in memory."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from uuid import UUID

import pytest

from kb_pipeline.records import Evidence, EvidenceKind, KnowledgeChunk, ReviewedDraft, Tenant
from kb_pipeline.retrieval.evidence import harvest_rules
from kb_pipeline.retrieval.labels import RULE_VERSION as LABEL_RULES
from kb_pipeline.steps.harvest import harvest
from kb_pipeline.steps.knowledge_shelf import KnowledgeShelf, by_tenant
from kb_pipeline.windows import Window
from kb_pipeline_tests.retrieval.reading_room import DECIDED, OTHER, TENANT, chunk, chunks, event, reviewed

LENDING = "Buku dipinjam anggota paling banyak 5 buku selama 14 hari."
ACCEPTED = reviewed(LENDING, event=event(used=["pinjam-buku"]))
CITING = reviewed("Hewan dititipkan di pos jaga.", cited=("ruang-diskusi",), event=event(unused=["pinjam-buku"]))


@dataclass
class Drafts:
    """A source that yields these chunks."""

    batches: Sequence[Sequence[ReviewedDraft]]
    asked: list[str] = field(default_factory=list)

    @contextmanager
    def unharvested(self, *, rules: str, chunk: int) -> Iterator[Iterator[Sequence[ReviewedDraft]]]:
        assert chunk > 0
        self.asked.append(rules)
        yield iter(self.batches)

    @contextmanager
    def decided_in(self, window: Window, *, chunk: int) -> Iterator[Iterator[Sequence[ReviewedDraft]]]:
        assert chunk > 0
        self.asked.append(window.start.isoformat())
        yield iter(self.batches)

    @contextmanager
    def changed_in(self, window: Window, *, chunk: int) -> Iterator[Iterator[Sequence[ReviewedDraft]]]:
        raise AssertionError((window, chunk))


@dataclass
class Knowledge:
    """Knowledge bases by tenant; None: not mapped."""

    bases: dict[Tenant, list[KnowledgeChunk]] | None
    read: list[Tenant] = field(default_factory=list)

    def is_mapped(self) -> bool:
        return self.bases is not None

    def chunks(self, tenant: Tenant) -> Sequence[KnowledgeChunk]:
        assert self.bases is not None
        self.read.append(tenant)
        return self.bases.get(tenant, [])


@dataclass
class Book:
    """Remembers what it is told, in order."""

    told: list[tuple[str, object]] = field(default_factory=list)

    def note_queries(self) -> int:
        self.told.append(("queries", None))
        return 3

    def replace(self, rules: str, drafts: Sequence[tuple[ReviewedDraft, Sequence[Evidence]]]) -> int:
        self.told.append(("replace", (rules, list(drafts))))
        return sum(len(evidence) for _, evidence in drafts)

    def note_searches(self, rules: str) -> int:
        self.told.append(("searches", rules))
        return 4

    def judge(self, as_of: datetime, rules: str) -> int:
        self.told.append(("judge", (as_of, rules)))
        return 5

    @property
    def evidence(self) -> list[Evidence]:
        return [each for step, what in self.told if step == "replace" for _, found in what[1] for each in found]  # type: ignore[index]


def test_queries_come_first_then_drafts_then_searches_and_judgments_last() -> None:
    book, drafts, heard = Book(), Drafts([[ACCEPTED], [CITING]]), list[int]()
    report = harvest(
        drafts=drafts,
        knowledge=Knowledge({TENANT: chunks()}),
        book=book,
        as_of=DECIDED,
        on_progress=heard.append,
    )
    rules = harvest_rules(is_mapped=True)
    assert [step for step, _ in book.told] == ["queries", "replace", "replace", "searches", "judge"]
    assert drafts.asked == [rules]
    assert book.told[-2:] == [("searches", rules), ("judge", (DECIDED, LABEL_RULES))]
    assert heard == [1, 1]
    assert report.counts == {
        "queries_changed": 3,
        "drafts": 2,
        "evidence/cited": 1,
        "evidence/supports_new": 0,
        "evidence/light_edit": 0,
        "evidence/accepted": 1,
        "evidence/kept_only": 0,
        "evidence/removed_only": 0,
        "evidence/wrong_source": 0,
        "evidence_appended": 2,
        "search_evidence_appended": 4,
        "judgments_changed": 5,
        "knowledge_base_mapped": 1,
    }


def test_a_draft_that_says_nothing_counts_as_harvested() -> None:
    book = Book()
    silent = reviewed(LENDING, event=event(unused=["pinjam-buku"]))
    harvest(drafts=Drafts([[silent]]), knowledge=Knowledge({TENANT: chunks()}), book=book, as_of=DECIDED)
    assert ("replace", (harvest_rules(is_mapped=True), [(silent, [])])) in book.told


def test_without_a_knowledge_base_citations_are_left_and_the_report_says_so() -> None:
    book, drafts = Book(), Drafts([[ACCEPTED, CITING]])
    report = harvest(drafts=drafts, knowledge=Knowledge(None), book=book, as_of=DECIDED)
    assert [each.kind for each in book.evidence] == [EvidenceKind.CITED]
    assert drafts.asked == [harvest_rules(is_mapped=False)]
    assert report.counts["knowledge_base_mapped"] == 0


def test_each_draft_is_read_beside_the_knowledge_base_of_its_own_tenant() -> None:
    foreign = replace(ACCEPTED, tenant=OTHER)
    book = Book()
    bases = {TENANT: chunks(), OTHER: [chunk("ruang-diskusi", tenant=OTHER)]}
    harvest(drafts=Drafts([[foreign, ACCEPTED]]), knowledge=Knowledge(bases), book=book, as_of=DECIDED)
    assert [(each.tenant, each.doc_id) for each in book.evidence] == [(TENANT, "pinjam-buku")]


def test_the_drafts_of_one_tenant_are_read_together_and_its_knowledge_once() -> None:
    tenants = [Tenant(org_id=UUID(int=1), specialist_id=UUID(int=number)) for number in (2, 3)]
    mixed = [replace(ACCEPTED, tenant=tenants[number % 2], message_id=UUID(int=number)) for number in range(6)]
    knowledge = Knowledge({})
    harvest(drafts=Drafts([mixed, mixed]), knowledge=knowledge, book=Book(), as_of=DECIDED)
    assert knowledge.read == tenants
    assert [draft.message_id.int for draft in by_tenant(mixed)] == [0, 2, 4, 1, 3, 5]


@pytest.mark.parametrize(("kept", "reads"), [(1, [0, 1, 0]), (2, [0, 1])])
def test_few_knowledge_bases_are_kept_and_the_one_unused_longest_goes(kept: int, reads: list[int]) -> None:
    tenants = [Tenant(org_id=UUID(int=1), specialist_id=UUID(int=number)) for number in range(2)]
    knowledge = Knowledge({})
    shelf = KnowledgeShelf(knowledge, kept=kept)
    for number in (0, 1, 0, 0):
        shelf.of(tenants[number])
    assert knowledge.read == [tenants[number] for number in reads]


def test_steps_that_are_given_one_shelf_read_a_tenant_once() -> None:
    knowledge = Knowledge({TENANT: chunks()})
    shelf = KnowledgeShelf(knowledge)
    for _ in range(2):
        book = Book()
        harvest(drafts=Drafts([[ACCEPTED]]), knowledge=shelf, book=book, as_of=DECIDED)
        assert [each.doc_id for each in book.evidence] == ["pinjam-buku"]
    assert knowledge.read == [TENANT]
    assert list(shelf.chunks(TENANT)) == chunks()
