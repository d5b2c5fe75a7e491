"""Markers for a group of prompts: every likely combination is tried on some, the best one on all.

Belongs here: which combinations are likely, and the choice. Does not: what may be shown (gate), what recurs.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from statistics import median

from kb_pipeline.grading.extraction import SurfaceTemplate
from kb_pipeline.grading.templates.constants import constants, line_start
from kb_pipeline.grading.templates.enough import FEWEST, MOST_OF, needed
from kb_pipeline.grading.templates.gate import levelled, may_show
from kb_pipeline.grading.templates.headers import header_patterns
from kb_pipeline.grading.templates.instructions import synthesis_markers
from kb_pipeline.grading.templates.prompts import Prompt
from kb_pipeline.grading.templates.verification import Merit, Reading, has_both, merit, reading

MOST_PROPOSALS = 3
_MINED = 200
_FEW = 24
# How many prompts with how many characters the templates of a round are tried on, and how many of them survive it.
_ROUNDS = ((8, 120_000, 16), (24, 400_000, 4), (_MINED, 1_500_000, 3))
_MOST_CONTEXTS = 4
_MOST_QUESTIONS = 10
_CONTINUATION = 80


@dataclass(frozen=True, kw_only=True, slots=True)
class Proposal:
    """Markers for `bodies` prompts of one kind, of which `parses` would parse.

    `questions` is how many different questions those ask; `unparsed` has the reasons of the others: `not_synthesis`, or
    a parse_status. `prompts` are those that would parse.
    """

    template: SurfaceTemplate
    bodies: int
    parses: int
    questions: int
    unparsed: dict[str, int]
    prompts: tuple[Prompt, ...]

    @property
    def share(self) -> float:
        """Of all, how many would parse."""
        return self.parses / self.bodies


def propose(
    prompts: Sequence[Prompt],
    configured: SurfaceTemplate,
    *,
    others: Sequence[Prompt] = (),
    redact: Sequence[re.Pattern[str]] = (),
) -> list[Proposal]:
    """Markers for a group of prompts that `configured` does not fit, the ones that fit most of them first.

    Several where the group mixes templates. `others` are calls of other kinds: the synthesis markers must not fit them.
    None where no text recurs as a marker does, or what recurs may not be shown.
    """
    found: list[Proposal] = []
    left = list(prompts)
    support = needed(len(prompts))
    while len(left) >= max(FEWEST, support * bool(found)) and len(found) < MOST_PROPOSALS:
        proposal = _best(left, configured, others, redact, support)
        if proposal is None:
            break
        found.append(proposal)
        done = set(map(id, proposal.prompts))
        left = [prompt for prompt in left if id(prompt) not in done]
    return [_over_all(proposal, prompts) for proposal in found]


def _over_all(proposal: Proposal, prompts: Sequence[Prompt]) -> Proposal:
    """The proposal that was made for what earlier ones left, over all prompts."""
    if proposal.bodies == len(prompts):
        return proposal
    reasons = Counter(why for prompt in prompts if (why := reading(prompt, proposal.template).why))
    parses = len(prompts) - reasons.total()
    return replace(proposal, bodies=len(prompts), parses=parses, unparsed=dict(reasons.most_common()))


def _best(
    prompts: Sequence[Prompt],
    configured: SurfaceTemplate,
    others: Sequence[Prompt],
    redact: Sequence[re.Pattern[str]],
    support: int,
) -> Proposal | None:
    markers = synthesis_markers(prompts, others, configured.synthesis_markers)
    if not markers:
        return None
    for template in _Search(prompts, replace(configured, synthesis_markers=markers), support).best():
        if template == configured:
            continue
        readings = [(prompt, reading(prompt, template)) for prompt in prompts]
        parsed = [(prompt, each) for prompt, each in readings if each.why is None]
        if _fits(readings, template) and may_show(parsed, template, configured, redact):
            return Proposal(
                template=template,
                bodies=len(prompts),
                parses=len(parsed),
                questions=len({levelled(each.question) for _, each in parsed}),
                unparsed=dict(Counter(each.why for _, each in readings if each.why).most_common()),
                prompts=tuple(prompt for prompt, _ in parsed),
            )
    return None


def _fits(readings: Sequence[tuple[Prompt, Reading]], template: SurfaceTemplate) -> bool:
    """Whether most that parse have both markers, and most that have both parse: else the markers are by chance."""
    parsed = {id(prompt) for prompt, each in readings if each.why is None}
    marked = {id(prompt) for prompt, _ in readings if has_both(prompt, template)}
    both = len(parsed & marked)
    return len(parsed) >= FEWEST and both >= MOST_OF * len(parsed) and both >= MOST_OF * len(marked)


class _Search:
    """The combinations of two markers and a header that some prompts suggest."""

    def __init__(self, prompts: Sequence[Prompt], configured: SurfaceTemplate, support: int) -> None:
        self.configured = configured
        self.mined = _spread(prompts, _MINED)
        self.few = _spread(self.mined, _FEW)
        scaled = max(2, min(len(self.mined), round(support * len(self.mined) / len(prompts))))
        self.counts = constants(self.mined, support=scaled)
        self.markers = list(self.counts)
        self.patterns = self._patterns()

    def best(self) -> list[SurfaceTemplate]:
        """The best templates, the best one first: all are tried on few prompts, the better ones on more."""
        left = list(self._templates())
        for most, characters, survivors in _ROUNDS:
            tried = _within(_spread(self.mined, most), characters)
            merits = [(self._merit(template, tried), template) for template in left]
            merits.sort(key=lambda each: each[0].order, reverse=True)
            left = [template for each, template in merits if each.clean > 0][:survivors]
        return left

    def _patterns(self) -> list[re.Pattern[str]]:
        old = self.configured.passage_pattern
        repeating = sum(len(old.findall(prompt.text)) > 1 for prompt in self.mined)
        mined = [re.compile(pattern) for pattern in header_patterns(self.mined)]
        return [old] if 2 * repeating >= len(self.mined) or not mined else [*mined, old]

    def _templates(self) -> Iterator[SurfaceTemplate]:
        for pattern in self.patterns:
            contexts = self._contexts(pattern)
            pairs = product(self._questions(pattern), contexts)
            for question, context in pairs:
                if not _begin_alike(question, context):
                    yield replace(
                        self.configured, question_marker=question, context_marker=context, passage_pattern=pattern
                    )

    def _contexts(self, pattern: re.Pattern[str]) -> list[str]:
        """What stands nearest before the first header; what is configured, where it is still there."""
        if self._is_usual(self.configured.context_marker):
            return [self.configured.context_marker]
        near: list[tuple[float, str]] = []
        for marker in self.markers:
            gaps = [gap for prompt in self.few if (gap := _gap(prompt.text, marker, pattern)) is not None]
            if 4 * len(gaps) >= len(self.few):
                near.append((median(gaps), marker))
        return [marker for _, marker in sorted(near)[:_MOST_CONTEXTS]] or self.markers[:_MOST_QUESTIONS]

    def _questions(self, pattern: re.Pattern[str]) -> list[str]:
        """What different texts follow; what is configured, where it is still there."""
        if self._is_usual(self.configured.question_marker):
            return [self.configured.question_marker]
        found = [
            marker
            for marker in self.markers
            if 2 * sum(_is_within(prompt.text, marker, pattern) for prompt in self.few) < len(self.few)
            and _varies([_after(prompt.text, marker) for prompt in self.mined])
        ]
        return found[:_MOST_QUESTIONS]

    def _is_usual(self, marker: str) -> bool:
        return sum(line_start(prompt.text, marker) >= 0 for prompt in self.mined) >= MOST_OF * len(self.mined)

    def _merit(self, template: SurfaceTemplate, prompts: Sequence[Prompt]) -> Merit:
        headers = [len(template.passage_pattern.findall(prompt.text)) for prompt in prompts]
        own = (template.question_marker, template.context_marker)
        # What some people write too, such as a label of their own in a question, is less frequent than the template.
        usual = MOST_OF * min(self.counts.get(marker, 0) for marker in own)
        markers = [marker for marker, count in self.counts.items() if count >= usual and marker not in own]
        return merit(prompts, template, markers=markers, headers=headers)


def _gap(text: str, marker: str, pattern: re.Pattern[str]) -> int | None:
    """Characters between a marker and the first header behind it."""
    start = line_start(text, marker)
    header = pattern.search(text, start + len(marker)) if start >= 0 else None
    return header.start() - start - len(marker) if header else None


def _is_within(text: str, marker: str, pattern: re.Pattern[str]) -> bool:
    """Whether the marker stands between two headers: it belongs to the passages then."""
    headers = [match.start() for match in pattern.finditer(text)]
    if not headers:
        return False
    start = line_start(text, marker, headers[0])
    return 0 <= start < headers[-1]


def _after(text: str, marker: str) -> str | None:
    start = line_start(text, marker)
    end = start + len(marker)
    return None if start < 0 else text[end : end + 2 * _CONTINUATION].strip()[:_CONTINUATION]


def _varies(continuations: Sequence[str | None]) -> bool:
    there = [each for each in continuations if each is not None]
    return len(set(there)) >= min(FEWEST, len(there))


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
