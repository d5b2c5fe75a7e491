"""Which hours of the retrieval street hold work.

Belongs here: hours with outcomes, diagnoses or windows that are out of date, put together. Does not: requesting runs.
"""

import sys
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any, LiteralString

from kb_pipeline.adapters.postgres.connection import Database
from kb_pipeline.adapters.postgres.retrieval.drafts import PostgresDrafts
from kb_pipeline.adapters.postgres.retrieval.outcomes import PostgresOutcomes
from kb_pipeline.adapters.postgres.retrieval.queries import load
from kb_pipeline.adapters.postgres.retrieval.views import mapped_views
from kb_pipeline.retrieval.gaps import RULE_VERSION
from kb_pipeline.windows import Window, hour_of

# What Python takes for white space, which is more than PostgreSQL does: a query of nothing else is none.
BLANKS = "".join(filter(str.isspace, map(chr, range(1, sys.maxunicode + 1))))
NEEDED_FOR_GAPS = {"message", "correction", "kb_chunk"}
OUTCOMES, DELETED, GAPS, WINDOWS = "outcomes", "deleted", "gaps", "windows"


@dataclass(frozen=True, kw_only=True, slots=True)
class RetrievalBacklog:
    """One hour with work: how many drafts and windows lag behind, by what lags.

    `progress` changes whenever any of it does: the same value twice means that nothing happened in between.
    """

    hour: Window
    lagging: dict[str, int]
    progress: str


class PostgresRetrievalBacklog:
    """Compares what was derived with what it was derived from."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def hours(self, window: Window, *, windows_from: datetime) -> list[RetrievalBacklog]:
        """The hours of the window with work, oldest first; windows of hours before `windows_from` are left as they are.

        The window begins and ends with an hour.
        """
        found: dict[Window, dict[str, tuple[int, str]]] = defaultdict(dict)
        for what, hour, count, token in self._lagging(window, windows_from):
            found[hour][what] = (count, token)
        return [
            RetrievalBacklog(
                hour=hour,
                lagging={what: count for what, (count, _) in work.items()},
                progress=",".join(f"{what}:{count}:{token[:12]}" for what, (count, token) in work.items()),
            )
            for hour, work in sorted(found.items())
        ]

    def _lagging(self, window: Window, windows_from: datetime) -> Iterator[tuple[str, Window, int, str]]:
        for each in PostgresDrafts(self._database).lagging(window):
            yield OUTCOMES, each.hour, each.drafts, each.progress
        for hour, drafts in PostgresOutcomes(self._database).hours_to_forget(window):
            yield DELETED, hour, drafts, ""
        if mapped_views(self._database) >= NEEDED_FOR_GAPS:
            yield from self._rows(GAPS, "lagging_gaps", window, {"blanks": BLANKS, "rules": RULE_VERSION})
        kept = hour_of(windows_from).end
        if kept < window.end:
            counted = Window(max(window.start, kept), window.end)
            yield from self._rows(WINDOWS, "lagging_windows", counted, {})

    def _rows(
        self, what: str, query: LiteralString, window: Window, parameters: dict[str, Any]
    ) -> Iterator[tuple[str, Window, int, str]]:
        bounds = {"window_start": window.start, "window_end": window.end}
        with self._database.connect() as connection:
            rows = connection.execute(load(query), bounds | parameters).fetchall()
        for hour, count, token in rows:
            yield what, hour_of(hour), int(count), token
