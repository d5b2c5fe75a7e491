"""Whether the judge can be trusted: a canary and a calibration every day, with a job and a schedule of their own.

Belongs here: these definitions, apart from the street's own, so that they run whatever becomes of an hour. Does not:
the canary's turns, figures.
"""

import dagster as dg

from kb_pipeline.defs.check_results import shown
from kb_pipeline.defs.hourly import KINDS, OWNERS, whole_asset
from kb_pipeline.defs.jobs import in_process_job
from kb_pipeline.defs.resources import GradingStreets
from kb_pipeline.defs.schedules import regular_schedule
from kb_pipeline.defs.streets import GRADING
from kb_pipeline.defs.tables import table_metadata
from kb_pipeline.grading import health
from kb_pipeline.grading_street import GradingStreet

TRUST_GROUP = "trust"
TRUST_JOB = "assess_judge"


@dg.asset(
    name="judge_canary",
    group_name=TRUST_GROUP,
    owners=OWNERS,
    kinds=set(KINDS | {"llm"}),
    metadata=table_metadata("rag_judge_canary"),
    description="Turns of our own with known verdicts, given to the judge once a day.",
)
def judge_canary(
    context: dg.AssetExecutionContext, grading: dg.ResourceParam[GradingStreets]
) -> dg.MaterializeResult[None]:
    """Ask the judge and keep what it said; an outage is kept too, as one."""
    with grading.open(context.run.run_id) as street:
        report = street.ask_canary()
    said = {None: "unknown", True: "yes", False: "no"}[report.healthy]
    return dg.MaterializeResult(
        metadata={
            "healthy": said,
            "asked": report.asked,
            "right_verdicts": report.right_verdicts,
            "failures": list(report.failures),
        }
    )


@dg.asset_check(asset=judge_canary, description="The judge still tells turns with known verdicts apart.")
def judge_is_healthy(grading: dg.ResourceParam[GradingStreets]) -> dg.AssetCheckResult:
    """Fails when the newest canary found a wrong verdict, warns when nothing but outages came back."""
    with grading.open() as street:
        newest = street.newest_canary()
    facts = {} if newest is None else {"asked_at": newest.asked_at.isoformat(), "failures": list(newest.failures)}
    return shown(health.canary(newest), None, facts)


judge_calibration = whole_asset(
    GRADING,
    dg.AssetSpec(
        "judge_calibration",
        deps=["rag_quality", "draft_outcomes"],
        description="How far the judge agrees with what experts made of the drafts, over thirty days.",
        group_name=TRUST_GROUP,
        owners=OWNERS,
        kinds=set(KINDS),
        metadata=table_metadata("rag_judge_calibration"),
    ),
    GradingStreet.calibrate_judge,
)


def trust_definitions(*, with_experts: bool) -> dg.Definitions:
    """Canary and calibration; `with_experts` where the retrieval street says what became of drafts."""
    description = "Ask the judge what is known, and hold its scores against the experts' decisions."
    return dg.Definitions(
        assets=[judge_canary, judge_calibration] if with_experts else [judge_canary],
        asset_checks=[judge_is_healthy],
        jobs=[in_process_job(TRUST_JOB, dg.AssetSelection.groups(TRUST_GROUP), description)],
        schedules=[regular_schedule(f"{TRUST_JOB}_daily", TRUST_JOB, "25 3 * * *", "Assesses the judge.")],
    )
