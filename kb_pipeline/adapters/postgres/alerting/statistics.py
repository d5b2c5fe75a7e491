"""What alert rules look at: the hourly windows of both streets, and the judge's last turns.

Belongs here: reading them, within bounds. Does not: what they mean (kb_pipeline/alerting).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import groupby
from typing import Any, LiteralString

from psycopg.rows import dict_row

from kb_pipeline.adapters.postgres.alerting.queries import load
from kb_pipeline.adapters.postgres.connection import Connection, Database
from kb_pipeline.alerting.evaluation import Names, Snapshot
from kb_pipeline.alerting.rules.judge import JudgeCondition
from kb_pipeline.alerting.statistics import Hours
from kb_pipeline.ports import Clock
from kb_pipeline.records import JudgeVersion
from kb_pipeline.windows import Window

# The longest window, and beyond it the two weeks that it is held against.
QUALITY_REACH = timedelta(days=28)
TRAFFIC_REACH = timedelta(days=29)
RETRIEVAL_REACH = timedelta(days=28 + 14)
OUTCOMES = 50
OUTCOMES_REACH = timedelta(days=7)
BINS = 100


@dataclass(frozen=True, kw_only=True, slots=True)
class Watched:
    """What is watched: the configured surfaces, the judge, the floor below which a turn is ungrounded.

    `version` is None where there is no judge; `judge_is_due` is false while the day's tokens are spent, when turns wait
    by intention. `with_retrieval` is false where that street is off.
    """

    surfaces: Sequence[str] = ()
    version: JudgeVersion | None = None
    floor: float = 0.5
    judge_is_due: bool = True
    with_retrieval: bool = True


class PostgresAlertStatistics:
    """Reads a snapshot; no statement takes longer than half a minute.

    With `judge_clock` the judge's condition is that of its instant, whatever instant a snapshot is of.
    """

    def __init__(self, database: Database, watched: Watched, *, judge_clock: Clock | None = None) -> None:
        self._database = database
        self._watched = watched
        self._judge_clock = judge_clock

    def load(self, end: datetime, now: datetime, *, since: datetime | None = None) -> Snapshot:
        """The hours that rules need for a window that ends at `end`, or for all that end from `since` on."""
        first = since or end
        with self._database.connect() as connection:
            connection.execute(load("bound_reading"))
            return Snapshot(
                end=end,
                traffic=self._traffic(connection, Window(first - TRAFFIC_REACH, end)),
                quality=self._quality(connection, Window(first - QUALITY_REACH, end)),
                retrieval=self._retrieval(connection, Window(first - RETRIEVAL_REACH, end)),
                judge=self._judge(connection, self._judge_clock.now() if self._judge_clock else now),
            )

    def _traffic(self, connection: Connection, window: Window) -> dict[Names, Hours]:
        parameters = {"surfaces": list(self._watched.surfaces)}
        return _by_subject(connection, load("call_hours"), window, parameters, ("tenant", "surface"))

    def _quality(self, connection: Connection, window: Window) -> dict[Names, Hours]:
        version = self._watched.version
        if version is None:
            return {}
        parameters = {
            "surfaces": list(self._watched.surfaces),
            "judge_model": version.model,
            "prompt_version": version.prompt_version,
            # A floor between two hundredths counts from the lower one.
            "floor_bins": int(round(self._watched.floor * BINS, 6)),
        }
        return _by_subject(connection, load("quality_hours"), window, parameters, ("tenant", "surface", "engine"))

    def _retrieval(self, connection: Connection, window: Window) -> dict[Names, Hours]:
        if not self._watched.with_retrieval:
            return {}
        return _by_subject(connection, load("retrieval_hours"), window, {}, ("org_id", "specialist_id", "engine"))

    def _judge(self, connection: Connection, now: datetime) -> JudgeCondition | None:
        version = self._watched.version
        if version is None:
            return None
        parameters = {
            "judge_model": version.model,
            "prompt_version": version.prompt_version,
            "since": now - OUTCOMES_REACH,
            "now": now,
            "limit": OUTCOMES,
        }
        outcomes = tuple(bool(row[0]) for row in connection.execute(load("judge_outcomes"), parameters))
        waiting = connection.execute(load("waiting_since"), parameters).fetchone()
        down = connection.execute(load("down_runs"), parameters).fetchone()
        is_due = self._watched.judge_is_due
        return JudgeCondition(
            outcomes=outcomes,
            down_runs=int(down[0]) if down else 0,
            waiting_since=waiting[0] if waiting and is_due else None,
        )


def _by_subject(
    connection: Connection, query: LiteralString, window: Window, parameters: dict[str, Any], keys: tuple[str, ...]
) -> dict[Names, Hours]:
    bounds = {"window_start": window.start, "window_end": window.end}
    with connection.cursor(row_factory=dict_row) as cursor:
        rows = cursor.execute(query, parameters | bounds).fetchall()

    def names(row: dict[str, Any]) -> Names:
        return tuple(row[key] for key in keys)

    grouped = groupby(sorted(rows, key=names), key=names)
    return {subject: Hours.of(window, _counts(found, keys)) for subject, found in grouped}


def _counts(rows: Iterator[dict[str, Any]], keys: tuple[str, ...]) -> Iterator[tuple[datetime, dict[str, float]]]:
    for row in rows:
        yield row["hour"], {name: value for name, value in row.items() if name not in (*keys, "hour")}
