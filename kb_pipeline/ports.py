"""The few small protocols that steps speak to; adapters satisfy them, tests fake them in a few lines.

Belongs here: what a step needs of the outside world. Does not: implementations, SQL, HTTP.
"""

from collections.abc import Collection, Iterator, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from types import TracebackType
from typing import Protocol, Self

from kb_pipeline.records import AuditedCall, Claim, Examination, Judgement, JudgeVersion, StoredBody, Ungraded
from kb_pipeline.windows import Window


class Clock(Protocol):
    """The only source of the time."""

    def now(self) -> datetime:
        """The current instant, aware, in UTC."""
        ...

    def monotonic(self) -> float:
        """Seconds that never go back, for deadlines."""
        ...


class AuditTrail(Protocol):
    """The gateway's audited calls that were not examined yet."""

    def unexamined(
        self, window: Window, *, chunk: int
    ) -> AbstractContextManager[Iterator[Sequence[tuple[AuditedCall, StoredBody | None]]]]:
        """Chunks of at most `chunk` calls of the window that have no ledger row; memory holds one chunk."""
        ...


class Ledger(Protocol):
    """Where examinations are kept."""

    def save(self, examinations: Sequence[Examination]) -> int:
        """Keep ledger rows, triads and metrics in one transaction; a call already kept stays. Returns rows added."""
        ...


class ClaimBook(Protocol):
    """The rights to judge: at most one call in flight per event and judge version. One thread at a time calls it."""

    def claim(
        self, window: Window, version: JudgeVersion, *, limit: int, exclude: Collection[str] = ()
    ) -> Sequence[Claim]:
        """Claim up to `limit` turns that wait for this version, oldest first; nobody else gets them meanwhile.

        Waiting are turns never tried, turns whose last try failed with attempts left, and claims whose lease ran out
        or whose run is gone (these with the key they had). Never one of the event ids in `exclude`. None at all means
        that no more wait.
        """
        ...

    def settle(self, outcomes: Sequence[tuple[Claim, Judgement]]) -> None:
        """Record outcomes: scores, or the error. Adds `usage.calls` to the calls, and an attempt unless an outage.

        An error that uses up the last attempt makes the turn `failed`. A claim no longer held changes nothing.
        """
        ...

    def retry(self, claim: Claim, failed: Ungraded) -> Claim | None:
        """Record `failed` like `settle`, but keep the turn: the claim of its next call, with a new key and lease.

        None when the claim is no longer held.
        """
        ...

    def release(self, claims: Sequence[Claim]) -> None:
        """Give back claims whose call was not made.

        A turn never called waits again; one called before stands as `error`.
        """
        ...


class Judge(Protocol):
    """A judge grades one turn; it never raises for what a server does. Opened in the event loop that calls it."""

    version: JudgeVersion

    async def __aenter__(self) -> Self:
        """Open connections; a judge may be opened again after it was closed."""
        ...

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> bool | None:
        """Close connections."""
        ...

    async def grade(self, claim: Claim) -> Judgement:
        """Scores, or the reason why there are none."""
        ...
