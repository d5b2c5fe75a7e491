"""How well the support of a sentence tells what a knowledge base says from what it does not, and what a look-up costs.

    .venv/bin/python benchmarks/support.py [--chunks 20000] [--mtrag ../shared/data/mtrag]

Two collections. The shipped knowledge base of the demo: each fact's paraphrase against its own article (said), against
all others (withheld), with another value (a figure or a word changed), and claims that no article makes. MTRAG, where
the folder is there: every asserting sentence of three telling words of the reference answers, against the passages that
people used for the answer (said), and against all passages of other documents (withheld); some of those say the same.

Shares are of sentences whose best support is below .45 (kb_gap), from .45 to .60 (undetermined), from .60 on (found);
AUC is the chance that a sentence that is said has more support than one of the row. The look-up runs over chunks of six
sentences drawn from the MTRAG passages, or from the demo's articles where there are none;
times are of the processor, first readings of chunks included.
"""

import argparse
import csv
import json
import random
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from uuid import UUID

import numpy as np

from kb_pipeline.demo.knowledge import load
from kb_pipeline.records import KnowledgeChunk, Tenant
from kb_pipeline.retrieval.knowledge import NOTHING_BELOW, SUPPORTED_FROM, KnowledgeIndex, telling_words
from kb_pipeline.retrieval.outcomes import asserts
from kb_pipeline.support import sentences

TENANT = Tenant(org_id=UUID(int=1), specialist_id=UUID(int=2))
NOW = datetime(2026, 7, 1, tzinfo=UTC)
MTRAG = Path(__file__).resolve().parents[2] / "shared" / "data" / "mtrag"
LOOKED_UP = 300
SENTENCES_A_CHUNK = 6
FEWEST_WORDS = 3


def main() -> None:
    """Both collections, then the look-up."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--chunks", type=int, default=20_000)
    parser.add_argument("--mtrag", type=Path, default=MTRAG)
    given = parser.parse_args()
    print(f"{'':24}{'n':>6}{'AUC':>8}{'< .45':>8}{'between':>9}{'>= .60':>8}")
    demo()
    texts = [article.text for article in load().articles]
    if (given.mtrag / "mini_corpus.jsonl").exists():
        texts = list(mtrag(given.mtrag).values())
    else:
        print(f"MTRAG: skipped, because {given.mtrag} is not there")
    look_up(texts, given.chunks)


def demo() -> None:
    """The demo's knowledge base."""
    knowledge = load()
    index = index_of({article.doc_id: article.text for article in knowledge.articles})
    facts = [(article.doc_id, fact) for article in knowledge.articles for fact in article.facts]
    changed = [(doc_id, fact) for doc_id, fact in facts if fact.changed]
    in_figures = [any(map(str.isdigit, fact.value or "")) for _, fact in changed]
    said = [best(index, fact.paraphrase, {doc_id}) for doc_id, fact in facts]
    others = {doc_id: frozenset(index.doc_ids - {doc_id}) for doc_id, _ in facts}
    report("demo: said", said, said)
    report("demo: withheld", [best(index, fact.paraphrase, others[doc_id]) for doc_id, fact in facts], said)
    turned = [best(index, fact.contradiction, {doc_id}) for doc_id, fact in changed]
    report(
        "demo: figure changed", [each for each, is_figure in zip(turned, in_figures, strict=True) if is_figure], said
    )
    report(
        "demo: word changed", [each for each, is_figure in zip(turned, in_figures, strict=True) if not is_figure], said
    )
    report("demo: claimed", [best(index, claim.text) for claim in knowledge.claims], said)


def mtrag(folder: Path) -> Mapping[str, str]:
    """The reference answers of the closed collection; returns its passages."""
    passages = {row["doc_id"]: row["text"] for row in rows(folder / "mini_corpus.jsonl")}
    used: dict[str, set[str]] = defaultdict(set)
    with (folder / "mini_qrels.tsv").open(encoding="utf-8") as file:
        for row in csv.DictReader(file, delimiter="\t"):
            used[row["query-id"]].add(row["corpus-id"])
    index = index_of(passages)
    said, withheld = [], []
    for task in rows(folder / "mini_queries.jsonl"):
        own = used[task["qid"]] & passages.keys()
        if task["answerability"] != "ANSWERABLE" or not own:
            continue
        documents = {passage.partition("-")[0] for passage in own}
        others = {each for each in passages if each.partition("-")[0] not in documents}
        for sentence in sentences(task["target"]):
            if asserts(sentence) and len(telling_words(sentence)) >= FEWEST_WORDS:
                said.append(best(index, sentence, own))
                withheld.append(best(index, sentence, others))
    report("MTRAG: said", said, said)
    report("MTRAG: withheld", withheld, said)
    return passages


def look_up(texts: Iterable[str], count: int) -> None:
    """The cost of an index over so many chunks, and of asking it."""
    dice = random.Random(7)
    said = [sentence for text in texts for sentence in sentences(text)]
    drawn = {f"d{number}": " ".join(dice.sample(said, SENTENCES_A_CHUNK)) for number in range(count)}
    asked = dice.sample(said, LOOKED_UP)
    began = time.process_time()
    index = index_of(drawn)
    print(f"\n{count:,} chunks of {np.mean([len(text) for text in drawn.values()]):.0f} characters on average")
    print(f"index made in {time.process_time() - began:.1f} s")
    timed("supporters from .60 on", [partial(index.supporters, s, as_of=NOW, at_least=SUPPORTED_FROM) for s in asked])
    timed("best", [partial(index.best, s, as_of=NOW) for s in asked])


def timed(name: str, calls: Sequence[Callable[[], object]]) -> None:
    """Processor time of each call."""
    took = []
    for call in calls:
        began = time.process_time()
        call()
        took.append((time.process_time() - began) * 1000)
    print(f"{name:24} median {np.median(took):.1f} ms, 95 % below {np.quantile(took, 0.95):.1f} ms")


def index_of(texts: Mapping[str, str]) -> KnowledgeIndex:
    """A knowledge base of one chunk a document."""
    return KnowledgeIndex(
        KnowledgeChunk(tenant=TENANT, doc_id=doc_id, chunk_id=doc_id, text=text, valid_from=NOW)
        for doc_id, text in texts.items()
    )


def best(index: KnowledgeIndex, sentence: str, among: Iterable[str] | None = None) -> float:
    """The best support, 0 for none."""
    found = index.best(sentence, as_of=NOW, among=None if among is None else frozenset(among))
    return found.support if found else 0.0


def report(name: str, supports: Sequence[float], said: Sequence[float]) -> None:
    """One row of the table."""
    found, true = np.array(supports), np.array(said)
    auc = np.mean([np.mean(one > found) + np.mean(one == found) / 2 for one in true])
    below, above = np.mean(found < NOTHING_BELOW), np.mean(found >= SUPPORTED_FROM)
    shown = f"{auc:8.3f}" if supports is not said else f"{'':8}"
    print(f"{name:24}{len(found):6}{shown}{below:8.1%}{1 - below - above:9.1%}{above:8.1%}")


def rows(file: Path) -> Iterable[Mapping[str, str]]:
    """The objects of a JSON Lines file."""
    with file.open(encoding="utf-8") as lines:
        yield from map(json.loads, lines)


if __name__ == "__main__":
    main()
