"""The command line as a user meets it: a process with exit code, stdout and stderr."""

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path


def kb_pipeline(
    *arguments: str | Path, cwd: Path, environment: Mapping[str, str] | None = None, stdin: bytes = b""
) -> subprocess.CompletedProcess[str]:
    """Run `kb-pipeline` with these arguments and no configuration but what is given."""
    done = subprocess.run(
        [sys.executable, "-m", "kb_pipeline.cli", *map(str, arguments)],
        cwd=cwd,
        env=clean_environment(environment or {}),
        input=stdin,
        capture_output=True,
        check=False,
        timeout=300,
    )
    return subprocess.CompletedProcess(done.args, done.returncode, done.stdout.decode(), done.stderr.decode())


def clean_environment(extra: Mapping[str, str]) -> dict[str, str]:
    """This process's environment less what configures kb_pipeline and its output, and `extra` over it."""
    ours = ("KB_PIPELINE_", "PYTHONUNBUFFERED")
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    return inherited | {"PYTHONIOENCODING": "utf-8"} | dict(extra)


def assert_one_sentence(stderr: str) -> None:
    """One line under the program's name, and no traceback."""
    assert stderr.startswith("kb-pipeline: ")
    assert stderr.count("\n") == 1
    assert "Traceback" not in stderr
