"""The likely combinations of two markers and a header, tried on some prompts.

Belongs here: which combinations are likely, and their order. Does not: what recurs (constants, headers), what may be
shown (gate).
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product
from statistics import median

from kb_pipeline.grading.extraction import SurfaceTemplate
from kb_pipeline.grading.templates.constants import constants, line_start, stands_in
from kb_pipeline.grading.templates.enough import FEWEST, MOST_OF
from kb_pipeline.grading.templates.headers import header_patterns
from kb_pipeline.grading.templates.prompts import Prompt
from kb_pipeline.grading.templates.verification import merit

_MINED = 200
_FEW = 24
# On how many prompts with how many characters the templates of a round are tried, and how many of them survive it.
_ROUNDS = ((8, 120_000, 16), (24, 400_000, 4), (_MINED, 1_500_000, 3))
_MOST_CONTEXTS = 4
_MOST_QUESTIONS = 10
_CONTINUATION = 80


class Search:
    """The templates that prompts suggest; `support` is how many of them must have a marker."""

    def __init__(self, prompts: Sequence[Prompt], configured: SurfaceTemplate, support: int) -> None:
        self._configured = configured
        self._mined = _spread(prompts, _MINED)
        scaled = max(2, min(len(self._mined), round(support * len(self._mined) / len(prompts))))
        self._counts = constants(self._mined, support=scaled)
        own = (configured.question_marker, configured.context_marker)
        self._holding = {
            marker: [prompt for prompt in self._mined if stands_in(prompt.text, marker)]
            for marker in (*self._counts, *own)
        }
        self._patterns = self._likely_patterns()

    def best(self) -> list[SurfaceTemplate]:
        """The best templates, the best one first: all are tried on few prompts, the better ones on more."""
        left = list(self._templates())
        for most, characters, survivors in _ROUNDS:
            orders = [(self._order(template, most, characters), template) for template in left]
            orders.sort(key=lambda each: each[0], reverse=True)
            left = [template for order, template in orders if order[0]][:survivors]
        return left

    def _order(self, template: SurfaceTemplate, most: int, characters: int) -> tuple[float, ...]:
        """How good a template is: the larger, the better. First comes 0 where it reads no prompt well."""
        question, context = template.question_marker, template.context_marker
        with_context = set(map(id, self._holding[context]))
        marked = [prompt for prompt in self._holding[question] if id(prompt) in with_context]
        if not marked:
            return (0,)
        # What some people write too, such as a label of their own in a question, is less frequent than the template.
        usual = MOST_OF * min(len(self._holding[question]), len(self._holding[context]))
        others = [m for m, count in self._counts.items() if count >= usual and m not in {question, context}]
        found = merit(_within(_spread(marked, most), characters), template, markers=others)
        reach = len(marked) / len(self._mined)
        # A share counts in steps of two hundredths, so that chance in a sample decides nothing.
        steps = (round(share * reach * 50) for share in (found.clean + found.listed, found.parsed))
        return (int(found.clean > 0), *steps, found.close)

    def _likely_patterns(self) -> list[re.Pattern[str]]:
        """The configured header, where most prompts repeat it; else those that are found, and that one last."""
        old = self._configured.passage_pattern
        repeating = sum(len(old.findall(prompt.text)) > 1 for prompt in self._mined)
        found = [re.compile(pattern) for pattern in header_patterns(self._mined)]
        return [old] if 2 * repeating >= len(self._mined) or not found else [*found, old]

    def _templates(self) -> Iterator[SurfaceTemplate]:
        for pattern in self._patterns:
            for question, context in product(self._questions(pattern), self._contexts(pattern)):
                if not _begin_alike(question, context):
                    yield replace(
                        self._configured, question_marker=question, context_marker=context, passage_pattern=pattern
                    )

    def _contexts(self, pattern: re.Pattern[str]) -> list[str]:
        """What stands nearest before the first header; what is configured, where it is still there."""
        if self._is_usual(self._configured.context_marker):
            return [self._configured.context_marker]
        near: list[tuple[float, str]] = []
        for marker in self._counts:
            holding = _spread(self._holding[marker], _FEW)
            gaps = [gap for prompt in holding if (gap := _gap(prompt.text, marker, pattern)) is not None]
            if gaps and 2 * len(gaps) >= len(holding):
                near.append((median(gaps), marker))
        return [marker for _, marker in sorted(near)[:_MOST_CONTEXTS]] or list(self._counts)[:_MOST_QUESTIONS]

    def _questions(self, pattern: re.Pattern[str]) -> list[str]:
        """What different texts follow, outside of passages; what is configured, where it is still there."""
        if self._is_usual(self._configured.question_marker):
            return [self._configured.question_marker]
        return [marker for marker in self._counts if self._may_ask(marker, pattern)][:_MOST_QUESTIONS]

    def _may_ask(self, marker: str, pattern: re.Pattern[str]) -> bool:
        holding = self._holding[marker]
        few = _spread(holding, _FEW)
        if 2 * sum(_is_among_passages(prompt.text, marker, pattern) for prompt in few) >= len(few):
            return False
        continuations = {_after(prompt.text, marker) for prompt in holding}
        return len(continuations) >= min(FEWEST, len(holding))

    def _is_usual(self, marker: str) -> bool:
        return len(self._holding[marker]) >= MOST_OF * len(self._mined)


def _gap(text: str, marker: str, pattern: re.Pattern[str]) -> int | None:
    """Characters between a marker and the first header behind it."""
    end = line_start(text, marker) + len(marker)
    header = pattern.search(text, end)
    return header.start() - end if header else None


def _is_among_passages(text: str, marker: str, pattern: re.Pattern[str]) -> bool:
    """Whether the marker stands between two headers."""
    headers = [match.start() for match in pattern.finditer(text)]
    return bool(headers) and 0 <= line_start(text, marker, headers[0]) < headers[-1]


def _after(text: str, marker: str) -> str:
    end = line_start(text, marker) + len(marker)
    return text[end : end + 2 * _CONTINUATION].strip()[:_CONTINUATION]


def _begin_alike(one: str, other: str) -> bool:
    first, second = sorted((one.strip().casefold(), other.strip().casefold()))
    return second.startswith(first)


def _spread(prompts: Sequence[Prompt], most: int) -> list[Prompt]:
    """At most so many of the prompts, from all of the time."""
    step = max(1, -(-len(prompts) // most))
    return list(prompts[::step])


def _within(prompts: Sequence[Prompt], characters: int) -> list[Prompt]:
    """As many of the prompts as hold no more characters, at least one."""
    kept: list[Prompt] = []
    for prompt in prompts:
        characters -= len(prompt.text)
        if kept and characters < 0:
            break
        kept.append(prompt)
    return kept
