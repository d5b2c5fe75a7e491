"""How alerts are delivered, as decisions: what an answer means, how long to wait, what arrived, what to send again.

Belongs here: pure functions over answers, outbox entries and instants. Does not: HTTP, the outbox, a clock.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from itertools import groupby
from typing import Any

from kb_pipeline.alerting.payloads import instant, restamped
from kb_pipeline.records import OutboxEntry

OK, REDIRECT = 200, 300
TOO_LARGE = 413
# A payload that is refused for what it is; a server's list of errors names the place where it can.
_REFUSED = frozenset({400, TOO_LARGE, 422})
# The server is busy or broken, and may be well again in a moment.
_LATER = frozenset({408, 425, 429})
_SERVER_ERRORS = range(500, 600)
# A proxy gave up waiting: whether the server behind it took the request is not known.
_UNKNOWN_FATE = frozenset({408, 502, 504})
MAX_DOUBLINGS = 30


class Proof(StrEnum):
    """What shows that an alert arrived."""

    READ_BACK = "read_back"
    """Reading it there: the answer to a request says that it is queued, and no more."""
    ANSWER = "answer"
    """A good answer."""
    NONE = "none"
    """Nothing: a good answer says that it is queued, and it cannot be read. The newest alerts are repeated."""


class Outcome(StrEnum):
    """What became of a request."""

    ACCEPTED = "accepted"
    REFUSED = "refused"
    """Something in it is refused for good."""
    LATER = "later"
    """Nobody answered, or the server is busy or broken."""
    HELD = "held"
    """The address or the key is wrong: a person has to mend it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Answer:
    """What a receiver answered: its status, 0 for none, and `words` for people, without secrets.

    `is_certain` is False where the request may have been taken although no good answer came; `is_usable` is False where
    nobody can be asked for want of something that a person has to mend. `refused` are the places in the list that a
    refusal names. `retry_after_s` is how long the server asks to be left alone.
    """

    status: int = 0
    words: str = ""
    is_certain: bool = True
    is_usable: bool = True
    refused: tuple[int, ...] = ()
    retry_after_s: float | None = None

    @property
    def outcome(self) -> Outcome:
        """What it means for the alerts in the request."""
        if not self.is_usable:
            return Outcome.HELD
        if OK <= self.status < REDIRECT:
            return Outcome.ACCEPTED
        if self.status in _REFUSED:
            return Outcome.REFUSED
        if self.status == 0 or self.status in _LATER or self.status in _SERVER_ERRORS:
            return Outcome.LATER
        return Outcome.HELD

    @property
    def is_lost(self) -> bool:
        """Whether the alerts were certainly not taken."""
        return self.is_certain and self.status not in _UNKNOWN_FATE

    @property
    def sentence(self) -> str:
        """For the outbox: the status and the words."""
        begin = str(self.status or ("no answer" if self.is_usable else "cannot be used"))
        return f"{begin}: {self.words}" if self.words else begin


@dataclass(frozen=True, kw_only=True, slots=True)
class Standing:
    """What a receiver has: the kb_seq of each fingerprint it knows. `answer` is set where it could not be asked."""

    seen: Mapping[str, int]
    answer: Answer | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Pace:
    """How long each wait is, in seconds, and how much is sent at once.

    `back_off_s` and its cap: of a destination that fails. `held_s`: of one that a person has to mend. `lost_s` and its
    cap: until what was accepted and cannot be seen counts as lost. `repeat_s`: between looks at, or repeats of, what
    fires. `resolves`: how often a resolve is sent where nothing can be read back.
    """

    batch: int = 50
    back_off_s: float = 0.5
    back_off_cap_s: float = 30
    held_s: float = 300
    longest_hold_s: float = 600
    lost_s: float = 30
    lost_cap_s: float = 600
    repeat_s: float = 1800
    resolves: int = 3
    request_s: float = 10


