"""The database's ground truth as labelled queries."""

from datetime import UTC, datetime, timedelta

import pytest

from kb_pipeline.adapters.postgres.connection import Database
from kb_pipeline.harness import (
    ByCluster,
    ByTime,
    NotEvaluable,
    PostgresQuerySource,
    Provenance,
    tenants_with_ground_truth,
)
from kb_pipeline.harness.frames import COLUMNS
from kb_pipeline_tests.builders import table
from kb_pipeline_tests.harness.planting import (
    AS_OF,
    CUSTOMS,
    DEED,
    FEE,
    NOTARY,
    OBSERVED,
    plant,
    plant_judgment,
    plant_query,
)


def test_a_query_comes_with_words_tenant_grades_and_what_they_rest_on(database: Database) -> None:
    sha = plant(database, NOTARY, FEE, {"fees": 3, "deeds": 1})
    [query] = PostgresQuerySource(database, NOTARY)
    assert (query.id, query.text, query.tenant) == (sha, FEE, NOTARY)
    assert query.grades == {"fees": 3, "deeds": 1}
    assert query.provenance["fees"] == Provenance(
        as_of=AS_OF,
        rule_version="labels-1",
        conversations=2,
        kinds=("cited",),
        first_observed_at=OBSERVED,
        last_observed_at=OBSERVED,
    )


def test_a_grade_of_0_stays_a_0_and_an_unjudged_document_is_absent(database: Database) -> None:
    plant(database, NOTARY, FEE, {"fees": 3, "visas": 0})
    [query] = PostgresQuerySource(database, NOTARY)
    assert query.grades == {"fees": 3, "visas": 0}
    assert query.relevant == {"fees": 3}


def test_conflicts_and_insufficient_evidence_never_appear(database: Database) -> None:
    sha = plant(database, NOTARY, FEE, {"fees": 3})
    plant_judgment(database, NOTARY, sha, "disputed", None, status="conflict")
    plant_judgment(database, NOTARY, sha, "thin", None, status="insufficient")
    other = plant_query(database, NOTARY, DEED)
    plant_judgment(database, NOTARY, other, "disputed", None, status="conflict")
    source = PostgresQuerySource(database, NOTARY, include_self_made=True, with_tombstones=True)
    assert source.judgments() == {sha: {"fees": 3}}
    assert [query.grades for query in source] == [{"fees": 3}]
    assert source.left_out() == {
        "conflicts": 2, "insufficient": 1, "self_made": 0, "below_min_grade": 0, "tombstones": 0
    }  # fmt: skip


def test_an_article_made_from_the_querys_own_correction_is_excluded_unless_asked_for(database: Database) -> None:
    sha = plant(database, NOTARY, FEE, {"fees": 2})
    plant_judgment(database, NOTARY, sha, "written-for-it", 3, self_made=True)
    source = PostgresQuerySource(database, NOTARY)
    [query] = source
    assert query.grades == {"fees": 2}
    assert query.excluded == {"written-for-it"}
    assert source.excluded() == {sha: {"written-for-it"}}
    assert source.left_out()["self_made"] == 1
    [whole] = PostgresQuerySource(database, NOTARY, include_self_made=True)
    assert whole.grades == {"fees": 2, "written-for-it": 3}
    assert whole.excluded == frozenset()


def test_a_self_made_article_is_excluded_also_where_its_evidence_is_thin(database: Database) -> None:
    sha = plant(database, NOTARY, FEE, {"fees": 2})
    plant_judgment(database, NOTARY, sha, "written-for-it", None, status="insufficient", self_made=True)
    assert PostgresQuerySource(database, NOTARY).excluded() == {sha: {"written-for-it"}}


def test_a_query_whose_words_expired_is_left_out_and_counted_unless_asked_for(database: Database) -> None:
    sha = plant(database, NOTARY, FEE, {"fees": 3}, expired=True)
    source = PostgresQuerySource(database, NOTARY)
    assert list(source) == []
    assert source.judgments() == {}
    assert source.left_out()["tombstones"] == 1
    [tombstone] = PostgresQuerySource(database, NOTARY, with_tombstones=True)
    assert (tombstone.id, tombstone.text, tombstone.grades) == (sha, None, {"fees": 3})


def test_weak_judgments_below_the_least_grade_become_unjudged_and_zeros_stay(database: Database) -> None:
    sha = plant(database, NOTARY, FEE, {"fees": 3, "deeds": 1, "visas": 0})
    plant(database, NOTARY, DEED, {"deeds": 1})
    source = PostgresQuerySource(database, NOTARY, min_grade=2)
    assert source.judgments() == {sha: {"fees": 3, "visas": 0}}
    assert source.left_out()["below_min_grade"] == 2


def test_the_same_query_of_two_tenants_is_two_queries_and_is_never_pooled(database: Database) -> None:
    plant(database, NOTARY, FEE, {"fees": 3})
    plant(database, CUSTOMS, FEE, {"duties": 2})
    assert tenants_with_ground_truth(database) == [NOTARY, CUSTOMS]
    assert tenants_with_ground_truth(database, org_id=CUSTOMS.org_id) == [CUSTOMS]
    assert [dict(query.grades) for query in PostgresQuerySource(database, NOTARY)] == [{"fees": 3}]
    both = PostgresQuerySource(database)
    assert [(query.tenant, dict(query.grades)) for query in both] == [(NOTARY, {"fees": 3}), (CUSTOMS, {"duties": 2})]
    with pytest.raises(NotEvaluable, match="2 tenants"):
        both.judgments()


