"""Which hours have a run that has not ended, and how often an hour's run failed.

Belongs here: questions to the run storage. Does not: decisions on the answers.
"""

from dagster import DagsterInstance, DagsterRunStatus, RunsFilter

PARTITION_TAG = "dagster/partition"
UNFINISHED = [
    DagsterRunStatus.QUEUED,
    DagsterRunStatus.NOT_STARTED,
    DagsterRunStatus.STARTING,
    DagsterRunStatus.STARTED,
    DagsterRunStatus.CANCELING,
]
BROKEN = [DagsterRunStatus.FAILURE, DagsterRunStatus.CANCELED]


def hours_in_flight(instance: DagsterInstance) -> set[str]:
    """Partition keys of the runs that have not ended."""
    unfinished = instance.get_runs(RunsFilter(statuses=UNFINISHED))
    return {run.tags[PARTITION_TAG] for run in unfinished if PARTITION_TAG in run.tags}


def broken_runs(instance: DagsterInstance, key: str) -> int:
    """How many runs of the hour failed or were cancelled: it makes the run key of a retry a new one."""
    return instance.get_runs_count(RunsFilter(statuses=BROKEN, tags={PARTITION_TAG: key}))
