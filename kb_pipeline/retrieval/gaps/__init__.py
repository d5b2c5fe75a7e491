"""Where the information that an expert added had been: the diagnosis of a correction, and what gaps have in common.

Belongs here: verdicts and subjects of gaps. Does not: support (retrieval/knowledge), storage, tasks.
"""

from kb_pipeline.retrieval.gaps.diagnosis import RULE_VERSION, WORST_FIRST, diagnose
from kb_pipeline.retrieval.gaps.subjects import AskedGap, subjects

__all__ = ["RULE_VERSION", "WORST_FIRST", "AskedGap", "diagnose", "subjects"]