def test_judgments_are_read_without_words_and_words_are_read_with_a_record(database: Database) -> None:
    plant(database, NOTARY, FEE, {"fees": 3, "deeds": 1})
    plant(database, NOTARY, DEED, {"deeds": 1})
    source = PostgresQuerySource(database, NOTARY, purpose="a trial")
    source.judgments()
    source.excluded()
    records = "SELECT purpose, bodies, body_bytes, ts_from FROM kb_access_record"
    assert table(database, records) == []
    # Recorded before the first query is handed out, also to a reader who then stops.
    next(iter(source))
    assert table(database, records) == [("a trial", 2, len(FEE) + len(DEED), OBSERVED)]


def test_a_frame_has_a_row_per_judgment(database: Database) -> None:
    sha = plant(database, NOTARY, FEE, {"fees": 3, "visas": 0})
    frame = PostgresQuerySource(database, NOTARY).to_frame()
    assert list(frame.columns) == list(COLUMNS)
    assert set(frame["query_id"]) == {sha}
    assert dict(zip(frame["doc_id"], frame["grade"], strict=True)) == {"fees": 3, "visas": 0}
    assert frame["as_of"].iloc[0].to_pydatetime() == AS_OF
    empty = PostgresQuerySource(database, CUSTOMS).to_frame()
    assert (len(empty), str(empty["grade"].dtype)) == (0, "int64")


def test_parts_of_a_split_are_disjoint_and_complete(database: Database) -> None:
    words = "akta biaya notaris visa pajak bea izin merek paten waris kontrak gaji".split()
    shas = {plant(database, NOTARY, f"{word} {word}an baru", {"fees": 1}) for word in words}
    rule = ByCluster(shares=(0.4, 0.3, 0.3))
    parts = [
        set(PostgresQuerySource(database, NOTARY, part=part, split_by=rule).judgments())
        for part in ("train", "dev", "test")
    ]
    assert set().union(*parts) == shas
    assert sum(map(len, parts)) == len(shas)
    with pytest.raises(NotEvaluable, match="accepted: train, dev, test"):
        list(PostgresQuerySource(database, NOTARY, part="all"))


def test_a_part_by_time_knows_nothing_from_before_its_embargo(database: Database) -> None:
    cut = datetime(2026, 6, 15, tzinfo=UTC)
    times = {"before": cut - timedelta(days=1), "within": cut + timedelta(days=6), "after": cut + timedelta(days=7)}
    shas = {}
    for number, (name, time) in enumerate(times.items()):
        shas[name] = plant_query(database, NOTARY, f"soal{number}")
        plant_judgment(database, NOTARY, shas[name], "fees", 1, observed=(time, time))
    rule = ByTime(cuts=(cut,))
    assert set(PostgresQuerySource(database, NOTARY, part="test", split_by=rule).judgments()) == {shas["after"]}
    assert set(PostgresQuerySource(database, NOTARY, part="train", split_by=rule).judgments()) == {shas["before"]}


@pytest.mark.parametrize("role", ["kb_grader", "kb_auditor"])
def test_the_grader_and_the_auditor_may_read(database: Database, role: str) -> None:
    plant(database, NOTARY, FEE, {"fees": 3})
    theirs = Database(database.url.render_as_string(hide_password=False), application_name="reader", role=role)
    try:
        assert len(list(PostgresQuerySource(theirs))) == 1
    finally:
        theirs.dispose()


def test_a_source_over_a_url_closes_its_connections(database: Database) -> None:
    plant(database, NOTARY, FEE, {"fees": 3})
    with PostgresQuerySource(database.url.render_as_string(hide_password=False)) as source:
        assert len(list(source)) == 1
    opened = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'kb_pipeline_harness'"
    assert table(database, f"{opened} AND datname = current_database()") == [(0,)]


def test_thousands_of_queries_of_a_table_without_statistics_arrive_in_one_order(database: Database) -> None:
    with database.connect() as connection:
        connection.execute(
            "WITH q AS (INSERT INTO kb_query (org_id, specialist_id, query_sha, query, first_seen_at, last_seen_at)"
            " SELECT %(o)s, %(s)s, encode(sha256(n::text::bytea), 'hex'), 'soal ' || n, now(), now()"
            " FROM generate_series(1, 6000) AS n RETURNING query_sha)"
            " INSERT INTO kb_ground_truth (org_id, specialist_id, query_sha, doc_id, status, grade, p, positive,"
            " negative, conversations, evidence_count, kinds, first_observed_at, last_observed_at, as_of, rule_version)"
            " SELECT %(o)s, %(s)s, query_sha, 'd' || k, 'judged', k %% 4, .9, 1, 0, 1, 1, '{cited}', now(), now(),"
            " now(), 'labels-1' FROM q, generate_series(1, 3) AS k",
            {"o": NOTARY.org_id, "s": NOTARY.specialist_id},
        )
    source = PostgresQuerySource(database, NOTARY)
    queries = list(source)
    assert len(queries) == 6000
    assert all(query.grades == {"d1": 1, "d2": 2, "d3": 3} for query in queries)
    assert [query.id for query in queries] == list(source.judgments())
