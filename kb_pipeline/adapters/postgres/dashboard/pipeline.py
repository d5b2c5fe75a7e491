"""The pipeline itself: its readings, the judge's canaries and calibration, the states of alerts.

Belongs here: reading what the pipeline keeps of itself. Does not: verdicts, Dagster's own storage.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from psycopg.rows import dict_row

from kb_pipeline.adapters.postgres.connection import Database
from kb_pipeline.adapters.postgres.dashboard.queries import load

Row = Mapping[str, Any]
_RECENT = timedelta(days=7)


class PostgresPipeline:
    """Reads kb_access_record, rag_judge_canary, rag_judge_calibration and, where they are, the tables of alerts."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def is_migrated(self) -> bool:
        """Whether the tables that are read here exist and may be read; raises DatabaseError."""
        with self._database.connect() as connection:
            row = connection.execute(load("is_migrated")).fetchone()
        return bool(row and row[0])

    def readings(self, now: datetime, *, limit: int) -> list[Row]:
        """The newest batches of a week that a run read, each with its run, the newest first."""
        return self._rows("recent_readings", {"since": now - _RECENT, "limit": limit})

    def calibration(self, model: str, prompt_version: str) -> list[Row]:
        """The newest agreement of a judge version with experts, a row per kind of label."""
        return self._rows("newest_calibration", {"judge_model": model, "prompt_version": prompt_version})

    def canaries(self, *, limit: int) -> list[Row]:
        """The newest canaries of any judge version."""
        return self._rows("recent_canaries", {"limit": limit})

    def alert_states(
        self, *, limit: int | None = None, rule: str | None = None, fingerprint: str | None = None
    ) -> list[Row]:
        """Where every rule, or one, stands with every subject, or one alert by itself; those that fire first."""
        return self._rows("alert_states", {"limit": limit, "rule": rule, "fingerprint": fingerprint})

    def alert_counts(self) -> list[Row]:
        """How many of all alerts have a status and a severity."""
        return self._rows("alert_counts", {})

    def alert_history(self, *, limit: int, before: int | None = None, fingerprint: str | None = None) -> list[Row]:
        """Changes of states, or of one of them, the newest first."""
        return self._rows("alert_history", {"limit": limit, "before": before, "fingerprint": fingerprint})

    def _rows(self, name: str, parameters: Mapping[str, Any]) -> list[Row]:
        with self._database.connect() as connection, connection.cursor(row_factory=dict_row) as cursor:
            return [*cursor.execute(load(name), parameters).fetchall()]
