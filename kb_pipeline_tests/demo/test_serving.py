"""Dagster's own programs on a stage: the daemon grades what comes in, and nothing of them stays behind."""

import subprocess
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx
import pytest

from kb_pipeline.adapters.embedded import EmbeddedPostgres
from kb_pipeline.adapters.postgres.connection import Database
from kb_pipeline.demo.servers import HOST, free_port, serving, showing
from kb_pipeline.demo.stage import set_stage
from kb_pipeline_tests.builders import Upstream, table
from kb_pipeline_tests.http_servers import PLAIN
from kb_pipeline_tests.judges import WatchedJudge

WITHIN_SECONDS = 90


@pytest.mark.slow
def test_with_the_daemon_running_a_new_call_has_its_judged_row_within_ninety_seconds(
    postgres_server: EmbeddedPostgres, tmp_path: Path
) -> None:
    now = datetime.now(UTC)
    with WatchedJudge() as judge:
        quality = {"judge_base_url": judge.url, "judge_model": "reference", "eval_interval_s": 30}
        with (
            set_stage(postgres_server, tmp_path, start_at=now - timedelta(hours=1), quality=quality) as stage,
            serving(stage.environment, tmp_path) as served,
        ):
            upstream = Upstream(stage.database)
            # The first tick is behind us when this one is graded, so the clock runs for the second.
            upstream.turn("first", datetime.now(UTC))
            wait_for(stage.database, "first", 2 * WITHIN_SECONDS)
            began = time.monotonic()
            upstream.turn("second", datetime.now(UTC))
            wait_for(stage.database, "second", WITHIN_SECONDS)
            assert time.monotonic() - began < WITHIN_SECONDS
            # A daemon counts as healthy from its first heartbeat on.
            deadline = time.monotonic() + WITHIN_SECONDS
            while unhealthy(served.address) and time.monotonic() < deadline:
                time.sleep(1)
            assert unhealthy(served.address) == []
            groups = {group for group, _, command in processes() if str(tmp_path) in command}
            assert len(groups) == 2
        # Whoever adopted an ended process may not have taken notice of it yet: Z.
        left = [command for group, state, command in processes() if group in groups and not state.startswith("Z")]
        assert left == []


@pytest.mark.slow
def test_the_dashboard_of_a_stage_opens_without_tokens(postgres_server: EmbeddedPostgres, tmp_path: Path) -> None:
    port = free_port(0)
    with set_stage(postgres_server, tmp_path, start_at=datetime.now(UTC), quality={}) as stage:
        stage.with_service(host=HOST, port=port, dagster_url="http://127.0.0.1:3000")
        with showing(stage.environment, tmp_path, port=port) as dashboard:
            page = httpx.get(dashboard.address, verify=PLAIN)
    assert page.status_code == 200
    assert "No graded turns yet, because no audited call was read in this period." in page.text


def processes() -> list[tuple[str, str, str]]:
    """Process group, state and command of every process."""
    listed = subprocess.run(["ps", "-Awwo", "pgid=,stat=,args="], capture_output=True, text=True, check=True)
    return [
        (group, state, command)
        for group, state, command in (line.split(None, 2) for line in listed.stdout.splitlines())
    ]


def wait_for(database: Database, event_id: str, seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        query = "SELECT 1 FROM rag_quality WHERE event_id = %s AND judge_status = 'ok'"
        if table(database, query, event_id):
            return
        time.sleep(0.5)
    raise AssertionError(f"{event_id} was not graded within {seconds} s")


def unhealthy(address: str) -> list[str]:
    """Daemons that the UI calls required and unhealthy."""
    query = "{ instance { daemonHealth { allDaemonStatuses { daemonType required healthy } } } }"
    try:
        reply = httpx.post(f"{address}/graphql", json={"query": query}, timeout=30, verify=PLAIN).json()
    except httpx.TransportError:
        return ["webserver"]
    statuses = reply["data"]["instance"]["daemonHealth"]["allDaemonStatuses"]
    return [status["daemonType"] for status in statuses if status["required"] and not status["healthy"]]
