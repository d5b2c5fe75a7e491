"""The page of the job is the schema in words, and names every note and reason there is."""

import json
import re
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from kb_pipeline.retrieval.events import Note, Read, Reason, job_schema, read_job
from kb_pipeline_tests.docs_pages import page, table_rows
from kb_pipeline_tests.retrieval.event_strategies import ENGINES, RECEIVED_AT

PAGE = "docs/reference/retrieval-job.md"
SECTIONS = {
    "A retrieval": "retrieval",
    "A result": "result",
    "A candidate": "candidate",
    "A step of a search": "search",
}


def section(title: str) -> str:
    """The text below a heading of the page, up to the next one."""
    return page(PAGE).partition(f"\n## {title}\n")[2].partition("\n## ")[0]


def rows(title: str) -> list[list[str]]:
    return [[cell.strip("`") for cell in row] for row in table_rows(section(title)) if row[0].startswith("`")]


def kind(schema: dict[str, Any]) -> str:
    """What a property may be, in a word or two."""
    if "anyOf" in schema:
        return kind(schema["anyOf"][0]) + " or null"
    if "const" in schema:
        return f"`{schema['const']}`"
    if "enum" in schema:
        return ", ".join(f"`{value}`" for value in schema["enum"])
    named = str(schema.get("$ref", "")).rpartition("/")[2]
    if named:
        return {"uuid": "UUID", "instant": "time", "document_id": "text", "query": "text"}.get(named, named)
    types = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    words = {"string": "text", "boolean": "flag", "array": "list", "number": "number", "null": "null"}
    return " or ".join(words[each] for each in types)


def expected(name: str) -> list[list[str]]:
    definition = job_schema()["$defs"][name]
    return [
        [each, kind(schema).strip("`"), "yes" if each in definition["required"] else "no", schema["description"]]
        for each, schema in definition["properties"].items()
    ]


@pytest.mark.parametrize(("title", "name"), SECTIONS.items())
def test_the_page_lists_each_property_as_the_schema_describes_it(title: str, name: str) -> None:
    assert rows(title) == expected(name)


def test_the_page_names_every_note_and_every_reason() -> None:
    assert [row[0] for row in rows("What is cleaned")] == list(Note)
    assert [row[0] for row in rows("What is rejected")] == list(Reason)
    assert all(len(row[1]) > 20 for title in ("What is cleaned", "What is rejected") for row in rows(title))


def test_the_examples_of_the_page_are_valid_and_need_no_cleaning() -> None:
    examples = re.findall(r"```json\n(.*?)```", page(PAGE), re.DOTALL)
    assert len(examples) == 2
    for example in examples:
        job = json.loads(example)
        assert list(Draft202012Validator(job_schema()).iter_errors(job)) == []
        got = read_job(job, received_at=RECEIVED_AT, engines=ENGINES)
        assert isinstance(got, Read)
        assert got.notes == ()
