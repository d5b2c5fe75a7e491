"""Ground truth in the database: SQL says what the rules say, of the documents in force, and never across tenants."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import product
from uuid import UUID, uuid4

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kb_pipeline.adapters.postgres.connection import Database
from kb_pipeline.records import Evidence, EvidenceKind, Tenant
from kb_pipeline.retrieval.labels import judge as judge_purely
from kb_pipeline.retrieval.queries import query_sha
from kb_pipeline_tests.builders import table
from kb_pipeline_tests.retrieval.pieces import AS_OF, SHA, TENANT, ago, evidence, pieces
from kb_pipeline_tests.retrieval_street.application import Application
from kb_pipeline_tests.retrieval_street.book import book, judge, judgments, keep, race

pytestmark = pytest.mark.postgres

ACCEPTED, CITED, SETTLED, WRONG = (
    EvidenceKind.ACCEPTED,
    EvidenceKind.CITED,
    EvidenceKind.SETTLED,
    EvidenceKind.WRONG_SOURCE,
)
NEIGHBOUR = Tenant(org_id=UUID(int=1), specialist_id=UUID(int=9))
STRANGER = Tenant(org_id=UUID(int=8), specialist_id=UUID(int=2))
KEY = (TENANT.org_id, SHA, "izin")
Pair = tuple[Tenant, str, str]

pairs = st.tuples(
    st.sampled_from([TENANT, STRANGER]), st.sampled_from([SHA, query_sha("lain")]), st.sampled_from(["izin", "paspor"])
)


@given(st.dictionaries(pairs, st.lists(pieces(), min_size=1, max_size=9)))
@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_the_database_judges_as_the_rules_do(database: Database, planted: Mapping[Pair, Sequence[Evidence]]) -> None:
    with database.connect() as connection:
        connection.execute("TRUNCATE kb_evidence")
    of_pair = {
        pair: [replace(each, tenant=pair[0], query_sha=pair[1], doc_id=pair[2]) for each in given_evidence]
        for pair, given_evidence in planted.items()
    }
    keep(database, [each for given_evidence in of_pair.values() for each in given_evidence])
    judge(database)
    kept = judgments(database)
    assert len(kept) == len(planted)
    for (tenant, sha, doc_id), given_evidence in of_pair.items():
        row, expected = kept[tenant.org_id, sha, doc_id], judge_purely(given_evidence, AS_OF)
        assert (row["status"], row["grade"], row["conversations"]) == (
            str(expected.status),
            expected.grade,
            expected.conversations,
        )
        assert (row["positive"], row["negative"], row["p"]) == (expected.positive, expected.negative, expected.p)
        words = [each for each in given_evidence if each.kind is SETTLED]
        counted = [each for each in given_evidence if each.kind is not SETTLED]
        assert row["evidence_count"] == len(counted) + bool(words)
        assert row["kinds"] == sorted({each.kind.value for each in given_evidence})


def test_the_database_judges_every_mix_of_masses_as_the_rules_do(database: Database) -> None:
    """Masses up to one and a half on either side, in steps that meet every threshold."""
    of_document = {}
    for positive, negative in product(range(31), repeat=2):
        doc_id = f"{positive}-{negative}"
        halves = [(ACCEPTED, positive // 2, 1), (ACCEPTED, positive - positive // 2, 2)]
        halves += [(WRONG, -(negative // 2), 3), (WRONG, negative // 2 - negative, 4)]
        said = [
            evidence(kind, steps / 20, conversation=number, doc_id=doc_id) for kind, steps, number in halves if steps
        ]
        if said:
            of_document[doc_id] = said
    keep(database, [each for said in of_document.values() for each in said])
    judge(database)
    rows = {doc_id: (row["status"], row["grade"]) for (_, _, doc_id), row in judgments(database).items()}
    expected = {doc_id: judge_purely(said, AS_OF) for doc_id, said in of_document.items()}
    assert rows == {doc_id: (str(judgment.status), judgment.grade) for doc_id, judgment in expected.items()}
    assert {grade for _, grade in rows.values()} == {None, 0, 1, 2}
    assert {status for status, _ in rows.values()} == {"judged", "conflict", "insufficient"}


def test_two_tenants_with_one_query_and_opposite_experts_have_opposite_judgments(database: Database) -> None:
    for tenant, kind, weight in ((TENANT, CITED, 1.0), (NEIGHBOUR, WRONG, -0.5), (STRANGER, WRONG, -0.5)):
        keep(database, [evidence(kind, weight, conversation=number, tenant=tenant) for number in (1, 2)])
    judge(database)
    grades = table(database, "SELECT org_id, specialist_id, grade, evidence_count FROM kb_ground_truth")
    assert {(org, specialist): (grade, count) for org, specialist, grade, count in grades} == {
        (TENANT.org_id, TENANT.specialist_id): (3, 2),
        (NEIGHBOUR.org_id, NEIGHBOUR.specialist_id): (0, 2),
        (STRANGER.org_id, STRANGER.specialist_id): (0, 2),
    }


def test_judging_again_on_the_same_day_touches_no_row(database: Database) -> None:
    keep(database, [evidence(CITED, 1.0, conversation=1, observed_at=ago(10))])
    assert judge(database, AS_OF + timedelta(hours=1)) == 1
    first = judgments(database)
    assert judge(database, AS_OF + timedelta(hours=23)) == 0
    assert judgments(database) == first
    assert judge(database, AS_OF + timedelta(hours=25)) == 1
    row = judgments(database)[KEY]
    assert row["as_of"] == AS_OF + timedelta(days=1)
    assert row["positive"] < first[KEY]["positive"]
    assert row["created_at"] == first[KEY]["created_at"] < row["updated_at"]


def test_a_judgment_leaves_with_the_last_of_its_evidence(database: Database) -> None:
    keep(database, [evidence(CITED, 1.0), evidence(CITED, 1.0, doc_id="paspor")])
    judge(database)
    with database.connect() as connection:
        connection.execute("UPDATE kb_evidence SET superseded_at = now() WHERE doc_id = 'izin'")
    assert judge(database) == 1
    assert [doc_id for _, _, doc_id in judgments(database)] == ["paspor"]


@pytest.mark.parametrize(
    ("document_from", "changes", "counts"),
    [
        (ago(100), [], True),
        (ago(100), [("izin-1", ago(100), ago(20)), ("izin-1", ago(20), None)], False),
        (ago(20), [("izin-1", ago(100), ago(20)), ("izin-1", ago(20), None)], True),
        (None, [("izin-1", ago(100), ago(20)), ("izin-1", ago(20), None)], True),
        (None, [("izin-1", ago(100), ago(5)), ("izin-1", ago(5), None)], False),
        (ago(100), [("izin-1", ago(100), None), ("izin-2", ago(100), ago(5))], False),
        (ago(100), [("izin-1", ago(100), None), ("izin-2", ago(300), ago(100))], True),
        (ago(100), [("izin-1", ago(100), None), ("izin-2", ago(5), None)], False),
        (None, [("izin-1", ago(100), None), ("izin-2", ago(5), None)], False),
        (ago(100), [("izin-1", ago(100), ago(5))], False),
        (ago(100), [("izin-1", ago(100), None), ("izin-1", ago(-5), None)], True),
    ],
    ids=[
        "not in the knowledge base",
        "changed since",
        "changed before",
        "no version known, changed before",
        "no version known, changed since",
        "a chunk was taken out since",
        "a chunk was taken out before",
        "a chunk was added since",
        "no version known, a chunk was added since",
        "deleted since",
        "a change that is yet to come",
    ],
)
def test_a_changed_document_drops_its_evidence(
    database: Database,
    document_from: datetime | None,
    changes: list[tuple[str, datetime, datetime | None]],
    *,
    counts: bool,
) -> None:
    """Ten days ago an expert cited it; every change is seen from there."""
    application = Application(database, TENANT)
    application.chunk("lain", "Paspor.", ago(900))
    for chunk_id, valid_from, valid_to in changes:
        application.chunk("izin", "Izin keluar.", valid_from, chunk_id=chunk_id, valid_to=valid_to)
    keep(database, [evidence(CITED, 1.0, document_from=document_from, observed_at=ago(10))])
    judge(database)
    assert (KEY in judgments(database)) is (counts and bool(changes))


def test_a_word_on_an_old_version_settles_nothing_of_the_new_one(database: Database) -> None:
    application = Application(database, TENANT)
    application.chunk("izin", "Izin keluar.", ago(5), chunk_id="izin-2")
    keep(database, [evidence(SETTLED, -1.0, document_from=ago(50), observed_at=ago(10))])
    keep(database, [evidence(CITED, 1.0, conversation=1, document_from=ago(5), observed_at=ago(1))])
    judge(database)
    assert judgments(database)[KEY]["grade"] == 3


def test_of_a_tenant_that_the_view_does_not_show_at_all_all_evidence_counts(database: Database) -> None:
    Application(database, STRANGER).chunk("izin", "Izin keluar.", ago(5))
    keep(database, [evidence(CITED, 1.0, document_from=ago(10), observed_at=ago(10))])
    keep(database, [evidence(CITED, 1.0, document_from=ago(10), observed_at=ago(10), tenant=STRANGER)])
    judge(database)
    assert list(judgments(database)) == [KEY]


def test_without_a_mapped_knowledge_base_all_evidence_counts(database: Database) -> None:
    with database.connect() as connection:
        connection.execute("DROP VIEW kb_source.kb_chunk")
    keep(database, [evidence(CITED, 1.0, document_from=ago(10), observed_at=ago(10))])
    judge(database)
    assert judgments(database)[KEY]["grade"] == 3


def plant_self_made(database: Database, tenant: Tenant = TENANT) -> UUID:
    """A draft for "Izin keluar?", its correction, and the article that was written from it."""
    application = Application(database, tenant)
    at = datetime.now(UTC) - timedelta(days=3)
    message_id = application.served(at, query="Izin keluar?")
    application.correct(message_id, at + timedelta(hours=1), "Izin keluar berlaku tiga puluh hari.")
    [(correction_id,)] = table(database, "SELECT id FROM upstream.corrections WHERE message_id = %s", message_id)
    application.chunk("buatan", "Tiga puluh hari.", at + timedelta(days=1), source_correction_id=correction_id)
    application.chunk("lama", "Tiga puluh hari.", at - timedelta(days=9))
    book(database).note_queries()
    return message_id


def test_a_document_written_from_a_correction_of_the_query_is_marked_as_self_made(database: Database) -> None:
    message_id = plant_self_made(database)
    now = datetime.now(UTC)
    for doc_id in ("buatan", "lama"):
        for query in ("izin keluar", "izin masuk"):
            keep(database, [evidence(CITED, 1.0, query_sha=query_sha(query), doc_id=doc_id, observed_at=now)])
    judge(database, now)
    marked = {(sha, doc) for (_, sha, doc), row in judgments(database).items() if row["self_made"]}
    assert marked == {(query_sha("izin keluar"), "buatan")}
    # The evidence of the draft outlives its event.
    keep(
        database,
        [
            evidence(
                CITED, 1.0, query_sha=query_sha("izin keluar"), doc_id="lain", observed_at=now, message_id=message_id
            )
        ],
    )
    with database.connect() as connection:
        connection.execute("DELETE FROM kb_retrieval_event")
    judge(database, now)
    assert judgments(database)[TENANT.org_id, query_sha("izin keluar"), "buatan"]["self_made"]


def test_self_made_is_a_matter_of_one_tenant(database: Database) -> None:
    plant_self_made(database, TENANT)
    now = datetime.now(UTC)
    [(correction_id,)] = table(database, "SELECT id FROM upstream.corrections")
    stranger = Application(database, STRANGER)
    stranger.chunk("buatan", "Tiga puluh hari.", now - timedelta(days=9), source_correction_id=correction_id)
    keep(
        database,
        [evidence(CITED, 1.0, tenant=STRANGER, query_sha=query_sha("izin keluar"), doc_id="buatan", observed_at=now)],
    )
    judge(database, now)
    assert [row["self_made"] for row in judgments(database).values()] == [False]


def test_the_grader_may_judge(database: Database) -> None:
    plant_self_made(database)
    keep(database, [evidence(CITED, 1.0, doc_id="lama", observed_at=datetime.now(UTC))])
    grader = Database(database.url.render_as_string(hide_password=False), role="kb_grader")
    assert judge(grader, datetime.now(UTC)) == 1
    grader.dispose()


def test_two_who_judge_at_once_take_turns(database: Database) -> None:
    keep(database, [evidence(ACCEPTED, 0.5, conversation=n, doc_id=f"d{n % 50}") for n in range(500)])
    assert sorted(race(lambda: judge(database))) == [0, 50]


def test_evidence_that_says_what_no_rule_may_say_is_refused(database: Database) -> None:
    for weight in (0.0, 1.01, float("nan")):
        with pytest.raises(Exception, match="kb_evidence_weight_check"):
            keep(database, [evidence(CITED, weight)])
    with pytest.raises(Exception, match="kb_evidence_settled_by_somebody"), database.connect() as connection:
        connection.execute(
            "INSERT INTO kb_evidence"
            " (org_id, specialist_id, query_sha, doc_id, kind, weight, observed_at, rule_version)"
            " VALUES (%s, %s, %s, 'izin', 'settled', 1, now(), 'r')",
            (uuid4(), uuid4(), SHA),
        )
