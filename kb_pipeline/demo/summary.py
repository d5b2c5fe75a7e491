"""What the demo found, as numbers beside what was planted.

Belongs here: the summary as values, its JSON. Does not: colours and tables (pictures.py).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from psycopg.rows import class_row, dict_row

from kb_pipeline.adapters.postgres.connection import Database
from kb_pipeline.adapters.postgres.publication import PostgresPublication
from kb_pipeline.demo.alarms import AlertFacts
from kb_pipeline.demo.judged import IncidentReport, JudgeFacts
from kb_pipeline.demo.queries import load
from kb_pipeline.demo.retrieval.findings import Findings
from kb_pipeline.demo.truth import Comparison, compare
from kb_pipeline.verdicts import Level
from kb_pipeline.windows import Window


@dataclass(frozen=True, kw_only=True, slots=True)
class Hour:
    """Graded turns of one hour and their mean faithfulness, None where none has one."""

    start: datetime
    graded: int
    mean_faithfulness: float | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Worst:
    """One of the turns with the lowest faithfulness; who may see its text asks `explain` for it."""

    event_id: str
    ts: datetime
    faithfulness: float
    answer_relevance: float | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Summary:
    """The demo's day in numbers; rates and means are None where nothing was measured."""

    calls: int
    synthesis_calls: int
    graded: int
    ungraded: Mapping[str, int]
    parse_success_rate: float | None
    judge_calls: int
    hours: tuple[Hour, ...]
    mean_faithfulness: float | None
    grounded_rate: float | None
    refusal_rate: float | None
    worst: tuple[Worst, ...]
    planted: Comparison
    retrieval: Findings
    judge: JudgeFacts
    incidents: tuple[IncidentReport, ...]
    alerts: AlertFacts
    checks: Mapping[str, Level]
    seconds: float

    def as_json(self) -> dict[str, Any]:
        """The object that `demo --json` prints; its keys are a contract (docs/reference/command-line.md)."""
        return {
            "calls": self.calls,
            "synthesis_calls": self.synthesis_calls,
            "graded": self.graded,
            "ungraded": dict(self.ungraded),
            "parse_success_rate": self.parse_success_rate,
            "judge_calls": self.judge_calls,
            "hours": len(self.hours),
            "mean_faithfulness": self.mean_faithfulness,
            "grounded_rate": self.grounded_rate,
            "refusal_rate": self.refusal_rate,
            "planted": {
                "ungrounded": self.planted.ungrounded,
                "auc_faithfulness": self.planted.auc_faithfulness,
                "parse_status_agreement": self.planted.parse_status_agreement,
            },
            "retrieval": self.retrieval.as_json(),
            "judge": self.judge.as_json(),
            "incidents": [each.as_json() for each in self.incidents],
            "alerts": self.alerts.as_json(),
            "checks": {name: str(level) for name, level in self.checks.items()},
            "seconds": round(self.seconds, 1),
        }


def summarise(
    database: Database,
    window: Window,
    *,
    retrieval: Findings,
    judge: JudgeFacts,
    incidents: tuple[IncidentReport, ...],
    alerts: AlertFacts,
    checks: Mapping[str, Level],
    seconds: float,
    grounded_from: float,
) -> Summary:
    """Read the summary of the window; a turn is grounded from a faithfulness of `grounded_from` on."""
    bounds = {"window_start": window.start, "window_end": window.end}
    with database.connect() as connection, connection.cursor(row_factory=dict_row) as cursor:
        found = cursor.execute(load("summary"), bounds | {"grounded_from": grounded_from}).fetchone() or {}
        reasons = connection.execute(load("ungraded"), bounds).fetchall()
        hours = connection.execute(load("hourly_quality"), bounds).fetchall()
        with connection.cursor(row_factory=class_row(Worst)) as worst_cursor:
            worst = worst_cursor.execute(load("worst_turns"), bounds).fetchall()
    sampled_out = found.pop("sampled_out")
    ungraded = dict(reasons) | ({"sampled_out": sampled_out} if sampled_out else {})
    return Summary(
        **found,
        ungraded=ungraded,
        parse_success_rate=_parse_success_rate(database, window),
        hours=tuple(Hour(start=start, graded=graded, mean_faithfulness=mean) for start, graded, mean in hours),
        worst=tuple(worst),
        planted=compare(database, window),
        retrieval=retrieval,
        judge=judge,
        incidents=incidents,
        alerts=alerts,
        checks=checks,
        seconds=seconds,
    )


def _parse_success_rate(database: Database, window: Window) -> float | None:
    publication = PostgresPublication(database, version=None)
    return publication.ledger_counts(window, ["public"]).parse_success_rate
