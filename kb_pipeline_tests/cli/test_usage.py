"""Whatever goes wrong ends as one sentence on stderr and an exit code that says whose turn it is."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import click
import pytest

from kb_pipeline.cli import failures
from kb_pipeline.cli.root import kb_pipeline as group
from kb_pipeline.errors import DatabaseError, SettingsError
from kb_pipeline_tests.cli.command import assert_one_sentence, clean_environment, kb_pipeline
from kb_pipeline_tests.test_layout import FRAMEWORKS


@pytest.fixture
def no_configuration(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No file in the folder and no variable."""
    monkeypatch.chdir(tmp_path)
    for name in [name for name in os.environ if name.startswith("KB_PIPELINE_")]:
        monkeypatch.delenv(name)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["grad"], "there is no command grad; did you mean grade?"),
        (["quux"], "there is no command quux; known are demo, migrate"),
        (["grade", "--sinse", "7d"], "--since"),
        (["grade", "--since", "2026-07-09"], "has no time zone"),
        (["grade", "--since", "2026-07-09T00:00:00"], "has no time zone"),
        (["grade", "--since", "soon"], "is not a time"),
        (["grade", "--since", "999999w"], "before the calendar begins"),
        (["grade", "--since", "1h", "--until", "2h"], "is not after --since"),
        (["grade", "--since", "2999-01-01T00:00Z"], "--since (2999-01-01T00:00:00+00:00) lies in the future"),
        (["harvest", "--since", "2999-01-01T00:00Z"], "lies in the future"),
        (["eval", "--engine", "x", "--since", "2999-01-01T00:00Z"], "lies in the future"),
        (
            ["alerts", "list", "--history", "2999-01-01T00:00Z"],
            "--history (2999-01-01T00:00:00+00:00) lies in the future",
        ),
        (
            [
                "ground-truth",
                "export",
                "--format",
                "beir",
                "--out",
                "x",
                "--split",
                "time",
                "--cut",
                "2999-01-01T00:00Z",
            ],
            "--cut (2999-01-01T00:00:00+00:00) lies in the future",
        ),
        (["eval", "--engine", "x", "--measures", "nonsense"], "'nonsense' is no measure"),
        (["grade", "--dry-run", "--retry-failed"], "exclude each other"),
        (["explain"], "Missing argument 'EVENT_ID'"),
        (["extract"], "Missing option '--response'"),
        (["extract", "--response", "nowhere.json"], "nowhere.json cannot be read: No such file"),
        (["extract", "--response", "."], "cannot be read: Is a directory"),
        (["extract", "--request", "-", "--response", "-"], "cannot both be standard input"),
        (["extract", "--response", "-", "--surface", "publik"], "did you mean public?"),
        (["demo", "--turns", "0"], "0 is not in the range"),
        (["--config", "nowhere.yaml", "migrate"], "nowhere.yaml does not exist"),
        (["migrate"], "database.url is not set"),
        (["grade"], "database.url is not set"),
        (["explain", "x"], "database.url is not set"),
    ],
)
@pytest.mark.usefixtures("no_configuration")
def test_wrong_usage_is_one_sentence_and_exit_code_2(
    arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert failures.run(group, arguments) == 2
    stdout, stderr = capsys.readouterr()
    assert_one_sentence(stderr)
    assert words in stderr
    assert stdout == ""


def test_several_problems_of_a_configuration_stand_one_to_a_line(tmp_path: Path) -> None:
    (tmp_path / "kb_pipeline.yaml").write_text("service: {port: 0}\nwat: 1\n")
    done = kb_pipeline("migrate", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.splitlines()[0] == "kb-pipeline: there are 2 problems"
    assert done.stderr.splitlines()[1].startswith("  kb_pipeline.yaml:1: service.port is 0; accepted:")


def test_without_a_command_the_help_is_shown(tmp_path: Path) -> None:
    done = kb_pipeline(cwd=tmp_path)
    assert done.returncode == 2
    assert "Commands:" in done.stderr


def test_a_server_that_does_not_answer_is_one_sentence_and_exit_code_1(tmp_path: Path) -> None:
    url = "postgresql://user:HUSH@127.0.0.1:9/db"
    done = kb_pipeline("migrate", cwd=tmp_path, environment={"KB_PIPELINE__DATABASE__URL": url})
    assert done.returncode == 1
    assert_one_sentence(done.stderr)
    assert "HUSH" not in done.stderr


def test_help_loads_no_framework(tmp_path: Path) -> None:
    code = "import sys; from kb_pipeline.cli import run, kb_pipeline; run(kb_pipeline, ['--help']); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=tmp_path)
    loaded = {name.partition(".")[0] for name in done.stdout.splitlines()[-1].split()}
    assert loaded.isdisjoint({*FRAMEWORKS} - {"click"})


def test_a_reader_that_stops_reading_is_no_failure_to_complain_about(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "kb_pipeline.cli", "--help"]
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        command, stdout=writing, stderr=subprocess.PIPE, env=clean_environment({}), check=False, cwd=tmp_path
    )
    os.close(writing)
    assert done.returncode == failures.BROKEN_PIPE
    assert done.stderr == b""


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_is_one_sentence(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "kb_pipeline.cli", "--help"]
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            command, stdout=full, stderr=subprocess.PIPE, env=clean_environment({}), check=False, cwd=tmp_path
        )
    assert done.returncode == 1
    assert_one_sentence(done.stderr.decode())


