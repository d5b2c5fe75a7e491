"""Fixtures of this room: a judge, an instance of Dagster."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import dagster as dg
import pytest

from kb_pipeline_tests.defs.runs import SILENT
from kb_pipeline_tests.judges import WatchedJudge


@pytest.fixture
def judge() -> Iterator[WatchedJudge]:
    with WatchedJudge() as watched:
        yield watched


@pytest.fixture(scope="session")
def untouched_instance(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of an instance in which nothing has run: Dagster takes long to make its tables."""
    folder = tmp_path_factory.mktemp("dagster")
    with dg.DagsterInstance.local_temp(str(folder), overrides=SILENT) as made:
        made.get_runs(limit=1)
        made.all_instigator_state()
    return folder


@pytest.fixture
def instance(untouched_instance: Path, tmp_path: Path) -> Iterator[dg.DagsterInstance]:
    shutil.copytree(untouched_instance, tmp_path, dirs_exist_ok=True)
    with dg.DagsterInstance.local_temp(str(tmp_path), overrides=SILENT) as local:
        yield local
