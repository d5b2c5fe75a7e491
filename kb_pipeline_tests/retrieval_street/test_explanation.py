"""One judgment explained down to its evidence, and a person's word that settles it."""

from datetime import UTC, datetime, timedelta

import pytest

from kb_pipeline.adapters.postgres.connection import Database
from kb_pipeline.adapters.postgres.retrieval.explanation import JudgmentExplanation, explain_judgment
from kb_pipeline.adapters.postgres.retrieval.pairs import UnknownPair
from kb_pipeline.adapters.postgres.retrieval.settlement import settle_judgment
from kb_pipeline.errors import KbPipelineError
from kb_pipeline.records import Evidence, EvidenceKind, JudgmentStatus, Tenant
from kb_pipeline.retrieval.queries import query_sha
from kb_pipeline_tests.builders import table
from kb_pipeline_tests.retrieval.pieces import evidence
from kb_pipeline_tests.retrieval_street.application import OTHER, TENANT, Application
from kb_pipeline_tests.retrieval_street.book import book, judge, judgments, keep

pytestmark = pytest.mark.postgres

ACCEPTED, CITED, SETTLED, WRONG = (
    EvidenceKind.ACCEPTED,
    EvidenceKind.CITED,
    EvidenceKind.SETTLED,
    EvidenceKind.WRONG_SOURCE,
)
NOW = datetime.now(UTC)
QUERY = "Berapa biaya pendaftaran?"


def said(kind: EvidenceKind, weight: float, conversation: int | None = None, **changes: object) -> Evidence:
    given = {"query_sha": query_sha(QUERY), "doc_id": "biaya", "observed_at": NOW - timedelta(days=2), **changes}
    return evidence(kind, weight, conversation=conversation, **given)


def asked(database: Database, tenant: Tenant = TENANT) -> None:
    """The query, asked once by this tenant."""
    Application(database, tenant).retrieval(NOW - timedelta(days=3), ["biaya", "syarat"], query=QUERY)
    book(database).note_queries()


def explained(database: Database, **changes: object) -> JudgmentExplanation:
    given = {"query": QUERY, "doc_id": "biaya", **changes}
    return explain_judgment(database, **given)  # type: ignore[arg-type]


def standings(explanation: JudgmentExplanation) -> list[tuple[str, str]]:
    return [(str(each.evidence.kind), str(each.standing)) for each in explanation.evidence]


def test_every_piece_of_evidence_says_what_it_counts_for(database: Database) -> None:
    asked(database)
    application = Application(database)
    application.chunk("biaya", "Biaya pendaftaran.", NOW - timedelta(days=30))
    keep(
        database,
        [
            said(CITED, 1.0, 1, observed_at=NOW - timedelta(days=40)),
            said(ACCEPTED, 0.5, 2, observed_at=NOW - timedelta(days=9)),
            said(ACCEPTED, 0.5, 2, observed_at=NOW - timedelta(days=8)),
            said(WRONG, -0.5, 2, observed_at=NOW - timedelta(days=7)),
            said(ACCEPTED, 0.5, 3, observed_at=NOW - timedelta(days=6)),
            said(SETTLED, -1.0, observed_at=NOW - timedelta(days=5)),
            said(SETTLED, 1.0, observed_at=NOW - timedelta(days=4)),
        ],
    )
    with database.connect() as connection:
        connection.execute("UPDATE kb_evidence SET superseded_at = now() WHERE conversation_id = %s", (f"{3:032x}",))
    judge(database, NOW)
    explanation = explained(database)
    assert standings(explanation) == [
        ("cited", "outdated"),
        ("accepted", "weaker"),
        ("accepted", "counts"),
        ("wrong_source", "counts"),
        ("accepted", "superseded"),
        ("settled", "older_word"),
        ("settled", "counts"),
    ]
    assert explanation.is_up_to_date
    assert explanation.stored is not None
    assert (explanation.stored["status"], explanation.stored["grade"]) == ("judged", 2)
    word = explanation.evidence[-1]
    assert (word.author, word.reason, word.mass <= 1) == ("Ratna", "read it", True)
    counted = [each for each in explanation.evidence if str(each.standing) == "counts"]
    positive = sum(each.mass for each in counted if each.evidence.weight > 0)
    assert explanation.stored["positive"] == pytest.approx(positive, abs=1e-6)


def test_a_judgment_that_the_next_harvest_will_change_says_so(database: Database) -> None:
    asked(database)
    keep(database, [said(ACCEPTED, 0.5, 1)])
    assert not explained(database).is_up_to_date
    judge(database, NOW)
    assert explained(database).is_up_to_date
    keep(database, [said(CITED, 1.0, 2)])
    later = explained(database)
    assert (later.is_up_to_date, later.current.grade) == (False, 3)
    assert later.stored is not None
    assert later.stored["status"] == "insufficient"


