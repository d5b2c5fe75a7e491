"""Sums of published turns from hourly windows and their daily roll-ups.

Belongs here: reading sums. Does not: means and words (kb_pipeline/dashboard), turns.
"""

from collections.abc import Mapping
from dataclasses import asdict
from datetime import date, datetime, timedelta
from typing import Any, Literal, LiteralString

from psycopg import sql
from psycopg.rows import dict_row

from kb_pipeline.adapters.postgres.connection import Database
from kb_pipeline.adapters.postgres.dashboard.queries import load
from kb_pipeline.dashboard.filters import QualityFilter
from kb_pipeline.dashboard.periods import parts
from kb_pipeline.dashboard.sums import ASPECTS, BINS, COUNTS, Moments, Tally, bin_from
from kb_pipeline.dashboard.trend import Bucket, Version
from kb_pipeline.grading.aggregates import CallCounts
from kb_pipeline.windows import Window

KEPT_WAITING = timedelta(days=28)
Grain = Literal["hour", "day"]
Bins = Mapping[str, tuple[int, int]]
_GRAINS: Mapping[Grain, tuple[LiteralString, LiteralString]] = {
    "hour": ("rag_quality_window", "hour"),
    "day": ("rag_quality_day", "day::timestamp AT TIME ZONE 'UTC'"),
}


class PostgresQuality:
    """Reads rag_quality_window, rag_quality_day and rag_call_window; no row of a turn."""

    def __init__(self, database: Database, *, grounded_from: float, floor: float) -> None:
        self._database = database
        self._bins = {"grounded": (bin_from(grounded_from), BINS), "ungrounded": (1, bin_from(floor) - 1)}

    def tallies(self, window: Window, chosen: QualityFilter) -> dict[Version, Tally]:
        """What the turns of a window of whole hours add up to, by judge version."""
        bounds = parts(window).bounds | asdict(chosen)
        with self._database.connect() as connection, connection.cursor(row_factory=dict_row) as cursor:
            rows = cursor.execute(total_statement(self._bins), bounds).fetchall()
        return {(row["judge_model"], row["prompt_version"]): _tally(row) for row in rows}

    def hours(self, window: Window, chosen: QualityFilter) -> list[Bucket]:
        """Counts and sums of each hour and judge version."""
        return self._buckets("hour", window.start, window.end, chosen)

    def days(self, window: Window, chosen: QualityFilter) -> list[Bucket]:
        """Counts and sums of each whole UTC day of the window and judge version."""
        return self._buckets("day", *parts(window).days, chosen)

    def calls(self, window: Window, chosen: QualityFilter) -> tuple[CallCounts, datetime | None]:
        """What the ledger says of a window, and its newest hour with a call."""
        bounds = {"window_start": window.start, "window_end": window.end}
        with self._database.connect() as connection:
            row = connection.execute(load("call_total"), bounds | asdict(chosen)).fetchone()
        *counts, newest = row or (*[0] * 8, None)
        return CallCounts(*counts), newest

    def filter_values(self, since: date) -> dict[str, list[str]]:
        """The tenants, surfaces and engines that had turns since a day."""
        found: dict[str, list[str]] = {"tenant": [], "surface": [], "engine": []}
        with self._database.connect() as connection:
            for name, value in connection.execute(load("filter_values"), {"since": since}):
                found[name].append(value)
        return found

    def newest_graded_hour(self, before: datetime) -> datetime | None:
        """The newest hour of the year before an instant that has graded turns."""
        parameters = {"since": before - timedelta(days=366), "window_end": before}
        with self._database.connect() as connection:
            row = connection.execute(load("newest_graded_hour"), parameters).fetchone()
        return row[0] if row else None

    def waiting(self, now: datetime) -> tuple[int, datetime | None]:
        """How many turns of the last four weeks wait for a score, and the hour of the oldest."""
        with self._database.connect() as connection:
            row = connection.execute(load("waiting"), {"since": (now - KEPT_WAITING).date()}).fetchone()
            count, oldest_day = row or (0, None)
            if not count:
                return 0, None
            oldest = connection.execute(load("oldest_waiting_hour"), {"since": oldest_day}).fetchone()
        return int(count), oldest[0] if oldest else None

    def _buckets(self, grain: Grain, first: date, last: date, chosen: QualityFilter) -> list[Bucket]:
        query = trend_statement(grain, self._bins)
        with self._database.connect() as connection:
            cursor = connection.execute(query, {"first": first, "last": last, **asdict(chosen)})
            columns = [column.name for column in cursor.description or ()][3:]
            return [
                Bucket(start=start, version=(model, prompt), counts=dict(zip(columns, counts, strict=True)))
                for start, model, prompt, *counts in cursor
            ]


def total_statement(bins: Bins) -> sql.Composed:
    """The query of sums, with those of the bins from one to another, both included, in their places."""
    return sql.SQL(load("quality_total")).format(**_sums(bins))


def trend_statement(grain: Grain, bins: Bins) -> sql.Composed:
    """The query of a trend by hours or by UTC days."""
    table, start = _GRAINS[grain]
    return sql.SQL(load("quality_trend")).format(
        table=sql.Identifier(table), column=sql.Identifier(grain), start=sql.SQL(start), **_sums(bins)
    )


def _sums(bins: Bins) -> dict[str, sql.Composable]:
    return {place: _added(first, last) for place, (first, last) in bins.items()}


def _added(first: int, last: int) -> sql.Composable:
    bins = [sql.SQL("faithfulness_hist[{}]").format(sql.Literal(place)) for place in range(first, last + 1)]
    return sql.SQL(" + ").join(bins) if bins else sql.SQL("0")


def _tally(row: Mapping[str, Any]) -> Tally:
    values: dict[str, Any] = {name: int(row[name] or 0) for name in COUNTS}
    values |= {name: Moments(int(row[f"{name}_n"]), row[f"{name}_sum"], row[f"{name}_sum_sq"]) for name in ASPECTS}
    return Tally(**values)
