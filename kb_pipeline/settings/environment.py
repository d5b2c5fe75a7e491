"""The environment, read here and nowhere else.

Belongs here: variables that override a setting, the folder for caches, the environment of a child. Does not: YAML.
"""

import os
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel

from kb_pipeline.settings.problems import Problem, nearest
from kb_pipeline.settings.schema import Key, holds_text, is_optional, section_of
from kb_pipeline.settings.yaml_file import PlainLoader

CONFIG_VARIABLE = "KB_PIPELINE_CONFIG"
PREFIX = "KB_PIPELINE__"
FILE_SUFFIX = "_FILE"
LARGEST_VALUE = 1024 * 1024


@dataclass(frozen=True, kw_only=True, slots=True)
class Override:
    """A setting given by a variable: where it belongs, what it holds, and the variable's name for messages."""

    path: tuple[str, ...]
    value: object
    variable: str


def process_environment() -> Mapping[str, str]:
    """The variables of this process."""
    return os.environ


def child_environment(extra: Mapping[str, str]) -> dict[str, str]:
    """The environment of a child process: this process's own, and `extra` over it."""
    return {**os.environ, **extra}


def cache_folder() -> Path:
    """Where the embedded servers keep their data: a folder of ours in the user's cache. It may not exist yet."""
    configured = Path(os.environ.get("XDG_CACHE_HOME", ""))
    if configured.is_absolute():
        return configured / "kb_pipeline"
    try:
        home = Path.home()
    except RuntimeError:
        return Path(tempfile.gettempdir()) / "kb_pipeline"
    if sys.platform == "darwin":
        return home / "Library" / "Caches" / "kb_pipeline"
    return home / ".cache" / "kb_pipeline"


def overrides(environ: Mapping[str, str], root: type[BaseModel]) -> tuple[list[Override], list[Problem]]:
    """The settings that variables of the environment give, and a problem for each variable that cannot be used."""
    known = {name: known for known in variables(root) for name in (known.name, known.name + FILE_SUFFIX)}
    found: list[Override] = []
    problems: list[Problem] = []
    joined = {_joined(name) for name in known}
    for variable in sorted(name for name in environ if _is_ours(name) or _joined(name) in joined):
        target = known.get(variable)
        if target is None:
            problems.append(Problem(where=variable, sentence=_unknown(variable, known, root)))
        elif variable != target.name and target.name in environ:
            problems.append(
                Problem(where=variable, sentence=f"and {target.name} are both set; one of them is accepted")
            )
        else:
            _read(target, variable, environ[variable], found, problems)
    return found, problems


@dataclass(frozen=True, kw_only=True, slots=True)
class Variable:
    """One setting that a variable can give."""

    name: str
    key: Key


def variables(root: type[BaseModel], path: tuple[str, ...] = ()) -> Iterator[Variable]:
    """Every setting below `root` that has a variable: all but whole sections."""
    for name, field in root.model_fields.items():
        key = Key(path=(*path, name), field=field)
        section = section_of(field.annotation)
        if section is None:
            yield Variable(name=PREFIX + "__".join(key.path).upper(), key=key)
        else:
            yield from variables(section, key.path)


def _is_ours(name: str) -> bool:
    # A single underscore after the prefix is the likeliest slip: KB_PIPELINE_DATABASE__URL.
    return name.upper().startswith(PREFIX) or (name.upper().startswith("KB_PIPELINE_") and "__" in name[12:])


def _joined(name: str) -> str:
    """The name less what is easily mistaken in it: single and double underscores, and case."""
    return name.upper().replace("_", "")


def _unknown(variable: str, known: Mapping[str, Any], root: type[BaseModel]) -> str:
    if variable in {PREFIX + name.upper() for name in root.model_fields}:
        example = next(name for name in known if name.startswith(variable))
        return f"names a section; name one of its keys, such as {example}"
    # The common prefix would make any two of them alike.
    word = variable.upper().removeprefix("KB_PIPELINE").lstrip("_")
    if word == "CONFIG":
        return f"names no setting; did you mean {CONFIG_VARIABLE}?"
    names = [name for name in known if word.endswith(FILE_SUFFIX) or not name.endswith(FILE_SUFFIX)]
    guess = nearest(word, [name.removeprefix(PREFIX) for name in names])
    return "names no setting; " + (f"did you mean {PREFIX}{guess}?" if guess else f"accepted: {PREFIX}SECTION__KEY")


def _read(target: Variable, variable: str, raw: str, found: list[Override], problems: list[Problem]) -> None:
    text: str | None = raw
    if variable != target.name:
        text = _file_text(variable, raw, problems)
    if text is None:
        return
    try:
        value = _value(target.key, text)
    except (yaml.YAMLError, ValueError, RecursionError):
        problems.append(Problem(where=variable, sentence="does not hold a value in YAML's or JSON's notation"))
        return
    found.append(Override(path=target.key.path, value=value, variable=variable))


def _file_text(variable: str, name: str, problems: list[Problem]) -> str | None:
    if not name:
        problems.append(Problem(where=variable, sentence="is empty; the path of a file with the value is accepted"))
        return None
    try:
        return _decoded(name).rstrip("\r\n")
    except OSError as error:
        reason = error.strerror or "the system refused"
    except UnicodeDecodeError:
        reason = "it is not UTF-8 text"
    except ValueError as error:
        reason = str(error)
    problems.append(Problem(where=variable, sentence=f"names the file {name!r}, which cannot be read: {reason}"))
    return None


def _decoded(name: str) -> str:
    if "\0" in name:
        raise ValueError("its name holds a NUL character")
    with Path(name).open("rb") as file:
        content = file.read(LARGEST_VALUE + 1)
    if len(content) > LARGEST_VALUE:
        raise ValueError("it is larger than 1 MiB")
    return content.decode("utf-8-sig")


def _value(key: Key, text: str) -> object:
    if not text and is_optional(key.field.annotation):
        return None
    if holds_text(key.field.annotation):
        return text
    return yaml.load(text, Loader=PlainLoader)  # noqa: S506 PlainLoader is a SafeLoader
