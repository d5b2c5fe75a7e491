"""A sentence for everything that cannot be used: where it stands, what it is, what is accepted.

Belongs here: words. Does not: reading files or the environment. No sentence shows a secret.
"""

import difflib
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ValidationError

from kb_pipeline.settings.schema import Place, accepted, dotted, field_at, is_secret, keys

SHOWN_CHARACTERS = 60
NEVER = re.compile(r"(?!)")
UNQUOTED = {
    "int_type": re.compile(r"-?(?:0|[1-9]\d*)"),
    "float_type": re.compile(r"-?\d+(\.\d+)?"),
    "bool_type": re.compile(r"true|false"),
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Problem:
    """One thing to mend; `where` is a key, a variable or a file, and the sentence goes on from it."""

    where: str
    sentence: str
    line: int | None = None

    def __str__(self) -> str:
        return f"{self.where} {self.sentence}"


def nearest(word: str, known: Iterable[str]) -> str | None:
    """The known word that is most like `word`, if any is like it."""
    return next(iter(difflib.get_close_matches(word, list(known), n=1, cutoff=0.6)), None)


def problems_of(
    error: ValidationError, root: type[BaseModel], origins: Mapping[Place, str], lines: Mapping[Place, int]
) -> Iterator[Problem]:
    """One problem for each complaint of pydantic; a value comes from a variable (`origins`) or a line of the file."""
    for complaint in error.errors(include_url=False):
        place = tuple(step for step in complaint["loc"] if step != "[key]")
        ways = [place[:length] for length in range(len(place), 0, -1)]
        variable = next((origins[way] for way in ways if way in origins), None)
        line = None if variable else next((lines[way] for way in ways if way in lines), None)
        yield Problem(where=variable or masked(dotted(place)), sentence=_sentence(root, place, complaint), line=line)


def _sentence(root: type[BaseModel], place: Place, complaint: Mapping[str, Any]) -> str:
    value = complaint["input"]
    match complaint["type"]:
        case "extra_forbidden":
            return f"is not a known key; {_suggestion(root, place)}"
        case "missing":
            return f"is missing; accepted: {_accepted(root, place)}"
        case "too_short":
            return "is empty; accepted: at least one entry"
        case "value_error" if isinstance(value, dict | BaseModel):
            return f"cannot be used as it is; {complaint['ctx']['error']}"
        case "value_error":
            return f"is {_shown(root, place, value)}; {complaint['ctx']['error']}"
    if complaint["type"] == "invalid_key" or complaint["loc"][-1] == "[key]":
        return "is a key that is not text; write it in quotes"
    return f"is {_shown(root, place, value)}; accepted: {_accepted(root, place)}{_hint(complaint)}"


def _accepted(root: type[BaseModel], place: Place) -> str:
    found = field_at(root, place)
    return accepted(*found) if found else "another type"


def _hint(complaint: Mapping[str, Any]) -> str:
    value = complaint["input"]
    if complaint["type"] == "string_type" and isinstance(value, bool | int | float):
        return ", so write it in quotes"
    if isinstance(value, str) and UNQUOTED.get(complaint["type"], NEVER).fullmatch(value):
        return ", so write it without quotes"
    return ""


def _suggestion(root: type[BaseModel], place: Place) -> str:
    """The nearest sibling; else the same word in another section; else every sibling."""
    name = str(place[-1])
    section = field_at(root, place[:-1])
    siblings = _names(section[0]) if section else []
    if guess := nearest(name.lower().replace("-", "_"), siblings):
        return f"did you mean {guess}?"
    elsewhere = [key.dotted for key in keys(root) if key.path[-1] == name]
    if elsewhere:
        return f"did you mean {' or '.join(elsewhere)}?"
    return f"known here: {', '.join(siblings)}"


def _names(section: Any) -> list[str]:
    return list(section.model_fields) if isinstance(section, type) and issubclass(section, BaseModel) else []


def _shown(root: type[BaseModel], place: Place, value: object) -> str:
    if value is None or isinstance(value, dict | list | tuple | BaseModel):
        return kind(value)
    if is_secret(root, place):
        return f"{kind(value)} (not shown)"
    if isinstance(value, str):
        return _quoted(value)
    return json.dumps(value) if isinstance(value, bool | int | float | None) else kind(value)


def masked(text: str) -> str:
    """The text with the user part of a URL masked, also where the scheme is missing, and in Unicode alone."""
    shown = re.sub(r"(://|\A)[^/?#\s]*@", r"\1***@", text)
    return shown.encode("utf-8", "backslashreplace").decode()


def _quoted(text: str) -> str:
    """Text as JSON writes it, masked and cut."""
    shown = masked(text)
    return json.dumps(shown if len(shown) <= SHOWN_CHARACTERS else shown[:SHOWN_CHARACTERS] + "…", ensure_ascii=False)


def kind(value: object) -> str:
    """What sort of value it is, without showing it."""
    match value:
        case None:
            return "null"
        case bool():
            return "true or false"
        case int() | float():
            return "a number"
        case str():
            return "text" if value else "empty text"
        case list() | tuple():
            return "a list"
        case dict() | BaseModel():
            return "a section of keys"
        case bytes():
            return "binary data"
    return f"a {type(value).__name__}"
