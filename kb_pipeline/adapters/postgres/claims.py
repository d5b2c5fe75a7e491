"""The rights to judge, in rag_judge_score: claimed in one transaction, settled by compare-and-set.

Belongs here: rows to claims and outcomes to rows. Does not: the decision to retry, which is the judge step's.
"""

import os
import secrets
import socket
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from kb_pipeline.adapters.clock import SystemClock
from kb_pipeline.adapters.postgres.connection import Connection, Database
from kb_pipeline.adapters.postgres.queries import load
from kb_pipeline.adapters.postgres.text import storable
from kb_pipeline.adapters.postgres.turns import turn_of
from kb_pipeline.grading.judging import idempotency_key, wait_of_turn
from kb_pipeline.grading.judging.parts import TooLong, plan_parts
from kb_pipeline.ports import Clock
from kb_pipeline.records import (
    JUDGED_STATUSES,
    Claim,
    Graded,
    Judgement,
    JudgeVersion,
    Ungraded,
    Usage,
)
from kb_pipeline.windows import Window

TOO_LONG = "too_long_for_judge"


@dataclass(frozen=True, kw_only=True, slots=True)
class Rejudging:
    """Turns to claim although another version scored them; `provisional` scores stay unpublished."""

    event_ids: Sequence[str]
    provisional: bool


