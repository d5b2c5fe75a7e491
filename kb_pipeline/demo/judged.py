"""What the demo's day says of the judge and of what went wrong: costs, errors, attacks, agreement, incidents.

Belongs here: these facts and their JSON. Does not: playing the incidents, tables and colours.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from kb_pipeline.adapters.clock import SystemClock
from kb_pipeline.adapters.gateway import GatewayJudge
from kb_pipeline.adapters.postgres.calibration import PostgresCalibration
from kb_pipeline.adapters.postgres.connection import Database
from kb_pipeline.demo.incidents import JUDGE_ASSET, Incidents
from kb_pipeline.demo.queries import load
from kb_pipeline.demo.reference_judge import ReferenceJudge
from kb_pipeline.demo.runs import DagsterRuns
from kb_pipeline.grading.calibration import expert_agreements
from kb_pipeline.grading.calibration.experts import EVERY_LANGUAGE, EVERY_OUTCOME
from kb_pipeline.settings import Settings
from kb_pipeline.steps.attack import attack
from kb_pipeline.template_advice import suggested_templates
from kb_pipeline.windows import Window

SURFACE = "public"
ERROR = "error_"
COUNTS = ("turns", "unparsed", "judgeable", "graded", "pending")


@dataclass(frozen=True, kw_only=True, slots=True)
class JudgeFacts:
    """What the judge cost and how far it can be trusted.

    `errors` are turns that a run left without a score, by class; `pending` turns wait for a call; `attacks_moved` is
    None where the judge is not the demo's own; `calibration` holds its agreement with the experts.
    """

    calls: int
    tokens: int
    errors: Mapping[str, int]
    pending: int
    attacks_moved: int | None
    calibration: Mapping[str, Any]

    def as_json(self) -> dict[str, Any]:
        """A part of what `demo --json` prints."""
        return asdict(self)


@dataclass(frozen=True, kw_only=True, slots=True)
class IncidentReport:
    """One thing that went wrong from `start` on, and its turns.

    `unparsed` by want of a marker; `judgeable`, and of these `graded` and `pending` now. `advice` is what
    suggest-template made of a changed template.
    """

    kind: str
    start: datetime
    turns: int
    unparsed: int
    judgeable: int
    graded: int
    pending: int
    advice: Mapping[str, Any] | None = None

    def as_json(self) -> dict[str, Any]:
        """A part of what `demo --json` prints."""
        return {**asdict(self), "start": self.start.isoformat()}


def judge_facts(database: Database, window: Window, runs: DagsterRuns, judge: ReferenceJudge | None) -> JudgeFacts:
    """The facts of the day in `window`; attacks are tried on the demo's own judge alone, they cost calls."""
    counts = runs.counts(JUDGE_ASSET)
    return JudgeFacts(
        calls=counts["calls"],
        tokens=counts["prompt_tokens"] + counts["completion_tokens"],
        errors={name.removeprefix(ERROR): n for name, n in sorted(counts.items()) if name.startswith(ERROR) and n},
        pending=_turns(database, window)["pending"],
        attacks_moved=None if judge is None else _attacks_moved(judge, runs.settings),
        calibration=_calibration(database, window, runs.settings),
    )


def incident_reports(
    database: Database, settings: Settings, incidents: Incidents, *, was_away: bool
) -> tuple[IncidentReport, ...]:
    """What became of the turns that the incidents hit; `was_away` where the judge could be sent away."""
    hit = {
        "template_change": incidents.template,
        "judge_outage": incidents.outage if was_away else None,
        "budget_spent": incidents.budget,
    }
    return tuple(_report(database, settings, kind, window) for kind, window in hit.items() if window)


def _report(database: Database, settings: Settings, kind: str, window: Window) -> IncidentReport:
    advice = _advice(settings, window) if kind == "template_change" else None
    return IncidentReport(kind=kind, start=window.start, advice=advice, **_turns(database, window))


def _turns(database: Database, window: Window) -> dict[str, int]:
    bounds = {"window_start": window.start, "window_end": window.end}
    with database.connect() as connection:
        row = connection.execute(load("incident_turns"), bounds).fetchone() or (0,) * len(COUNTS)
    return dict(zip(COUNTS, map(int, row), strict=True))


def _advice(settings: Settings, window: Window) -> dict[str, Any] | None:
    """The markers that would parse most, and their share; None where there is no proposal."""
    (found,) = suggested_templates(settings, [SURFACE], window)
    if not found.suggested:
        return None
    proposal = found.suggested[0].proposal
    return {
        "question_marker": proposal.template.question_marker,
        "context_marker": proposal.template.context_marker,
        "share": round(proposal.share, 4),
    }


def _attacks_moved(judge: ReferenceJudge, settings: Settings) -> int:
    quality = settings.rag_quality
    attacked = GatewayJudge(
        base_url=judge.base_url,
        model=judge.model,
        tenant=quality.judge_tenant,
        timeout_s=quality.judge_timeout_s,
        concurrency=quality.judge_concurrency,
        allow_external=False,
    )
    return attack(attacked, SystemClock()).score.attacks_moved


def _calibration(database: Database, window: Window, settings: Settings) -> dict[str, Any]:
    """The row of all languages and outcomes, as `rag_judge_calibration` holds it for the thirty days of a day."""
    labels, sums = PostgresCalibration(database).expert_labels(window)
    threshold = settings.rag_quality.thresholds.faithfulness_warn
    for row in expert_agreements(labels, sums, threshold=threshold):
        if (row.language, row.label_kind) == (EVERY_LANGUAGE, EVERY_OUTCOME):
            figures = {name: asdict(figure) for name, figure in row.figures.items()}
            return {"n": row.n, "positives": row.positives, "threshold": row.threshold, **figures}
    return {"n": 0}
