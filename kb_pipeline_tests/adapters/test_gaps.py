"""The book of gaps: the same again touches nothing, subjects follow what was found, two tenants share no task."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from kb_pipeline.adapters.postgres.connection import Database
from kb_pipeline.adapters.postgres.retrieval.gaps import SUBJECT_DAYS, PostgresGaps
from kb_pipeline.records import GapKind, GapStatement, RetrievalGap, ReviewedDraft, Tenant
from kb_pipeline.retrieval.queries import query_sha
from kb_pipeline_tests.builders import table
from kb_pipeline_tests.retrieval.reading_room import reviewed
from kb_pipeline_tests.retrieval_street.application import OTHER, TENANT, Application

pytestmark = pytest.mark.postgres

NOW = datetime.now(UTC).replace(microsecond=0)
RULES = "gap-test"
PETS = "Di mana menitipkan hewan peliharaan?"
SAME = "hewan peliharaan dititipkan di mana"
TOUCHED = "SELECT xmin::text, message_id FROM kb_retrieval_gap ORDER BY 2"
SUBJECTS = "SELECT message_id, subject FROM kb_retrieval_gap ORDER BY 1"


def found(
    number: int,
    kind: GapKind = GapKind.KB_GAP,
    *,
    doc_id: str | None = None,
    query: str = PETS,
    at: datetime = NOW,
    tenant: Tenant = TENANT,
    **changes: Any,
) -> tuple[ReviewedDraft, RetrievalGap]:
    """A draft and its diagnosis, each of a conversation of its own."""
    statement = GapStatement(position=0, kind=kind, support=0.25, doc_id=doc_id, rank=2 if doc_id else None)
    gap = RetrievalGap(
        message_id=UUID(int=number),
        tenant=tenant,
        conversation_id=UUID(int=1000 + number),
        event_id=UUID(int=2000 + number),
        correction_id=UUID(int=3000 + number),
        query_sha=query_sha(query),
        engine="hybrid",
        kind=kind,
        is_deep=False,
        decided_at=at,
        statement=statement,
        statements=(statement,),
    )
    return reviewed("Izin keluar berlaku tiga puluh hari.", message_id=gap.message_id, tenant=tenant), replace(
        gap, **changes
    )


def asked(database: Database, number: int, query: str, at: datetime = NOW, tenant: Tenant = TENANT) -> None:
    """The retrieval behind a diagnosis."""
    Application(database, tenant).retrieval(at, id=UUID(int=2000 + number), query=query)


def subjects(database: Database) -> dict[int, str | None]:
    return {message_id.int: subject for message_id, subject in table(database, SUBJECTS)}


def save(database: Database, gaps: Sequence[tuple[ReviewedDraft, RetrievalGap]]) -> int:
    """Keep the diagnoses of drafts that have their outcomes."""
    known = {message_id for (message_id,) in table(database, "SELECT message_id FROM kb_draft_outcome")}
    for _, gap in gaps:
        if gap.message_id not in known:
            Application(database, gap.tenant).outcome(gap.message_id, gap.decided_at)
    return PostgresGaps(database).save(gaps, RULES)


def test_a_diagnosis_is_kept_with_all_its_statements_and_no_word_of_a_text(database: Database) -> None:
    worst = GapStatement(position=1, kind=GapKind.RANKING_GAP, support=0.75, doc_id="izin", chunk_id="izin-1", rank=4)
    other = GapStatement(position=0, kind=GapKind.NONE, support=0.5)
    gap = found(1, GapKind.RANKING_GAP, is_deep=False, statement=worst, statements=(other, worst))
    assert save(database, [gap]) == 1
    (row,) = table(
        database,
        "SELECT kind, is_deep, support, doc_id, chunk_id, rank, pool_rank, statements, source_state, rule_version,"
        " subject, engine, query_sha, event_id, correction_id, decided_at, org_id, specialist_id FROM kb_retrieval_gap",
    )
    assert row[:7] == ("ranking_gap", False, 0.75, "izin", "izin-1", 4, None)
    assert row[7] == [
        {
            "position": 0,
            "kind": "none",
            "support": 0.5,
            "doc_id": None,
            "chunk_id": None,
            "rank": None,
            "pool_rank": None,
        },
        {
            "position": 1,
            "kind": "ranking_gap",
            "support": 0.75,
            "doc_id": "izin",
            "chunk_id": "izin-1",
            "rank": 4,
            "pool_rank": None,
        },
    ]
    assert row[8:11] == ("state", RULES, None)
    assert row[11:] == (
        "hybrid",
        query_sha(PETS),
        UUID(int=2001),
        UUID(int=3001),
        NOW,
        TENANT.org_id,
        TENANT.specialist_id,
    )


def test_the_same_diagnosis_again_touches_no_row_and_another_one_changes_it(database: Database) -> None:
    gaps = [found(1), found(2, GapKind.NONE, statement=None, statements=())]
    assert save(database, gaps) == 2
    before = table(database, TOUCHED)
    assert save(database, gaps) == 0
    assert table(database, TOUCHED) == before
    assert save(database, [found(1, GapKind.RECALL_GAP, doc_id="izin"), gaps[1]]) == 1
    assert table(database, "SELECT kind FROM kb_retrieval_gap ORDER BY message_id") == [("recall_gap",), ("none",)]
    assert save(database, []) == 0


def test_withdrawn_diagnoses_are_gone(database: Database) -> None:
    first, second = found(1), found(2)
    save(database, [first, second])
    book = PostgresGaps(database)
    assert book.withdraw([first[0], found(3)[0]]) == 1
    assert table(database, "SELECT message_id FROM kb_retrieval_gap") == [(UUID(int=2),)]
    assert book.withdraw([]) == 0


def test_a_gap_of_a_document_is_about_the_document_and_one_of_the_knowledge_base_about_its_first_query(
    database: Database,
) -> None:
    asked(database, 1, SAME)
    asked(database, 2, PETS)
    save(
        database,
        [
            found(1, query=SAME, at=NOW - timedelta(hours=1)),
            found(2),
            found(3, GapKind.RANKING_GAP, doc_id="izin"),
            found(4, GapKind.UNDETERMINED, doc_id="izin"),
            found(5, GapKind.NONE),
        ],
    )
    book = PostgresGaps(database)
    assert book.name_subjects() == 3
    first = query_sha(SAME)
    assert subjects(database) == {1: first, 2: first, 3: "izin", 4: None, 5: None}
    before = table(database, TOUCHED)
    assert book.name_subjects() == 0
    assert table(database, TOUCHED) == before


def test_words_that_the_event_lost_are_taken_from_the_noted_query(database: Database) -> None:
    asked(database, 1, SAME)
    asked(database, 2, "")
    with database.connect() as connection:
        connection.execute(
            "INSERT INTO kb_query (org_id, specialist_id, query_sha, query, first_seen_at, last_seen_at)"
            " VALUES (%s, %s, %s, %s, %s, %s)",
            [TENANT.org_id, TENANT.specialist_id, query_sha(PETS), PETS, NOW, NOW],
        )
    save(database, [found(1, query=SAME, at=NOW - timedelta(hours=1)), found(2)])
    PostgresGaps(database).name_subjects()
    assert subjects(database) == {1: query_sha(SAME), 2: query_sha(SAME)}


def test_a_diagnosis_that_became_another_loses_its_subject_until_it_is_named_again(database: Database) -> None:
    book = PostgresGaps(database)
    save(database, [found(1)])
    book.name_subjects()
    save(database, [found(1, engine="keyword")])
    assert subjects(database) == {1: query_sha(PETS)}
    save(database, [found(1, GapKind.UNDETERMINED)])
    assert subjects(database) == {1: None}
    assert book.name_subjects() == 0


def test_old_diagnoses_keep_their_subject_and_are_not_looked_at_again(database: Database) -> None:
    long_ago = NOW - timedelta(days=SUBJECT_DAYS, hours=1)
    save(database, [found(1, at=long_ago)])
    book = PostgresGaps(database)
    assert book.name_subjects() == 1
    asked(database, 1, PETS, long_ago)
    asked(database, 2, SAME)
    save(database, [found(2, query=SAME)])
    assert book.name_subjects() == 1
    assert subjects(database) == {1: query_sha(PETS), 2: query_sha(SAME)}


def test_a_task_appears_from_two_conversations_on(database: Database) -> None:
    book = PostgresGaps(database)
    same_conversation = found(2)[1].conversation_id
    save(database, [found(1, conversation_id=same_conversation), found(2)])
    book.name_subjects()
    assert book.tasks() == 0
    save(database, [found(3)])
    book.name_subjects()
    assert book.tasks() == 1
    assert table(database, "SELECT kind, subject, conversations, gaps FROM kb_gap_task") == [
        ("kb_gap", query_sha(PETS), 2, 3)
    ]


def test_gaps_of_two_tenants_are_never_one_task(database: Database) -> None:
    half = Tenant(org_id=TENANT.org_id, specialist_id=OTHER.specialist_id)
    for number, tenant in enumerate((TENANT, OTHER, half), 1):
        asked(database, number, PETS, tenant=tenant)
        save(
            database, [found(number, tenant=tenant), found(10 + number, GapKind.RECALL_GAP, doc_id="a", tenant=tenant)]
        )
    book = PostgresGaps(database)
    book.name_subjects()
    assert book.tasks() == 0


def test_the_graders_role_may_keep_them(database: Database) -> None:
    grader = Database(database.url.render_as_string(hide_password=False), role="kb_grader")
    try:
        book = PostgresGaps(grader)
        assert save(grader, [found(1)]) == 1
        assert (book.name_subjects(), book.tasks()) == (1, 0)
        assert book.withdraw([found(1)[0]]) == 1
    finally:
        grader.dispose()
