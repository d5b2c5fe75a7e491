"""Exports: what other harnesses read, and what becomes of the folder whatever happens."""

import csv
import json
import os
import signal
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb_pipeline.adapters.postgres.connection import Database
from kb_pipeline.harness import (
    BeirCorpus,
    BeirQuerySource,
    ByCluster,
    ByTime,
    CorpusDocument,
    ExportRefused,
    LabelledQuery,
    PostgresCorpus,
    PostgresQuerySource,
    Provenance,
    QueryList,
    QuerySource,
    TenantExport,
    TrecQuerySource,
    export,
    read_id_map,
)
from kb_pipeline.harness.export_folder import MANIFEST
from kb_pipeline.harness.exporting import Format
from kb_pipeline.records import Tenant
from kb_pipeline_tests.harness.planting import AS_OF, CUSTOMS, DEED, FEE, NOTARY, plant, plant_chunk, plant_judgment

IDS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8) | st.text(
    "ab# %\t\n\r\"'\u00a0\u2028\x00\ufeff", min_size=1, max_size=5
)
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
LABELLED = st.dictionaries(
    IDS, st.tuples(TEXTS, st.dictionaries(IDS, st.integers(0, 3), min_size=1, max_size=4)), min_size=1, max_size=6
).map(
    lambda found: [LabelledQuery(id=each, text=text, grades=grades) for each, (text, grades) in found.items()]
)  # fmt: skip


class Documents:
    """A corpus in memory."""

    def __init__(self, *documents: CorpusDocument) -> None:
        self._documents = documents

    def documents(self, _tenant: Tenant, _as_of: datetime) -> Iterator[CorpusDocument]:
        return iter(self._documents)


def write(target: Path, source: QuerySource | list[LabelledQuery], layout: Format = "beir", **more: Any) -> Any:
    """Export one source; its manifest."""
    corpus, options = more.pop("corpus", None), more
    given = QueryList(list(source)) if isinstance(source, list) else source
    return export(target, [TenantExport(source=given, corpus=corpus)], layout=layout, **options)


def fees(**facts: Any) -> LabelledQuery:
    return LabelledQuery(**{"id": "q1", "text": FEE, "grades": {"fees": 3, "visas": 0}} | facts)


