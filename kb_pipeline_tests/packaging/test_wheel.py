"""The wheel works installed alone: nothing of the checkout and none of the development tools is at hand."""

import json
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from kb_pipeline_tests.cli.command import clean_environment
from kb_pipeline_tests.cli.test_database_commands import REQUEST, RESPONSE
from kb_pipeline_tests.docs_pages import REPOSITORY, only_in_a_checkout

pytestmark = pytest.mark.slow

# The rooms that hold the package's promises by themselves; the others would double the time of the suite.
INSTALLED_TESTS = (
    *("settings", "cli/test_extract.py", "cli/test_usage.py", "cli/test_database_commands.py"),
    *("adapters/test_migrations.py", "service/test_api.py", "test_layout.py", "test_windows.py"),
)


def uv(*arguments: str | Path, environment: Path) -> None:
    """Run uv on an environment of its own, with the versions of the lock file."""
    beside = Path(sys.executable).with_name("uv")
    command = [beside if beside.exists() else "uv", *arguments]
    variables = clean_environment({"UV_PROJECT_ENVIRONMENT": str(environment), "VIRTUAL_ENV": str(environment)})
    done = subprocess.run(command, cwd=REPOSITORY, env=variables, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the commands of an environment that holds the wheel and what it depends on."""
    only_in_a_checkout()
    folder = tmp_path_factory.mktemp("wheel")
    environment = folder / "environment"
    uv("build", "--quiet", "--wheel", "--out-dir", folder, environment=environment)
    uv(
        "sync",
        "--quiet",
        "--frozen",
        "--no-dev",
        "--no-install-project",
        "--python",
        sys.executable,
        environment=environment,
    )
    [wheel] = folder.glob("*.whl")
    uv("pip", "install", "--quiet", "--no-deps", wheel, environment=environment)
    return environment / "bin"


def run(command: Sequence[str | Path], folder: Path) -> str:
    """The output of a command that succeeds."""
    done = subprocess.run(
        command, cwd=folder, env=clean_environment({}), capture_output=True, text=True, check=False, timeout=600
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    return done.stdout


def test_the_commands_work(installed: Path, tmp_path: Path) -> None:
    (tmp_path / "request.json").write_text(json.dumps(REQUEST))
    (tmp_path / "response.json").write_text(json.dumps(RESPONSE))
    assert "Commands:" in run([installed / "kb-pipeline", "--help"], tmp_path)
    files = ["--request", "request.json", "--response", "response.json"]
    assert json.loads(run([installed / "kb-pipeline", "extract", *files], tmp_path))["parse_status"] == "ok"


def test_what_an_operator_copies_is_in_the_wheel(installed: Path, tmp_path: Path) -> None:
    code = "from kb_pipeline.adapters.postgres.sql_files import shipped_file; print(shipped_file({!r}))"
    for name in ("dagster.yaml", "workspace.yaml", "kb_pipeline.yaml"):
        found = Path(run([installed / "python", "-c", code.format(name)], tmp_path).strip())
        assert "site-packages" in found.parts
        assert found.read_bytes() == (REPOSITORY / name).read_bytes()


def test_the_suite_passes_against_the_installed_package(installed: Path, tmp_path: Path) -> None:
    constraints = tmp_path / "constraints.txt"
    environment = installed.parent
    uv("export", "--quiet", "--frozen", "--no-hashes", "--no-emit-project", "-o", constraints, environment=environment)
    uv("pip", "install", "--quiet", "-c", constraints, "pytest", "hypothesis", environment=environment)
    tests = tmp_path / "kb_pipeline_tests"
    shutil.copytree(REPOSITORY / "kb_pipeline_tests", tests, ignore=shutil.ignore_patterns("__pycache__"))
    chosen = [tests / name for name in INSTALLED_TESTS]
    # The suite's own configuration: its warnings are errors here too.
    shutil.copy(REPOSITORY / "pyproject.toml", tmp_path)
    options = ["-q", "-m", "not slow", "-p", "no:cacheprovider"]
    where = run([installed / "python", "-c", "import kb_pipeline; print(kb_pipeline.__file__)"], tmp_path)
    assert "site-packages" in where
    summary = run([installed / "python", "-m", "pytest", *options, *chosen], tmp_path).splitlines()[-1]
    assert " passed" in summary
