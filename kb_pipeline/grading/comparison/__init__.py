"""What two judge versions made of the same turns, and what it means for a change from one to the other.

Belongs here: pairs of scores, figures on them, the verdict. Does not: reading scores, tables and pages.
"""

from kb_pipeline.grading.comparison.pairs import ASPECTS, LARGEST, PairedScores, Tally
from kb_pipeline.grading.comparison.versions import NoSuchVersion, VersionUse, name_of, two_versions

# figures and verdict stay out: they bring numpy, and the ports that name these nouns are imported by every start.
__all__ = [
    "ASPECTS",
    "LARGEST",
    "NoSuchVersion",
    "PairedScores",
    "Tally",
    "VersionUse",
    "name_of",
    "two_versions",
]