@given(LABELLED)
def test_a_beir_export_read_back_is_what_was_exported(queries: list[LabelledQuery]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "out"
        write(target, queries)
        assert {query.id: query for query in BeirQuerySource(target)} == {query.id: query for query in queries}
        assert beir_reader(target) == {
            _encoded(target, "query", query.id): {
                _encoded(target, "document", each): grade for each, grade in query.grades.items()
            }
            for query in queries
        }


def beir_reader(folder: Path) -> dict[str, dict[str, int]]:
    """The judgments as the usual BEIR loader reads them."""
    judgments: dict[str, dict[str, int]] = {}
    with (folder / "qrels" / "test.tsv").open(encoding="utf-8") as file:
        rows = csv.reader(file, delimiter="\t", quoting=csv.QUOTE_MINIMAL)
        assert next(rows) == ["query-id", "corpus-id", "score"]
        for query, document, score in rows:
            judgments.setdefault(query, {})[document] = int(score)
    return judgments


def _encoded(folder: Path, kind: str, identifier: str) -> str:
    written = {original: each for each, original in read_id_map(folder / "id_map.jsonl", kind=kind).items()}
    return written.get(identifier, identifier)


@given(LABELLED)
def test_a_trec_export_read_back_has_the_same_judgments(queries: list[LabelledQuery]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "out"
        write(target, queries, "trec")
        source = TrecQuerySource(target / "qrels.txt", target / "topics.tsv", id_map=target / "id_map.jsonl")
        assert source.judgments() == {query.id: query.grades for query in queries}
        lines = (target / "qrels.txt").read_text(encoding="utf-8").split("\n")
        assert all(len(line.split()) == 4 for line in lines if line)
        assert {query.id: query.text for query in source} == {
            query.id: " ".join((query.text or "").split()) for query in queries
        }


def test_the_files_are_those_a_beir_loader_looks_for(tmp_path: Path) -> None:
    corpus = Documents(CorpusDocument(doc_id="fees", title="Biaya", text="Rp250.000", valid_from=AS_OF))
    write(tmp_path / "out", [fees()], corpus=corpus)
    files = {file.relative_to(tmp_path / "out").as_posix() for file in (tmp_path / "out").rglob("*.*")}
    assert files == {
        "corpus.jsonl", "queries.jsonl", "qrels/test.tsv", "excluded.tsv", "id_map.jsonl", "manifest.json"
    }  # fmt: skip
    [query] = map(json.loads, (tmp_path / "out" / "queries.jsonl").read_text().splitlines())
    assert query == {"_id": "q1", "text": FEE, "metadata": {}}
    [document] = map(json.loads, (tmp_path / "out" / "corpus.jsonl").read_text().splitlines())
    assert document == {
        "_id": "fees", "title": "Biaya", "text": "Rp250.000", "metadata": {"valid_from": AS_OF.isoformat()}
    }  # fmt: skip


def test_a_document_with_a_blank_in_its_id_goes_by_one_name_in_all_files(tmp_path: Path) -> None:
    odd = "Biaya 2026\tlampiran.pdf"
    corpus = Documents(CorpusDocument(doc_id=odd, title="", text="Rp250.000"))
    keys: dict[Format, str] = {"beir": "_id", "trec": "id"}
    for layout, key in keys.items():
        target = tmp_path / layout
        write(target, [fees(grades={odd: 3})], layout, corpus=corpus)
        [document] = map(json.loads, (target / "corpus.jsonl").read_text().splitlines())
        assert read_id_map(target / "id_map.jsonl") == {document[key]: odd}
        [judgment] = [file.read_text() for file in target.glob("**/*") if file.name in {"test.tsv", "qrels.txt"}]
        assert f"{document[key]}" in judgment
    assert [each.doc_id for each in BeirCorpus(tmp_path / "beir").documents()] == [odd]


def test_excluded_documents_go_along_and_come_back(tmp_path: Path) -> None:
    queries = [fees(excluded=frozenset({"made for it", "b"}))]
    write(tmp_path / "out", queries)
    assert BeirQuerySource(tmp_path / "out").excluded() == {"q1": {"made for it", "b"}}
    assert BeirQuerySource(tmp_path / "out", as_written=True).excluded() == {"q1": {"made%20for%20it", "b"}}


def test_a_beir_folder_can_be_exported_again_as_trec(tmp_path: Path) -> None:
    write(tmp_path / "beir", [fees()], corpus=Documents(CorpusDocument(doc_id="fees", title="B", text="Rp")))
    write(tmp_path / "trec", BeirQuerySource(tmp_path / "beir"), "trec", corpus=BeirCorpus(tmp_path / "beir"))
    assert TrecQuerySource(tmp_path / "trec" / "qrels.txt").judgments() == {"q1": {"fees": 3, "visas": 0}}
    [document] = map(json.loads, (tmp_path / "trec" / "corpus.jsonl").read_text().splitlines())
    assert document == {"id": "fees", "contents": "B\nRp"}


def test_parts_of_a_split_are_files_of_their_own(tmp_path: Path) -> None:
    queries = [fees(id=f"q{number}", text=f"unik{number}") for number in range(60)]
    manifest = write(tmp_path / "out", queries, split_by=ByCluster())
    judged = {part: set(BeirQuerySource(tmp_path / "out", split=part).judgments()) for part in ("train", "test")}
    assert {part: len(found) for part, found in judged.items()} == {
        part: manifest["split"]["parts"][part]["queries"] for part in ("train", "test")
    }
    assert len(BeirQuerySource(tmp_path / "out").judgments()) == 60
    assert manifest["split"]["clusters"] == 60
    write(tmp_path / "trec", queries, "trec", split_by=ByCluster())
    assert set(TrecQuerySource(tmp_path / "trec" / "qrels.train.txt").judgments()) == judged["train"]


def test_what_a_split_by_time_leaves_out_is_in_the_manifest_and_in_no_file(tmp_path: Path) -> None:
    cut = AS_OF - timedelta(days=30)
    queries = [
        fees(id=f"q{days}", text=f"unik{days}", provenance={"fees": known(cut + timedelta(days=days))})
        for days in (-1, 3, 8)
    ]
    manifest = write(tmp_path / "out", queries, split_by=ByTime(cuts=(cut,)))
    assert manifest["left_out"] == {"within_embargo": 1}
    assert manifest["split"]["cuts"] == [cut.isoformat()]
    assert manifest["split"]["embargo_days"] == 7
    assert set(BeirQuerySource(tmp_path / "out").judgments()) == {"q-1", "q8"}
    assert len((tmp_path / "out" / "queries.jsonl").read_text().splitlines()) == 2


def known(at: datetime) -> Provenance:
    return Provenance(
        as_of=AS_OF,
        rule_version="labels-1",
        conversations=1,
        kinds=("cited",),
        first_observed_at=at,
        last_observed_at=at,
    )


def test_the_manifest_says_what_is_there_and_whose_it_is(tmp_path: Path) -> None:
    source = QueryList([fees(provenance={"fees": known(AS_OF)}), fees(id="q2", text=None)], {"conflicts": 2})
    corpus = Documents(CorpusDocument(doc_id="fees", title="", text="Rp250.000"))
    job = TenantExport(source=source, tenant=NOTARY, corpus=corpus, options={"min_grade": 1})
    manifest = export(tmp_path / "out", [job], layout="beir")
    assert manifest == json.loads((tmp_path / "out" / MANIFEST).read_text())
    assert manifest["tenant"] == {"org_id": str(NOTARY.org_id), "specialist_id": str(NOTARY.specialist_id)}
    assert (manifest["as_of"], manifest["rule_versions"]) == (AS_OF.isoformat(), ["labels-1"])
    assert manifest["counts"] == {
        "queries": 1,
        "judgments": 2,
        "grade_3": 1,
        "grade_0": 1,
        "documents": 1,
        "judged_documents": 2,
        "judged_documents_not_in_corpus": 1,
    }
    assert manifest["left_out"] == {"conflicts": 2, "tombstones": 1}
    assert "personal data" in manifest["notice"]
    assert manifest["files"]["qrels/test.tsv"]["rows"] == 2


def test_only_the_owner_can_read_what_was_exported(tmp_path: Path) -> None:
    previous = os.umask(0)
    try:
        write(tmp_path / "out", [fees()], corpus=Documents())
    finally:
        os.umask(previous)
    for path in [tmp_path / "out", *(tmp_path / "out").rglob("*")]:
        assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600), path


def test_an_export_replaces_an_earlier_one_and_an_empty_folder(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    write(tmp_path / "out", [fees(id="old")])
    write(tmp_path / "out", [fees(id="new")], "trec")
    assert sorted(file.name for file in (tmp_path / "out").iterdir()) == [
        "excluded.tsv", "id_map.jsonl", "manifest.json", "qrels.txt", "topics.tsv"
    ]  # fmt: skip
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


@pytest.mark.parametrize("name", ["notes.txt", "qrels/mine.tsv", MANIFEST])
def test_a_file_that_no_export_wrote_is_never_replaced(tmp_path: Path, name: str) -> None:
    target = tmp_path / "out"
    if name != MANIFEST:
        write(target, [fees(id="old")])
    (target / name).parent.mkdir(parents=True, exist_ok=True)
    (target / name).write_text('{"written_by": "somebody", "files": {}}')
    before = {file: file.read_bytes() for file in target.rglob("*") if file.is_file()}
    with pytest.raises(ExportRefused, match=f"holds {name}, which no export wrote; .*--force"):
        write(target, [fees()])
    assert {file: file.read_bytes() for file in target.rglob("*") if file.is_file()} == before
    write(target, [fees()], force=True)
    assert set(BeirQuerySource(target).judgments()) == {"q1"}
    assert (tmp_path / "out.before-1" / name).exists()
    assert len(list(tmp_path.iterdir())) == 2


def test_a_file_in_the_way_is_named(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("mine")
    with pytest.raises(ExportRefused, match="is a file"):
        write(tmp_path / "out", [fees()], force=True)
    assert (tmp_path / "out").read_text() == "mine"


class Failing(QuerySource):
    """Breaks after its first query."""

    def __iter__(self) -> Iterator[LabelledQuery]:
        yield fees()
        raise RuntimeError


def test_an_export_that_fails_leaves_everything_as_it_was(tmp_path: Path) -> None:
    write(tmp_path / "out", [fees(id="old")])
    with pytest.raises(RuntimeError):
        export(tmp_path / "out", [TenantExport(source=Failing())], layout="beir")
    assert set(BeirQuerySource(tmp_path / "out").judgments()) == {"old"}
    with pytest.raises(RuntimeError):
        export(tmp_path / "other", [TenantExport(source=Failing())], layout="beir")
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_nothing_to_export_is_said_and_no_folder_is_made(tmp_path: Path) -> None:
    with pytest.raises(ExportRefused, match="no labelled query"):
        write(tmp_path / "out", [fees(text=None)])
    assert list(tmp_path.iterdir()) == []


HANGING = """
import sys, time
from pathlib import Path
from kb_pipeline.harness.export_folder import replaced_folder
with replaced_folder(Path(sys.argv[1])) as folder:
    (folder / "queries.jsonl").write_text("words")
    print("inside", flush=True)
    time.sleep(60)
"""


def test_a_killed_export_changes_nothing_and_its_remains_go_with_the_next_one(tmp_path: Path) -> None:
    write(tmp_path / "out", [fees(id="old")])
    with subprocess.Popen(
        [sys.executable, "-c", HANGING, str(tmp_path / "out")], stdout=subprocess.PIPE, text=True
    ) as child:
        assert child.stdout
        assert child.stdout.readline() == "inside\n"
        with pytest.raises(ExportRefused, match="another export is being written"):
            write(tmp_path / "out", [fees()])
        child.send_signal(signal.SIGKILL)
    assert set(BeirQuerySource(tmp_path / "out").judgments()) == {"old"}
    assert len(list(tmp_path.iterdir())) == 2
    write(tmp_path / "out", [fees(id="new")])
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_a_folder_that_somebody_fills_meanwhile_is_not_replaced(tmp_path: Path) -> None:
    target = tmp_path / "out"

    class Meanwhile(QuerySource):
        def __iter__(self) -> Iterator[LabelledQuery]:
            target.mkdir()
            (target / "notes").write_text("mine")
            yield fees()

    with pytest.raises(ExportRefused, match="holds notes"):
        write(target, Meanwhile())
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def exported(database: Database, target: Path, tenants: Mapping[str, Tenant]) -> dict[str, Any]:
    """The database's ground truth, a folder for each tenant."""
    jobs = [
        TenantExport(
            source=PostgresQuerySource(database, tenant, purpose="ground-truth export"),
            folder=folder,
            tenant=tenant,
            corpus=PostgresCorpus(database),
        )
        for folder, tenant in tenants.items()
    ]
    return export(target, jobs, layout="beir")


def test_each_tenant_has_a_folder_with_nothing_of_another(database: Database, tmp_path: Path) -> None:
    sha = plant(database, NOTARY, FEE, {"fees": 3, "gone": 1})
    plant_judgment(database, NOTARY, sha, "disputed", None, status="conflict")
    plant(database, NOTARY, DEED, {"deeds": 1}, expired=True)
    plant(database, CUSTOMS, FEE, {"duties": 2})
    plant_chunk(database, NOTARY, "fees", "c1", "Rp250.000")
    plant_chunk(database, CUSTOMS, "duties", "c1", "bea masuk")
    manifest = exported(database, tmp_path / "out", {"a/1": NOTARY, "b/2": CUSTOMS})
    mine, theirs = tmp_path / "out" / "a" / "1", tmp_path / "out" / "b" / "2"
    assert BeirQuerySource(mine).judgments() == {sha: {"fees": 3, "gone": 1}}
    assert BeirQuerySource(theirs).judgments() == {sha: {"duties": 2}}
    assert [document.text for document in BeirCorpus(mine).documents()] == ["Rp250.000"]
    assert [document.text for document in BeirCorpus(theirs).documents()] == ["bea masuk"]
    assert {each["folder"]: each["left_out"] for each in manifest["tenants"]} == {
        "a/1": {"conflicts": 1, "tombstones": 1}, "b/2": {}
    }  # fmt: skip
    assert json.loads((mine / MANIFEST).read_text())["counts"]["judged_documents_not_in_corpus"] == 1
    assert set(manifest["files"]) == {
        file.relative_to(tmp_path / "out").as_posix() for file in (tmp_path / "out").rglob("*.*")
    } - {MANIFEST}


def test_a_tenant_with_nothing_but_tombstones_gets_no_folder(database: Database, tmp_path: Path) -> None:
    plant(database, NOTARY, FEE, {"fees": 3})
    plant(database, CUSTOMS, FEE, {"duties": 2}, expired=True)
    exported(database, tmp_path / "out", {"a/1": NOTARY, "b/2": CUSTOMS})
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["a", MANIFEST]


def test_the_corpus_is_that_of_the_judgments_time(database: Database, tmp_path: Path) -> None:
    plant(database, NOTARY, FEE, {"fees": 3})
    plant_chunk(database, NOTARY, "fees", "c1", "then", until=AS_OF + timedelta(days=1))
    plant_chunk(database, NOTARY, "fees", "c1", "since", since=AS_OF + timedelta(days=1))
    exported(database, tmp_path / "out", {".": NOTARY})
    assert [document.text for document in BeirCorpus(tmp_path / "out").documents()] == ["then"]
