"""What became of a draft: its text set beside what was sent, and the expert's decision read with it.

Belongs here: alignment, the guard of critical tokens, what is style, the classes. Does not: where drafts are kept.
"""

from kb_pipeline.retrieval.outcomes.alignment import align
from kb_pipeline.retrieval.outcomes.decision import REVIEW_SECONDS, RULE_VERSION, derive_outcome
from kb_pipeline.retrieval.outcomes.reasons import blames_source
from kb_pipeline.retrieval.outcomes.rephrasing import rephrases
from kb_pipeline.support.style import asserts

__all__ = ["REVIEW_SECONDS", "RULE_VERSION", "align", "asserts", "blames_source", "derive_outcome", "rephrases"]
