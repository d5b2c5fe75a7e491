"""The few small protocols that steps speak to; adapters satisfy them, tests fake them in a few lines.

Belongs here: what a step needs of the outside world. Does not: implementations, SQL, HTTP.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import date, datetime, timedelta
from types import TracebackType
from typing import Any, Protocol, Self

from kb_pipeline.alerting.delivery import Answer, Proof, Standing
from kb_pipeline.alerting.evaluation import Snapshot
from kb_pipeline.grading.calibration import ExpertAgreement, ExpertLabel, ScoreSums
from kb_pipeline.grading.comparison import PairedScores, VersionUse
from kb_pipeline.grading.opinion import Opinion
from kb_pipeline.records import (
    AlertState,
    AuditedCall,
    Claim,
    Decision,
    DraftOutcome,
    Evidence,
    Examination,
    Judgement,
    JudgeVersion,
    KnowledgeChunk,
    Metrics,
    OutboxEntry,
    OutboxHealth,
    RejudgeableTurn,
    RetrievalGap,
    ReviewedDraft,
    Silence,
    StoredBody,
    Tenant,
    Triad,
    Ungraded,
    UnparsedCall,
)
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


class UnparsedCalls(Protocol):
    """Calls whose prompts the configured markers may not fit."""

    def newest(
        self, window: Window, surface: str, *, chunk: int
    ) -> AbstractContextManager[Iterator[Sequence[UnparsedCall]]]:
        """Chunks of at most `chunk` calls of a surface, the newest first; memory holds one chunk.

        Turns that were not parsed, and beside them calls that count as other or were not examined yet.
        """
        ...

    def parsed_turns(self, window: Window, surface: str) -> int:
        """How many turns of the surface were parsed in the window."""
        ...


class Ledger(Protocol):
    """Where examinations are kept."""

    def save(self, examinations: Sequence[Examination]) -> int:
        """Keep ledger rows, triads and metrics in one transaction; a call already kept stays. Returns rows added."""
        ...


class OpinionBook(Protocol):
    """Where second opinions are kept."""

    def give(
        self, window: Window, version: str, opinion_of: Callable[[Triad, Metrics], Opinion]
    ) -> Sequence[Opinion | None]:
        """Ask for and keep the opinion on the next turns of the window that have none by `version`; empty at the end.

        None stands for a turn whose text is gone.
        """
        ...


class ClaimBook(Protocol):
    """The rights to judge: at most one call in flight per event and judge version. One thread at a time calls it."""

    def claim(
        self, window: Window, version: JudgeVersion, *, limit: int, exclude: Collection[str] = ()
    ) -> Sequence[Claim]:
        """Claim turns that wait for this version, oldest first; nobody else gets them meanwhile.

        Their `planned_calls` are `limit` at most in all, or there is but one turn.

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


class CalibrationBook(Protocol):
    """Scores beside experts' outcomes, and where the judge's calibration is kept."""

    def expert_labels(self, window: Window) -> tuple[Sequence[ExpertLabel], Sequence[ScoreSums]]:
        """Graded turns of the window whose drafts experts decided on, and sums over all graded ones."""
        ...

    def replace(self, day: date, rows: Sequence[ExpertAgreement]) -> None:
        """Make these the rows of the day."""
        ...


class RejudgeableTurns(Protocol):
    """Turns that another judge version scored."""

    def after(self, window: Window, last: RejudgeableTurn | None, *, chunk: int) -> Sequence[RejudgeableTurn]:
        """The next turns of the window in the order of time and event id, at most `chunk`; none at its end."""
        ...


class ComparisonBook(Protocol):
    """What judge versions made of the same turns."""

    def versions(self, window: Window) -> Sequence[VersionUse]:
        """Every version that was asked about turns of the window."""
        ...

    def pairs(
        self, window: Window, first: JudgeVersion, second: JudgeVersion
    ) -> AbstractContextManager[Iterator[PairedScores]]:
        """Turns of the window that both scored; memory holds a few."""
        ...


class DraftSource(Protocol):
    """Drafts with what experts did to them and the retrievals that served them, as the source shows them now."""

    def changed_in(self, window: Window, *, chunk: int) -> AbstractContextManager[Iterator[Sequence[ReviewedDraft]]]:
        """Drafts whose outcome is missing, or was derived from another state or by other rules.

        Those decided in the window, and those made in it that are not decided; memory holds one chunk.
        """
        ...

    def decided_in(self, window: Window, *, chunk: int) -> AbstractContextManager[Iterator[Sequence[ReviewedDraft]]]:
        """Drafts decided in the window that have a retrieval event, changed or not."""
        ...

    def unharvested(self, *, rules: str, chunk: int) -> AbstractContextManager[Iterator[Sequence[ReviewedDraft]]]:
        """Drafts with a decision and an event whose evidence is missing, or of another state or other rules."""
        ...


class OutcomeBook(Protocol):
    """Where outcomes of drafts are kept."""

    def save(self, outcomes: Sequence[DraftOutcome]) -> int:
        """Upsert them; returns how many rows changed."""
        ...

    def forget_deleted(self, window: Window) -> int:
        """Delete all that was derived from drafts of the window that the source has deleted; returns drafts."""
        ...


class KnowledgeBase(Protocol):
    """The tenants' knowledge bases, old versions included."""

    def is_mapped(self) -> bool:
        """Whether the operator mapped it at all."""
        ...

    def chunks(self, tenant: Tenant) -> Sequence[KnowledgeChunk]:
        """Every chunk of one tenant in every version."""
        ...