class PostgresClaimBook:
    """Claims for one run. Made by `claim_book`, whose lock tells others that the run lives.

    A claim is free again `lease_s` seconds after it was made or kept, or at once when the run dies. Turns whose wait
    after a failed run lasts are claimed where `ignore_waits`, else not. `probing`, turns that the fewest runs failed on
    come first. `longest_retry_after_s` is the longest Retry-After among the outcomes recorded.
    """

    def __init__(
        self,
        database: Database,
        *,
        claim_lock: int,
        owner: str,
        lease_s: float,
        max_attempts: int,
        judge_chars: int,
        clock: Clock,
        ignore_waits: bool,
        probing: bool,
        rejudging: Rejudging | None = None,
    ) -> None:
        self._database = database
        self._claim_lock = claim_lock
        self._owner = owner
        self._lease_s = lease_s
        self._max_attempts = max_attempts
        self._judge_chars = judge_chars
        self._clock = clock
        self._ignore_waits = ignore_waits
        self._probing = probing
        self.longest_retry_after_s = 0.0
        self._rejudging = rejudging
        self._provisional = rejudging is not None and rejudging.provisional

    def claim(
        self, window: Window, version: JudgeVersion, *, limit: int, exclude: Collection[str] = ()
    ) -> Sequence[Claim]:
        """Waiting turns of the window, or those to rejudge, oldest first, none of `exclude`, that `limit` calls grade.

        One turn may take more. A turn that is too long for the judge even in parts is skipped for good on the way.
        """
        parameters = {
            **_version(version),
            "window_start": window.start,
            "window_end": window.end,
            "judged_statuses": [str(status) for status in sorted(JUDGED_STATUSES)],
            "exclude": list(exclude),
            "due_at": None if self._ignore_waits or self._rejudging else self._clock.now(),
            "probing": self._probing,
            "claim_lock": self._claim_lock,
            "limit": limit,
            "event_ids": list(self._rejudging.event_ids) if self._rejudging else [],
        }
        with self._database.connect() as connection:
            query = load("rejudge_turns" if self._rejudging else "waiting_turns")
            claims: list[Claim] = []
            # Where all that were found are too long, others may still wait.
            while not claims and (rows := connection.execute(query, parameters).fetchall()):
                claims = self._planned(connection, [_claim(row, version) for row in rows], limit)
            mine = self._take(connection, claims, version)
        return [claim for claim in claims if claim.event_id in mine]

    def _planned(self, connection: Connection, waiting: Sequence[Claim], limit: int) -> list[Claim]:
        """The claims that `limit` calls are enough for, at least one, each with the calls that it will take."""
        claims: list[Claim] = []
        calls = 0
        for claim in waiting:
            plan = plan_parts(claim.triad, claim.metrics, self._judge_chars)
            if isinstance(plan, TooLong):
                self._skip(connection, claim, plan.reason)
                continue
            calls += plan.calls
            if claims and calls > limit:
                break
            claims.append(replace(claim, planned_calls=plan.calls))
        return claims

    def _skip(self, connection: Connection, claim: Claim, reason: str) -> None:
        parameters = {**_version(claim.version), "event_id": claim.event_id, "ts": claim.ts}
        detail = {"idempotency_key": claim.idempotency_key, "skip_reason": TOO_LONG, "error_detail": reason}
        connection.execute(load("skip_turn"), parameters | detail | {"provisional": self._provisional})
        if not self._provisional:
            connection.execute(load("touch_hours"), {"ts": [claim.ts]})

    def _take(self, connection: Connection, claims: Sequence[Claim], version: JudgeVersion) -> set[str]:
        rows = connection.execute(
            load("claim_turns"),
            {
                **_version(version),
                "claimed_by": self._owner,
                "claim_lock": self._claim_lock,
                "lease_s": self._lease_s,
                "event_ids": [claim.event_id for claim in claims],
                "ts": [claim.ts for claim in claims],
                "keys": [claim.idempotency_key for claim in claims],
                "provisional": self._provisional,
            },
        )
        return {row[0] for row in rows}

    def settle(self, outcomes: Sequence[tuple[Claim, Judgement]]) -> None:
        """Record outcomes; an outage uses up no attempt, an unusable reply one, and the last one fails the turn."""
        if not outcomes:
            return
        # One order for all: two runs that settle the same turns, or hours, never wait for each other.
        ordered = sorted(outcomes, key=lambda outcome: outcome[0].event_id)
        with self._database.connect() as connection, connection.cursor() as cursor:
            cursor.executemany(load("settle_claim"), [self._settlement(*outcome) for outcome in ordered])
            if not self._provisional:
                cursor.execute(load("touch_hours"), {"ts": [claim.ts for claim, _ in ordered]})

    def _settlement(self, claim: Claim, judgement: Judgement) -> dict[str, Any]:
        outcome = _scores(judgement) if isinstance(judgement, Graded) else self._refusal(claim, judgement)
        return self._key(claim) | outcome | _usage(judgement.usage) | {"now": self._clock.now()}

    def _refusal(self, claim: Claim, judgement: Ungraded) -> dict[str, Any]:
        failure = _failure(judgement)
        is_last = failure["attempts"] and claim.attempts + failure["attempts"] >= self._max_attempts
        failures = claim.failed_runs + 1
        wait = wait_of_turn(judgement, failures=failures, key=claim.idempotency_key)
        self.longest_retry_after_s = max(self.longest_retry_after_s, judgement.retry_after or 0.0)
        waits = {"failed_runs": failures, "retry_at": None if is_last else self._clock.now() + wait}
        return _NO_SCORES | failure | waits | {"status": "failed" if is_last else "error"}

    def retry(self, claim: Claim, failed: Ungraded) -> Claim | None:
        """Record the failed call and keep the turn for another, with a new key and a fresh lease."""
        calls = claim.calls + failed.usage.calls
        used = failed.usage.response_format or ""
        key = idempotency_key(claim.event_id, calls=calls, version=claim.version, response_format=used)
        parameters = self._key(claim) | _failure(failed) | _usage(failed.usage)
        with self._database.connect() as connection:
            row = connection.execute(
                load("retry_claim"), parameters | {"idempotency_key": key, "lease_s": self._lease_s}
            ).fetchone()
        return replace(claim, idempotency_key=key, calls=calls, attempts=row[0]) if row else None

    def release(self, claims: Sequence[Claim]) -> None:
        """Give back claims whose call was not made."""
        if not claims:
            return
        with self._database.connect() as connection:
            connection.execute(
                load("release_claims"),
                {
                    **_version(claims[0].version),
                    "event_ids": [claim.event_id for claim in claims],
                    "claim_lock": self._claim_lock,
                },
            )

    def _key(self, claim: Claim) -> dict[str, Any]:
        return {**_version(claim.version), "event_id": claim.event_id, "claim_lock": self._claim_lock}


