"""Which hours have a run that has not ended, and how many of an hour's runs have.

Belongs here: questions to the run storage. Does not: decisions on the answers.
"""

from typing import Any

from dagster import DagsterInstance, DagsterRunStatus, RunsFilter

from kb_pipeline.defs.streets import STREETS, StreetNames

PARTITION_TAG = "dagster/partition"
UNFINISHED = [
    DagsterRunStatus.QUEUED,
    DagsterRunStatus.NOT_STARTED,
    DagsterRunStatus.STARTING,
    DagsterRunStatus.STARTED,
    DagsterRunStatus.CANCELING,
]
ENDED = [DagsterRunStatus.SUCCESS, DagsterRunStatus.FAILURE, DagsterRunStatus.CANCELED]


def hours_in_flight(instance: DagsterInstance, street: StreetNames[Any]) -> set[str]:
    """Partition keys of the runs that have not ended, those of another street's jobs left out.

    A run that somebody put together by hand may be of any street, so it counts.
    """
    others = frozenset[str]().union(*(other.jobs for other in STREETS if other != street))
    unfinished = instance.get_runs(RunsFilter(statuses=UNFINISHED))
    return {run.tags[PARTITION_TAG] for run in unfinished if PARTITION_TAG in run.tags and run.job_name not in others}


def ended_runs(instance: DagsterInstance, key: str) -> int:
    """How many runs of the hour have ended, well or not: it makes the run key of the next one a new one."""
    return instance.get_runs_count(RunsFilter(statuses=ENDED, tags={PARTITION_TAG: key}))
