"""When a call may start, when a turn is tried again, when the judge is down. Pure: the time is passed in.

Belongs here: the decisions of a run. Does not: carrying them out.
"""

import hashlib

from kb_pipeline.records import Claim, ErrorClass, Ungraded

_SHORTEST_PATIENCE = 5
_LONGEST_PATIENCE = 8
_SPARE_S = 8.0
_OVERLOADS_AT_LEAST = 2
_OVERLOADED_SHARE = 0.25
# An overloaded server says so by 429 or by silence; other failures say nothing of its load.
_OVERLOADED = frozenset({ErrorClass.RATE_LIMITED, ErrorClass.TIMEOUT})

_RETRIES_OF_TEN = 3
_RETRIES_AT_LEAST = 3
_CALLS_PER_TURN = 6
_FIRST_WAIT_S = 0.5
_LONGEST_WAIT_S = 30.0


class Pace:
    """How many calls may be in flight, and whether the judge is down.

    In flight: of the calls that started under the present limit, a quarter (at least two) refused for load or timed
    out halve it; as many as the limit without one raise it by one, up to `ceiling`. Suspended: after 5 to 8 outages
    in a row (twice that of failures of any kind), or when nothing succeeded for a time limit and 8 s; then no call
    starts, and the judge is down when the calls still in flight end without a success. So a run against a judge
    that hangs ends within two time limits, and a burst of 429 beside working calls stops nothing.
    """

    def __init__(self, *, ceiling: int, timeout_s: float, now: float) -> None:
        self.limit = ceiling
        self._ceiling = ceiling
        self._patience = max(_SHORTEST_PATIENCE, min(ceiling, _LONGEST_PATIENCE))
        self._longest_silence_s = timeout_s + _SPARE_S
        self._limited_at = self._succeeded_at = now
        self._outages = self._failures = 0
        self._ended = self._overloaded = 0

    def succeeded(self, *, started_at: float, now: float) -> None:
        """A call that started at `started_at` gave scores."""
        self._outages = self._failures = 0
        self._succeeded_at = now
        self._note_load(is_overload=False, started_at=started_at, now=now)

    def failed(self, error_class: ErrorClass, *, started_at: float, now: float) -> None:
        """A call that started at `started_at` gave none."""
        self._failures += 1
        self._outages += error_class.is_outage
        self._note_load(is_overload=error_class in _OVERLOADED, started_at=started_at, now=now)

    def _note_load(self, *, is_overload: bool, started_at: float, now: float) -> None:
        if started_at < self._limited_at:
            return
        self._ended += 1
        self._overloaded += is_overload
        if self._overloaded >= max(_OVERLOADS_AT_LEAST, self.limit * _OVERLOADED_SHARE):
            self._set_limit(self.limit // 2, now)
        elif self._ended >= self.limit:
            self._set_limit(self.limit + (self._overloaded == 0), now)

    def _set_limit(self, limit: int, now: float) -> None:
        self.limit = min(max(limit, 1), self._ceiling)
        self._limited_at = now
        self._ended = self._overloaded = 0

    def is_suspended(self, *, now: float) -> bool:
        """Whether no call may start until one in flight succeeds."""
        return (
            self._outages >= self._patience
            or self._failures >= 2 * self._patience
            or (self._outages > 0 and now - self._succeeded_at > self._longest_silence_s)
        )

    def may_start(self, *, in_flight: int, now: float) -> bool:
        """Whether another call may start beside `in_flight` ones."""
        return in_flight < self.limit and not self.is_suspended(now=now)

    def is_down(self, *, in_flight: int, now: float) -> bool:
        """Whether the run should end: suspended, and nothing in flight can lift that."""
        return in_flight == 0 and self.is_suspended(now=now)


class RetryBudget:
    """How many repeated calls a run may make: three for every ten turns that were called, and three in any case."""

    def __init__(self) -> None:
        self._turns = self._taken = 0

    def turn_started(self) -> None:
        """A turn got its first call of the run."""
        self._turns += 1

    def take(self) -> bool:
        """Take one repeated call; False when none is left."""
        is_left = self._taken < max(_RETRIES_AT_LEAST, self._turns * _RETRIES_OF_TEN // 10)
        self._taken += is_left
        return is_left


def wait_before_retry(claim: Claim, failed: Ungraded, *, tries: int, max_attempts: int) -> float | None:
    """Seconds until the turn may be called again in this run, after `tries` calls in it; None when it may not.

    An outage is followed by up to 6 calls in all, an unusable reply while attempts are left, a refusal (4xx) never:
    the same call would be refused again. The wait doubles from half a second and is never shorter than Retry-After;
    one longer than 30 s is left to a later run.
    """
    if failed.error_class is ErrorClass.HTTP_4XX:
        return None
    is_outage = failed.error_class.is_outage
    is_spent = tries >= _CALLS_PER_TURN if is_outage else claim.attempts + 1 >= max_attempts
    wait = max(failed.retry_after or 0.0, _FIRST_WAIT_S * 2 ** (tries - 1))
    return None if is_spent or wait > _LONGEST_WAIT_S else wait * (1 + _jitter(claim) / 4)


def _jitter(claim: Claim) -> float:
    """A fraction in [0, 1) that differs between turns and calls and is the same when it is asked again."""
    digest = hashlib.sha256(claim.idempotency_key.encode(errors="surrogatepass")).digest()
    return int.from_bytes(digest[:4]) / 2**32
