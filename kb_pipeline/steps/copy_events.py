"""Copy new retrieval events to where somebody analyses many of them.

Belongs here: from when on, in what order. Does not: Postgres, ClickHouse.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from datetime import UTC, datetime, timedelta
from typing import Protocol

from kb_pipeline.records import StepReport

CHUNK = 5_000
# An event's created_at is the start of its transaction: a later one may have been copied before it was committed.
MARGIN = timedelta(hours=1)
BEGINNING = datetime(2020, 1, 1, tzinfo=UTC)


class EventLines(Protocol):
    """The events as lines of JSON."""

    def since(self, instant: datetime, *, chunk: int) -> AbstractContextManager[Iterator[Sequence[str]]]: ...


class EventCopy(Protocol):
    """The copy. An event added twice counts once."""

    def newest(self) -> datetime | None:
        """created_at of the newest event it has; None when it has none."""
        ...

    def add(self, lines: Sequence[str]) -> None: ...


def copy_events(*, lines: EventLines, copy: EventCopy, on_progress: Callable[[int], None] | None = None) -> StepReport:
    """Add to the copy what was written since its newest event, less a margin; a run that broke off goes on there."""
    newest = copy.newest()
    copied = 0
    with lines.since(BEGINNING if newest is None else newest - MARGIN, chunk=CHUNK) as chunks:
        for chunk in chunks:
            copy.add(chunk)
            copied += len(chunk)
            if on_progress is not None:
                on_progress(len(chunk))
    return StepReport(counts={"events_copied": copied})
