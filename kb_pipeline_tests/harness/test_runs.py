"""Run files, as tidy and as hostile as they come."""

import gzip
import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb_pipeline.harness import NotEvaluable, Run, UnreadableFile, read_run
from kb_pipeline.harness.identifiers import portable


def run_of(folder: Path, content: str | bytes) -> Run:
    """The run of a file with this content."""
    file = folder / "my.run"
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    return read_run(file)


TIDY = "q1 Q0 d1 1 2.5 bm25\nq1 Q0 d2 2 1.5 bm25\nq2 Q0 d1 1 9 bm25\n"


@pytest.mark.parametrize(
    "content",
    [
        TIDY,
        TIDY.replace(" ", "\t"),
        TIDY.replace(" ", " \t ").replace("\n", "\r\n"),
        f"\ufeff\n{TIDY}\n   \n",
        TIDY.replace(" 1 2.5", " 0 2.5").replace(" 2 1.5", " 1 1.5"),
        "q1 Q0 d2 20 nan bm25\nq2 Q0 d1 7 inf bm25\nq1 Q0 d1 3 - bm25\n",
        gzip.compress(TIDY.encode(), mtime=0),
        gzip.compress(TIDY[:40].encode(), mtime=0) + gzip.compress(TIDY[40:].encode(), mtime=0),
    ],
)
def test_a_run_is_read_by_its_ranks_however_it_is_written(tmp_path: Path, content: str | bytes) -> None:
    run = run_of(tmp_path, content)
    assert run.rankings == {"q1": ["d1", "d2"], "q2": ["d1"]}
    assert (run.name, run.is_complete, run.counts["duplicates"]) == ("bm25", True, 0)


def test_the_stored_rank_decides_over_the_score_and_the_contradiction_is_counted(tmp_path: Path) -> None:
    run = run_of(tmp_path, "q Q0 a 1 0.2 x\nq Q0 b 2 0.9 x\nr Q0 a 1 -1 x\nr Q0 b 2 -1 x\n")
    assert run.rankings["q"] == ["a", "b"]
    assert run.counts["queries_whose_scores_contradict_ranks"] == 1
    assert run.counts["queries_ranked_by_score"] == 0


@pytest.mark.parametrize("rank", ["0", "1", "-", "x", "-1", "1.0", "1_0", "²", "9999999999"])
def test_where_ranks_are_missing_or_repeated_the_scores_decide(tmp_path: Path, rank: str) -> None:
    run = run_of(tmp_path, f"q Q0 a {rank} 0.2 x\nq Q0 b {rank} 0.9 x\nq Q0 c {rank} 0.2 x\n")
    assert run.rankings == {"q": ["b", "a", "c"]}
    assert run.counts["queries_ranked_by_score"] == 1


def test_a_document_ranked_twice_keeps_its_best_rank(tmp_path: Path) -> None:
    run = run_of(tmp_path, "q Q0 a 3 1 x\nq Q0 b 2 2 x\nq Q0 a 1 3 x\n")
    assert run.rankings == {"q": ["a", "b"]}
    assert run.counts["duplicates"] == 1
    assert run_of(tmp_path, TIDY + TIDY).rankings == run_of(tmp_path, TIDY).rankings


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("q1 Q0 d1 1 2.5 bm25\nq1 Q0 d1 1 2.5\n", "line 2: 5 columns; a line has six columns"),
        ("q1 Q0 a document with blanks 1 2.5 bm25\n", "line 1: 9 columns"),
        ("q1,Q0,d1,1,2.5,bm25\n", "line 1: 1 column;"),
        ("", "holds no result; a line has six columns"),
        ("q Q0 a - nan x\n", "line 1: the ranks of this query are missing or repeated"),
        ("q Q0 a 1 1 x\nq Q0 b 1 NaN x\n", "line 2: the ranks of this query"),
        (b"q Q0 \xe9 1 1 x\n", "line 1: it is not UTF-8"),
        (gzip.compress(TIDY.encode() * 9000, mtime=0)[:-20], "the gzip stream is damaged"),
    ],
)
def test_a_run_that_cannot_be_read_is_one_sentence(tmp_path: Path, content: str | bytes, sentence: str) -> None:
    with pytest.raises(UnreadableFile, match=sentence) as refused:
        run_of(tmp_path, content)
    assert str(tmp_path / "my.run") in str(refused.value)
    assert "\n" not in str(refused.value)


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=6), min_size=1, max_size=5, unique=True))
def test_exported_ids_survive_a_run_file(tmp_path_factory: pytest.TempPathFactory, identifiers: list[str]) -> None:
    lines = "".join(
        f"{portable(each)} Q0 {portable(each)} {rank} 0 x\n" for rank, each in enumerate(identifiers, start=1)
    )
    run = run_of(tmp_path_factory.getbasetemp(), lines)
    assert dict(run.rankings) == {portable(each): [portable(each)] for each in identifiers}


@given(st.binary(max_size=80) | st.text("q 0\t\n#1.-naif", max_size=80).map(str.encode))
def test_any_bytes_are_a_run_or_one_sentence(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    try:
        run = run_of(tmp_path_factory.getbasetemp(), content)
    except UnreadableFile as refused:
        assert "\n" not in str(refused)  # noqa: PT017 either outcome is right
    else:
        assert all(len(set(ranking)) == len(ranking) > 0 for ranking in run.rankings.values())


def test_a_run_of_scores_ranks_the_highest_first_and_has_no_place_for_nan() -> None:
    run = Run.of_scores("dense", {"q": {"a": 0.1, "b": 0.9, "c": 0.9}, "r": {}})
    assert run.rankings == {"q": ["b", "c", "a"], "r": []}
    with pytest.raises(NotEvaluable, match="dense has a score that is NaN"):
        Run.of_scores("dense", {"q": {"a": math.nan}})
