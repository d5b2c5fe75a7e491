"""BEIR folders, TREC judgments and topics, as strangers write them."""

import gzip
import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb_pipeline.harness import (
    BeirCorpus,
    BeirQuerySource,
    CorpusDocument,
    LabelledQuery,
    TrecQuerySource,
    UnreadableFile,
    read_qrels,
)
from kb_pipeline.harness.trec import read_topics
from kb_pipeline_tests.harness.planting import NOTARY

HEADING = "query-id\tcorpus-id\tscore\n"
Given = str | bytes


def written(path: Path, content: Given) -> Path:
    """The file with this content."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def beir(folder: Path, *, queries: Given | None = None, **qrels: Given) -> Path:
    """A BEIR folder."""
    for split, content in qrels.items():
        written(folder / "qrels" / f"{split}.tsv", content)
    if queries is not None:
        written(folder / "queries.jsonl", queries)
    return folder


@pytest.mark.parametrize(
    "content",
    [
        f"{HEADING}q1\td1\t1\nq1\td 2\t0\n",
        f"{HEADING}q1\td1\t1\r\nq1\td 2\t0\r\n",
        f"\ufeff{HEADING}\nq1\td1\t1\n\nq1\td 2\t0",
        "q1\td1\t1\nq1\td 2\t0\n",
        f'{HEADING}q1\t"d1"\t1.0\nq1\t"d 2"\t0\n',
        "qid\tpid\trel\nq1\td1\t1\nq1\td 2\t0\n",
        gzip.compress(f"{HEADING}q1\td1\t1\nq1\td 2\t0\n".encode(), mtime=0),
    ],
)
def test_beir_judgments_are_read_with_and_without_heading(tmp_path: Path, content: Given) -> None:
    assert read_qrels(written(tmp_path / "test.tsv", content)) == {"q1": {"d1": 1, "d 2": 0}}


def test_a_heading_alone_is_an_empty_part_of_a_split(tmp_path: Path) -> None:
    assert read_qrels(written(tmp_path / "dev.tsv", HEADING)) == {}


@pytest.mark.parametrize(
    "content",
    ["q1 0 d1 3\nq1 0 d2 -1\n", "q1\tQ0\td1\t3\nq1  0\t d2 -1 \r\n", b"q1 0 d1 +3\nq1 0 d1 3\nq1 0 d2 -1"],
)
def test_trec_judgments_are_read_with_blanks_and_tabs(tmp_path: Path, content: Given) -> None:
    assert read_qrels(written(tmp_path / "qrels", content)) == {"q1": {"d1": 3, "d2": -1}}


def test_a_no_break_space_is_part_of_an_id(tmp_path: Path) -> None:
    assert read_qrels(written(tmp_path / "qrels", "q1 0 pasal\u00a07 1\n")) == {"q1": {"pasal\u00a07": 1}}


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("q1 0 d1 1\nq1 0 d1\n", "line 2: 3 columns; .*four columns"),
        (f"{HEADING}q1\td1\t1\nq1\td1\n", "line 3: 2 columns; .*three parted by tabs"),
        ("q1 0 d1 relevant\n", "line 1: the grade, its last column, is no whole number"),
        ("q1 0 d1 1.5\n", "line 1: the grade"),
        ("q1 0 d1 1\nq1 0 d1 2\n", "line 2: this document has another grade above"),
        ("", "is empty; a line of TREC"),
        (b"q1 0 d\xff 1\n", "line 1: it is not UTF-8"),
        (gzip.compress(b"q1 0 d1 1\n" * 50_000, mtime=0)[:-40], "gzip stream is damaged"),
    ],
)
def test_judgments_that_cannot_be_read_are_named_with_file_and_line(
    tmp_path: Path, content: Given, sentence: str
) -> None:
    with pytest.raises(UnreadableFile, match=sentence) as refused:
        read_qrels(written(tmp_path / "my.qrels", content))
    assert str(tmp_path / "my.qrels") in str(refused.value)
    assert "\n" not in str(refused.value)


@given(st.binary(max_size=60) | st.text(max_size=60).map(str.encode) | st.binary(max_size=30).map(gzip.compress))
def test_any_bytes_are_judgments_or_one_sentence(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    file = tmp_path_factory.getbasetemp() / "any.qrels"
    file.write_bytes(content)
    try:
        judgments = read_qrels(file)
    except UnreadableFile as refused:
        assert "\n" not in str(refused)  # noqa: PT017 either outcome is right
    else:
        assert all(isinstance(grade, int) for grades in judgments.values() for grade in grades.values())


def test_a_folder_is_its_judged_queries_with_their_words(tmp_path: Path) -> None:
    queries = '{"_id": "q1", "text": "Berapa biaya?", "metadata": {}}\n{"_id": 2, "text": "Who signs?"}\n'
    folder = beir(tmp_path, queries=queries, test=f"{HEADING}q1\td1\t2\n2\td1\t0\n", train=f"{HEADING}q3\td9\t1\n")
    assert list(BeirQuerySource(folder, split="test")) == [
        LabelledQuery(id="q1", text="Berapa biaya?", grades={"d1": 2}),
        LabelledQuery(id="2", text="Who signs?", grades={"d1": 0}),
    ]
    assert {query.id: query.text for query in BeirQuerySource(folder)}["q3"] is None
    assert BeirQuerySource(folder).judgments() == {"q1": {"d1": 2}, "2": {"d1": 0}, "q3": {"d9": 1}}


def test_a_frame_of_foreign_files_has_no_provenance(tmp_path: Path) -> None:
    frame = BeirQuerySource(beir(tmp_path, test=f"{HEADING}q1\td1\t2\n")).to_frame()
    assert list(frame["grade"]) == [2]
    assert frame[["org_id", "as_of", "conversations", "rule_version"]].isna().all(axis=None)


@pytest.mark.parametrize(
    ("qrels", "split", "sentence"),
    [
        ({"test": f"{HEADING}q\td\t1\n"}, "dev", "no split 'dev'; accepted: test"),
        ({}, None, "has no qrels"),
        ({"test": f"{HEADING}q\td\t1\n", "train": f"{HEADING}q\td\t2\n"}, None, "contradicts another file"),
    ],
)
def test_a_folder_that_is_none_says_what_it_lacks(
    tmp_path: Path, qrels: dict[str, str], split: str | None, sentence: str
) -> None:
    with pytest.raises(UnreadableFile, match=sentence):
        list(BeirQuerySource(beir(tmp_path, **qrels), split=split))


def test_the_root_of_an_export_of_several_tenants_points_to_their_folders(tmp_path: Path) -> None:
    for tenant in ("a/1", "b/2"):
        beir(tmp_path / tenant, test=f"{HEADING}q\td\t1\n")
    with pytest.raises(UnreadableFile, match="it holds 2 tenants' folders: name one, such as a/1"):
        BeirQuerySource(tmp_path)


@pytest.mark.parametrize("line", ["{", "[]", '{"_id": "q"}', '{"text": "q"}', '{"_id": true, "text": "q"}', "[" * 9999])
def test_a_line_of_queries_that_is_no_query_is_named(tmp_path: Path, line: str) -> None:
    folder = beir(tmp_path, queries=f'{{"_id": "q1", "text": "a"}}\n{line}\n', test=f"{HEADING}q1\td1\t1\n")
    with pytest.raises(UnreadableFile, match=r'queries.jsonl, line 2: .*"_id" and "text"'):
        list(BeirQuerySource(folder))


def test_documents_of_a_folder_come_as_they_are_written(tmp_path: Path) -> None:
    rows = [{"_id": "d 1", "title": "Biaya", "text": "Rp250.000\u2028per akta"}, {"_id": "d2", "text": ""}]
    written(tmp_path / "corpus.jsonl", "\n".join(json.dumps(row, ensure_ascii=False) for row in rows))
    assert list(BeirCorpus(tmp_path).documents(NOTARY, datetime(2026, 1, 1, tzinfo=UTC))) == [
        CorpusDocument(doc_id="d 1", title="Biaya", text="Rp250.000\u2028per akta"),
        CorpusDocument(doc_id="d2", title="", text=""),
    ]


def test_trec_judgments_get_their_words_from_the_topics(tmp_path: Path) -> None:
    qrels = written(tmp_path / "qrels.txt", "7 0 d1 1\n8 0 d1 0\n")
    topics = written(tmp_path / "topics.tsv", "7\tBerapa biaya akta?\n9\tnobody judged this\n")
    assert list(TrecQuerySource(qrels, topics)) == [
        LabelledQuery(id="7", text="Berapa biaya akta?", grades={"d1": 1}),
        LabelledQuery(id="8", text=None, grades={"d1": 0}),
    ]
    assert TrecQuerySource(qrels).judgments() == {"7": {"d1": 1}, "8": {"d1": 0}}


@pytest.mark.parametrize(
    "content",
    [
        """
