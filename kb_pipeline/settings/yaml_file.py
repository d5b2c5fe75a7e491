"""kb_pipeline.yaml as plain data, with the line of every key.

Belongs here: YAML's notation and its slips. Does not: what the keys mean.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from kb_pipeline.errors import SettingsError
from kb_pipeline.settings.problems import Problem, kind
from kb_pipeline.settings.schema import Place, dotted

TIMESTAMP_TAG = "tag:yaml.org,2002:timestamp"
INT_TAG = "tag:yaml.org,2002:int"
FLOAT_TAG = "tag:yaml.org,2002:float"
MERGE_TAG = "tag:yaml.org,2002:merge"
NUMBERS = {
    INT_TAG: re.compile(r"[-+]?(?:0|[1-9][0-9_]*|0x[0-9a-fA-F]+)\Z"),
    FLOAT_TAG: re.compile(
        r"[-+]?(?:(?:[0-9]+\.[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?|[0-9]+[eE][-+]?[0-9]+|\.(?:inf|Inf|INF))\Z"
        r"|\.(?:nan|NaN|NAN)\Z"
    ),
}
# A value that begins with a sign of YAML's own stands in the message of the parser, and may be a secret.
QUOTED = re.compile(r"'[^'<]{4,}'")
LARGEST_FILE = 4 * 1024 * 1024


class PlainLoader(yaml.SafeLoader):
    """YAML's plain types less timestamps: a time stays text, so that one without a zone can be refused.

    Numbers are those of YAML 1.2: 1e-1 is one, while 010 (which YAML 1.1 reads as 8) and 5:00 (as 300) stay text.
    """

    yaml_implicit_resolvers = {  # noqa: RUF012 PyYAML's own way
        first: [(tag, NUMBERS.get(tag, pattern)) for tag, pattern in resolvers if tag != TIMESTAMP_TAG]
        for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }


@dataclass(frozen=True, kw_only=True, slots=True)
class Document:
    """The data of a file, the line of each place, and what was wrong with its notation."""

    data: dict[str, Any]
    lines: dict[tuple[str | int, ...], int]
    problems: list[Problem]


def read(path: Path) -> Document:
    """The document in the file; raises SettingsError, as file:line, where it is not YAML or not a mapping."""
    text = _text(path)
    try:
        loader = PlainLoader(text)
        node = loader.get_single_node()
        # Before the data is made, because that writes merged keys into the nodes.
        lines, problems = _places(node)
        data = None if node is None else loader.construct_document(node)
    except yaml.MarkedYAMLError as error:
        raise SettingsError(f"{path}:{_line(error)}: this is not YAML: {_problem(error)}") from None
    except yaml.YAMLError:
        raise SettingsError(f"{path} is not YAML: it holds control characters; plain text is accepted") from None
    except RecursionError:
        raise SettingsError(f"{path} is nested too deeply; sections of keys are accepted") from None
    except (ValueError, TypeError) as error:
        # PyYAML lets these through, for example for an integer of too many digits.
        raise SettingsError(f"{path} holds a value that is out of YAML's range ({type(error).__name__})") from None
    if data is not None and not isinstance(data, dict):
        raise SettingsError(f"{path} holds {kind(data)}; sections such as rag_quality: and database: are accepted")
    return Document(data=data or {}, lines=lines, problems=problems)


def _line(error: yaml.MarkedYAMLError) -> int:
    mark = error.problem_mark or error.context_mark
    return mark.line + 1 if mark else 1


def _problem(error: yaml.MarkedYAMLError) -> str:
    problem = error.problem or "its notation is broken"
    if not QUOTED.search(problem):
        return problem
    return QUOTED.sub("'…'", problem) + "; a value that begins with ! & * % @ or ` needs quotes"


def _text(path: Path) -> str:
    try:
        with path.open("rb") as file:
            content = file.read(LARGEST_FILE + 1)
        if len(content) > LARGEST_FILE:
            raise SettingsError(f"{path} is larger than 4 MiB; a configuration file is accepted")
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise SettingsError(f"{path} is not UTF-8 text; save it as UTF-8") from None
    except FileNotFoundError:
        raise SettingsError(
            f"{path} does not exist; name a configuration file, or leave it out for the defaults"
        ) from None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "its name holds a NUL character"
        raise SettingsError(f"{path} cannot be read: {reason}") from None


def _places(root: yaml.Node | None) -> tuple[dict[tuple[str | int, ...], int], list[Problem]]:
    """The line of every key and list entry, and a problem for each key that is given twice."""
    lines: dict[tuple[str | int, ...], int] = {}
    problems: list[Problem] = []
    seen: set[int] = set()
    for place, key, node in _keys(root, (), seen):
        if place in lines and isinstance(place[-1], str):
            sentence = f"is given twice, first in line {lines[place]}; one is accepted"
            problems.append(Problem(where=dotted(place), sentence=sentence, line=key.start_mark.line + 1))
        lines.setdefault(place, node.start_mark.line + 1 if isinstance(place[-1], int) else key.start_mark.line + 1)
    return lines, problems


def _keys(
    node: yaml.Node | None, place: Place, seen: set[int]
) -> Iterator[tuple[tuple[str | int, ...], yaml.Node, yaml.Node]]:
    """Each key (or list entry) below `node` with its place; an anchored node is visited once."""
    if node is None or id(node) in seen:
        return
    seen.add(id(node))
    for step, key, value in _children(node):
        yield (*place, step), key, value
        yield from _keys(value, (*place, step), seen)


def _children(node: yaml.Node) -> Iterator[tuple[str | int, yaml.Node, yaml.Node]]:
    if isinstance(node, yaml.SequenceNode):
        for index, item in enumerate(node.value):
            yield index, item, item
    elif isinstance(node, yaml.MappingNode):
        own = [(key, value) for key, value in node.value if key.tag != MERGE_TAG]
        for key, value in own:
            yield str(key.value), key, value
        yield from _merged(node, {str(key.value) for key, _ in own})


def _merged(node: yaml.MappingNode, names: set[str]) -> Iterator[tuple[str | int, yaml.Node, yaml.Node]]:
    """What `<<` brings in: the keys that are not given already."""
    for merge, value in node.value:
        if merge.tag != MERGE_TAG:
            continue
        for source in value.value if isinstance(value, yaml.SequenceNode) else [value]:
            for step, key, below in _children(source) if isinstance(source, yaml.MappingNode) else ():
                if step not in names:
                    names.add(str(step))
                    yield step, key, below
