"""From whatever ended a command to one sentence on stderr and an exit code; never a traceback unless asked for.

Belongs here: the last line of defence. Does not: words for a foreseen failure (those are KbPipelineErrors).
"""

import os
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path

import click

import kb_pipeline
from kb_pipeline.counting import counted
from kb_pipeline.errors import KbPipelineError

PROGRAM = "kb-pipeline"
INTERRUPTED = 130  # 128 + SIGINT, as shells count
BROKEN_PIPE = 141  # 128 + SIGPIPE


def run(command: click.Command, arguments: Sequence[str]) -> int:
    """Run the command; its exit code."""
    try:
        with command.make_context(PROGRAM, list(arguments)) as context:
            command.invoke(context)
            if sys.stdout:
                sys.stdout.flush()
    except click.exceptions.Exit as end:
        return _flushed(end.exit_code)
    except (KeyboardInterrupt, click.Abort):
        say("interrupted")
        return INTERRUPTED
    except BrokenPipeError:
        _abandon_stdout()
        return BROKEN_PIPE
    except Exception as error:  # noqa: BLE001 the last line of defence
        return _explain(error, arguments)
    return 0


def say(sentence: str) -> None:
    """One sentence on stderr, under the program's name."""
    click.echo(f"{PROGRAM}: {sentence}", err=True)


def _flushed(exit_code: int) -> int:
    try:
        if sys.stdout:
            sys.stdout.flush()
    except OSError:
        _abandon_stdout()
    return exit_code


def _explain(error: Exception, arguments: Sequence[str]) -> int:
    if "--debug" in arguments and not isinstance(error, click.ClickException):
        traceback.print_exception(error)
    match error:
        case click.exceptions.NoArgsIsHelpError():
            click.echo(error.format_message(), err=True)
            return error.exit_code
        case click.UsageError():
            say(f"{_one_line(error.format_message())} ({_usage(error)})")
            return error.exit_code
        case click.ClickException():
            say(_one_line(error.format_message()))
            return error.exit_code
        case KbPipelineError():
            _say_all(str(error))
            return error.exit_code
        case OSError() if error.strerror:
            _abandon_stdout()
            say(f"the system refused: {error.strerror}{f' ({error.filename})' if error.filename else ''}")
            return 1
    say(f"this failed unexpectedly ({_where(error)}); run it again as {PROGRAM} --debug … for the traceback")
    return 1


def _say_all(message: str) -> None:
    """A configuration may have several problems: then one line each."""
    lines = message.splitlines() or [""]
    if len(lines) == 1:
        say(lines[0])
        return
    say(f"there are {counted(len(lines), 'problem')}")
    for line in lines:
        click.echo(f"  {line}", err=True)


def _one_line(message: str) -> str:
    return " ".join(message.split()).rstrip(".")


def _usage(error: click.UsageError) -> str:
    return f"see {error.ctx.command_path if error.ctx else PROGRAM} --help"


def _where(error: Exception) -> str:
    """Type and place of a failure; its message may hold data, so it stays out."""
    root = Path(kb_pipeline.__file__).parent
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        file = Path(frame.filename)
        if file.is_relative_to(root):
            return f"{type(error).__name__} in {file.relative_to(root)}:{frame.lineno}"
    return type(error).__name__


def _abandon_stdout() -> None:
    """Nobody reads on: point stdout at nothing, so that the interpreter's last flush does not complain."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (AttributeError, OSError, ValueError):
        return
