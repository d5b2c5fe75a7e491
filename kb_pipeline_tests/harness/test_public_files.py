"""Judgments that others publish, read where they lie, and evaluated as ir_measures does."""

import random
from pathlib import Path

import ir_measures
import pytest

from kb_pipeline.harness import BeirQuerySource, Judgments, TrecQuerySource, evaluate, read_qrels
from kb_pipeline_tests.docs_pages import REPOSITORY

DATA = REPOSITORY.parent / "shared" / "data"
NAMES = {"nDCG@10": ir_measures.nDCG @ 10, "R@10": ir_measures.R @ 10, "RR": ir_measures.RR}


def published(name: str) -> Path:
    """A published file; skips the test where it is not at hand."""
    if not (DATA / name).exists():
        pytest.skip(f"the published judgments {name} are not at hand")
    return DATA / name


def shuffled(judgments: Judgments) -> dict[str, list[str]]:
    """Some of each query's judged documents in no order, and some that nobody judged."""
    generator = random.Random(1)
    rankings: dict[str, list[str]] = {}
    for query, grades in judgments.items():
        found = [*generator.sample(sorted(grades), min(len(grades), 8)), *(f"unjudged-{number}" for number in range(6))]
        generator.shuffle(found)
        rankings[query] = found
    return rankings


@pytest.mark.parametrize(
    ("name", "queries", "judgments"),
    [
        ("beir_msmarco_qrels/qrels.dl19-passage.txt", 43, 9260),
        ("beir_msmarco_qrels/qrels.beir-v1.0.0-nfcorpus.test.txt", 323, 12334),
        ("miracl_id/qrels.miracl-v1.0-id-dev.tsv", 960, 9668),
        ("mtrag/mini_qrels.tsv", 278, 822),
    ],
)
def test_published_judgments_are_read_whole_and_scored_as_by_ir_measures(
    name: str, queries: int, judgments: int
) -> None:
    known = read_qrels(published(name))
    assert (len(known), sum(map(len, known.values()))) == (queries, judgments)
    rankings = shuffled(known)
    evaluation = evaluate(rankings, known, list(NAMES), resamples=1)
    scores = {query: {each: -float(rank) for rank, each in enumerate(found)} for query, found in rankings.items()}
    theirs = ir_measures.calc_aggregate(list(NAMES.values()), known, scores)
    for each, measure in NAMES.items():
        assert evaluation.measures[each].mean == pytest.approx(theirs[measure])


def test_the_best_ranking_of_published_grades_scores_1() -> None:
    known = read_qrels(published("beir_msmarco_qrels/qrels.dl19-passage.txt"))
    best = {query: sorted(grades, key=lambda each: -grades[each]) for query, grades in known.items()}
    evaluation = evaluate(best, known, "nDCG@10 RR Judged@10")
    assert {estimate.mean for estimate in evaluation.measures.values()} == {1.0}


def test_published_topics_give_the_judgments_their_words() -> None:
    source = TrecQuerySource(
        published("miracl_id/qrels.miracl-v1.0-id-dev.tsv"), published("miracl_id/topics.miracl-v1.0-id-dev.tsv")
    )
    assert all(query.text for query in source)


def test_a_published_beir_folder_is_read(tmp_path: Path) -> None:
    published("mtrag/qrels/clapnq.dev.tsv")
    (tmp_path / "qrels").mkdir()
    (tmp_path / "qrels" / "dev.tsv").symlink_to(DATA / "mtrag" / "qrels" / "clapnq.dev.tsv")
    (tmp_path / "queries.jsonl").symlink_to(DATA / "mtrag" / "queries" / "clapnq_lastturn.jsonl")
    queries = list(BeirQuerySource(tmp_path, split="dev"))
    assert len(queries) > 100
    assert all(query.text and query.relevant for query in queries)
