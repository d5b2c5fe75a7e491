"""From a file and the environment to Settings, or one SettingsError that lists everything to mend.

Belongs here: which file is read, what overrides what. Does not: YAML's notation, the words for a value.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

from kb_pipeline.errors import SettingsError
from kb_pipeline.settings.environment import CONFIG_VARIABLE, Override, overrides, process_environment
from kb_pipeline.settings.models import Settings
from kb_pipeline.settings.problems import Problem, problems_of
from kb_pipeline.settings.schema import Place, named_section_of, section_of
from kb_pipeline.settings.yaml_file import Document, read

DEFAULT_FILE = Path("kb_pipeline.yaml")


def find_config(path: Path | None = None, *, environ: Mapping[str, str] | None = None) -> Path | None:
    """The configuration file: `path`, else KB_PIPELINE_CONFIG, else kb_pipeline.yaml here if there is one."""
    named = path or (process_environment() if environ is None else environ).get(CONFIG_VARIABLE)
    if named:
        return Path(named)
    return DEFAULT_FILE if DEFAULT_FILE.exists() else None


def load_settings(path: Path | None = None, *, environ: Mapping[str, str] | None = None) -> Settings:
    """The configuration; without a file and without variables, the defaults, which leave everything dormant.

    `environ` takes the place of the process's environment. Raises SettingsError with one line per problem.
    """
    environ = process_environment() if environ is None else environ
    file = find_config(path, environ=environ)
    document = read(file) if file else Document(data={}, lines={}, problems=[])
    given, problems = overrides(environ, Settings)
    data = _without_empty_sections(document.data, Settings)
    applied = [override for override in given if _apply(data, override)]
    problems = [*document.problems, *problems]
    try:
        settings = Settings.model_validate(data)
    except ValidationError as error:
        raise SettingsError(_message([*problems, *_located(error, document, applied)], file)) from None
    if problems:
        raise SettingsError(_message(problems, file))
    return settings


def _without_empty_sections(data: Mapping[str, Any], model: type[BaseModel]) -> dict[str, Any]:
    """A section whose keys are all commented out is null in YAML, and means its defaults."""
    kept: dict[str, Any] = {}
    for name, value in data.items():
        annotation = model.model_fields[name].annotation if name in model.model_fields else None
        section, named = section_of(annotation), named_section_of(annotation)
        if value is None and (section or named):
            continue
        if isinstance(value, dict) and section:
            kept[name] = _without_empty_sections(value, section)
        elif isinstance(value, dict) and named:
            kept[name] = {entry: {} if below is None else below for entry, below in value.items()}
        else:
            kept[name] = value
    return kept


def _apply(data: dict[str, Any], override: Override) -> bool:
    """Put the value where it belongs; False where the file holds something else than a section on the way."""
    section = data
    for name in override.path[:-1]:
        below = section.get(name)
        if below is not None and not isinstance(below, dict):
            return False
        section[name] = dict(below or {})
        section = section[name]
    section[override.path[-1]] = override.value
    return True


def _located(error: ValidationError, document: Document, applied: Iterable[Override]) -> list[Problem]:
    origins: dict[Place, str] = {override.path: override.variable for override in applied}
    return list(problems_of(error, Settings, origins, document.lines))


def _message(problems: Iterable[Problem], file: Path | None) -> str:
    """One sentence per problem: those of the file in its order with file and line, then those of variables."""
    ordered = sorted(problems, key=lambda problem: (problem.line is None, problem.line or 0))
    return "\n".join(f"{file}:{problem.line}: {problem}" if problem.line else str(problem) for problem in ordered)
