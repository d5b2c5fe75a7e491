"""What the extractor makes of prompts with markers that are only proposed.

Belongs here: running it, and telling a good reading from one that merely succeeds. Does not: choosing markers.
"""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from statistics import fmean

from kb_pipeline.grading.bodies import Response
from kb_pipeline.grading.extraction import SurfaceTemplate, extract, is_synthesis
from kb_pipeline.grading.templates.constants import occurrences, stands_in
from kb_pipeline.grading.templates.prompts import Prompt
from kb_pipeline.records import PARSED_STATUSES, ParseStatus, Triad

NOT_SYNTHESIS = "not_synthesis"
# What is wrong with a response is no matter of the template: all are answered.
_ANSWERED = Response(ParseStatus.OK, "-")
_LONGEST_QUESTION = 4000
_SHORT_QUESTION = 60


@dataclass(frozen=True, slots=True)
class Merit:
    """How well a template reads prompts.

    `parsed`: the share that parses. `clean`: the share whose question holds no other marker and is shorter than the
    context. `listed`: the share of the passages' headers that opened a passage.
    `close`: how little stands between the context marker and the first passage, in characters below zero.
    """

    parsed: float
    clean: float
    listed: float
    close: float


@dataclass(frozen=True, slots=True)
class Reading:
    """What a template makes of one prompt; `why` is None where it parses, else `not_synthesis` or a parse_status."""

    why: str | None
    question: str = ""
    context: str = ""


def reading(prompt: Prompt, template: SurfaceTemplate) -> Reading:
    """The prompt read as a call of this template."""
    if not is_synthesis(prompt.request, template):
        return Reading(NOT_SYNTHESIS)
    triad = extract(prompt.request, _ANSWERED, template)
    why = None if triad.parse_status in PARSED_STATUSES else triad.parse_status.value
    return Reading(why, triad.question, triad.context)


def parses(prompt: Prompt, template: SurfaceTemplate) -> bool:
    """Whether the prompt is a turn of this template, and reads well."""
    return reading(prompt, template).why is None


def merit(prompts: Sequence[Prompt], template: SurfaceTemplate, *, markers: Collection[str]) -> Merit:
    """The merit of a template on prompts that are taken for turns; `markers` are whatever else may be one."""
    triads = [extract(prompt.request, _ANSWERED, template) for prompt in prompts]
    read = list(zip(prompts, triads, strict=True))
    headers = [len(template.passage_pattern.findall(prompt.text)) for prompt in prompts]
    listed = [min(len(triad.passages) / count, 1.0) for triad, count in zip(triads, headers, strict=True) if count]
    before = [_before_passages(triad, template.passage_pattern) for triad in triads if triad.passages]
    return Merit(
        parsed=fmean(triad.parse_status in PARSED_STATUSES for triad in triads),
        clean=fmean(_is_clean(prompt, triad, markers) for prompt, triad in read),
        listed=fmean(listed) if listed else 0.0,
        close=-fmean(before) if before else 0.0,
    )


def has_both(prompt: Prompt, template: SurfaceTemplate) -> bool:
    """Whether both markers stand in the prompt; the extractor takes one without the other for a turn too."""
    pair = (template.question_marker, template.context_marker)
    return all(stands_in(prompt.text, marker) for marker in pair)


def _is_clean(prompt: Prompt, triad: Triad, markers: Collection[str]) -> bool:
    question = triad.question
    if triad.parse_status not in PARSED_STATUSES or not 0 < len(question) <= _LONGEST_QUESTION:
        return False
    if triad.context and len(question) > max(len(triad.context), _SHORT_QUESTION):
        return False
    asked, _, last = question.rpartition("\n")
    # What stands last of all is a cue for the answer, which no marker ends.
    is_cue = last.strip() in markers and prompt.text.endswith(last)
    return occurrences(asked if is_cue else question, markers) == 0


def _before_passages(triad: Triad, pattern: re.Pattern[str]) -> int:
    header = pattern.search(triad.context)
    return header.start() if header else 0
