"""The ground truth of an earlier instant."""

from datetime import datetime, timedelta

from kb_pipeline.adapters.postgres.connection import Database
from kb_pipeline.adapters.postgres.retrieval.evidence import PostgresEvidence
from kb_pipeline.harness import PostgresQuerySource
from kb_pipeline.retrieval.labels import RULE_VERSION
from kb_pipeline_tests.builders import table
from kb_pipeline_tests.harness.planting import (
    AS_OF,
    CUSTOMS,
    DEED,
    FEE,
    NOTARY,
    OBSERVED,
    observe,
    plant_chunk,
    plant_query,
)

DAY = timedelta(days=1)


def judge(database: Database, as_of: datetime) -> None:
    """Bring the ground truth up to date, as a harvest does."""
    PostgresEvidence(database, preview=lambda text: text).judge(as_of, RULE_VERSION)


def test_only_what_had_been_observed_by_then_counts(database: Database) -> None:
    sha = plant_query(database, NOTARY, FEE)
    observe(database, NOTARY, sha, "fees", ("accepted", 0.5))
    observe(database, NOTARY, sha, "fees", ("accepted", 0.5), at=OBSERVED + 2 * DAY, conversation=2)
    observe(database, NOTARY, sha, "fees", ("cited", 1.0), at=OBSERVED + 4 * DAY, conversation=3)

    def grades(days: int) -> object:
        return PostgresQuerySource(database, NOTARY, as_of=OBSERVED + days * DAY).judgments()

    assert [grades(days) for days in (-1, 0, 3, 5)] == [{}, {}, {sha: {"fees": 1}}, {sha: {"fees": 3}}]


def test_as_of_now_it_is_the_ground_truth_that_a_harvest_leaves(database: Database) -> None:
    for tenant in (NOTARY, CUSTOMS):
        for query in (FEE, DEED):
            sha = plant_query(database, tenant, query)
            observe(database, tenant, sha, "cited", ("cited", 1.0))
            observe(database, tenant, sha, "cited", ("removed_only", -0.4), conversation=2)
            observe(database, tenant, sha, "wrong", ("wrong_source", -0.5))
            observe(database, tenant, sha, "wrong", ("removed_only", -0.4), conversation=2)
            observe(database, tenant, sha, "disputed", ("light_edit", 0.7))
            observe(database, tenant, sha, "disputed", ("wrong_source", -0.5), conversation=2)
            observe(database, tenant, sha, "thin", ("clicked", 0.2))
            observe(database, tenant, sha, "changed", ("cited", 1.0))
            observe(database, tenant, sha, "gone", ("cited", 1.0))
        for document in ("cited", "wrong", "disputed", "thin"):
            plant_chunk(database, tenant, document, f"{document}-1", "as ever", since=OBSERVED - DAY)
        plant_chunk(database, tenant, "changed", "changed-1", "new", since=OBSERVED + DAY)
    judge(database, AS_OF)
    statuses = table(database, "SELECT doc_id, status FROM kb_ground_truth GROUP BY 1, 2 ORDER BY 1")
    assert statuses == [("cited", "judged"), ("disputed", "conflict"), ("thin", "insufficient"), ("wrong", "judged")]
    for tenant in (NOTARY, CUSTOMS):
        stored, computed = PostgresQuerySource(database, tenant), PostgresQuerySource(database, tenant, as_of=AS_OF)
        assert computed.judgments() == stored.judgments()
        assert [(each.id, each.text) for each in computed] == [(each.id, each.text) for each in stored]
        for one, other in zip(computed, stored, strict=True):
            for document, known in one.provenance.items():
                theirs = other.provenance[document]
                assert (known.kinds, known.conversations) == (theirs.kinds, theirs.conversations)
                assert known.last_observed_at == theirs.last_observed_at


def test_a_document_changed_since_still_has_the_judgment_it_had_then(database: Database) -> None:
    sha = plant_query(database, NOTARY, FEE)
    observe(database, NOTARY, sha, "fees", ("cited", 1.0))
    plant_chunk(database, NOTARY, "fees", "c1", "old", since=OBSERVED - DAY, until=OBSERVED + 3 * DAY)
    plant_chunk(database, NOTARY, "fees", "c1", "new", since=OBSERVED + 3 * DAY)
    before, after = (PostgresQuerySource(database, NOTARY, as_of=OBSERVED + days * DAY) for days in (2, 4))
    assert (before.judgments(), after.judgments()) == ({sha: {"fees": 3}}, {})


def test_reading_words_of_an_earlier_instant_is_recorded_too(database: Database) -> None:
    sha = plant_query(database, NOTARY, FEE)
    plant_query(database, NOTARY, DEED)
    observe(database, NOTARY, sha, "fees", ("cited", 1.0))
    judge(database, AS_OF)
    PostgresQuerySource(database, NOTARY, as_of=AS_OF).judgments()
    assert table(database, "SELECT bodies FROM kb_access_record") == []
    [query] = PostgresQuerySource(database, NOTARY, as_of=AS_OF)
    assert query.text == FEE
    assert table(database, "SELECT bodies FROM kb_access_record") == [(1,)]


def test_tombstones_are_left_out_of_earlier_judgments_too(database: Database) -> None:
    sha = plant_query(database, NOTARY, FEE, expired=True)
    observe(database, NOTARY, sha, "fees", ("cited", 1.0))
    assert PostgresQuerySource(database, NOTARY, as_of=AS_OF).judgments() == {}
    [query] = PostgresQuerySource(database, NOTARY, as_of=AS_OF, with_tombstones=True)
    assert (query.id, query.text) == (sha, None)
