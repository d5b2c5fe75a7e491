"""`kb-pipeline ground-truth export` as a user meets it."""

import json
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest

from kb_pipeline.adapters.postgres.connection import Database
from kb_pipeline.harness import BeirCorpus, BeirQuerySource, TrecQuerySource
from kb_pipeline.records import Tenant
from kb_pipeline_tests.builders import table
from kb_pipeline_tests.cli.in_process import Left, Terminal
from kb_pipeline_tests.harness.planting import (
    AS_OF,
    CUSTOMS,
    DEED,
    FEE,
    NOTARY,
    plant,
    plant_chunk,
    plant_judgment,
    plant_query,
)

Export = Callable[..., Left]


@pytest.fixture
def export(tmp_path: Path, capsys: pytest.CaptureFixture[str], database: Database) -> Export:
    """Runs the command on the test's database."""
    terminal = Terminal(tmp_path, capsys, database)
    return lambda *arguments: terminal.run("ground-truth", "export", *arguments)


def named(tenant: Tenant) -> tuple[str, ...]:
    return ("--org", str(tenant.org_id), "--specialist", str(tenant.specialist_id))


def test_one_folder_for_each_tenant_with_its_documents(export: Export, database: Database, tmp_path: Path) -> None:
    sha = plant(database, NOTARY, FEE, {"fees": 3})
    plant_judgment(database, NOTARY, sha, "disputed", None, status="conflict")
    plant(database, CUSTOMS, FEE, {"duties": 2})
    plant_chunk(database, NOTARY, "fees", "c1", "Rp250.000")
    exported = export("--format", "beir", "--out", tmp_path / "out")
    assert exported.code == 0, exported.err
    mine = tmp_path / "out" / str(NOTARY.org_id) / str(NOTARY.specialist_id)
    assert BeirQuerySource(mine).judgments() == {sha: {"fees": 3}}
    assert [document.text for document in BeirCorpus(mine).documents()] == ["Rp250.000"]
    theirs = tmp_path / "out" / str(CUSTOMS.org_id) / str(CUSTOMS.specialist_id)
    assert BeirQuerySource(theirs).judgments() == {sha: {"duties": 2}}
    assert str(mine) in exported.out
    assert "left out, conflicts" in exported.out
    assert FEE not in exported.out


def test_a_tenant_named_in_full_is_in_the_folder_itself(export: Export, database: Database, tmp_path: Path) -> None:
    sha = plant(database, NOTARY, FEE, {"fees": 3, "deeds": 1, "visas": 0})
    plant(database, CUSTOMS, FEE, {"duties": 2})
    exported = export(
        "--format", "trec", "--out", tmp_path / "out", *named(NOTARY), "--min-grade", "2", "--no-corpus", "--json"
    )
    assert TrecQuerySource(tmp_path / "out" / "qrels.txt").judgments() == {sha: {"fees": 3, "visas": 0}}
    assert not (tmp_path / "out" / "corpus.jsonl").exists()
    assert exported.json == json.loads((tmp_path / "out" / "manifest.json").read_text())
    assert exported.json["options"]["min_grade"] == 2
    assert exported.json["left_out"] == {"below_min_grade": 1}


def test_one_organisation_is_all_of_its_specialists(export: Export, database: Database, tmp_path: Path) -> None:
    colleague = Tenant(org_id=NOTARY.org_id, specialist_id=CUSTOMS.specialist_id)
    for tenant in (NOTARY, colleague, CUSTOMS):
        plant(database, tenant, FEE, {"fees": 3})
    exported = export("--format", "beir", "--out", tmp_path / "out", "--org", str(NOTARY.org_id), "--json")
    assert [each["folder"] for each in exported.json["tenants"]] == [
        f"{tenant.org_id}/{tenant.specialist_id}" for tenant in (NOTARY, colleague)
    ]


def test_the_reading_of_words_is_recorded(export: Export, database: Database, tmp_path: Path) -> None:
    plant(database, NOTARY, FEE, {"fees": 3})
    plant(database, NOTARY, DEED, {"deeds": 1})
    export("--format", "beir", "--out", tmp_path / "out")
    assert table(database, "SELECT purpose, bodies FROM kb_access_record") == [("ground-truth export", 2)]


def test_a_split_by_time_has_its_cut_in_the_manifest(export: Export, database: Database, tmp_path: Path) -> None:
    for days in (-10, 1, 9):
        sha = plant_query(database, NOTARY, f"unik{days}")
        time = AS_OF + timedelta(days=days)
        plant_judgment(database, NOTARY, sha, "fees", 1, observed=(time, time))
    exported = export(
        "--format", "beir", "--out", tmp_path / "out", *named(NOTARY), "--split", "time", "--cut", AS_OF.isoformat(),
        "--json",
    )  # fmt: skip
    assert exported.json["split"]["cuts"] == [AS_OF.isoformat()]
    assert (exported.json["split"]["empty"], exported.err) == (["dev"], "")
    assert exported.json["left_out"] == {"within_embargo": 1}
    assert [len(BeirQuerySource(tmp_path / "out", split=part).judgments()) for part in ("train", "dev", "test")] == [
        1, 0, 1
    ]  # fmt: skip


