"""docs/reference/configuration.md says what the models say: every key, nothing stale."""

import json

from pydantic import BaseModel
from pydantic_core import PydanticUndefined

from kb_pipeline.settings import Settings
from kb_pipeline.settings.schema import Key, accepted, field_at, keys, section_of
from kb_pipeline.settings.surfaces import REFUSAL_PHRASES
from kb_pipeline.settings.values import Secret
from kb_pipeline_tests.docs_pages import page, table_rows

PAGE = "docs/reference/configuration.md"
IN_WORDS = {"surfaces": "`public`", "refusal_phrases": "see below"}


def expected_row(key: Key) -> list[str]:
    """The row that documents a key."""
    secret = "; secret" if hides_value(key) else ""
    words = accepted(key.field.annotation, key.field.metadata)
    return [f"`{key.dotted}`", words + secret, default(key), str(key.field.description)]


def hides_value(key: Key) -> bool:
    """Whether the value, or an entry of the list, is never shown."""
    place = tuple(0 if step == "<n>" else step for step in key.path)
    found = [field_at(Settings, place), field_at(Settings, (*place, 0))]
    return any(isinstance(note, Secret) for each in found if each for note in each[1])


def default(key: Key) -> str:
    """The default as the page writes it."""
    value = key.field.default
    if value is PydanticUndefined:
        return "required"
    if key.path[-1] in IN_WORDS:
        return IN_WORDS[key.path[-1]]
    return f"`{value if isinstance(value, str) else json.dumps(value)}`"


def test_every_key_is_documented_with_type_default_and_meaning_and_no_other() -> None:
    leaves = [key for key in keys(Settings) if section_of(key.field.annotation) is None]
    assert table_rows(page(PAGE)) == [expected_row(key) for key in leaves]


def test_every_section_has_its_heading_and_meaning() -> None:
    text = page(PAGE)
    for name, field in Settings.model_fields.items():
        assert isinstance(field.default, BaseModel)
        assert f"## {name}\n\n{field.description}" in text


def test_the_refusal_phrases_are_listed_as_they_are() -> None:
    listed = page(PAGE).partition("```text\n")[2].partition("\n```")[0]
    assert listed.splitlines() == list(REFUSAL_PHRASES)