def back_off(answer: Answer, failures: int, *, pace: Pace, chance: float) -> timedelta:
    """How long to leave a destination alone after so many failures in a row before this one.

    Exponential with jitter: `chance`, in [0, 1), takes up to half off, so that many deliverers do not return together.
    What the server asks for is granted, up to a limit.
    """
    longest = min(pace.back_off_cap_s, pace.back_off_s * 2 ** min(failures, MAX_DOUBLINGS))
    if answer.outcome is Outcome.HELD:
        longest = pace.held_s
    waited = longest * (1 - chance / 2)
    return timedelta(seconds=max(waited, min(answer.retry_after_s or 0, pace.longest_hold_s)))


def lost_after(attempts: int, *, pace: Pace) -> timedelta:
    """How long what was sent so many times may be invisible until it counts as lost."""
    return timedelta(seconds=min(pace.lost_cap_s, pace.lost_s * 2 ** min(max(0, attempts - 1), MAX_DOUBLINGS)))


def by_fingerprint(entries: Iterable[OutboxEntry]) -> list[list[OutboxEntry]]:
    """The entries of each fingerprint in the order of kb_seq."""
    ordered = sorted(entries, key=lambda entry: (entry.fingerprint, entry.kb_seq))
    return [list(group) for _, group in groupby(ordered, key=lambda entry: entry.fingerprint)]


def arrived(
    in_flight: Iterable[OutboxEntry], seen: Mapping[str, int], *, now: datetime, pace: Pace
) -> tuple[list[OutboxEntry], list[OutboxEntry]]:
    """What is there, the newest of each fingerprint, and what is lost; the rest may still be on its way.

    What stands there is one of ours exactly when its kb_seq is that of an entry: a lower one is from before, a higher
    one from a history that we do not have, and is to be overwritten.
    """
    there: list[OutboxEntry] = []
    lost: list[OutboxEntry] = []
    for entries in by_fingerprint(in_flight):
        newest = next((entry for entry in entries if entry.kb_seq == seen.get(entry.fingerprint)), None)
        if newest:
            there.append(newest)
        missing = [entry for entry in entries if newest is None or entry.kb_seq > newest.kb_seq]
        if any(_is_overdue(entry, now, pace) for entry in missing):
            lost.extend(missing)
    return there, lost


def _is_overdue(entry: OutboxEntry, now: datetime, pace: Pace) -> bool:
    return entry.sent_at is None or now >= entry.sent_at + lost_after(entry.attempts, pace=pace)


def overdue(in_flight: Iterable[OutboxEntry], *, now: datetime, pace: Pace) -> list[OutboxEntry]:
    """What was accepted long enough ago for the next of its fingerprint to follow, where nothing can be read back."""
    settling = timedelta(seconds=pace.lost_s)
    return [entry for entry in in_flight if entry.sent_at is None or now >= entry.sent_at + settling]


def stamped(entries: Sequence[OutboxEntry], now: datetime) -> list[dict[str, Any]]:
    """The alerts as they go out: byte for byte as decided, but for `lastReceived`.

    That one rises within a fingerprint whatever the clock did between two decisions, since receivers take the latest
    for the newest; a repeat carries the present.
    """
    alerts: list[dict[str, Any]] = []
    before: dict[str, datetime] = {}
    for entry in entries:
        moment = now if entry.attempts else entry.queued_at
        if entry.fingerprint in before:
            moment = max(moment, before[entry.fingerprint] + timedelta(milliseconds=1))
        before[entry.fingerprint] = moment
        alert = dict(entry.payload)
        alerts.append(alert if alert.get("lastReceived") == instant(moment) else restamped(alert, moment))
    return alerts


def named(answer: Answer, entries: Sequence[OutboxEntry]) -> list[OutboxEntry]:
    """The entries that a refusal names; the only one of a request needs no naming."""
    if len(entries) == 1:
        return list(entries)
    return [entries[place] for place in sorted(set(answer.refused)) if 0 <= place < len(entries)]
