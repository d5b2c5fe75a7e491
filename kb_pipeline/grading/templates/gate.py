"""What may be shown of prompts: texts that many different questions have in common, and nothing else.

Belongs here: the rule. Does not: looking for such texts.

A text stands in enough prompts where it stands in those of MANY different questions, or in MOST_OF of all that they
ask, of which there are at least FEWEST. Prompts with one and the same question count once, so that what one person
asked again and again is no template.
"""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

from kb_pipeline.grading.extraction import SurfaceTemplate
from kb_pipeline.grading.templates.enough import FEWEST, needed
from kb_pipeline.grading.templates.prompts import Prompt
from kb_pipeline.grading.templates.verification import Reading


def may_show(
    readings: Sequence[tuple[Prompt, Reading]],
    template: SurfaceTemplate,
    configured: SurfaceTemplate,
    redact: Sequence[re.Pattern[str]] = (),
) -> bool:
    """Whether every text of the template that is not configured already stands in enough of the prompts it reads.

    Enough of different questions, and enough of different contexts: a template whose two markers changed places would
    call the passages the questions. What one of the `redact` patterns matches is never shown.
    """
    new = _new_texts(template, configured)
    if any(secret.search(text) for secret in redact for text in new.shown):
        return False
    questions = {levelled(reading.question): prompt for prompt, reading in readings if reading.question}
    contexts = {levelled(reading.context): prompt for prompt, reading in readings if reading.context}
    return all(new.stand_in_enough(list(distinct.values())) for distinct in (questions, contexts))


@dataclass(frozen=True, slots=True)
class _NewTexts:
    """The texts of a template that the configured one has not."""

    markers: tuple[str, ...]
    phrases: tuple[str, ...]
    pattern: re.Pattern[str] | None

    @property
    def shown(self) -> tuple[str, ...]:
        return (*self.markers, *self.phrases, *([self.pattern.pattern] if self.pattern else []))

    def stand_in_enough(self, prompts: Sequence[Prompt]) -> bool:
        if len(prompts) < FEWEST:
            return False
        counts = [sum(marker in prompt.text for prompt in prompts) for marker in self.markers]
        counts += [sum(phrase in prompt.instruction_line for prompt in prompts) for phrase in self.phrases]
        if self.pattern:
            counts.append(sum(self.pattern.search(prompt.text) is not None for prompt in prompts))
        return min(counts, default=len(prompts)) >= needed(len(prompts))


def _new_texts(template: SurfaceTemplate, configured: SurfaceTemplate) -> _NewTexts:
    old = (configured.question_marker, configured.context_marker)
    pattern = template.passage_pattern
    return _NewTexts(
        markers=tuple(marker for marker in (template.question_marker, template.context_marker) if marker not in old),
        phrases=tuple(phrase for phrase in template.synthesis_markers if phrase not in configured.synthesis_markers),
        pattern=None if pattern.pattern == configured.passage_pattern.pattern else pattern,
    )


def levelled(text: str) -> str:
    """The text for comparison: case, spaces and punctuation make no difference."""
    return " ".join(re.findall(r"\w+", unicodedata.normalize("NFKC", text).casefold()))
