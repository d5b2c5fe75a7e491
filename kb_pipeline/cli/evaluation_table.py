"""Evaluations and comparisons as a person reads them: tables with intervals, small bars, counts in words.

Belongs here: columns, bars, words. Does not: numbers that an evaluation has not.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from kb_pipeline.cli.output import words, write_line, write_text
from kb_pipeline.cli.tables import table_lines, terminal_width
from kb_pipeline.counting import counted, out_of

if TYPE_CHECKING:
    from kb_pipeline.harness import Difference, Estimate

INDENT = 2
BAR_CELLS = 20
SURE, UNSURE, NONE = "█▒·"
# In the order of importance; a count of 0 is not worth a word, but for two.
COUNTS = {
    "judged_queries": "judged queries",
    "without_results": "without a result, which counts as 0",
    "without_relevant": "without a relevant document, which Judged@k alone counts",
    "not_asked": "judged queries it was not asked, left out",
    "ignored_queries": "of its queries ignored for want of judgments",
    "results": "results",
    "judged_results": "of them judged",
    "duplicates": "repeated documents dropped",
    "excluded_results": "self-made documents dropped",
    "documents_at_10": "documents in the top 10 places",
    "known_at_10": "of them known by judgments or knowledge base",
    "percent_encoded_at_10": "documents under the encoded ids of an export",
    "not_chunks_at_10": "ids that are no chunks",
    "queries_ranked_by_score": "queries without usable ranks, ranked by score",
    "queries_whose_scores_contradict_ranks": "queries whose scores contradict their ranks, which decide",
    "recorded_queries_without_judgments": "recorded queries without judgments",
}
ALWAYS = frozenset({"judged_queries", "judged_results", "known_at_10"})


def write_evaluation(name: str, counts: Mapping[str, int], measures: "Mapping[str, Estimate]") -> None:
    """One run: counts in words, then a row per measure."""
    write_text(f"run {name}", hanging=4)
    said = [
        f"{words(counts[each])} {text}"
        for each, text in COUNTS.items()
        if counts.get(each) or (each in ALWAYS and each in counts)
    ]
    write_text("  " + "; ".join(said), hanging=2)
    titles = ("measure", "mean", "95 % interval", "0 to 1", "queries")
    _write_table(titles, ((measure, *_figures(estimate)) for measure, estimate in measures.items()))


def warnings(name: str, counts: Mapping[str, int], *, has_documents: bool) -> Iterator[str]:
    """What a person should know of a run before they believe its scores: ids that mean nothing here.

    Without the documents of a knowledge base, an id that nobody judged is as good as any, unless all are such.
    """
    documents, known = counts.get("documents_at_10", 0), counts.get("known_at_10", 0)
    share = f"only {out_of(known, documents, 'document')} of {name} in the top 10 are known"
    if counts.get("not_chunks_at_10"):
        strange = counted(counts["not_chunks_at_10"], "id that is no chunk", "ids that are no chunks")
        yield f"{name} ranks {strange} of the knowledge base"
    if encoded := counts.get("percent_encoded_at_10"):
        yield (
            f"{share}; {words(encoded)} have percent-encoded ids as in an export: give its id_map.jsonl with --id-map"
        )
    elif known < documents and (has_documents or not known):
        yield f"{share} by judgments or knowledge base; the others count as not relevant"


def write_comparison(first: str, second: str, differences: Mapping[str, "Difference"]) -> None:
    """How far the second run is from the first: a row per measure."""
    write_text(f"{second} minus {first}, query by query", hanging=4)
    titles = ("measure", "first", "second", "difference", "95 % interval", "p", "queries")
    _write_table(titles, ((name, *_differences(each)) for name, each in differences.items()))


def _differences(each: "Difference") -> tuple[str, ...]:
    span = f"{each.low:+.3f} to {each.high:+.3f}"
    figures = (f"{each.first:.3f}", f"{each.second:.3f}", f"{each.difference:+.3f}", span, f"{each.p:.4f}")
    return (*figures, words(each.n))


def _figures(estimate: "Estimate") -> tuple[str, ...]:
    if estimate.mean is None or estimate.low is None or estimate.high is None:
        return ("-", "-", NONE * BAR_CELLS, "0")
    span = f"{estimate.low:.3f} to {estimate.high:.3f}"
    return (f"{estimate.mean:.3f}", span, bar(estimate.low, estimate.high), words(estimate.n))


def bar(low: float, high: float) -> str:
    """What is sure of a share between 0 and 1, what the interval leaves open, and the rest."""
    sure = round(min(max(low, 0.0), 1.0) * BAR_CELLS)
    reached = round(min(max(high, 0.0), 1.0) * BAR_CELLS)
    return SURE * sure + UNSURE * (reached - sure) + NONE * (BAR_CELLS - reached)


def _write_table(titles: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    for line in table_lines(titles, rows, numbers=set(titles) - {"measure", "0 to 1"}, width=terminal_width() - INDENT):
        write_line(f"{' ' * INDENT}{line}")
