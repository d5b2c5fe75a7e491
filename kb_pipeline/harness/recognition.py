"""Whether what a run ranks is known at all: ids of another kind would count as not relevant, and nobody would see it.

Belongs here: counting documents that judgments and knowledge base know. Does not: scores, warnings.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace
from urllib.parse import unquote

from kb_pipeline.harness.labelled import Judgments
from kb_pipeline.harness.runs import Run

DEPTH = 10


def recognised(
    run: Run,
    judgments: Judgments,
    *,
    document_of: Mapping[str, str] | None = None,
    chunks: Collection[str] | None = None,
    stored: Callable[[Collection[str]], Collection[str]] | None = None,
) -> Run:
    """The run with counts of the different documents in the first 10 places of its judged queries.

    Those are documents_at_10; known_at_10 of them, which are judged for some query or `stored`, the part of the given
    ids that the knowledge base has; percent_encoded_at_10, which are unknown but known once decoded, as the ids of an
    export are. Given `chunks`, also not_chunks_at_10: ids that are neither one of them nor mapped by `document_of`.
    """
    mapped = document_of or {}
    ranked = _first(run.rankings[query] for query in judgments if query in run.rankings)
    documents = {mapped.get(each, each) for each in ranked}
    decoded = {each: unquote(each) for each in documents if "%" in each}
    known = {document for grades in judgments.values() for document in grades}
    if stored:
        known.update(stored((documents | set(decoded.values())) - known))
    encoded = [each for each, original in decoded.items() if each not in known and original in known]
    counts = {
        "documents_at_10": len(documents),
        "known_at_10": len(documents & known),
        "percent_encoded_at_10": len(encoded),
    }
    if chunks is not None:
        counts["not_chunks_at_10"] = sum(each not in chunks and each not in mapped for each in ranked)
    return replace(run, counts={**run.counts, **counts})


def _first(rankings: Iterable[Collection[str]]) -> set[str]:
    return {each for ranking in rankings for each in list(ranking)[:DEPTH]}
