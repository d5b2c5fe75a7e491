"""The one state machine of all rules: from a memory and a reading to the next memory, and from there to a notice.

Belongs here: hysteresis, minimum hold, the limit on flapping, late data, what receivers are told. Does not: what counts
as a breach (rules/), names, payloads.
"""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from kb_pipeline.records import (
    AlertState,
    AlertStatus,
    Finding,
    Memory,
    Notice,
    NoticeStatus,
    Reading,
    Severity,
    Transition,
)

DAY = timedelta(hours=24)
FLAPS = 3
_ORDER = tuple(Severity)


@dataclass(frozen=True, kw_only=True, slots=True)
class Policy:
    """How often in a row a breach must be seen to fire, and a good reading to resolve.

    `hold` is the least time from a fire to its resolve; `quiet` is how long all must be good after flapping. A policy
    that `beats` remembers the instant of every good look.
    """

    confirm: int = 1
    recover: int = 3
    hold: timedelta = timedelta(hours=1)
    quiet: timedelta = DAY
    beats: bool = False


def advance(memory: Memory, reading: Reading, policy: Policy, *, end: datetime, now: datetime) -> Memory:
    """The memory after the window that ends at `end`, looked at at the instant `now`.

    What is thin, or nothing new, changes nothing: it neither fires nor resolves. Nor does the absence of data.
    """
    if reading.finding is Finding.ABSENT:
        return memory if memory.status.is_active else replace(memory, status=AlertStatus.NO_DATA, breaches=0)
    if reading.finding is Finding.THIN or not reading.is_news:
        return memory
    if reading.finding is Finding.BREACH:
        return _breached(memory, reading, policy, now)
    if reading.finding is Finding.GOOD:
        return _good(memory, policy, end, now)
    if memory.status.is_active:
        return replace(memory, status=AlertStatus.FIRING, good=0, good_since=None)
    return replace(memory, status=AlertStatus.OK, breaches=0)


def _breached(memory: Memory, reading: Reading, policy: Policy, now: datetime) -> Memory:
    severity = worse(memory.severity, reading.severity) if memory.status.is_active else reading.severity
    memory = replace(memory, breaches=memory.breaches + 1, good=0, good_since=None)
    if memory.status.is_active:
        return replace(memory, status=AlertStatus.FIRING, severity=severity)
    if memory.breaches < policy.confirm:
        return replace(memory, status=AlertStatus.PENDING, severity=None)
    fires = (*(fire for fire in memory.fires if now - fire < DAY), now)
    return replace(
        memory,
        status=AlertStatus.FIRING,
        severity=severity,
        fired_at=now,
        fires=fires,
        is_flapping=len(fires) >= FLAPS,
        baseline=reading.baseline,
    )


def _good(memory: Memory, policy: Policy, end: datetime, now: datetime) -> Memory:
    good_at = now if policy.beats else None
    if not memory.status.is_active:
        return replace(memory, status=AlertStatus.OK, breaches=0, good_at=good_at)
    since = memory.good_since or end
    memory = replace(memory, status=AlertStatus.RECOVERING, good=memory.good + 1, good_since=since)
    held = memory.fired_at is None or now - memory.fired_at >= policy.hold
    quiet = not memory.is_flapping or end - since >= policy.quiet
    if memory.good < policy.recover or not held or not quiet:
        return memory
    return Memory(fires=memory.fires, good_at=good_at, seen=memory.seen, seen_from=memory.seen_from)


def worse(first: Severity | None, second: Severity | None) -> Severity | None:
    """The worse of two severities; None is none."""
    return min((each for each in (first, second) if each), key=_ORDER.index, default=None)


def reopened(state: AlertState, anew: Memory) -> Memory:
    """The memory of a window that was judged before and is judged anew, because data came late.

    A fire of this very window is never taken back; it can only get worse.
    """
    if state.before.status.is_active or not state.memory.status.is_active:
        return anew
    if not anew.status.is_active:
        return state.memory
    return replace(state.memory, severity=worse(state.memory.severity, anew.severity))


def settle(
    state: AlertState, memory: Memory, *, now: datetime, is_silenced: bool = False
) -> tuple[AlertState, Transition | None]:
    """The state with its new memory, and the flip if it is one. A flip has a `kb_seq` where receivers are told.

    What they are told follows from where things stand, not from the flip: a silence that ends while an alert is firing
    is followed by the alert, and a resolve is always told to who was told of the fire.
    """
    notice = _notice(state.notice, memory, is_silenced=is_silenced)
    is_told, is_flip = notice != state.notice, memory.status is not state.status
    kb_seq = state.kb_seq + is_told
    flip = None
    if is_told or is_flip:
        flip = Transition(
            from_status=state.status,
            to_status=memory.status,
            severity=memory.severity or (notice.severity if is_told and notice else None),
            reason=_reason(state, memory, notice if is_told else None, is_silenced=is_silenced),
            kb_seq=kb_seq if is_told else None,
        )
    settled = replace(
        state,
        memory=memory,
        notice=notice,
        kb_seq=kb_seq,
        is_silenced=is_silenced,
        since=now if is_flip or state.since is None else state.since,
    )
    return settled, flip


def _notice(told: Notice | None, memory: Memory, *, is_silenced: bool) -> Notice | None:
    if memory.status.is_active and memory.severity:
        wanted = Notice(status=NoticeStatus.FIRING, severity=memory.severity, is_flapping=memory.is_flapping)
        return told if is_silenced else wanted
    if told and told.status is NoticeStatus.FIRING:
        return Notice(status=NoticeStatus.RESOLVED, severity=told.severity)
    return told


def _reason(state: AlertState, memory: Memory, told: Notice | None, *, is_silenced: bool) -> str:
    """Why it flipped, as a code for history."""
    if told is None:
        return "silenced" if is_silenced and memory.status is AlertStatus.FIRING else str(memory.status)
    if told.status is NoticeStatus.RESOLVED:
        return "resolved"
    if told.is_flapping:
        return "flapping"
    if state.status.is_active:
        return "escalated" if state.notice and state.notice.status is NoticeStatus.FIRING else "silence_ended"
    return "fired"