def test_the_reading_of_a_querys_words_is_recorded_and_that_of_a_tombstone_is_not(database: Database) -> None:
    asked(database)
    keep(database, [said(CITED, 1.0, 1)])
    assert explained(database).query == QUERY
    record = "SELECT actor, purpose, bodies, body_bytes FROM kb_access_record"
    assert table(database, record) == [("kb_pipeline_tests", "ground-truth explain", 1, len(QUERY))]
    with database.connect() as connection:
        connection.execute("UPDATE kb_query SET query = NULL, text_expired_at = now()")
    assert explained(database).query is None
    assert len(table(database, record)) == 1


def test_a_query_is_found_by_its_words_in_any_dress_or_by_its_hash(database: Database) -> None:
    asked(database)
    keep(database, [said(CITED, 1.0, 1)])
    assert explained(database, query=" BERAPA biaya  pendaftaran").doc_id == "biaya"
    assert explained(database, query=None, query_sha=query_sha(QUERY)).doc_id == "biaya"
    with pytest.raises(ValueError, match="either"):
        explained(database, query_sha=query_sha(QUERY))


def test_what_is_not_known_is_said_in_a_sentence_that_repeats_no_query(database: Database) -> None:
    with pytest.raises(UnknownPair, match="kb_query has no such query; case") as unknown:
        explained(database)
    assert "biaya" not in str(unknown.value)
    asked(database)
    with pytest.raises(UnknownPair, match="nothing is known of this document for this query: it has evidence of no"):
        explained(database)
    keep(database, [said(CITED, 1.0, 1, doc_id="syarat")])
    with pytest.raises(UnknownPair, match="it has evidence of syarat"):
        explained(database)
    with pytest.raises(UnknownPair, match="no such query of this tenant"):
        explained(database, tenant=OTHER)


def test_a_query_of_several_tenants_needs_the_tenant_unless_one_alone_has_evidence(database: Database) -> None:
    for tenant in (TENANT, OTHER):
        asked(database, tenant)
    keep(database, [said(CITED, 1.0, 1, tenant=OTHER)])
    assert explained(database).tenant == OTHER
    keep(database, [said(WRONG, -0.5, 1)])
    with pytest.raises(UnknownPair, match="2 tenants were asked this query"):
        explained(database)
    assert [each.evidence.weight for each in explained(database, tenant=TENANT).evidence] == [-0.5]


def settle(database: Database, *, relevant: bool, **changes: object) -> None:
    given = {"query": QUERY, "doc_id": "biaya", "author": "Ratna", "reason": "Tabel biaya ada di sana.", **changes}
    settle_judgment(database, is_relevant=relevant, **given)  # type: ignore[arg-type]


def test_a_persons_word_settles_a_conflict_from_the_next_harvest_on(database: Database) -> None:
    asked(database)
    keep(database, [said(ACCEPTED, 0.5, n) for n in (1, 2)] + [said(WRONG, -0.5, n) for n in (3, 4)])
    judge(database, NOW)
    assert explained(database).current.status is JudgmentStatus.CONFLICT
    settle(database, relevant=False)
    waiting = explained(database)
    assert (waiting.is_up_to_date, waiting.current.grade) == (False, 0)
    judge(database, NOW)
    assert [row["grade"] for row in judgments(database).values()] == [0]
    settle(database, relevant=True)
    judge(database, NOW)
    assert [row["grade"] for row in judgments(database).values()] == [2]
    words = "SELECT weight, author, reason, superseded_at FROM kb_evidence WHERE kind = 'settled' ORDER BY 1"
    assert table(database, words) == [
        (-1.0, "Ratna", "Tabel biaya ada di sana.", None),
        (1.0, "Ratna", "Tabel biaya ada di sana.", None),
    ]


def test_a_word_speaks_of_the_version_in_force(database: Database) -> None:
    asked(database)
    changed = NOW - timedelta(days=30)
    application = Application(database)
    application.chunk("biaya", "Dulu.", changed - timedelta(days=30), valid_to=changed)
    application.chunk("biaya", "Kini.", changed, chunk_id="biaya-2")
    settle(database, relevant=True)
    assert table(database, "SELECT document_from FROM kb_evidence") == [(changed,)]


def test_a_document_that_nobody_knows_cannot_be_settled(database: Database) -> None:
    asked(database)
    Application(database).chunk("biaya", "Biaya.", NOW - timedelta(days=30))
    with pytest.raises(UnknownPair, match="knowledge base of this tenant has no such document now"):
        settle(database, relevant=True, doc_id="byaya")
    with database.connect() as connection:
        connection.execute("DROP VIEW kb_source.kb_chunk")
    with pytest.raises(UnknownPair, match="no result and no evidence of this tenant names such a document"):
        settle(database, relevant=True, doc_id="byaya")
    settle(database, relevant=True, doc_id="syarat")
    assert table(database, "SELECT doc_id, document_from FROM kb_evidence") == [("syarat", None)]


def test_a_word_needs_somebody_and_a_reason(database: Database) -> None:
    asked(database)
    for missing in ({"author": " "}, {"reason": ""}):
        with pytest.raises(KbPipelineError, match="give both an author and a reason"):
            settle(database, relevant=True, **missing)
    assert table(database, "SELECT count(*) FROM kb_evidence") == [(0,)]
