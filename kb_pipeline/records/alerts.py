"""The nouns of alerting: what a rule found, what is remembered of it, what changed and what goes out.

Belongs here: data that crosses rooms. Does not: decisions (kb_pipeline/alerting), I/O, a clock, a framework.
No text of a citizen is in any of them: numbers, codes, and names from configuration and columns.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

# Environment, then what the rule speaks of: tenant, surface, engine. One that begins another one covers it.
Subject = tuple[str, ...]


class Severity(StrEnum):
    """How bad it is, in Keep's words, the worst first."""

    CRITICAL = "critical"
    HIGH = "high"
    WARNING = "warning"
    INFO = "info"
    LOW = "low"


class AlertStatus(StrEnum):
    """Where a rule stands with a subject."""

    OK = "ok"
    PENDING = "pending"
    """In breach, and not often enough in a row to fire."""
    FIRING = "firing"
    RECOVERING = "recovering"
    """Still firing for those who were told; good, and not long enough to resolve."""
    NO_DATA = "no_data"
    """Nothing to judge by; it was not firing before."""

    @property
    def is_active(self) -> bool:
        """Whether people were told that it fires, and not yet that it resolved."""
        return self in {AlertStatus.FIRING, AlertStatus.RECOVERING}


class Finding(StrEnum):
    """What one look at the statistics says."""

    BREACH = "breach"
    GOOD = "good"
    BETWEEN = "between"
    """Neither: not bad enough to fire, not good enough to resolve."""
    THIN = "thin"
    """Too little to say anything: it neither fires nor resolves."""
    ABSENT = "absent"
    """No turn at all."""


class NoticeStatus(StrEnum):
    """What receivers are told, in Keep's words."""

    FIRING = "firing"
    RESOLVED = "resolved"


@dataclass(frozen=True, kw_only=True, slots=True)
class Reading:
    """What a rule found: the finding with its numbers, and one sentence made of them.

    `value` is held against `threshold`; `bound` is the end of its interval that must be beyond it. `n` counts what the
    value rests on, over `window_h` hours. `is_news` is false when nothing came in since the last evaluation.
    """

    finding: Finding
    sentence: str
    severity: Severity | None = None
    value: float | None = None
    bound: float | None = None
    threshold: float | None = None
    n: int = 0
    window_h: int | None = None
    baseline: float | None = None
    coverage: float | None = None
    is_news: bool = True


@dataclass(frozen=True, kw_only=True, slots=True)
class Memory:
    """What a rule remembers of a subject from one window to the next.

    `breaches` and `good` count evaluations in a row; `good_since` is the window end of the first good one. `fires` are
    the instants of the last day's fires; `baseline` is what was usual when it fired. `seen` counts what came in from
    `seen_from` on, so that only something new counts as an evaluation. `good_at` is the last good look, where kept.
    """

    status: AlertStatus = AlertStatus.OK
    severity: Severity | None = None
    breaches: int = 0
    good: int = 0
    good_since: datetime | None = None
    fired_at: datetime | None = None
    fires: tuple[datetime, ...] = ()
    is_flapping: bool = False
    baseline: float | None = None
    seen: int = 0
    seen_from: datetime | None = None
    good_at: datetime | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Notice:
    """What receivers are told of a subject; the same notice is never sent on twice in a row."""

    status: NoticeStatus
    severity: Severity
    is_flapping: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class AlertState:
    """Where one rule stands with one subject (table kb_alert_state).

    `before` is the memory as of the window before `window_end`: late data is judged from there. `kb_seq` numbers the
    notices of the fingerprint; `version` every change of the row.
    """

    fingerprint: str
    rule: str
    metric: str
    subject: Subject
    memory: Memory = field(default_factory=Memory)
    before: Memory = field(default_factory=Memory)
    reading: Reading | None = None
    window_end: datetime | None = None
    since: datetime | None = None
    inhibited_by: str | None = None
    is_silenced: bool = False
    notice: Notice | None = None
    kb_seq: int = 0
    version: int = 0

    @property
    def status(self) -> AlertStatus:
        """Where it stands."""
        return self.memory.status


@dataclass(frozen=True, kw_only=True, slots=True)
class Transition:
    """One flip of a state (table kb_alert_transition); `kb_seq` is set where receivers were told."""

    from_status: AlertStatus
    to_status: AlertStatus
    severity: Severity | None
    reason: str
    kb_seq: int | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Decision:
    """What an evaluation makes of one state: how it stands, the flip if it is one, the alert if one goes out."""

    state: AlertState
    expected_version: int
    transition: Transition | None = None
    payload: Mapping[str, Any] | None = None

    @property
    def changes(self) -> bool:
        """Whether there is anything to write."""
        return self.state.version != self.expected_version


@dataclass(frozen=True, kw_only=True, slots=True)
class Silence:
    """A person's wish not to be told: of one fingerprint, or of all that begin with `pattern` less its final *."""

    silence_id: int
    pattern: str
    starts_at: datetime
    ends_at: datetime
    author: str
    reason: str


@dataclass(frozen=True, kw_only=True, slots=True)
class OutboxEntry:
    """One alert for one destination, in its place among those of its fingerprint (table kb_alert_outbox)."""

    destination: str
    fingerprint: str
    kb_seq: int
    state: str
    payload: Mapping[str, Any]
    attempts: int
    reason: str | None
    queued_at: datetime
    sent_at: datetime | None


@dataclass(frozen=True, kw_only=True, slots=True)
class OutboxHealth:
    """How delivery to one destination stands: counts, and seconds that the oldest pending alert has waited."""

    destination: str
    pending: int = 0
    unconfirmed: int = 0
    dead: int = 0
    oldest_pending_s: float | None = None
    last_confirmed_at: datetime | None = None
    next_try_at: datetime | None = None
    failures: int = 0
    reason: str | None = None
