"""The second opinion: deterministic, free, and good at the errors that judges miss.

Belongs here: the public names of the room. Does not: anything else.
"""

from kb_pipeline.grading.opinion.opinion import DISAGREEMENT, VERSION, disagreement, disagrees, second_opinion
from kb_pipeline.grading.opinion.record import DOUBTFUL, Count, Kind, Opinion

__all__ = [
    "DISAGREEMENT",
    "DOUBTFUL",
    "VERSION",
    "Count",
    "Kind",
    "Opinion",
    "disagreement",
    "disagrees",
    "second_opinion",
]
