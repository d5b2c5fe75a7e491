"""Which two judge versions are compared: those that are named, else the two most used.

Belongs here: names of versions, the choice. Does not: their scores.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from kb_pipeline.records import JudgeVersion


@dataclass(frozen=True, kw_only=True, slots=True)
class VersionUse:
    """What a version did in a period: turns it graded, when the first one, and turns left ungraded by error class."""

    version: JudgeVersion
    graded: int
    first_at: datetime | None = None
    ungraded: Mapping[str, int] = field(default_factory=dict)


class NoSuchVersion(ValueError):
    """A name that no version of the period has, or more than one; the message names the known ones."""


def name_of(version: JudgeVersion) -> str:
    """MODEL@PROMPT, as versions are named on the command line."""
    return f"{version.model}@{version.prompt_version}"


def two_versions(
    uses: Sequence[VersionUse], first: str | None = None, second: str | None = None
) -> tuple[VersionUse, VersionUse] | None:
    """The versions named by MODEL or MODEL@PROMPT; for a name left out the most used of the others.

    With no name the one that scored first comes first. None where fewer than two versions have scores and no name is
    wrong; raises NoSuchVersion for a name that is unknown or ambiguous, or for one version named twice.
    """
    scored = sorted((use for use in uses if use.graded), key=lambda use: (-use.graded, name_of(use.version)))
    named = [None if name is None else _named(scored, name) for name in (first, second)]
    if named[0] is not None and named[0] is named[1]:
        raise NoSuchVersion(f"{name_of(named[0].version)} is named on both sides; {_known(scored)}")
    others = [use for use in scored if all(use is not each for each in named)]
    if len(scored) < len(named):
        return None
    if named == [None, None]:
        older, newer = sorted(others[:2], key=lambda use: (use.first_at is None, use.first_at))
        return older, newer
    from_, to = (use or others[0] for use in named)
    return from_, to


def _named(scored: Sequence[VersionUse], name: str) -> VersionUse:
    exact = [use for use in scored if name_of(use.version) == name]
    found = exact or [use for use in scored if use.version.model == name]
    if len(found) == 1:
        return found[0]
    problem = "has scores by several prompts, name one as MODEL@PROMPT" if found else "has no scores in this period"
    raise NoSuchVersion(f"{name!r} {problem}; {_known(scored)}")


def _known(scored: Sequence[VersionUse]) -> str:
    return f"known here: {', '.join(name_of(use.version) for use in scored) or 'none'}"
