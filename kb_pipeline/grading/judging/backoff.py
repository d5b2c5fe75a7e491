"""How long to wait after a run that failed: before a turn is called again, before a judge is, before an hour is run.

Belongs here: waits between runs. Does not: waits within one (steps/judge/pacing.py), who keeps to them.
"""

import hashlib
from datetime import timedelta

from kb_pipeline.records import Ungraded

_FIRST_S = 60.0
_FIRST_AFTER_A_REPLY_S = 20.0
_LONGEST_S = 3600.0
LONGEST_WAIT_OF_HOUR = timedelta(seconds=_LONGEST_S)
_SPREAD = 0.25


def wait_of_turn(failed: Ungraded, *, failures: int, key: str) -> timedelta:
    """Until the turn may be called again, after `failures` runs in a row (from 1) without scores.

    It doubles from a minute, or from 20 s where the judge did reply, to an hour, and up to a quarter is added, by
    `key`, so that turns do not come back all at once. Never shorter than Retry-After. After an outage it is twice the
    judge's own wait, so that a judge that is asked again meets other turns.
    """
    first = _FIRST_AFTER_A_REPLY_S if failed.uses_attempt else _FIRST_S
    seconds = _doubled(first, failures) * (1 + _SPREAD * _fraction(key))
    return timedelta(seconds=max(seconds, failed.retry_after or 0.0))


def wait_of_judge(*, runs: int, asked_s: float, key: str) -> timedelta:
    """Until a judge may be called again that `runs` runs in a row (from 1) found down.

    It doubles from half a minute to half an hour, less up to a quarter, by `key`. Never shorter than `asked_s`, the
    longest Retry-After of the last run.
    """
    seconds = _doubled(_FIRST_S, runs) / 2 * (1 - _SPREAD * _fraction(key))
    return timedelta(seconds=max(seconds, asked_s))


def wait_of_hour(failures: int) -> timedelta:
    """Until an hour is run again whose last `failures` runs (from 1) failed: doubles from a minute to an hour."""
    return timedelta(seconds=_doubled(_FIRST_S, failures))


def _doubled(first: float, times: int) -> float:
    return min(first * 2.0 ** min(times - 1, 32), _LONGEST_S)


def _fraction(key: str) -> float:
    """A fraction in [0, 1), the same for the same key."""
    digest = hashlib.sha256(key.encode(errors="surrogatepass")).digest()
    return int.from_bytes(digest[:4]) / 2**32
