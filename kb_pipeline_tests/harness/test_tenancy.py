"""Nothing of one tenant is read for another, also where they share the organisation or the specialist."""

from pathlib import Path

from kb_pipeline.adapters.postgres.connection import Database
from kb_pipeline.harness import (
    PostgresCorpus,
    PostgresQuerySource,
    TenantExport,
    export,
    recorded_engines,
    runs_from_events,
)
from kb_pipeline.records import Tenant
from kb_pipeline.retrieval.queries import query_sha
from kb_pipeline_tests.builders import table
from kb_pipeline_tests.harness.planting import (
    AS_OF,
    CUSTOMS,
    FEE,
    NOTARY,
    OBSERVED,
    observe,
    plant,
    plant_chunk,
    plant_judgment,
    plant_query,
    plant_retrieval,
)

COLLEAGUE = Tenant(org_id=NOTARY.org_id, specialist_id=CUSTOMS.specialist_id)
NAMESAKE = Tenant(org_id=CUSTOMS.org_id, specialist_id=NOTARY.specialist_id)
TENANTS = {"notary": NOTARY, "customs": CUSTOMS, "colleague": COLLEAGUE, "namesake": NAMESAKE}


def plant_all(database: Database) -> str:
    """The same query in four tenants, with everything else named after the tenant; its query_sha."""
    for name, tenant in TENANTS.items():
        sha = plant(database, tenant, FEE, {name: 3})
        plant_judgment(database, tenant, sha, f"{name}-disputed", None, status="conflict")
        plant_judgment(database, tenant, sha, f"{name}-made-for-it", 3, self_made=True)
        observe(database, tenant, sha, name, ("cited", 1.0))
        plant_chunk(database, tenant, name, f"{name}-1", f"the words of {name}")
        plant_retrieval(database, tenant, FEE, "hybrid", [name])
    return query_sha(FEE)


def test_each_tenant_sees_its_own_and_no_more(database: Database) -> None:
    sha = plant_all(database)
    corpus = PostgresCorpus(database)
    for name, tenant in TENANTS.items():
        source = PostgresQuerySource(database, tenant)
        assert source.judgments() == {sha: {name: 3}}
        assert [dict(query.grades) for query in source] == [{name: 3}]
        assert source.excluded() == {sha: {f"{name}-made-for-it"}}
        assert source.left_out()["conflicts"] == 1
        assert PostgresQuerySource(database, tenant, as_of=AS_OF).judgments() == {sha: {name: 3}}
        assert [document.text for document in corpus.documents(tenant, OBSERVED)] == [f"the words of {name}"]
        assert corpus.document_of(tenant) == {f"{name}-1": name}
        assert [each.retrievals for each in recorded_engines(database, tenant)] == [1]
        assert dict(runs_from_events(database, tenant)["hybrid"].rankings) == {sha: [name]}


def test_a_judgment_of_another_tenant_makes_no_recorded_query_a_judged_one(database: Database) -> None:
    plant(database, COLLEAGUE, FEE, {"fees": 3})
    plant(database, NAMESAKE, FEE, {"fees": 3})
    plant_retrieval(database, NOTARY, FEE, "hybrid", ["fees"])
    [engine] = recorded_engines(database, NOTARY)
    assert engine.judged_queries == 0
    assert runs_from_events(database, NOTARY)["hybrid"].rankings == {}


def test_words_that_are_not_handed_out_are_not_recorded_as_read(database: Database) -> None:
    sha = plant_query(database, NOTARY, FEE)
    for tenant in (COLLEAGUE, NAMESAKE):
        plant(database, tenant, FEE, {"fees": 3})
        observe(database, tenant, sha, "fees", ("cited", 1.0))
    for as_of in (None, AS_OF):
        assert list(PostgresQuerySource(database, NOTARY, as_of=as_of)) == []
    assert table(database, "SELECT bodies FROM kb_access_record") == []


def test_words_of_another_tenant_do_not_stand_in_for_those_that_expired(database: Database) -> None:
    sha = plant(database, NOTARY, FEE, {"fees": 3}, expired=True)
    for tenant in (COLLEAGUE, NAMESAKE, CUSTOMS):
        plant(database, tenant, FEE, {"fees": 3})
    observe(database, NOTARY, sha, "fees", ("cited", 1.0))
    for as_of in (None, AS_OF):
        source = PostgresQuerySource(database, NOTARY, as_of=as_of)
        assert (list(source), source.judgments()) == ([], {})
        [tombstone] = PostgresQuerySource(database, NOTARY, as_of=as_of, with_tombstones=True)
        assert tombstone.text is None
    assert PostgresQuerySource(database, NOTARY).left_out()["tombstones"] == 1


def test_an_exported_folder_names_no_other_tenant(database: Database, tmp_path: Path) -> None:
    plant_all(database)
    source = PostgresQuerySource(database, NOTARY)
    job = TenantExport(source=source, tenant=NOTARY, corpus=PostgresCorpus(database))
    export(tmp_path / "out", [job], layout="beir")
    written = "".join(file.read_text() for file in (tmp_path / "out").rglob("*") if file.is_file())
    assert "the words of notary" in written
    assert not [name for name in ("customs", "colleague", "namesake") if name in written]
    assert table(database, "SELECT bodies FROM kb_access_record") == [(1,)]
