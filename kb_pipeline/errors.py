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
    """The database refuses the work. `told` says it to people who may not know where the database is."""

    told = "The database refuses this; kb-pipeline check tells more."


class DatabaseAway(DatabaseError):
    """The database cannot be reached, or was lost on the way."""

    told = "The database does not answer; it is asked again in a few seconds."


class DatabaseUnprepared(DatabaseError):
    """A table, a column, a role or a right is missing."""

    told = "The database lacks a table, a role or a right; kb-pipeline migrate makes them, check tells more."


class DatabaseUnwritable(DatabaseError):
    """The database keeps nothing: it is read-only, or its disk is full."""

    told = "The database takes no writes, because it is read-only or its disk is full; nothing was kept."


class DatabaseSlow(DatabaseError):
    """A statement took longer than it may."""

    told = "The database took too long for this; a shorter period, or a filter, is accepted."


class QueueError(KbPipelineError):
    """The queue server is unreachable, cannot be used, or does not start."""


class JudgeRefused(KbPipelineError):
    """The configured judge may not be called, for example a public host without permission."""
