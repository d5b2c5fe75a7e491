"""Turns that another judge version scored, a page at a time.

Belongs here: rows to turns. Does not: claiming them (claims.py), which of them are asked for.
"""

from collections.abc import Sequence
from typing import Any

from kb_pipeline.adapters.postgres.connection import Database
from kb_pipeline.adapters.postgres.queries import load
from kb_pipeline.records import JUDGED_STATUSES, JudgeVersion, RejudgeableTurn, Standing
from kb_pipeline.windows import Window


class PostgresRejudgeableTurns:
    """Where each stands with `version`. Each page is a short transaction: a run of hours keeps none open."""

    def __init__(self, database: Database, *, version: JudgeVersion, judge_chars: int) -> None:
        self._database = database
        self._parameters: dict[str, Any] = {
            "judge_model": version.model,
            "prompt_version": version.prompt_version,
            "judged_statuses": [str(status) for status in sorted(JUDGED_STATUSES)],
            "judge_chars": judge_chars,
        }

    def after(self, window: Window, last: RejudgeableTurn | None, *, chunk: int) -> Sequence[RejudgeableTurn]:
        """The next turns of the window in the order of time and event id, at most `chunk`; none at its end."""
        parameters = self._parameters | {
            # No event id is empty, so that the first turn of the window is after this one.
            "after_ts": last.ts if last else window.start,
            "after_id": last.event_id if last else "",
            "window_end": window.end,
            "chunk": chunk,
        }
        with self._database.connect() as connection:
            rows = connection.execute(load("rejudgeable_turns"), parameters).fetchall()
        return [
            RejudgeableTurn(ts=ts, event_id=event_id, standing=Standing(standing), characters=characters)
            for ts, event_id, standing, characters in rows
        ]
