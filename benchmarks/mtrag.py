"""The evaluation of ground_truth.py on real questions, passages and human judgments; experts and model stay simulated.

    .venv/bin/python benchmarks/mtrag.py --data ../shared/data/mtrag [--seeds 5] [--drafts 1200]

The folder holds mini_corpus.jsonl (doc_id, title, text), mini_queries.jsonl (qid, question, collection, target,
answerability), mini_qrels.tsv and queries/*_rewrite.jsonl of the MT-RAG benchmark (Katsis et al., 2025). What a right
answer says are the sentences of the human one; a passage that annotators used says all of them. Passages that they did
not use are not judged irrelevant, so the precision is a lower bound. Without the folder there is nothing to do.
"""

import argparse
import json
import re
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any
from uuid import NAMESPACE_URL, uuid5

from ground_truth import Report, embedded_server, findings_of, fresh_database
from rich.console import Console

from kb_pipeline.demo import knowledge
from kb_pipeline.demo.retrieval.conversations import DRAFTS
from kb_pipeline.demo.retrieval.engines import PostgresEngines
from kb_pipeline.demo.retrieval.library import DEMOTED_SHARE, ENGINES, UNINDEXED_SHARE, WITHHELD_SHARE
from kb_pipeline.demo.retrieval.wordings import keywords, with_slips
from kb_pipeline.demo.retrieval.world import Desk, Document, Enquiry, Faults, Point, Wording
from kb_pipeline.demo.traffic.plan import dice
from kb_pipeline.records import Tenant
from kb_pipeline.support import sentences

COLLECTIONS = ("clapnq", "cloud", "fiqa", "govt")
# Where an answer is partial or asks back, its sentences are not what the passages say, and nothing can be said of them.
ANSWERED = "ANSWERABLE"
LEFT_OUT = frozenset({"PARTIAL", "UNDERSPECIFIED"})
LEAST_WORDS = 4
_NUMBER = re.compile(r"\d+")


@dataclass(frozen=True, kw_only=True, slots=True)
class Data:
    """The collection as it lies in the folder; `relevant` are doc_ids by query id."""

    passages: Mapping[str, dict[str, Any]]
    queries: Sequence[dict[str, Any]]
    relevant: Mapping[str, frozenset[str]]
    rewritten: Mapping[str, str]


def read(folder: Path) -> Data:
    """Read the folder."""
    relevant: defaultdict[str, set[str]] = defaultdict(set)
    for line in (folder / "mini_qrels.tsv").read_text(encoding="utf-8").splitlines()[1:]:
        qid, doc_id, grade = line.split("\t")
        if int(grade) > 0:
            relevant[qid].add(doc_id)
    rewrites = (row for file in sorted(folder.glob("queries/*_rewrite.jsonl")) for row in _rows(file))
    return Data(
        passages={row["doc_id"]: row for row in _rows(folder / "mini_corpus.jsonl")},
        queries=list(_rows(folder / "mini_queries.jsonl")),
        relevant={qid: frozenset(doc_ids) for qid, doc_ids in relevant.items()},
        rewritten={row["_id"]: _said(row["text"]) for row in rewrites},
    )


def desks_of(data: Data, seed: int) -> tuple[Desk, ...]:
    """One desk per collection."""
    return tuple(_desk(data, collection, seed) for collection in COLLECTIONS)


def _desk(data: Data, collection: str, seed: int) -> Desk:
    kept = (query for query in data.queries if query["answerability"] not in LEFT_OUT)
    queries = [query for query in kept if collection in query["collection"].replace("ibmcloud", "cloud")]
    random = dice(seed, "desk", collection)
    doc_ids = sorted({doc_id for query in queries for doc_id in data.relevant.get(query["qid"], ())})
    answers = {query["qid"]: _answer(query) for query in queries}
    said: dict[str, list[Point]] = {doc_id: _sentences(doc_id, data.passages[doc_id]["text"]) for doc_id in doc_ids}
    own = {doc_id: tuple(point.key for point in points) for doc_id, points in said.items()}
    for query in queries:
        for doc_id in data.relevant.get(query["qid"], ()):
            said[doc_id] += answers[query["qid"]]
    order = random.sample(queries, len(queries))
    org_id = uuid5(NAMESPACE_URL, "urn:kb_pipeline:mtrag")
    return Desk(
        name=collection,
        tenant=Tenant(org_id=org_id, specialist_id=uuid5(org_id, collection)),
        share=1 / len(COLLECTIONS),
        engines=ENGINES,
        documents={doc_id: _document(data.passages[doc_id], said[doc_id], own[doc_id]) for doc_id in doc_ids},
        enquiries=[_enquiry(query, answers, data, rank) for rank, query in enumerate(order)],
        points={point.key: point for points in [*said.values(), *answers.values()] for point in points},
        claims={"en": [claim.text for claim in knowledge.load().claims if claim.language == "en"]},
        faults=_faults(queries, data, random),
    )


