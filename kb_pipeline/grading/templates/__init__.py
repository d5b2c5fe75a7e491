"""From prompts that the markers do not fit to the markers that would.

Belongs here: what recurs over prompts, and whether the extractor reads them by it. Does not: where prompts come from.

The markers of a template are what all its prompts have in common; what people wrote and what was retrieved differs.
So a text is proposed only where it stands in the prompts of enough different questions (see `gate`), and only after
the extractor has read the prompts with it.
"""

from kb_pipeline.grading.templates.enough import FEWEST
from kb_pipeline.grading.templates.groups import grouped
from kb_pipeline.grading.templates.headers import lists_passages
from kb_pipeline.grading.templates.instructions import quotes_another
from kb_pipeline.grading.templates.prompts import LONGEST_PROMPT, Prompt, prompt_of
from kb_pipeline.grading.templates.proposals import Proposal, propose
from kb_pipeline.grading.templates.verification import parses, reading

__all__ = [
    "FEWEST",
    "LONGEST_PROMPT",
    "Prompt",
    "Proposal",
    "grouped",
    "lists_passages",
    "parses",
    "prompt_of",
    "propose",
    "quotes_another",
    "reading",
]
