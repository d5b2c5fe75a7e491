"""`kb-pipeline serve`: it refuses to show turns to strangers, serves until it is told to stop, and stops in order."""

import json
import signal
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from kb_pipeline.adapters.clock import wait_until
from kb_pipeline.adapters.postgres.connection import Database
from kb_pipeline_tests.cli.command import assert_one_sentence, clean_environment, kb_pipeline
from kb_pipeline_tests.http_servers import PLAIN
from kb_pipeline_tests.queue_servers import free_port


def configured(folder: Path, database: Database | None, **service: object) -> Path:
    url = database.url.render_as_string(hide_password=False) if database else "postgresql://nobody@127.0.0.1:1/none"
    file = folder / "kb_pipeline.yaml"
    file.write_text(json.dumps({"service": service, "database": {"url": url}}))
    return file


def test_without_tokens_it_refuses_and_says_what_to_do(tmp_path: Path) -> None:
    done = kb_pipeline("--config", configured(tmp_path, None), "serve", cwd=tmp_path)
    assert done.returncode == 2
    assert_one_sentence(done.stderr)
    assert "service.tokens" in done.stderr


def test_no_auth_is_refused_where_others_could_come_in(tmp_path: Path) -> None:
    config = configured(tmp_path, None, host="0.0.0.0")  # noqa: S104 it is refused
    done = kb_pipeline("--config", config, "serve", "--no-auth", cwd=tmp_path)
    assert done.returncode == 2
    assert_one_sentence(done.stderr)
    assert "loopback" in done.stderr


@pytest.mark.slow
def test_it_serves_until_it_is_told_to_stop(database: Database, tmp_path: Path) -> None:
    port = free_port()
    config = configured(tmp_path, database, port=port)
    command = [sys.executable, "-m", "kb_pipeline.cli", "--config", str(config), "serve", "--no-auth"]
    with subprocess.Popen(
        command, cwd=tmp_path, env=clean_environment({}), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            assert wait_until(lambda: answers(port), 60)
            assert "No graded turns yet" in httpx.get(f"http://127.0.0.1:{port}/", verify=PLAIN).text
            second = kb_pipeline("--config", config, "serve", "--no-auth", cwd=tmp_path)
            assert second.returncode == 1
            assert_one_sentence(second.stderr)
        finally:
            process.send_signal(signal.SIGTERM)
        out, err = process.communicate(timeout=30)
    assert f"dashboard at http://127.0.0.1:{port}" in out
    assert "Traceback" not in err


def answers(port: int) -> bool:
    try:
        return httpx.get(f"http://127.0.0.1:{port}/readyz", verify=PLAIN).status_code == 200
    except httpx.HTTPError:
        return False
