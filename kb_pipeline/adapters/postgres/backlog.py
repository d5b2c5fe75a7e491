"""Which hours hold work, and from when on.

Belongs here: the queries behind the backlog sensor and the activation instant. Does not: requesting runs.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from psycopg.types.json import Jsonb

from kb_pipeline.adapters.postgres.audit_trail import BODY_GRACE
from kb_pipeline.adapters.postgres.connection import Database
from kb_pipeline.adapters.postgres.queries import load
from kb_pipeline.grading.opinion import VERSION as OPINION_VERSION
from kb_pipeline.records import JudgeVersion
from kb_pipeline.windows import Window, hour_of

FEATURE = "rag_quality"


@dataclass(frozen=True, kw_only=True, slots=True)
class HourlyBacklog:
    """One hour with work: calls not examined, turns that wait for the judge, rows or windows that lag behind.

    `progress` changes whenever any of it does: the same value twice means that nothing happened in between.
    """

    hour: Window
    unexamined: int
    waiting: int
    stale: bool
    progress: str


class PostgresBacklog:
    """Reads the backlog of the configured surfaces."""

    def __init__(
        self,
        database: Database,
        *,
        surfaces: Sequence[str],
        pipeline_tenant: str,
        version: JudgeVersion | None,
        templates: Mapping[str, str] | None = None,
    ) -> None:
        self._database = database
        self._parameters = {
            "surfaces": list(surfaces),
            "pipeline_tenant": pipeline_tenant,
            "judge_on": version is not None,
            "judge_model": version.model if version else None,
            "prompt_version": version.prompt_version if version else None,
            "templates": Jsonb(dict(templates or {})),
            "opinion_version": OPINION_VERSION,
        }

    def hours(
        self,
        *,
        start_at: datetime,
        now: datetime,
        look_back: timedelta | None = None,
        reread: bool = False,
        may_judge: bool = True,
        ignore_waits: bool = False,
    ) -> list[HourlyBacklog]:
        """Every hour with work up to the running one, oldest first; nothing unexamined before `start_at` counts.

        With `look_back` only that much of the audit trail is looked through for unexamined calls: it grows for ever,
        while what waits or is stale is found at once. `reread` asks for calls too that other markers decided, and for
        texts whose second opinion is by other rules; without `may_judge` no turn waits. Nor, but where `ignore_waits`,
        does one whose wait after a failed run lasts.
        """
        parameters = self._parameters | {
            "reread": reread,
            "may_judge": may_judge,
            "due_at": None if ignore_waits else now,
            "start_at": start_at,
            "unexamined_from": max(start_at, now - look_back) if look_back else start_at,
            "until": hour_of(now).end,
            "body_deadline": now - BODY_GRACE,
        }
        with self._database.connect() as connection:
            rows = connection.execute(load("backlog_hours"), parameters).fetchall()
        return [
            HourlyBacklog(hour=hour_of(hour), unexamined=unexamined, waiting=waiting, stale=stale, progress=progress)
            for hour, unexamined, waiting, stale, progress in rows
        ]

    def activate(self, start_at: datetime) -> datetime:
        """The instant from which turns are graded: `start_at` at the first call, what was kept then at later ones."""
        with self._database.connect() as connection:
            connection.execute(load("activate"), {"feature": FEATURE, "start_at": start_at})
        return self.activation() or start_at

    def activation(self) -> datetime | None:
        """The instant from which turns are graded, None before the first activation."""
        with self._database.connect() as connection:
            row = connection.execute(load("activation"), {"feature": FEATURE}).fetchone()
        return row[0] if row else None