def _faults(queries: Sequence[dict[str, Any]], data: Data, random: Random) -> Faults:
    """A fault each for all passages of some questions: one of three that is missing would be missed by nobody."""
    answered = [query["qid"] for query in queries if data.relevant.get(query["qid"]) and _answer(query)]
    drawn = random.sample(answered, len(answered))
    counts = [round(len(answered) * share) for share in (WITHHELD_SHARE, UNINDEXED_SHARE, DEMOTED_SHARE)]
    groups = (drawn[sum(counts[:i]) : sum(counts[: i + 1])] for i in range(3))
    passages = [frozenset(doc_id for qid in group for doc_id in data.relevant[qid]) for group in groups]
    withheld, unindexed, demoted = passages
    return Faults(withheld=withheld, unindexed=unindexed - withheld, demoted=demoted - withheld - unindexed)


def _document(passage: dict[str, Any], said: Sequence[Point], own: Sequence[str]) -> Document:
    return Document(
        doc_id=passage["doc_id"],
        language="en",
        title=passage["title"] or "",
        text=passage["text"],
        points=tuple(dict.fromkeys((*own, *(point.key for point in said)))),
    )


def _enquiry(query: dict[str, Any], answers: Mapping[str, Sequence[Point]], data: Data, rank: int) -> Enquiry:
    asked = " ".join(query["question"].split())
    rewritten = data.rewritten.get(query["qid"], asked)
    return Enquiry(
        key=query["qid"],
        language="en",
        wordings=(
            Wording(text=asked, rewritten=rewritten),
            Wording(text=f"Good afternoon, {asked}", rewritten=rewritten),
            Wording(text=keywords(rewritten) or rewritten),
            Wording(text=rewritten.rstrip("?").casefold()),
            Wording(text=with_slips(asked.rstrip("?"), dice("slips", query["qid"])), rewritten=None),
        ),
        points=tuple(point.key for point in answers[query["qid"]]),
        weight=1 / (rank + 4) ** 0.9,
    )


def _answer(query: dict[str, Any]) -> list[Point]:
    """What the human answer says; nothing where there is no answer in the collection."""
    return _sentences(query["qid"], query["target"]) if query["answerability"] == ANSWERED else []


def _sentences(key: str, text: str) -> list[Point]:
    said = [sentence for sentence in sentences(text) if len(sentence.split()) >= LEAST_WORDS]
    return [Point(key=f"{key}#{i}", ways=(sentence,), false=_false(sentence)) for i, sentence in enumerate(said)]


def _false(sentence: str) -> str | None:
    """With the first number changed."""
    changed = _NUMBER.sub(lambda number: str(int(number.group()) * 3 + 1), sentence, count=1)
    return changed if changed != sentence else None


def _said(text: str) -> str:
    return text.removeprefix("|user|:").strip()


def _rows(file: Path) -> Iterator[dict[str, Any]]:
    with file.open(encoding="utf-8") as lines:
        yield from (json.loads(line) for line in lines)


def main() -> int:
    """Rehearse every seed and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path("../shared/data/mtrag"))
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--drafts", type=int, default=DRAFTS)
    arguments = parser.parse_args()
    if not (arguments.data / "mini_corpus.jsonl").is_file():
        print(f"skipped: there is no MT-RAG collection in {arguments.data}; --data names its folder")
        return 0
    data = read(arguments.data)
    report = Report("Ground truth of simulated experts over MT-RAG")
    with embedded_server() as server, fresh_database(server, "engines") as database:
        engines = PostgresEngines(database)
        for seed in range(1, arguments.seeds + 1):
            made = desks_of(data, seed)
            if seed == 1:
                engines.index(made)
            report.add(seed, findings_of(server, seed, arguments.drafts, made, engines))
    report.show(Console(width=150))
    return 0


if __name__ == "__main__":
    sys.exit(main())