def test_a_split_by_cluster_is_the_same_every_time(export: Export, database: Database, tmp_path: Path) -> None:
    for number in range(30):
        plant(database, NOTARY, f"unik{number}", {"fees": 1})
    judgments = []
    for _ in range(2):
        exported = export("--format", "beir", "--out", tmp_path / "out", *named(NOTARY), "--split", "cluster")
        assert exported.code == 0
        judgments.append(BeirQuerySource(tmp_path / "out", split="train").judgments())
    assert judgments[0] == judgments[1]
    assert 0 < len(judgments[0]) < 30


def test_parts_without_a_query_are_said(export: Export, database: Database, tmp_path: Path) -> None:
    plant(database, NOTARY, FEE, {"fees": 3})
    plant(database, CUSTOMS, FEE, {"duties": 3})
    split = export("--format", "beir", "--out", tmp_path / "out", "--split", "cluster", "--json")
    first, second = split.json["tenants"]
    assert len(first["split"]["empty"]) == len(second["split"]["empty"]) == 2
    empty = " or ".join(first["split"]["empty"])
    assert split.err.count("\n") == 2
    assert f"no query of {tmp_path / 'out' / first['folder']} is in {empty}: " in split.err
    whole = export("--format", "beir", "--out", tmp_path / "whole", *named(NOTARY))
    assert whole.err == ""


def test_an_export_of_another_kind_that_is_replaced_is_named(
    export: Export, database: Database, tmp_path: Path
) -> None:
    for number in range(60):
        plant(database, NOTARY, f"unik{number}", {"fees": 1})
    out = tmp_path / "out"
    said = [
        export("--format", layout, "--out", out, "--split", split).err
        for layout, split in (("beir", "none"), ("beir", "none"), ("trec", "none"), ("trec", "cluster"))
    ]
    assert said[:2] == ["", ""]
    assert said[2] == f"kb-pipeline: {out} held an export as beir, which this one as trec replaced\n"
    assert (
        said[3]
        == f"kb-pipeline: {out} held an export as trec, which this one as trec with a split by cluster replaced\n"
    )
    (out / "notes.txt").write_text("mine")
    assert export("--format", "beir", "--out", out, "--force").err == ""


def test_what_nobody_exported_is_refused_and_kept_when_forced(
    export: Export, database: Database, tmp_path: Path
) -> None:
    plant(database, NOTARY, FEE, {"fees": 3})
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "thesis.txt").write_text("years of work")
    refused = export("--format", "beir", "--out", tmp_path / "out")
    assert refused.code == 1
    assert "thesis.txt, which no export wrote" in refused.sentence
    assert export("--format", "beir", "--out", tmp_path / "out", "--force").code == 0
    assert (tmp_path / "out.before-1" / "thesis.txt").read_text() == "years of work"


def test_documents_are_left_out_where_none_are_mapped_and_missed_where_asked_for(
    export: Export, database: Database, tmp_path: Path
) -> None:
    plant(database, NOTARY, FEE, {"fees": 3})
    with database.connect() as connection:
        connection.execute("DROP VIEW kb_source.kb_chunk")
    assert export("--format", "beir", "--out", tmp_path / "out", *named(NOTARY)).code == 0
    assert not (tmp_path / "out" / "corpus.jsonl").exists()
    refused = export("--format", "beir", "--out", tmp_path / "other", "--with-corpus")
    assert "no view kb_source.kb_chunk" in refused.sentence
    assert not (tmp_path / "other").exists()


def test_nothing_to_export_is_said(export: Export, tmp_path: Path) -> None:
    assert "there is no labelled query to export" in export("--format", "beir", "--out", tmp_path / "out").sentence
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("--out", "x"), "Missing option '--format'"),
        (("--format", "csv", "--out", "x"), "'csv' is not one of 'beir', 'trec'"),
        (("--format", "beir", "--out", "x", "--org", "acme"), "'acme' is not a valid UUID"),
        (("--format", "beir", "--out", "x", "--min-grade", "4"), "4 is not in the range 1<=x<=3"),
        (("--format", "beir", "--out", "x", "--cut", "7d"), "--cut belongs to --split time"),
    ],
)
def test_wrong_usage_is_one_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], sentence: str
) -> None:
    refused = Terminal(tmp_path, capsys).run("ground-truth", "export", *arguments)
    assert refused.code == 2
    assert sentence in refused.sentence
