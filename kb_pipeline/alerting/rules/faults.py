"""kb_rule_error and kb_run_failed: a rule that raises, and a run of the pipeline that fails, are alerts themselves.

Belongs here: these two. Does not: texts of errors, which may hold anything.
"""

from dataclasses import dataclass
from datetime import datetime

from kb_pipeline.alerting.rules.limits import Limits
from kb_pipeline.records import Finding, Memory, Reading, Severity


@dataclass(frozen=True, kw_only=True, slots=True)
class Trial:
    """How a rule came through an evaluation, or a job through a run: how often it failed, and the error's class."""

    failures: int = 0
    error: str | None = None


def read_rule(trial: Trial, memory: Memory, limits: Limits, now: datetime) -> Reading:  # noqa: ARG001 as other rules
    """Breach where the rule raised for any subject."""
    if not trial.failures:
        return Reading(finding=Finding.GOOD, sentence="The rule works.")
    return Reading(
        finding=Finding.BREACH,
        severity=Severity.HIGH,
        sentence=f"The rule could not be evaluated for {trial.failures:,} of its subjects: {trial.error}.",
        n=trial.failures,
    )


def read_run(trial: Trial, memory: Memory, limits: Limits, now: datetime) -> Reading:  # noqa: ARG001 as other rules
    """Breach where the newest run of the job failed."""
    if not trial.failures:
        return Reading(finding=Finding.GOOD, sentence="The newest run of the job succeeded.")
    return Reading(
        finding=Finding.BREACH,
        severity=Severity.HIGH,
        sentence="The newest run of the job failed; its log in Dagster says why.",
    )
