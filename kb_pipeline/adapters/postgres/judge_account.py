"""The judge's account: tokens of the day, outages that last, turns that wait, costs.

Belongs here: what is asked and noted of a judge as a whole. Does not: claims on single turns (claims.py).
"""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Literal

from kb_pipeline.adapters.postgres.connection import Connection, Database
from kb_pipeline.adapters.postgres.queries import load
from kb_pipeline.grading.judging import wait_of_judge
from kb_pipeline.grading.judging.needs import MEASURED_DAYS, DayTokens, MeasuredTokens
from kb_pipeline.grading.standing import Cost, Outage, Standing
from kb_pipeline.records import JudgeVersion
from kb_pipeline.windows import Window

Grain = Literal["hour", "day"]


class PostgresJudgeAccount:
    """The account of the configured judge, None where judging is off; `daily_tokens` is its budget, if it has one."""

    def __init__(self, database: Database, *, version: JudgeVersion | None, daily_tokens: int | None) -> None:
        self._database = database
        self._daily_tokens = daily_tokens
        self._judge = {
            "judge_model": version.model if version else None,
            "prompt_version": version.prompt_version if version else None,
        }

    def standing(self, now: datetime) -> Standing:
        """Everything that decides whether the judge is called at `now`, with what waits for it."""
        with self._database.connect() as connection:
            row = connection.execute(load("waiting_for_judge"), self._judge | {"now": now}).fetchone() or (0, 0, None)
            waiting, held, next_try_at = row
            return replace(self._without_waiting(connection, now), waiting=waiting, held=held, next_try_at=next_try_at)

    def may_judge(self, now: datetime) -> Standing:
        """The same without looking at what waits."""
        with self._database.connect() as connection:
            return self._without_waiting(connection, now)

    def _without_waiting(self, connection: Connection, now: datetime) -> Standing:
        outage = self._outage(connection)
        return Standing(
            daily_tokens=self._daily_tokens,
            tokens_left=self._tokens_left(connection, now),
            outage=outage if outage is not None and outage.retry_at > now else None,
            waiting=0,
        )

    def _tokens_left(self, connection: Connection, now: datetime) -> int | None:
        return None if self._daily_tokens is None else self._daily_tokens - _tokens_spent(connection, now)

    def today(self, now: datetime) -> DayTokens:
        """Tokens of the UTC day, of every judge version together."""
        with self._database.connect() as connection:
            return DayTokens(daily=self._daily_tokens, spent=_tokens_spent(connection, now))

    def measured(self, version: JudgeVersion, now: datetime) -> MeasuredTokens | None:
        """What the turns that a version scored in the last thirty days cost; None where it has scored none."""
        asked = {
            "judge_model": version.model,
            "prompt_version": version.prompt_version,
            "instant": now - timedelta(days=MEASURED_DAYS),
        }
        with self._database.connect() as connection:
            turns, tokens = connection.execute(load("judge_habits"), asked).fetchone() or (0, 0)
        return MeasuredTokens(turns=turns, tokens=int(tokens)) if turns else None

    def _outage(self, connection: Connection) -> Outage | None:
        row = connection.execute(load("judge_outage"), self._judge).fetchone()
        return Outage(since=row[0], runs=row[1], retry_at=row[2]) if row else None

    def was_down(self) -> bool:
        """Whether no run has got scores since one found the judge down."""
        with self._database.connect() as connection:
            return self._outage(connection) is not None

    def found_down(self, now: datetime, *, asked_s: float) -> None:
        """A run found the judge down; `asked_s` is the longest Retry-After that it heard, in seconds."""
        with self._database.connect() as connection:
            before = self._outage(connection)
            runs = before.runs + 1 if before else 1
            wait = wait_of_judge(runs=runs, asked_s=asked_s, key=f"{self._judge['judge_model']}:{now.isoformat()}")
            connection.execute(load("note_outage"), self._judge | {"now": now, "runs": runs, "retry_at": now + wait})

    def found_up(self) -> None:
        """A run got scores from the judge."""
        with self._database.connect() as connection:
            connection.execute(load("end_outage"), self._judge)

    def end_waits(self) -> None:
        """The judge was mended: neither it nor a turn that it failed on is waited for any longer."""
        with self._database.connect() as connection:
            connection.execute(load("end_waits"), self._judge)

    def costs(self, window: Window, *, by: Grain) -> list[Cost]:
        """What every judge version cost for the turns of the window, oldest first."""
        parameters = {"window_start": window.start, "window_end": window.end, "grain": by}
        with self._database.connect() as connection:
            rows = connection.execute(load("judge_costs"), parameters).fetchall()
        return [
            Cost(
                start=start,
                judge_model=model,
                prompt_version=prompt,
                turns=turns,
                graded=graded,
                calls=int(calls),
                prompt_tokens=int(prompt_tokens),
                completion_tokens=int(completion_tokens),
                seconds=int(milliseconds) / 1000,
            )
            for start, model, prompt, turns, graded, calls, prompt_tokens, completion_tokens, milliseconds in rows
        ]


def _tokens_spent(connection: Connection, now: datetime) -> int:
    midnight = now.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    row = connection.execute(load("tokens_since"), {"instant": midnight}).fetchone() or (0,)
    return int(row[0])