@contextmanager
def claim_book(
    database: Database,
    *,
    lease_s: float,
    max_attempts: int,
    judge_chars: int,
    clock: Clock | None = None,
    ignore_waits: bool = False,
    probing: bool = False,
    rejudging: Rejudging | None = None,
) -> Iterator[PostgresClaimBook]:
    """A claim book for one run. Its lock goes with its connection, so a run that is killed loses its claims at once.

    Turns that do not fit `judge_chars` characters of question, history, context and answer take several calls. With
    `rejudging` it claims the turns named there, and no others.
    """
    owner = f"{socket.gethostname()}:{os.getpid()}"
    # A session of its own, outside the pool: the lock must end with it and not travel with a pooled connection.
    with database.session() as session:
        claim_lock = _hold_lock(session)
        yield PostgresClaimBook(
            database,
            claim_lock=claim_lock,
            owner=owner,
            lease_s=lease_s,
            max_attempts=max_attempts,
            judge_chars=judge_chars,
            clock=clock or SystemClock(),
            ignore_waits=ignore_waits,
            probing=probing,
            rejudging=rejudging,
        )


def _hold_lock(session: Connection) -> int:
    while True:
        claim_lock = secrets.randbelow(2**31)
        row = session.execute(load("hold_claim_lock"), {"claim_lock": claim_lock}).fetchone()
        if row and row[0]:
            return claim_lock


_NO_SCORES: dict[str, Any] = {
    "faithfulness": None,
    "answer_relevance": None,
    "context_relevance": None,
    "faithfulness_reason": None,
    "answer_relevance_reason": None,
    "context_relevance_reason": None,
    "parts": None,
    "context_shown": None,
    "history_left_out": None,
}


def _scores(graded: Graded) -> dict[str, Any]:
    aspects = {
        "faithfulness": graded.faithfulness,
        "answer_relevance": graded.answer_relevance,
        "context_relevance": graded.context_relevance,
    }
    values = {name: score.value for name, score in aspects.items()}
    reasons = {f"{name}_reason": storable(score.reason) for name, score in aspects.items()}
    shown = {
        "parts": graded.shown.parts,
        "context_shown": graded.shown.context_shown,
        "history_left_out": graded.shown.history_left_out,
    }
    settled = {
        "status": "ok",
        "attempts": 1,
        "failed_runs": 0,
        "retry_at": None,
        "error_class": None,
        "error_detail": None,
    }
    return {**settled, **values, **reasons, **shown}


def _failure(judgement: Ungraded) -> dict[str, Any]:
    return {
        "attempts": int(judgement.uses_attempt),
        "error_class": str(judgement.error_class),
        "error_detail": storable(judgement.detail),
    }


def _usage(usage: Usage) -> dict[str, Any]:
    return {
        "calls": usage.calls,
        "response_format": usage.response_format,
        "prompt_tokens": usage.prompt_tokens,
        "completion_tokens": usage.completion_tokens,
        "latency_ms": usage.latency_ms,
    }


def _version(version: JudgeVersion) -> dict[str, str]:
    return {"judge_model": version.model, "prompt_version": version.prompt_version}


def _claim(row: Sequence[Any], version: JudgeVersion) -> Claim:
    event_id, ts, *turn, attempts, calls, kept_key, failed_runs = row
    triad, metrics = turn_of(turn)
    key = kept_key or idempotency_key(event_id, calls=calls, version=version, response_format="")
    return Claim(
        event_id=event_id,
        ts=ts,
        version=version,
        idempotency_key=key,
        calls=calls,
        attempts=attempts,
        failed_runs=failed_runs,
        triad=triad,
        metrics=metrics,
    )


def reopen_failed(database: Database, window: Window) -> int:
    """Give the failed turns of the window their attempts back, whichever judge failed on them; returns how many."""
    parameters = {"window_start": window.start, "window_end": window.end}
    with database.connect() as connection:
        row = connection.execute(load("reopen_failed"), parameters).fetchone()
    return int(row[0]) if row else 0
