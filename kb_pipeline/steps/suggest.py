"""Suggest a template: read the newest prompts that the markers do not fit, and look for markers that would.

Belongs here: the order of the work, what is left out, the counts. Does not: looking for markers (grading/templates).
"""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import timedelta

from kb_pipeline.counting import counted, out_of
from kb_pipeline.grading.bodies import read_request
from kb_pipeline.grading.extraction import SurfaceTemplate
from kb_pipeline.grading.templates import (
    FEWEST,
    Prompt,
    Proposal,
    grouped,
    lists_passages,
    parses,
    prompt_of,
    propose,
    quotes_another,
    reading,
)
from kb_pipeline.ports import UnparsedCalls
from kb_pipeline.records import ParseStatus, UnparsedCall, Verdict
from kb_pipeline.windows import Window

CHUNK = 200
MAX_BODY_BYTES = 1024 * 1024
# Characters of prompts kept at once: what is more is left out, the oldest first.
MOST_CHARACTERS = 16_000_000
MOST_GROUPS = 8
MOST_OTHERS = 400
SAMPLE = 60
MOMENT = timedelta(microseconds=1)
COUNTS = ("read", "turns", "others", "parse_already", "left_out")


@dataclass(frozen=True, kw_only=True, slots=True)
class Suggested:
    """One proposal; `turns` of its bodies are turns by the ledger, the others count as other calls or none yet.

    `parsed_beside` is how many turns were parsed from the first to the last of its bodies: where they are many, and no
    body is a turn by the ledger, the bodies may be calls of another kind.
    """

    proposal: Proposal
    turns: int
    parsed_beside: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Suggestion:
    """What was found for one surface.

    Counts: read, turns (unparsed by the markers as configured), others (likewise, no turns by the ledger),
    parse_already, left_out (no chat, or more than is looked through), and unreadable/<parse_status>.
    `problem` is the sentence that says why unparsed turns lead to no proposal.
    """

    surface: str
    counts: dict[str, int]
    suggested: tuple[Suggested, ...]
    problem: str | None


def suggest(
    window: Window,
    *,
    calls: UnparsedCalls,
    template: SurfaceTemplate,
    judge_instruction: str,
    redact: Sequence[re.Pattern[str]] = (),
    on_progress: Callable[[int], None] | None = None,
) -> Suggestion:
    """Markers for the surface of `template`, from the prompts of the window that it does not fit."""
    sample = _Sample(template, judge_instruction.strip())
    with calls.newest(window, template.surface, chunk=CHUNK) as chunks:
        for chunk in chunks:
            for call in chunk:
                sample.add(call)
            if on_progress:
                on_progress(len(chunk))
    found = _Finder(calls, template, redact).suggested(sample.prompts)
    return Suggestion(
        surface=template.surface,
        counts=dict(sample.counts),
        suggested=tuple(found),
        problem=None if found else _problem(sample.prompts, template),
    )


@dataclass(slots=True)
class _Sample:
    """The prompts that are looked through."""

    template: SurfaceTemplate
    judge_instruction: str
    prompts: list[Prompt] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=lambda: Counter(dict.fromkeys(COUNTS, 0)))
    room: int = MOST_CHARACTERS

    def add(self, call: UnparsedCall) -> None:
        """Keep the prompt of a call, or count why not."""
        self.counts["read"] += 1
        request = read_request(call.request, max_bytes=MAX_BODY_BYTES)
        if isinstance(request, ParseStatus):
            self.counts["left_out" if request is ParseStatus.NOT_CHAT else f"unreadable/{request}"] += 1
            return
        prompt = prompt_of(request, ts=call.ts, is_turn=call.verdict is Verdict.SYNTHESIS)
        if prompt is not None and parses(prompt, self.template):
            self.counts["parse_already"] += 1
        elif prompt is None or self.judge_instruction in prompt.instruction or prompt.characters > self.room:
            self.counts["left_out"] += 1
        else:
            self.counts["turns" if prompt.is_turn else "others"] += 1
            self.room -= prompt.characters
            self.prompts.append(prompt)


class _Finder:
    """Which groups of prompts are turns, and the markers for them."""

    def __init__(self, calls: UnparsedCalls, template: SurfaceTemplate, redact: Sequence[re.Pattern[str]]) -> None:
        self._calls = calls
        self._template = template
        self._redact = redact

    def suggested(self, prompts: Sequence[Prompt]) -> list[Suggested]:
        """Proposals for every group that may be of turns, those of the ledger's turns first."""
        groups = grouped(prompts)[:MOST_GROUPS]
        candidates = [group for group in groups if self._may_be_turns(group)]
        quotes = [self._quotes(group, groups) for group in candidates]
        plain = [group for group, is_quoting in zip(candidates, quotes, strict=True) if not is_quoting]
        quoting = [group for group, is_quoting in zip(candidates, quotes, strict=True) if is_quoting]
        found = [each for group in plain for each in self._of(group, prompts)]
        if not found and not any(prompt.is_turn for prompt in prompts):
            # Nobody else is there whose prompts they could quote, if no turn was parsed beside them.
            quoted = (each for group in quoting for each in self._of(group, prompts))
            found = [each for each in quoted if not each.parsed_beside]
        return sorted(found, key=lambda each: (-each.turns, -each.proposal.parses))

    def _of(self, group: Sequence[Prompt], prompts: Sequence[Prompt]) -> list[Suggested]:
        own = set(map(id, group))
        others = [prompt for prompt in prompts if id(prompt) not in own][:MOST_OTHERS]
        found = propose(group, self._template, others=others, redact=self._redact)
        return [self._beside(proposal) for proposal in found]

    def _beside(self, proposal: Proposal) -> Suggested:
        moments = [prompt.ts for prompt in proposal.prompts]
        span = Window(min(moments), max(moments) + MOMENT)
        return Suggested(
            proposal=proposal,
            turns=sum(prompt.is_turn for prompt in proposal.prompts),
            parsed_beside=self._calls.parsed_turns(span, self._template.surface),
        )

    def _may_be_turns(self, group: Sequence[Prompt]) -> bool:
        return any(prompt.is_turn for prompt in group) or lists_passages(group, self._template.passage_pattern)

    def _quotes(self, group: Sequence[Prompt], groups: Sequence[Sequence[Prompt]]) -> bool:
        """Whether they are about synthesis calls rather than such calls: summaries of them, for example."""
        if any(prompt.is_turn for prompt in group):
            return False
        markers = self._template.synthesis_markers
        instructions = [other[0].instruction for other in groups if other is not group]
        sample = group[:SAMPLE]
        quoting = sum(
            all(marker in prompt.text for marker in markers)
            or any(quotes_another(prompt, instruction) for instruction in instructions)
            for prompt in sample
        )
        return 2 * quoting >= len(sample)


def _problem(prompts: Sequence[Prompt], template: SurfaceTemplate) -> str | None:
    why = Counter(reading(prompt, template).why for prompt in prompts if prompt.is_turn)
    turns, cut = why.total(), why[ParseStatus.TRUNCATED_PROMPT]
    if not turns:
        return None
    if turns < FEWEST:
        return f"only {counted(turns, 'unparsed turn')}; markers are suggested from {FEWEST} on"
    if 2 * cut > turns:
        return f"{out_of(cut, turns, 'unparsed turn')} were cut before they were stored, which no marker mends"
    return (
        f"the {counted(turns, 'unparsed turn')} have no text in common that could be a marker: they are of several "
        "templates, have too few different questions or contexts, or have no system message"
    )
