"""What ends the harness's work: files that cannot be read, folders that may not be written, runs that do not compare.

Belongs here: those errors. Does not: counts of what was left out (those are results).
"""

from kb_pipeline.errors import KbPipelineError


class UnreadableFile(KbPipelineError):
    """A file is missing, damaged, or not of the format it is read as."""


class ExportRefused(KbPipelineError):
    """The target folder holds something that is not ours to replace."""


class NotEvaluable(KbPipelineError):
    """Run and judgments do not fit together, or a measure cannot be computed from them."""


class Incomparable(KbPipelineError):
    """A difference between the two runs would say more of the judgments than of the runs."""
