"""Jobs: what a run of one hour, and of one day, materializes.

Belongs here: selections and executors. Does not: when they run.
"""

import dagster as dg
from dagster._core.definitions.unresolved_asset_job_definition import UnresolvedAssetJobDefinition

from kb_pipeline.defs.checks import expectation_checks
from kb_pipeline.defs.grading import GROUP
from kb_pipeline.defs.maintenance import MAINTENANCE_GROUP

HOURLY_JOB = "grade_hour"
BACKLOG_JOB = "grade_backlog"
DAILY_JOB = "keep_house"
# Tags of a run that goes before the others in the queue.
PRIORITY = {"dagster/priority": "1"}


def grading_jobs() -> list[UnresolvedAssetJobDefinition]:
    """The hour with every check; the hour as the backlog asks for it, without the slow expectation suite; the day."""
    hour = dg.AssetSelection.groups(GROUP)
    return [
        dg.define_asset_job(
            HOURLY_JOB,
            selection=hour,
            executor_def=dg.in_process_executor,
            description="Grade one hour: examine, judge, publish, aggregate, with every check.",
        ),
        dg.define_asset_job(
            BACKLOG_JOB,
            selection=hour - dg.AssetSelection.checks(*expectation_checks()),
            executor_def=dg.in_process_executor,
            description="Grade one hour that holds unexamined, pending or retryable turns.",
        ),
        dg.define_asset_job(
            DAILY_JOB,
            selection=dg.AssetSelection.groups(MAINTENANCE_GROUP),
            executor_def=dg.in_process_executor,
            description="Drop what is past its retention and make partitions ahead.",
        ),
    ]
