"""Measures by their public names (`nDCG@10`, `R(rel=2)@5`), in the grammar of ir_measures.

Belongs here: reading the names. Does not: computing.

The grammar is read here and not by `ir_measures.parse_measure`, which needs parts of Python's `ast` module that newer
versions lack.
"""

import ast
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import ir_measures
from ir_measures.measures import MeanAgg, registry

from kb_pipeline.harness.failures import NotEvaluable

JUDGED = "Judged@10"
DEFAULT_MEASURES = ("nDCG@10", "Recall@10", "MRR", "Success@5", JUDGED)
# What computes within this process; the other engines of ir_measures start programs, or copy ids into shared folders.
_providers: Any = ir_measures.providers
ENGINES: Any = _providers.FallbackProvider(
    [
        ir_measures.pytrec_eval,
        ir_measures.compat,
        ir_measures.msmarco,
        ir_measures.accuracy,
        ir_measures.judged,
        ir_measures.cwl_eval,
        ir_measures.pyndeval,
    ]
)
_MEASURE = re.compile(r"(?P<name>\w+)\s*(?:\((?P<arguments>.*)\))?\s*(?:@\s*(?P<at>\S+))?", re.DOTALL)
# Commas and blanks part measures, but not within brackets.
_PARTS = re.compile(r"(?:\([^()]*\)|[^,\s(])+")
_ACCEPTED = "accepted are names of ir_measures such as nDCG@10, R@10, RR, Success@5, P@5, AP, Judged@10 or R(rel=2)@10"


@dataclass(frozen=True, kw_only=True, slots=True)
class NamedMeasure:
    """One measure under the name it was asked for.

    `kind`, `cutoff` and `relevance`, the least grade that counts as relevant, are those of `measure`; it `is_plain`
    where it has no other arguments.
    """

    name: str
    measure: ir_measures.Measure
    kind: str
    cutoff: int | None
    relevance: int
    is_plain: bool


def parse_measures(names: str | Iterable[str]) -> tuple[NamedMeasure, ...]:
    """The measures of one text, parted by commas or blanks, or of several, each once; Judged@10 is always among them.

    Raises NotEvaluable for what is no measure, or none that has a value per query.
    """
    texts = [names] if isinstance(names, str) else list(names)
    found = {text: parse_measure(text) for given in texts for text in _PARTS.findall(given)}
    if not found:
        raise NotEvaluable(f"no measure is named; {_ACCEPTED}")
    if not any(repr(measure.measure) == JUDGED for measure in found.values()):
        found[JUDGED] = parse_measure(JUDGED)
    return tuple(found.values())


def parse_measure(text: str) -> NamedMeasure:
    """One measure; raises NotEvaluable."""
    match = _MEASURE.fullmatch(text.strip())
    known = registry.get(match["name"]) if match else None
    if match is None or known is None:
        raise NotEvaluable(f"{text!r} is no measure; {_ACCEPTED}")
    try:
        arguments = _arguments(match["arguments"] or "")
        if match["at"]:
            arguments[known.AT_PARAM] = ast.literal_eval(match["at"])
        measure = known(**arguments)
        measure.validate_params()
    except (AssertionError, SyntaxError, TypeError, ValueError):
        raise NotEvaluable(f"{text!r} lacks an argument or has a wrong one; {_ACCEPTED}") from None
    return _named(text.strip(), measure)


def _arguments(text: str) -> dict[str, Any]:
    call = ast.parse(f"_({text})", mode="eval").body
    if not isinstance(call, ast.Call) or call.args or any(keyword.arg is None for keyword in call.keywords):
        raise ValueError
    return {str(keyword.arg): ast.literal_eval(keyword.value) for keyword in call.keywords}


def _named(text: str, measure: ir_measures.Measure) -> NamedMeasure:
    cutoff = measure.params.get("cutoff")
    if not isinstance(measure.aggregator(), MeanAgg):
        raise NotEvaluable(f"{text} is a total, not a mean over queries; {_ACCEPTED}")
    if cutoff is not None and (isinstance(cutoff, bool) or cutoff < 1):
        raise NotEvaluable(f"{text} cuts at no rank; a cutoff is a whole number from 1")
    if not ENGINES.supports(measure):
        raise NotEvaluable(f"{text} needs a library that is not installed; {_ACCEPTED}")
    return NamedMeasure(
        name=text,
        measure=measure,
        kind=str(measure.NAME),
        cutoff=cutoff,
        relevance=measure.params.get("rel", 1),
        is_plain=set(measure.params) <= {"cutoff", "rel"},
    )
