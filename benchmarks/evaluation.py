"""Evaluating a run of 100,000 queries × 10 results against pytrec_eval alone on the same run, in the same process.

    .venv/bin/python benchmarks/evaluation.py [--queries 100000] [--results 10] [--rounds 5]

pytrec_eval is given the judgments and the run in its own form, made beforehand, and computes nDCG@10, recall@10,
reciprocal rank and success@5: no means, no intervals, no judged share, and queries without results left out. Ours
starts from ranked lists and ends with means, 95 % intervals and counts. The pairs are taken in turn; a second pair
reads the run from a TREC file first. That both have the same means is checked before anything is timed.
"""

import argparse
import gc
import random
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytrec_eval

from kb_pipeline.harness import Run, evaluate, read_run

TREC_NAMES = {"nDCG@10": "ndcg_cut_10", "Recall@10": "recall_10", "MRR": "recip_rank", "Success@5": "success_5"}
AIM = 3.0
Judgments = dict[str, dict[str, int]]
Rankings = dict[str, list[str]]


def made(queries: int, results: int) -> tuple[Judgments, Rankings]:
    """Three judged documents a query, of which most are found, at random ranks."""
    generator = random.Random(1)
    judgments: Judgments = {}
    rankings: Rankings = {}
    for number in range(queries):
        grades = {f"document-{generator.randrange(100_000)}": generator.randrange(4) for _ in range(3)}
        found = dict.fromkeys([each for each in grades if generator.random() < 0.7])
        found |= dict.fromkeys(f"document-{generator.randrange(100_000)}" for _ in range(results))
        ranking = list(found)[:results]
        generator.shuffle(ranking)
        judgments[f"query-{number:06}"], rankings[f"query-{number:06}"] = grades, ranking
    return judgments, rankings


def as_scores(rankings: Rankings) -> dict[str, dict[str, float]]:
    """The run in pytrec_eval's form."""
    return {query: {each: -float(rank) for rank, each in enumerate(found)} for query, found in rankings.items()}


def pytrec(judgments: Judgments, scores: dict[str, dict[str, float]]) -> dict[str, dict[str, float]]:
    """The floor."""
    evaluator = pytrec_eval.RelevanceEvaluator(judgments, set(TREC_NAMES.values()))
    found: dict[str, dict[str, float]] = evaluator.evaluate(scores)
    return found


def write_run(path: Path, rankings: Rankings) -> None:
    """The run as a TREC file."""
    with path.open("w", encoding="utf-8") as file:
        for query, found in rankings.items():
            file.writelines(f"{query} Q0 {each} {rank} {-rank} bench\n" for rank, each in enumerate(found, start=1))


def pytrec_from_file(path: Path, judgments: Judgments) -> None:
    """The floor with pytrec_eval's own reader."""
    with path.open(encoding="utf-8") as file:
        pytrec(judgments, pytrec_eval.parse_run(file))


def seconds(work: Callable[[], object]) -> float:
    """Wall seconds of one call."""
    gc.collect()
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def check(judgments: Judgments, rankings: Rankings, scores: dict[str, dict[str, float]]) -> None:
    """Both have the same means over the queries with a relevant document."""
    theirs, ours = pytrec(judgments, scores), evaluate(rankings, judgments)
    for name, trec_name in TREC_NAMES.items():
        values = [theirs[query][trec_name] for query, grades in judgments.items() if max(grades.values()) > 0]
        if not np.isclose(float(np.mean(values)), ours.measures[name].mean or 0.0):
            raise SystemExit(f"{name} differs: {np.mean(values)} and {ours.measures[name].mean}")


def report(name: str, pairs: list[tuple[float, float]], queries: int) -> None:
    """Medians, and the ratio pair by pair."""
    ours, floor = (statistics.median(times) for times in zip(*pairs, strict=True))
    ratios = sorted(a / b for a, b in pairs)
    print(
        f"{name}: {ours:.2f} s for {queries:,} queries, pytrec_eval alone {floor:.2f} s; "
        f"{statistics.median(ratios):.2f} x ({ratios[0]:.2f} to {ratios[-1]:.2f}); aim: {AIM:.0f} at most"
    )


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--queries", type=int, default=100_000)
    parser.add_argument("--results", type=int, default=10)
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    judgments, rankings = made(arguments.queries, arguments.results)
    scores, run = as_scores(rankings), Run(name="bench", rankings=rankings)
    check(judgments, rankings, scores)
    pairs = [
        (seconds(lambda: evaluate(run, judgments)), seconds(lambda: pytrec(judgments, scores)))
        for _ in range(arguments.rounds)
    ]
    report("in memory", pairs, arguments.queries)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "bench.run"
        write_run(path, rankings)
        from_file = [
            (
                seconds(lambda: evaluate(read_run(path), judgments)),
                seconds(lambda: pytrec_from_file(path, judgments)),
            )
            for _ in range(arguments.rounds)
        ]
        report("from a TREC file", from_file, arguments.queries)


if __name__ == "__main__":
    main()