class EvidenceBook(Protocol):
    """Where evidence is appended, and judgments are made of it."""

    def note_queries(self) -> int:
        """Bring kb_query up to date with the events; returns rows added or changed."""
        ...

    def replace(self, rules: str, drafts: Sequence[tuple[ReviewedDraft, Sequence[Evidence]]]) -> int:
        """Make this the evidence of each draft: what says the same stays, what does not is superseded.

        The drafts count as harvested by these rules. Returns rows appended.
        """
        ...

    def note_searches(self, rules: str) -> int:
        """Append what experts' clicks and citations say that is not noted yet; returns rows appended."""
        ...

    def judge(self, as_of: datetime, rules: str) -> int:
        """Bring the judgments up to date with all evidence as of the instant; returns rows changed."""
        ...


class GapBook(Protocol):
    """Where diagnoses are kept."""

    def save(self, gaps: Sequence[tuple[ReviewedDraft, RetrievalGap]], rules: str) -> int:
        """Upsert them; returns how many rows changed."""
        ...

    def withdraw(self, drafts: Sequence[ReviewedDraft]) -> int:
        """Forget the diagnoses of drafts that have none any more; returns rows deleted."""
        ...

    def name_subjects(self) -> int:
        """Say what gaps of one kind have in common; returns rows changed."""
        ...

    def tasks(self) -> int:
        """How many gaps with one subject are worth somebody's work."""
        ...


class AlertStatistics(Protocol):
    """What alert rules look at."""

    def load(self, end: datetime, now: datetime) -> Snapshot:
        """The hours that rules need for the window that ends at `end`; raises KbPipelineError where it cannot read."""
        ...


class AlertTurn(Protocol):
    """One evaluation's turn with the states; what it saves is there when the turn ends, or none of it."""

    def states(self) -> Sequence[AlertState]:
        """Every state."""
        ...

    def silences(self, now: datetime) -> Sequence[Silence]:
        """Those of the instant."""
        ...

    def save(self, decisions: Sequence[Decision], *, destinations: Sequence[str], now: datetime) -> int:
        """Keep what changed: states, flips, and the alert of each notice for every destination. Returns states."""
        ...


class AlertBook(Protocol):
    """Where alerts are kept."""

    def turn(self) -> AbstractContextManager[AlertTurn]:
        """A turn of one's own: two evaluations never decide at once."""
        ...


class AlertOutbox(Protocol):
    """What is to be delivered where. Per fingerprint entries leave in the order of kb_seq, one batch in flight."""

    def exclusive(self, destination: str) -> AbstractContextManager[bool]:
        """Whether this is the only deliverer of the destination; it stays so to the end of the block."""
        ...

    def pending(self, destination: str, *, now: datetime, limit: int) -> Sequence[OutboxEntry]:
        """What may be sent now: whole fingerprints from their oldest entry on, none that has a batch in flight.

        Nothing while the destination is held.
        """
        ...

    def unconfirmed(self, destination: str, *, limit: int) -> Sequence[OutboxEntry]:
        """What was accepted and not seen there yet, the longest ago first."""
        ...

    def sent(self, entries: Sequence[OutboxEntry], *, now: datetime) -> int:
        """They are on their way, or were accepted; returns how many. Fewer than given: somebody else has them."""
        ...

    def returned(self, entries: Sequence[OutboxEntry]) -> None:
        """They were on their way and were certainly not taken: they wait again, as if they had not been sent."""
        ...

    def lost(self, entries: Sequence[OutboxEntry]) -> None:
        """They were accepted and are not there: they wait again, in their place."""
        ...

    def confirmed(self, entries: Sequence[OutboxEntry], *, now: datetime) -> None:
        """They are there, and with each every earlier one of its fingerprint that was sent."""
        ...

    def assumed(self, entries: Sequence[OutboxEntry], *, now: datetime) -> None:
        """They were accepted and nothing more can be known: they are done with, and confirmed nothing."""
        ...

    def doubt(self, destination: str, *, now: datetime, every: timedelta) -> int:
        """What was confirmed longer than `every` ago and still stands is to be seen anew; returns how many.

        That is the newest alert of each fingerprint while it fires, and once more after it resolved.
        """
        ...

    def repeat(self, destination: str, *, now: datetime, every: timedelta, resolves: int, spacing: timedelta) -> int:
        """What is due again where nothing can be read back waits again; returns how many.

        That is the newest alert of each fingerprint: while it fires, `every` so often; a resolve until it was sent
        `resolves` times, `spacing` apart.
        """
        ...

    def bury(self, entry: OutboxEntry, reason: str, *, now: datetime) -> None:
        """It was refused for good."""
        ...

    def hold(self, destination: str, *, until: datetime, reason: str) -> int:
        """Send nothing there before the instant; returns the failures in a row."""
        ...

    def release(self, destination: str) -> None:
        """The destination works again."""
        ...

    def health(self, now: datetime) -> Sequence[OutboxHealth]:
        """How each destination stands."""
        ...


class AlertReceiver(Protocol):
    """One destination's other end. Nothing it meets is raised: it is an answer."""

    @property
    def destination(self) -> str:
        """The name under which the outbox keeps its alerts."""
        ...

    @property
    def proof(self) -> Proof:
        """What shows that an alert arrived there."""
        ...

    @property
    def most(self) -> int:
        """How many alerts one request may carry."""
        ...

    def send(self, alerts: Sequence[Mapping[str, Any]], *, within_s: float) -> Answer:
        """Send the alerts in one request, in order; the answer comes within so many seconds."""
        ...

    def standing(self, fingerprints: Sequence[str], *, within_s: float) -> Standing:
        """Which kb_seq of each fingerprint is there, within so many seconds."""
        ...
