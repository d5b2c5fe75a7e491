"""Errors that a user can mend. The message is one sentence: what, where, what is accepted, what to do.

Belongs here: exceptions that end a command with exit code 1 or 2. Does not: verdicts about data (those are values).
"""


class KbPipelineError(Exception):
    """The work failed for a reason the user can mend; the command exits with 1."""

    exit_code = 1


class SettingsError(KbPipelineError):
    """The configuration cannot be used; the command exits with 2."""

    exit_code = 2


class DatabaseError(KbPipelineError):
    """The database is unreachable, not migrated, or refuses the work."""


class QueueError(KbPipelineError):
    """The queue server is unreachable, cannot be used, or does not start."""


class JudgeRefused(KbPipelineError):
    """The configured judge may not be called, for example a public host without permission."""
