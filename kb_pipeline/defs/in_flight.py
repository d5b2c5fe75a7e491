"""Which hours have a run that has not ended, how many of an hour's runs have, and which wait after failed ones.

Belongs here: questions to the run storage. Does not: decisions on the answers.
"""

from datetime import datetime
from itertools import takewhile
from typing import Any

from dagster import DagsterInstance, DagsterRunStatus, RunRecord, RunsFilter

from kb_pipeline.defs.streets import STREETS, StreetNames
from kb_pipeline.grading.judging import LONGEST_WAIT_OF_HOUR, wait_of_hour

PARTITION_TAG = "dagster/partition"
UNFINISHED = [
    DagsterRunStatus.QUEUED,
    DagsterRunStatus.NOT_STARTED,
    DagsterRunStatus.STARTING,
    DagsterRunStatus.STARTED,
    DagsterRunStatus.CANCELING,
]
ENDED = [DagsterRunStatus.SUCCESS, DagsterRunStatus.FAILURE, DagsterRunStatus.CANCELED]
# As many runs of an hour, of both streets, are looked at; the wait grows no longer after seven that failed.
LOOKED_AT = 20


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


def hours_that_wait(instance: DagsterInstance, street: StreetNames[Any], now: datetime) -> set[str]:
    """Partition keys whose last runs failed and that are not due again: none that always fails is run at every tick."""
    lately = RunsFilter(statuses=[DagsterRunStatus.FAILURE], updated_after=now - LONGEST_WAIT_OF_HOUR)
    failed = {_key(record) for record in instance.get_run_records(lately) if record.dagster_run.job_name in street.jobs}
    return {key for key in failed if key and _waits(instance, street, key, now)}


def _waits(instance: DagsterInstance, street: StreetNames[Any], key: str, now: datetime) -> bool:
    ended = instance.get_run_records(RunsFilter(statuses=ENDED, tags={PARTITION_TAG: key}), limit=LOOKED_AT)
    ours = [record for record in ended if record.dagster_run.job_name in street.jobs]
    failures = list(takewhile(lambda each: each.dagster_run.status is DagsterRunStatus.FAILURE, ours))
    return bool(failures) and failures[0].update_timestamp + wait_of_hour(len(failures)) > now


def _key(record: RunRecord) -> str | None:
    return record.dagster_run.tags.get(PARTITION_TAG)
