"""Canaries: every asking of a judge about turns of our own, kept.

Belongs here: the table rag_judge_canary. Does not: asking, verdicts.
"""

from psycopg.types.json import Jsonb

from kb_pipeline.adapters.postgres.connection import Database
from kb_pipeline.adapters.postgres.queries import load
from kb_pipeline.grading.canary import CanaryReport
from kb_pipeline.records import JudgeVersion


class PostgresCanaries:
    """Keeps canaries and finds the newest one."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def save(self, report: CanaryReport) -> None:
        """Add one asking."""
        parameters = _of(report.version) | {
            "asked_at": report.asked_at,
            "healthy": report.healthy,
            "asked": report.asked,
            "right_verdicts": report.right_verdicts,
            "failures": Jsonb(list(report.failures)),
        }
        with self._database.connect() as connection:
            connection.execute(load("save_canary"), parameters)

    def newest(self, version: JudgeVersion) -> CanaryReport | None:
        """The newest asking of a judge version, None before the first."""
        with self._database.connect() as connection:
            row = connection.execute(load("newest_canary"), _of(version)).fetchone()
        if row is None:
            return None
        asked_at, healthy, asked, right_verdicts, failures = row
        return CanaryReport(
            version=version,
            asked_at=asked_at,
            healthy=healthy,
            asked=asked,
            right_verdicts=right_verdicts,
            failures=tuple(failures),
        )


def _of(version: JudgeVersion) -> dict[str, object]:
    return {"judge_model": version.model, "prompt_version": version.prompt_version}