def ended_by(error: BaseException, *arguments: str) -> int:
    """The exit code of a command that ends with the error."""

    @click.command()
    @click.option("--debug", is_flag=True)
    def failing(**_: bool) -> None:
        raise error

    return failures.run(failing, arguments)


@pytest.mark.parametrize(
    ("error", "exit_code", "sentence"),
    [
        (DatabaseError("the table is locked; try again"), 1, "kb-pipeline: the table is locked; try again\n"),
        (SettingsError("x is 1; accepted: 2"), 2, "kb-pipeline: x is 1; accepted: 2\n"),
        (KeyboardInterrupt(), 130, "kb-pipeline: interrupted\n"),
        (BrokenPipeError(), 141, ""),
        (
            PermissionError(13, "Permission denied", "file"),
            1,
            "kb-pipeline: the system refused: Permission denied (file)\n",
        ),
        (click.UsageError("no\n  such thing."), 2, "kb-pipeline: no such thing (see kb-pipeline --help)\n"),
    ],
)
def test_an_error_becomes_its_sentence(
    error: BaseException, exit_code: int, sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ended_by(error) == exit_code
    assert capsys.readouterr().err == sentence


def test_an_unforeseen_error_is_named_without_its_message_which_may_hold_data(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert ended_by(ValueError("text of a turn")) == 1
    stderr = capsys.readouterr().err
    assert_one_sentence(stderr)
    assert "ValueError" in stderr
    assert "--debug" in stderr
    assert "text of a turn" not in stderr


def test_an_unforeseen_error_within_the_package_is_placed(capsys: pytest.CaptureFixture[str]) -> None:
    @click.command()
    def failing() -> None:
        failures._one_line(None)  # type: ignore[arg-type]

    assert failures.run(failing, []) == 1
    assert "AttributeError in cli/failures.py:" in capsys.readouterr().err


def test_debug_shows_the_traceback_too(capsys: pytest.CaptureFixture[str]) -> None:
    assert ended_by(ValueError("text"), "--debug") == 1
    assert "Traceback" in capsys.readouterr().err


def test_a_closed_standard_input_is_one_sentence(tmp_path: Path) -> None:
    command = f"exec {sys.executable} -m kb_pipeline.cli extract --response - <&-"
    done = subprocess.run(
        ["sh", "-c", command], stderr=subprocess.PIPE, env=clean_environment({}), check=False, cwd=tmp_path
    )
    assert done.returncode == 2
    assert_one_sentence(done.stderr.decode())
    assert b"standard input is closed" in done.stderr


def test_ctrl_c_ends_a_command_with_130_and_no_traceback(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "kb_pipeline.cli", "extract", "--response", "-"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stderr=subprocess.PIPE, env=clean_environment({}), cwd=tmp_path
    ) as waiting:
        assert waiting.stderr
        assert waiting.stdin
        with pytest.raises(subprocess.TimeoutExpired):
            waiting.wait(3)
        waiting.send_signal(signal.SIGINT)
        stderr = waiting.stderr.read().decode()
    assert waiting.returncode == 130
    assert stderr == "kb-pipeline: interrupted\n"


def test_every_command_has_help(capsys: pytest.CaptureFixture[str]) -> None:
    for name in group.commands:
        assert failures.run(group, [name, "--help"]) == 0
        assert capsys.readouterr().out.startswith(f"Usage: kb-pipeline {name}")
