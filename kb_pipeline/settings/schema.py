"""What the models say of a key: its type in words, whether it is secret, whether it is a section.

Belongs here: reading annotations. Does not: values, files, the environment.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel, SecretStr
from pydantic.fields import FieldInfo

from kb_pipeline.settings.values import Accepts, Secret

Place = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Key:
    """A setting: the names that lead to it, and its field."""

    path: tuple[str, ...]
    field: FieldInfo

    @property
    def dotted(self) -> str:
        """The key as messages and the documentation write it, for example rag_quality.max_batch."""
        return dotted(self.path)


def dotted(place: Place) -> str:
    """A place in the configuration as people write it: service.tokens[0].role."""
    text = ""
    for step in place:
        text += f"[{step}]" if isinstance(step, int) else f".{step}" if text else str(step)
    return text


def keys(root: type[BaseModel], path: tuple[str, ...] = ()) -> Iterator[Key]:
    """Every key below `root`, sections included; an entry of a map or a list stands as <name> or []."""
    for name, field in root.model_fields.items():
        key = Key((*path, name), field)
        yield key
        for step, section in _sections_below(field.annotation):
            yield from keys(section, (*key.path, *step))


def _sections_below(annotation: Any) -> Iterator[tuple[tuple[str, ...], type[BaseModel]]]:
    bare, _ = _peel(annotation)
    if isinstance(bare, type) and issubclass(bare, BaseModel):
        yield (), bare
    elif get_origin(bare) is tuple and (section := section_of(get_args(bare)[0])):
        yield ("<n>",), section
    elif section := named_section_of(bare):
        yield ("<name>",), section


def section_of(annotation: Any) -> type[BaseModel] | None:
    """The section class that an annotation names, if it names one."""
    bare, _ = _peel(annotation)
    return bare if isinstance(bare, type) and issubclass(bare, BaseModel) else None


def named_section_of(annotation: Any) -> type[BaseModel] | None:
    """The section class of a map's values, if the annotation is a map from names to sections."""
    bare, _ = _peel(annotation)
    return section_of(get_args(bare)[1]) if get_origin(bare) is Mapping else None


def is_optional(annotation: Any) -> bool:
    """Whether null is accepted."""
    bare = get_args(annotation)[0] if get_origin(annotation) is Annotated else annotation
    return get_origin(bare) in {Union, UnionType} and NoneType in get_args(bare)


def holds_text(annotation: Any) -> bool:
    """Whether the value is text, so that a variable's content is taken as it stands."""
    bare, _ = _peel(annotation)
    if get_origin(bare) in {Union, UnionType}:
        return any(holds_text(argument) or argument is datetime for argument in get_args(bare))
    return bare in {str, SecretStr} or get_origin(bare) is Literal


def accepted(annotation: Any, metadata: Sequence[object] = ()) -> str:
    """What a key accepts, in words: "a whole number from 1 to 65535", "text or null"."""
    bare, inner = _peel(annotation)
    notes = [*metadata, *inner]
    words = next((note.words for note in reversed(notes) if isinstance(note, Accepts)), None) or _words(bare, notes)
    return f"{words} or null" if is_optional(annotation) else words


def _words(bare: Any, notes: Sequence[object]) -> str:
    origin = get_origin(bare)
    if origin is Literal:
        return " or ".join(get_args(bare))
    if origin is tuple:
        return f"a list, each entry {accepted(get_args(bare)[0])}"
    if origin is Mapping:
        return "names with a section each"
    plain = {bool: "true or false", int: "a whole number", float: "a number", str: "text", datetime: "a time"}
    return plain.get(bare, "a section of keys") + _bounds(notes)


def _bounds(notes: Sequence[object]) -> str:
    low, above, high = (
        next((getattr(note, name) for note in notes if hasattr(note, name)), None) for name in ("ge", "gt", "le")
    )
    words = f" above {above}" if above is not None else ""
    if low is not None:
        words = f" from {low}" if high is not None else f" of at least {low}"
    return words + (f" to {high}" if high is not None else "")


def is_secret(root: type[BaseModel], place: Place) -> bool:
    """Whether the value at `place` must not be shown; what no field describes counts as secret."""
    annotation: Any = root
    notes: Sequence[object] = ()
    for step in place:
        found = _step(annotation, step)
        if found is None:
            return True
        annotation, notes = found
        if any(isinstance(note, Secret) for note in notes):
            return True
    # Whatever stands in the place of a section or a list may be a secret that slipped out of place.
    return section_of(annotation) is not None or get_origin(_peel(annotation)[0]) in {tuple, Mapping}


def field_at(root: type[BaseModel], place: Place) -> tuple[Any, Sequence[object]] | None:
    """Annotation and metadata of what stands at `place`, or None where the models know nothing of it."""
    found: tuple[Any, Sequence[object]] | None = (root, ())
    for step in place:
        found = _step(found[0], step) if found else None
    return found


def _step(annotation: Any, step: str | int) -> tuple[Any, Sequence[object]] | None:
    bare, _ = _peel(annotation)
    if isinstance(bare, type) and issubclass(bare, BaseModel):
        field = bare.model_fields.get(str(step))
        if field is None:
            return None
        return field.annotation, [*field.metadata, *_peel(field.annotation)[1]]
    if get_origin(bare) is tuple:
        item = get_args(bare)[0]
    elif get_origin(bare) is Mapping:
        item = get_args(bare)[1]
    else:
        return None
    return item, _peel(item)[1]


def _peel(annotation: Any) -> tuple[Any, list[object]]:
    """The type under Annotated and `| None`, with all that was noted on the way."""
    notes: list[object] = []
    while True:
        if get_origin(annotation) is Annotated:
            annotation, *more = get_args(annotation)
            notes.extend(more)
            notes.extend(constraint for note in more if isinstance(note, FieldInfo) for constraint in note.metadata)
        elif (
            is_optional(annotation)
            and len(rest := [each for each in get_args(annotation) if each is not NoneType]) == 1
        ):
            annotation = rest[0]
        else:
            return annotation, notes
