"""Retrieval health, gaps and ground truth, as rows.

Belongs here: reading windows, diagnoses and judgments. Does not: shares and words, the text of a query.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import date, datetime
from typing import Any
from uuid import UUID

from psycopg import sql
from psycopg.rows import dict_row

from kb_pipeline.adapters.postgres.connection import Database
from kb_pipeline.adapters.postgres.dashboard.queries import load
from kb_pipeline.dashboard.filters import RetrievalFilter
from kb_pipeline.dashboard.periods import Period, parts
from kb_pipeline.dashboard.retrieval_words import LATENCY_BINS, SCORE_BINS, Served
from kb_pipeline.windows import Window

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Judgments:
    """How many judgments there are by (status, grade), and how many queries are known and judged."""

    counts: Mapping[tuple[str, int | None], int]
    queries: int
    covered: int


class PostgresRetrieval:
    """Reads kb_retrieval_window, kb_retrieval_day, kb_retrieval_gap, kb_gap_task and kb_ground_truth."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def served(self, period: Period, chosen: RetrievalFilter) -> list[Served]:
        """What each engine did on each of the period's days, added up over tenants."""
        with self._database.connect() as connection:
            if period.is_read_hourly:
                rows = connection.execute(load("retrieval_hours"), _bounds(period.window) | asdict(chosen)).fetchall()
                return [Served(hour.astimezone(period.zone).date(), *counts) for hour, *counts in rows]
            bounds = parts(period.window).bounds | asdict(chosen)
            return [Served(*row) for row in connection.execute(load("retrieval_days"), bounds)]

    def histograms(self, window: Window, chosen: RetrievalFilter) -> dict[str, dict[str, list[int]]]:
        """Counts of the bins of `score` and `latency` by engine."""
        with self._database.connect() as connection:
            rows = connection.execute(histogram_statement(), parts(window).bounds | asdict(chosen)).fetchall()
        return {engine: {"score": score, "latency": latency} for engine, score, latency in rows}

    def tenants(self, since: date) -> list[tuple[UUID, UUID, str]]:
        """Tenants (organisation, specialist) with an engine each that had retrievals, the busiest first."""
        with self._database.connect() as connection:
            rows = connection.execute(load("retrieval_filters"), {"since": since}).fetchall()
        return [(org, specialist, engine) for org, specialist, engine, _ in rows]

    def gap_kinds(self, window: Window, chosen: RetrievalFilter) -> dict[str, tuple[int, str | None]]:
        """Diagnosed drafts of the window by kind, with the preview of a query."""
        with self._database.connect() as connection:
            rows = connection.execute(load("gap_kinds"), _bounds(window) | asdict(chosen)).fetchall()
        return {kind: (int(count), example) for kind, count, example in rows}

    def gaps(
        self,
        window: Window,
        chosen: RetrievalFilter,
        *,
        limit: int,
        kind: str | None = None,
        after: tuple[datetime, UUID] | None = None,
    ) -> list[Row]:
        """Diagnosed drafts, the newest first."""
        place = {"kind": kind, "after_at": after and after[0], "after_id": after and after[1], "limit": limit}
        return self._rows("gaps", _bounds(window) | asdict(chosen) | place)

    def tasks(self, chosen: RetrievalFilter, *, limit: int) -> list[Row]:
        """What several gaps have in common, the most frequent first."""
        return self._rows("gap_tasks", asdict(chosen) | {"limit": limit})

    def judgments(self, chosen: RetrievalFilter) -> Judgments:
        """Judgments by status and grade, and how many queries have one."""
        with self._database.connect() as connection:
            counts = connection.execute(load("ground_truth_grades"), asdict(chosen)).fetchall()
            row = connection.execute(load("ground_truth_coverage"), asdict(chosen)).fetchone()
        queries, covered = row or (0, 0)
        return Judgments({(status, grade): count for status, grade, count in counts}, queries, covered)

    def listed_judgments(
        self,
        chosen: RetrievalFilter,
        *,
        limit: int,
        status: str | None = None,
        grade: int | None = None,
        after: tuple[UUID, UUID, str, str] | None = None,
    ) -> list[Row]:
        """Judgments in the order of their key."""
        names = ("after_org", "after_specialist", "after_sha", "after_doc")
        place = dict(zip(names, after or (None,) * len(names), strict=True))
        return self._rows("judgments", asdict(chosen) | place | {"status": status, "grade": grade, "limit": limit})

    def _rows(self, name: str, parameters: Mapping[str, Any]) -> list[Row]:
        with self._database.connect() as connection, connection.cursor(row_factory=dict_row) as cursor:
            return [*cursor.execute(load(name), parameters).fetchall()]


def histogram_statement() -> sql.Composed:
    """The query of the histograms, with the sums of their bins in their places."""
    return sql.SQL(load("retrieval_histograms")).format(
        score=_added("top_score_hist", SCORE_BINS), latency=_added("latency_hist", LATENCY_BINS)
    )


def _added(column: str, bins: int) -> sql.Composable:
    counts = [sql.SQL("sum({}[{}])").format(sql.Identifier(column), sql.Literal(place)) for place in range(1, bins + 1)]
    return sql.SQL(", ").join(counts)


def _bounds(window: Window) -> dict[str, Any]:
    return {"window_start": window.start, "window_end": window.end}
