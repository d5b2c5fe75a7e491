"""Deliver the alerts of one destination: see what arrived, send what waits in order, within bounded time.

Belongs here: the order of that over the outbox and a receiver. Does not: HTTP, what an answer means
(alerting/delivery.py).
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta

from kb_pipeline.alerting.delivery import (
    Answer,
    Outcome,
    Pace,
    Proof,
    arrived,
    back_off,
    by_fingerprint,
    named,
    overdue,
    stamped,
)
from kb_pipeline.ports import AlertOutbox, AlertReceiver, Clock
from kb_pipeline.records import OutboxEntry, StepReport

BUDGET_S = 15.0
# How many alerts in flight are looked for at once, and how many fingerprints one request names.
IN_FLIGHT = 1000
ASKED = 100
COUNTS = ("accepted", "confirmed", "lost", "again", "dead", "failed", "busy")
USUAL_PACE = Pace()


def deliver_alerts(
    *,
    outbox: AlertOutbox,
    receiver: AlertReceiver,
    clock: Clock,
    chance: Callable[[], float],
    pace: Pace = USUAL_PACE,
    budget_s: float = BUDGET_S,
) -> StepReport:
    """One round of delivery to a destination, within `budget_s` seconds and one request.

    What a destination does is counted, never raised. Nobody else delivers there meanwhile: while somebody does, this
    does nothing. `chance` gives numbers in [0, 1) for the jitter. Raises DatabaseError.
    """
    with outbox.exclusive(receiver.destination) as is_only:
        if not is_only:
            return StepReport(counts=dict.fromkeys(COUNTS, 0) | {"busy": 1})
        delivery = _Round(outbox=outbox, receiver=receiver, clock=clock, chance=chance, pace=pace, budget_s=budget_s)
        return delivery.made()


@dataclass(kw_only=True)
class _Round:
    """One round of delivery: how far it got, and how much time is left."""

    outbox: AlertOutbox
    receiver: AlertReceiver
    clock: Clock
    chance: Callable[[], float]
    pace: Pace
    budget_s: float
    counts: Counter[str] = field(default_factory=Counter)
    notes: list[str] = field(default_factory=list)

    def made(self) -> StepReport:
        self.deadline = self.clock.monotonic() + self.budget_s
        self.proof = self.receiver.proof
        self.most = min(self.pace.batch, self.receiver.most)
        if not self._is_held():
            self._go()
        return StepReport(counts={name: self.counts[name] for name in COUNTS}, notes=tuple(self.notes))

    def _go(self) -> None:
        self._begin_anew()
        while self._settle() and self._left() > 0:
            batch = self.outbox.pending(self.receiver.destination, now=self.clock.now(), limit=self.most)
            if not batch or not self._send(batch):
                return

    def _is_held(self) -> bool:
        now = self.clock.now()
        health = [each for each in self.outbox.health(now) if each.destination == self.receiver.destination]
        self.failures = sum(each.failures for each in health)
        return any(each.next_try_at and each.next_try_at > now for each in health)

    def _left(self) -> float:
        return self.deadline - self.clock.monotonic()

    def _within(self) -> float:
        """How long the next request may take."""
        return min(self.pace.request_s, max(self._left(), 1.0))

    def _begin_anew(self) -> None:
        """What was done with and is due again."""
        every, now = timedelta(seconds=self.pace.repeat_s), self.clock.now()
        if self.proof is Proof.READ_BACK:
            self.outbox.doubt(self.receiver.destination, now=now, every=every)
        elif self.proof is Proof.NONE:
            self.counts["again"] += self.outbox.repeat(
                self.receiver.destination,
                now=now,
                every=every,
                resolves=self.pace.resolves,
                spacing=timedelta(seconds=self.pace.lost_s),
            )

    def _settle(self) -> bool:
        """See what arrived of what is in flight; False when the destination does not answer, or time is up."""
        in_flight = self.outbox.unconfirmed(self.receiver.destination, limit=IN_FLIGHT)
        if self.proof is not Proof.READ_BACK:
            # With proof by the answer, none but those of a round that was cut short are in flight.
            self.outbox.assumed(overdue(in_flight, now=self.clock.now(), pace=self.pace), now=self.clock.now())
            return True
        groups = by_fingerprint(in_flight)
        for start in range(0, len(groups), ASKED):
            asked = groups[start : start + ASKED]
            standing = self.receiver.standing([group[0].fingerprint for group in asked], within_s=self._within())
            if standing.answer is not None:
                return self._went_unread(standing.answer)
            self._judge([entry for group in asked for entry in group], standing.seen)
            if self._left() <= 0:
                return False
        return True

    def _judge(self, in_flight: Sequence[OutboxEntry], seen: Mapping[str, int]) -> None:
        there, lost = arrived(in_flight, seen, now=self.clock.now(), pace=self.pace)
        self.outbox.confirmed(there, now=self.clock.now())
        self.outbox.lost(lost)
        newest = {entry.fingerprint: entry.kb_seq for entry in there}
        self.counts["confirmed"] += sum(entry.kb_seq <= newest.get(entry.fingerprint, 0) for entry in in_flight)
        self.counts["lost"] += len(lost)

    def _went_unread(self, answer: Answer) -> bool:
        """A destination that is down is left alone; one that refuses to be read is served without for this round."""
        if answer.outcome is Outcome.LATER:
            self._hold(answer)
            return False
        self.notes.append(f"what arrived at {self.receiver.destination} cannot be read back ({answer.sentence})")
        self.proof = Proof.NONE
        self._settle()
        self._begin_anew()
        return True

    def _send(self, batch: Sequence[OutboxEntry]) -> bool:
        """Send one request; False when nothing more can be sent now."""
        # Where it can be read back, the intent is kept first: a crash, or silence, then costs a look, never an order.
        is_marked = self.proof is Proof.READ_BACK
        now = self.clock.now()
        if is_marked and self.outbox.sent(batch, now=now) < len(batch):
            return False
        answer = self.receiver.send(stamped(batch, now), within_s=self._within())
        match answer.outcome:
            case Outcome.ACCEPTED:
                self._accept(batch, is_marked=is_marked)
                return True
            case Outcome.REFUSED:
                if is_marked:
                    self.outbox.returned(batch)
                self._isolate(batch, answer)
                return True
        if is_marked and answer.is_lost:
            self.outbox.returned(batch)
        self._hold(answer)
        return False

    def _accept(self, batch: Sequence[OutboxEntry], *, is_marked: bool) -> None:
        now = self.clock.now()
        if not is_marked:
            self.outbox.sent(batch, now=now)
        if self.proof is Proof.ANSWER:
            self.outbox.confirmed(batch, now=now)
            self.counts["confirmed"] += len(batch)
        self.counts["accepted"] += len(batch)
        self.failures = 0
        self.outbox.release(self.receiver.destination)
        self.most = min(self.most * 2, self.pace.batch, self.receiver.most)

    def _isolate(self, batch: Sequence[OutboxEntry], answer: Answer) -> None:
        """Bury what the refusal names; where it names nothing, halve what is sent until it is one that is refused."""
        poison = named(answer, batch)
        for entry in poison:
            self.outbox.bury(entry, answer.sentence, now=self.clock.now())
        self.counts["dead"] += len(poison)
        if not poison:
            self.most = max(1, len(batch) // 2)

    def _hold(self, answer: Answer) -> None:
        waits = back_off(answer, self.failures, pace=self.pace, chance=self.chance())
        until = self.clock.now() + waits
        self.failures = self.outbox.hold(self.receiver.destination, until=until, reason=answer.sentence)
        self.counts["failed"] += 1
