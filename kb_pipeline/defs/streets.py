"""The two streets as Dagster knows them: their names, and what a sensor or an asset asks of either.

Belongs here: names, protocols. Does not: assets, jobs, schedules and sensors, whose makers take one of these.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Generic, Protocol, TypeVar, cast

from kb_pipeline.defs.resources import Streets
from kb_pipeline.grading_street import GradingStreet
from kb_pipeline.ports import Clock
from kb_pipeline.retrieval_street import RetrievalStreet
from kb_pipeline.windows import Window


class HourWithWork(Protocol):
    """One hour with work; `progress` is the same twice when nothing happened in between."""

    @property
    def hour(self) -> Window: ...
    @property
    def progress(self) -> str: ...


class Street(Protocol):
    """What the makers ask of a street."""

    @property
    def clock(self) -> Clock: ...
    def backlog(self, *, look_back: timedelta | None = None) -> Sequence[HourWithWork]: ...
    def row_counts(self, window: Window) -> Mapping[str, int]: ...


StreetT = TypeVar("StreetT", bound=Street)


@dataclass(frozen=True, kw_only=True, slots=True)
class StreetNames(Generic[StreetT]):
    """What a street is called: `name` is the group of its assets and the key of its resource.

    `minute` is that of the hourly schedule; `does` and `waits` are said of an hour and of its backlog. Once an hour its
    backlog is looked for as far back as `far`, None for all of it: a tick that takes a minute is given up by Dagster.
    """

    name: str
    hourly_job: str
    backlog_job: str
    schedule: str
    sensor: str
    minute: int
    does: str
    waits: str
    far: timedelta | None = None

    @property
    def jobs(self) -> frozenset[str]:
        """The jobs that run an hour of it."""
        return frozenset({self.hourly_job, self.backlog_job})

    def of(self, resources: Any) -> Streets[StreetT]:
        """The resource that opens it."""
        return cast(Streets[StreetT], getattr(resources, self.name))


GRADING: StreetNames[GradingStreet] = StreetNames(
    name="grading",
    hourly_job="grade_hour",
    backlog_job="grade_backlog",
    schedule="grade_hourly",
    sensor="grading_backlog",
    minute=2,
    does="Grade one hour: examine, judge, publish, aggregate",
    waits="unexamined, pending or retryable turns",
)
RETRIEVAL: StreetNames[RetrievalStreet] = StreetNames(
    name="retrieval",
    hourly_job="derive_hour",
    backlog_job="derive_backlog",
    schedule="derive_hourly",
    sensor="retrieval_backlog",
    minute=4,
    does="Derive one hour: outcomes of drafts, gaps, windows of retrieval health",
    waits="drafts with another decision than was known, or late events",
    # It reads every draft's text; what is older still is looked for at night.
    far=timedelta(days=60),
)
STREETS: tuple[StreetNames[Any], ...] = (GRADING, RETRIEVAL)
