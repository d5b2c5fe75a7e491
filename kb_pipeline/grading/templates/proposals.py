"""Markers for a group of prompts, with how many they read and why they do not read the others.

Belongs here: taking the best templates one after the other. Does not: finding them (search), what may be shown (gate).
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from kb_pipeline.grading.extraction import SurfaceTemplate
from kb_pipeline.grading.templates.enough import FEWEST, MOST_OF, needed
from kb_pipeline.grading.templates.gate import levelled, may_show
from kb_pipeline.grading.templates.instructions import synthesis_markers
from kb_pipeline.grading.templates.prompts import Prompt
from kb_pipeline.grading.templates.search import Search
from kb_pipeline.grading.templates.verification import Reading, has_both, reading

MOST_PROPOSALS = 3


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
    for template in Search(prompts, replace(configured, synthesis_markers=markers), support).best():
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
