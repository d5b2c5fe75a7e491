"""Published rows and their windows: derived by SQL from what the earlier steps kept.

Belongs here: publishing, aggregating, counting. Does not: rules on those numbers.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from psycopg.rows import dict_row

from kb_pipeline.adapters.postgres.connection import Connection, Database
from kb_pipeline.adapters.postgres.queries import load
from kb_pipeline.grading.aggregates import CallCounts, Coverage
from kb_pipeline.records import JUDGED_STATUSES, PARSED_STATUSES, TEMPLATE_STATUSES, JudgeVersion, ParseStatus
from kb_pipeline.windows import Window, hour_of

UNBOUNDED = 2**31 - 1


class PostgresPublication:
    """Keeps rag_quality and its windows in step; `version` is the configured judge, None where judging is off.

    Two refreshes of one hour take turns; the stale mark of an hour goes with the refresh that answers it.
    """

    def __init__(self, database: Database, *, version: JudgeVersion | None) -> None:
        self._database = database
        self._judge: dict[str, Any] = {
            "judge_model": version.model if version else None,
            "prompt_version": version.prompt_version if version else None,
        }

    def publish(self, window: Window) -> int:
        """Upsert the rows of each hour; returns how many changed."""
        return sum(self._publish_hour(hour) for hour in window.hours())

    def _publish_hour(self, hour: Window) -> int:
        with self._database.connect() as connection:
            parameters, was_stale = self._begin(connection, hour, "publish")
            connection.execute(load("ensure_partitions"), {"first": hour.start, "last": hour.start})
            parameters |= {"judged_statuses": _names(JUDGED_STATUSES), **self._judge}
            changed = connection.execute(load("publish_turns"), parameters).rowcount
            if changed or was_stale:
                mark_stale(connection, hour, "aggregate")
        return changed

    def aggregate(self, window: Window) -> int:
        """Recompute the windows of each hour and the day that holds it; returns how many hourly rows changed."""
        return sum(self._aggregate_hour(hour) for hour in window.hours())

    def _aggregate_hour(self, hour: Window) -> int:
        with self._database.connect() as connection:
            parameters, _ = self._begin(connection, hour, "aggregate")
            changed = connection.execute(load("aggregate_quality"), parameters).rowcount
            changed += connection.execute(load("aggregate_calls"), parameters | _STATUSES).rowcount
            lock_day(connection, hour, "day")
            connection.execute(load("aggregate_day"), parameters)
        return changed

    def _begin(self, connection: Connection, window: Window, stage: str) -> tuple[dict[str, Any], bool]:
        parameters: dict[str, Any] = {**_bounds(window), "stage": stage}
        lock_hour(connection, window, stage)
        forgotten = connection.execute(load("forget_stale"), parameters).rowcount
        return parameters, forgotten > 0

    def row_counts(self, window: Window) -> dict[str, int]:
        """Rows of the window by table."""
        with self._database.connect() as connection, connection.cursor(row_factory=dict_row) as cursor:
            return cursor.execute(load("row_counts"), _bounds(window)).fetchone() or {}

    def scored(self, window: Window) -> tuple[int, int]:
        """Turns of the window that the judge was called for: with scores, and without."""
        with self._database.connect() as connection:
            row = connection.execute(load("scored_turns"), _bounds(window)).fetchone() or (0, 0)
        return int(row[0]), int(row[1])

    def coverage(self, window: Window) -> Coverage:
        """Where every recognised turn of the window is."""
        with self._database.connect() as connection:
            row = connection.execute(load("coverage"), _bounds(window)).fetchone() or (0,) * 6
        seen, sampled_out, graded, ungraded, skipped, pending = row
        return Coverage(
            seen=seen, sampled_out=sampled_out, graded=graded, ungraded=ungraded, skipped=skipped, pending=pending
        )

    def ledger_counts(self, window: Window, surfaces: Sequence[str]) -> CallCounts:
        """What the ledger says of the surfaces, aggregated or not."""
        return self._counts("ledger_counts", window, surfaces)

    def windowed_counts(self, window: Window, surfaces: Sequence[str]) -> CallCounts:
        """What the hourly windows of the ledger say of the surfaces: cheap over weeks."""
        return self._counts("call_counts", window, surfaces)

    def _counts(self, query: str, window: Window, surfaces: Sequence[str]) -> CallCounts:
        parameters = _bounds(window) | {"surfaces": list(surfaces), **_STATUSES}
        with self._database.connect() as connection:
            row = connection.execute(load(query), parameters).fetchone() or (0,) * 8
        return CallCounts(*map(int, row))

    def examined_of_source(self, window: Window) -> tuple[int, int]:
        """Calls of the window at the source, and how many of them the ledger has."""
        with self._database.connect() as connection:
            row = connection.execute(load("calls_of_hour"), _bounds(window)).fetchone() or (0, 0)
        return int(row[0]), int(row[1])

    def waiting(
        self, window: Window, *, judge_chars: int = UNBOUNDED, due_at: datetime | None = None
    ) -> tuple[int, int, int]:
        """Turns of the window that wait, the calls that a judge with room for `judge_chars` takes, their characters.

        Turns whose wait after a failed run lasts beyond `due_at` are left out; without it none is.
        """
        parameters = _bounds(window) | {"judged_statuses": _names(JUDGED_STATUSES), "due_at": due_at, **self._judge}
        parameters |= {"judge_chars": judge_chars, "claim_lock": None}
        with self._database.connect() as connection:
            row = connection.execute(load("forecast_waiting"), parameters).fetchone() or (0, 0, 0)
        return int(row[0]), int(row[1]), int(row[2])

    def hours_to_republish(self, window: Window) -> list[Window]:
        """Hours of the window with a published row of another version although the configured one has a score."""
        with self._database.connect() as connection:
            rows = connection.execute(load("hours_to_republish"), _bounds(window) | self._judge).fetchall()
        return [hour_of(start) for (start,) in rows]

    def parse_statuses(self, window: Window) -> dict[str, int]:
        """Synthesis calls of the window by parse_status."""
        with self._database.connect() as connection:
            return dict(connection.execute(load("parse_statuses"), _bounds(window)).fetchall())


def lock_hour(connection: Connection, hour: Window, stage: str) -> None:
    """Wait for whoever refreshes the stage of the hour; held to the end of the transaction."""
    connection.execute(load("lock_window"), {"stage": stage, "grain": "hour", "window_start": hour.start})


def lock_day(connection: Connection, hour: Window, stage: str) -> None:
    """Wait for whoever adds up the UTC day of the hour; held to the end of the transaction."""
    connection.execute(load("lock_window"), {"stage": stage, "grain": "day", "window_start": hour.start})


def mark_stale(connection: Connection, hour: Window, stage: str) -> None:
    """Say that the stage of the hour lags behind."""
    connection.execute(load("mark_stale"), {**_bounds(hour), "stage": stage})


def _bounds(window: Window) -> dict[str, Any]:
    return {"window_start": window.start, "window_end": window.end}


def _names(statuses: frozenset[ParseStatus]) -> list[str]:
    return sorted(map(str, statuses))


_STATUSES = {"parsed_statuses": _names(PARSED_STATUSES), "template_statuses": _names(TEMPLATE_STATUSES)}