<top>
<num> Number: 301
<title> Topic: foundation
 deed
<desc> Description:
Which?
</top>
<top>
<num> Number: 302
<title> fees
</top>
""",
        "<top><num>301</num><title>foundation deed</title></top>\n<TOP><NUM>302</NUM><TITLE>fees</TITLE></TOP>",
    ],
)
def test_topics_in_blocks_are_read_too(tmp_path: Path, content: str) -> None:
    assert read_topics(written(tmp_path / "topics", content)) == {"301": "foundation deed", "302": "fees"}


@pytest.mark.parametrize("content", ["7 Berapa biaya?\n", "\tBerapa\n", "<top>\n<desc> nothing\n</top>\n"])
def test_topics_without_ids_are_refused(tmp_path: Path, content: str) -> None:
    with pytest.raises(UnreadableFile, match="accepted") as refused:
        read_topics(written(tmp_path / "topics", content))
    assert "Berapa" not in str(refused.value)


@pytest.mark.parametrize(("name", "reason"), [("missing.tsv", "No such file"), (".", "directory"), ("a\0b", "name")])
def test_a_file_that_cannot_be_opened_says_why(tmp_path: Path, name: str, reason: str) -> None:
    with pytest.raises(UnreadableFile, match=f"cannot be read: .*{reason}"):
        read_qrels(tmp_path / name)
