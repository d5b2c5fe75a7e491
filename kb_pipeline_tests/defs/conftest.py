"""Fixtures of this room: a judge, an instance of Dagster."""

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


@pytest.fixture
def instance(tmp_path: Path) -> Iterator[dg.DagsterInstance]:
    with dg.DagsterInstance.local_temp(str(tmp_path), overrides=SILENT) as local:
        yield local
