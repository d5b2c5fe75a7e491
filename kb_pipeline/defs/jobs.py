"""Jobs: what a run of one hour, of the ground truth and of one day materializes.

Belongs here: selections and executors. Does not: when they run.
"""

from collections.abc import Sequence
from typing import Any

import dagster as dg
from dagster._core.definitions.unresolved_asset_job_definition import UnresolvedAssetJobDefinition

from kb_pipeline.defs.retrieval import ground_truth
from kb_pipeline.defs.streets import GRADING, RETRIEVAL, StreetNames

HOURLY_JOB = GRADING.hourly_job
BACKLOG_JOB = GRADING.backlog_job
RETRIEVAL_JOB = RETRIEVAL.hourly_job
HARVEST_JOB = "harvest"
DAILY_JOB = "keep_house"
MAINTENANCE_GROUP = "maintenance"
# Tags of a run that goes before the others in the queue.
PRIORITY = {"dagster/priority": "1"}

Checks = Sequence[dg.AssetChecksDefinition]
Jobs = list[UnresolvedAssetJobDefinition]


def grading_jobs(slow: Checks) -> Jobs:
    """The jobs of an hour of the grading street."""
    return _hour_jobs(GRADING, dg.AssetSelection.groups(GRADING.name), slow)


def retrieval_jobs(events: Checks, slow: Checks) -> Jobs:
    """The jobs of an hour of the retrieval street, and of the ground truth, which has no hours.

    The checks on events are named, because a selection has only those of assets that it materializes.
    """
    truth = dg.AssetSelection.assets(ground_truth)
    hour = dg.AssetSelection.groups(RETRIEVAL.name) - truth
    return [
        *_hour_jobs(RETRIEVAL, hour | dg.AssetSelection.checks(*events, *slow), slow),
        in_process_job(
            HARVEST_JOB, truth, "Take evidence from what experts did since, and judge anew, with every check."
        ),
    ]


def house_job() -> UnresolvedAssetJobDefinition:
    """The job of every night, over whatever streets there are."""
    maintenance = dg.AssetSelection.groups(MAINTENANCE_GROUP)
    return in_process_job(DAILY_JOB, maintenance, "Drop what is past its retention and make partitions ahead.")


def _hour_jobs(street: StreetNames[Any], hour: dg.AssetSelection, slow: Checks) -> Jobs:
    """The hour with every check, and the hour as the backlog asks for it, without the slow ones."""
    quick = hour - dg.AssetSelection.checks(*slow)
    return [
        in_process_job(street.hourly_job, hour, f"{street.does}, with every check."),
        in_process_job(street.backlog_job, quick, f"{street.does}, for an hour that holds {street.waits}."),
    ]


def in_process_job(name: str, selection: dg.AssetSelection, description: str) -> UnresolvedAssetJobDefinition:
    """A job over the selection in one process: a process of its own for each step costs more than the steps."""
    return dg.define_asset_job(name, selection=selection, executor_def=dg.in_process_executor, description=description)
