"""Which hours have a run that has not ended, and how many of an hour's runs have.

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
ENDED = [DagsterRunStatus.SUCCESS, DagsterRunStatus.FAILURE, DagsterRunStatus.CANCELED]


def hours_in_flight(instance: DagsterInstance) -> set[str]:
    """Partition keys of the runs that have not ended."""
    unfinished = instance.get_runs(RunsFilter(statuses=UNFINISHED))
    return {run.tags[PARTITION_TAG] for run in unfinished if PARTITION_TAG in run.tags}


def ended_runs(instance: DagsterInstance, key: str) -> int:
    """How many runs of the hour have ended, well or not: it makes the run key of the next one a new one."""
    return instance.get_runs_count(RunsFilter(statuses=ENDED, tags={PARTITION_TAG: key}))
